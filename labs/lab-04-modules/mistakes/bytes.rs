//! Wrong predictions of bytes: 4.7.

use engine_room::DType;

use super::super::recipe::{Recipe, RoleBytes, Rule};
use super::super::solution;
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_frozen_weights();
    all.extend(of_types());
    all.extend(of_the_optimizer());
    all
}

fn bytes(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&Recipe, u64, u64) -> RoleBytes,
) -> Wrong {
    wrong("4.7", diagnosis, name, |table| table.training_bytes = f)
}

fn right(recipe: &Recipe, trained: u64, frozen: u64) -> RoleBytes {
    solution::training_bytes(recipe, trained, frozen)
}

fn of_frozen_weights() -> Vec<Wrong> {
    vec![
        bytes("4.7-frozen-trained", "frozen like trained", |recipe, trained, frozen| {
            right(recipe, trained + frozen, 0)
        }),
        bytes("4.7-frozen-forgotten", "frozen have nothing", |recipe, trained, _| {
            right(recipe, trained, 0)
        }),
        bytes("4.7-frozen-gradients", "gradients for frozen", |recipe, trained, frozen| {
            let gradients = right(recipe, trained + frozen, 0).gradients;
            RoleBytes { gradients, ..right(recipe, trained, frozen) }
        }),
        bytes("4.7-frozen-state", "state for frozen", |recipe, trained, frozen| {
            let optimizer = right(recipe, trained + frozen, 0).optimizer;
            RoleBytes { optimizer, ..right(recipe, trained, frozen) }
        }),
    ]
}

fn of_types() -> Vec<Wrong> {
    vec![
        bytes("4.7-autocast-halves", "autocast halves", |recipe, trained, frozen| {
            let bytes = right(recipe, trained, frozen);
            let by = if recipe.autocast { 2 } else { 1 };
            RoleBytes {
                parameters: bytes.parameters / by,
                gradients: bytes.gradients / by,
                ..bytes
            }
        }),
        bytes(
            "4.7-autocast-halves-weights",
            "autocast halves weights",
            |recipe, trained, frozen| {
                let bytes = right(recipe, trained, frozen);
                let by = if recipe.autocast { 2 } else { 1 };
                RoleBytes { parameters: bytes.parameters / by, ..bytes }
            },
        ),
        bytes(
            "4.7-autocast-halves-gradients",
            "autocast halves gradients",
            |recipe, trained, frozen| {
                let bytes = right(recipe, trained, frozen);
                let by = if recipe.autocast { 2 } else { 1 };
                RoleBytes { gradients: bytes.gradients / by, ..bytes }
            },
        ),
        bytes("4.7-gradients-in-f32", "gradients of 4 bytes", |recipe, trained, frozen| {
            RoleBytes { gradients: 4 * trained, ..right(recipe, trained, frozen) }
        }),
        bytes("4.7-state-of-weights", "state of the weights' type", |recipe, trained, frozen| {
            let plain = Recipe { master_weights: false, ..*recipe };
            let master = if recipe.weights == DType::F32 || !recipe.master_weights { 0 } else { 4 };
            let optimizer = right(&plain, trained, frozen).optimizer + master * trained;
            RoleBytes { optimizer, ..right(recipe, trained, frozen) }
        }),
        bytes("4.7-state-in-f32", "state always in f32", |recipe, trained, frozen| {
            let f32_state = Recipe { weights: DType::F32, ..*recipe };
            let master = if recipe.weights == DType::F32 || !recipe.master_weights { 0 } else { 4 };
            let optimizer = right(&f32_state, trained, frozen).optimizer + master * trained;
            RoleBytes { optimizer, ..right(recipe, trained, frozen) }
        }),
        bytes("4.7-32-bits", "counts in u32", |recipe, trained, frozen| {
            let narrow = |n: u64| u64::from(u32::try_from(n).expect("fits into 32 bits"));
            right(recipe, narrow(trained), narrow(frozen))
        }),
    ]
}

fn of_the_optimizer() -> Vec<Wrong> {
    vec![
        bytes("4.7-master-forgotten", "no master copy", |recipe, trained, frozen| {
            let bytes = right(recipe, trained, frozen);
            let master = if recipe.weights == DType::F32 || !recipe.master_weights { 0 } else { 4 };
            RoleBytes { optimizer: bytes.optimizer - master * trained, ..bytes }
        }),
        bytes("4.7-master-of-sgd", "no master copy for SGD", |recipe, trained, frozen| {
            let bytes = right(recipe, trained, frozen);
            let optimizer = if recipe.rule == Rule::Sgd { 0 } else { bytes.optimizer };
            RoleBytes { optimizer, ..bytes }
        }),
        bytes("4.7-master-always", "a master for every half", |recipe, trained, frozen| {
            right(&Recipe { master_weights: true, ..*recipe }, trained, frozen)
        }),
        bytes("4.7-master-of-f32", "a master for f32", |recipe, trained, frozen| {
            let bytes = right(recipe, trained, frozen);
            let extra = if recipe.weights == DType::F32 && recipe.master_weights { 4 } else { 0 };
            RoleBytes { optimizer: bytes.optimizer + extra * trained, ..bytes }
        }),
        bytes("4.7-one-number", "AdamW keeps one", |recipe, trained, frozen| {
            let rule = if recipe.rule == Rule::AdamW { Rule::SgdMomentum } else { recipe.rule };
            right(&Recipe { rule, ..*recipe }, trained, frozen)
        }),
    ]
}
