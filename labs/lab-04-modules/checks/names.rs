//! 4.2: trees whose lists are known, and random ones whose list is made by another rule.

use engine_room::Tensor;
use engine_room::nn::Parameter;
use engine_room::rng::Generator;
use grading::{Check, Diagnosis, Idea};

use super::super::module_tree::ModuleTree;
use super::Implementation;

/// Levels of the deep tree.
const DEEP: usize = 60;

/// A parameter with its full name.
type Named = (String, Parameter);

/// 4.2
pub fn names(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    list(imp, check, "a linear layer", &linear(&mut rng, true))?;
    list(imp, check, "a module without parts", &ModuleTree::new())?;
    list(imp, check, "a model of two levels", &two_levels(&mut rng))?;
    list(imp, check, "a model whose own parameter was assigned last", &own_last(&mut rng))?;
    list(imp, check, "a list of 12 layers", &layers(&mut rng, 12))?;
    list(imp, check, "a language model", &language_model(&mut rng, false))?;
    list(imp, check, "two parameters with equal numbers", &equal_numbers())?;
    list(imp, check, "a model with a frozen layer", &frozen(&mut rng))?;
    list(imp, check, "a module that owns one parameter twice", &twice(&mut rng))?;
    list(imp, check, "a model whose head is the embedding again", &language_model(&mut rng, true))?;
    list(imp, check, "a block that is used twice", &shared_block(&mut rng))?;
    let deep = (0..DEEP).fold(linear(&mut rng, true), |tree, at| {
        ModuleTree::new().child(&format!("level{at}"), tree)
    });
    list(imp, check, "a tree of 60 levels", &deep)?;
    for _ in 0..8 {
        let mut pool = Vec::new();
        let tree = random_tree(&mut rng, 3, &mut pool);
        list(imp, check, "a random model", &tree)?;
    }
    Ok(())
}

fn parameter(rng: &mut Generator, shape: &[usize]) -> Parameter {
    Parameter::new(Tensor::rand(shape, rng))
}

fn linear(rng: &mut Generator, bias: bool) -> ModuleTree {
    let (weight, b) = (parameter(rng, &[3, 2]), parameter(rng, &[3]));
    let tree = ModuleTree::new().parameter("weight", &weight);
    if bias { tree.parameter("bias", &b) } else { tree }
}

fn two_levels(rng: &mut Generator) -> ModuleTree {
    let tree = ModuleTree::new().child("norm", ModuleTree::new());
    tree.child("up", linear(rng, true)).child("down", linear(rng, false))
}

/// PyTorch lists a module's own parameters before those of its children, whenever assigned.
fn own_last(rng: &mut Generator) -> ModuleTree {
    let inner = ModuleTree::new().child("gate", linear(rng, false));
    let inner = inner.parameter("scale", &parameter(rng, &[1]));
    ModuleTree::new().child("z", inner).parameter("a", &parameter(rng, &[1]))
}

fn layers(rng: &mut Generator, count: usize) -> ModuleTree {
    (0..count).fold(ModuleTree::new(), |tree, at| tree.child(&at.to_string(), linear(rng, false)))
}

fn language_model(rng: &mut Generator, tied: bool) -> ModuleTree {
    let embedding = parameter(rng, &[11, 4]);
    let block = |rng: &mut Generator| {
        let attention = ModuleTree::new().child("qkv", linear(rng, true));
        let attention = attention.child("out", linear(rng, true));
        ModuleTree::new().child("attention", attention).child("up", linear(rng, false))
    };
    let blocks = ModuleTree::new().child("0", block(rng)).child("1", block(rng));
    let head = if tied { embedding.clone() } else { parameter(rng, &[11, 4]) };
    let head = ModuleTree::new().parameter("weight", &head);
    ModuleTree::new()
        .child("embedding", ModuleTree::new().parameter("weight", &embedding))
        .child("blocks", blocks)
        .child("head", head.parameter("bias", &parameter(rng, &[11])))
}

fn equal_numbers() -> ModuleTree {
    let ones = || Parameter::new(Tensor::ones(&[4]));
    let norm = || ModuleTree::new().parameter("weight", &ones());
    ModuleTree::new().child("norm1", norm()).child("norm2", norm())
}

fn frozen(rng: &mut Generator) -> ModuleTree {
    let tree = two_levels(rng);
    for (_, parameter) in &tree.children[1].1.parameters {
        // The tensor is shared with its parameter.
        let _ = parameter.get().requires_grad_(false);
    }
    tree
}

fn twice(rng: &mut Generator) -> ModuleTree {
    let (gain, other) = (parameter(rng, &[2]), parameter(rng, &[3]));
    let tree = ModuleTree::new().parameter("gain", &gain).parameter("again", &gain);
    tree.parameter("offset", &other)
}

fn shared_block(rng: &mut Generator) -> ModuleTree {
    let block = ModuleTree::new().child("up", linear(rng, true)).child("down", linear(rng, true));
    ModuleTree::new().child("encoder", block.clone()).child("decoder", block)
}

/// A tree with parameters of a pool, some of which occur several times.
fn random_tree(rng: &mut Generator, levels: usize, pool: &mut Vec<Parameter>) -> ModuleTree {
    let mut tree = ModuleTree::new();
    for name in ["weight", "bias", "scale"].iter().take(rng.below(4)) {
        let again = !pool.is_empty() && rng.below(3) == 0;
        let it = if again { pool[rng.below(pool.len())].clone() } else { parameter(rng, &[2]) };
        pool.push(it.clone());
        tree = tree.parameter(name, &it);
    }
    if levels > 0 {
        for name in ["proj", "attention", "mlp"].iter().take(1 + rng.below(3)) {
            tree = tree.child(name, random_tree(rng, levels - 1, pool));
        }
    }
    tree
}

/// Every name of every parameter, as a walk with a stack of what is left finds them.
fn every_name(tree: &ModuleTree) -> Vec<Named> {
    let mut found = Vec::new();
    let mut left = vec![(String::new(), tree)];
    while let Some((prefix, tree)) = left.pop() {
        found.extend(tree.parameters.iter().map(|(name, p)| (prefix.clone() + name, p.clone())));
        let children = tree.children.iter().rev();
        left.extend(children.map(|(name, child)| (format!("{prefix}{name}."), child)));
    }
    found
}

/// Without those whose parameter has occurred before.
fn once(all: Vec<Named>) -> Vec<Named> {
    let mut kept: Vec<Named> = Vec::new();
    for (name, parameter) in all {
        if !kept.iter().any(|(_, other)| other.is(&parameter)) {
            kept.push((name, parameter));
        }
    }
    kept
}

fn list(
    imp: &Implementation,
    check: &mut Check,
    words: &str,
    tree: &ModuleTree,
) -> Result<(), Diagnosis> {
    let all = every_name(tree);
    let want = once(all.clone());
    let shared = if all.len() > want.len() { described(&all) } else { String::new() };
    let called = format!("named_parameters({words}){shared}");
    let got = check.call(called.as_str(), || (imp.named_parameters)(tree))?;
    let of = |list: &[Named]| list.iter().map(|(name, _)| name.clone()).collect::<Vec<String>>();
    check.equal("names", &called, &of(&got), &of(&want), &ideas(tree, &all, &want))?;
    let mut pairs = got.iter().zip(&want);
    match pairs.find(|((_, got), (_, want))| !got.is(want)) {
        None => Ok(()),
        Some(((name, _), _)) => Err(Diagnosis::new("4.2-copied")
            .called(called)
            .got(format!("under {name} another parameter than the module's"))
            .expected("a handle on the module's parameter: `parameter.clone()`")
            .thought(COPIED)),
    }
}

/// Which names are of one parameter.
fn described(all: &[Named]) -> String {
    let first = |parameter: &Parameter| all.iter().position(|(_, other)| other.is(parameter));
    let again = all.iter().enumerate().filter_map(|(at, (name, parameter))| {
        let first = first(parameter).filter(|first| *first < at)?;
        Some(format!("\n  {name} is {} again", all[first].0))
    });
    again.collect()
}

fn ideas(tree: &ModuleTree, all: &[Named], want: &[Named]) -> Vec<Idea<Vec<String>>> {
    let names = |list: Vec<Named>| list.into_iter().map(|(name, _)| name).collect::<Vec<String>>();
    let idea = |key, thought, value| Idea { key, thought, value };
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let mut sorted = names(want.to_vec());
    sorted.sort();
    let trained = want.iter().filter(|(_, parameter)| parameter.get().requires_grad());
    vec![
        idea("4.2-once-in-each-module", EACH, names(once_in_each(tree, ""))),
        idea("4.2-listed-twice", TWICE, names(all.to_vec())),
        idea("4.2-no-names-of-children", PREFIX, want.iter().map(|(n, _)| last(n)).collect()),
        idea("4.2-own-only", OWN, names(once(tree.parameters.clone()))),
        idea("4.2-children-first", CHILDREN, names(once(children_first(tree, "")))),
        idea("4.2-sorted", SORTED, sorted),
        idea("4.2-frozen-left-out", FROZEN, names(trained.cloned().collect())),
        idea("4.2-equal-numbers", EQUAL, equal_left_out(all)),
    ]
}

fn children_first(tree: &ModuleTree, prefix: &str) -> Vec<Named> {
    let children = tree.children.iter();
    let mut found: Vec<Named> = children
        .flat_map(|(name, child)| children_first(child, &format!("{prefix}{name}.")))
        .collect();
    found.extend(tree.parameters.iter().map(|(name, p)| (format!("{prefix}{name}"), p.clone())));
    found
}

/// Shared parameters are looked for only within one module.
fn once_in_each(tree: &ModuleTree, prefix: &str) -> Vec<Named> {
    let own = once(tree.parameters.clone()).into_iter();
    let mut found: Vec<Named> = own.map(|(name, p)| (format!("{prefix}{name}"), p)).collect();
    for (name, child) in &tree.children {
        found.extend(once_in_each(child, &format!("{prefix}{name}.")));
    }
    found
}

/// Without those that have the numbers of an earlier one.
fn equal_left_out(all: &[Named]) -> Vec<String> {
    let mut seen: Vec<Vec<f32>> = Vec::new();
    let mut names = Vec::new();
    for (name, parameter) in all {
        let values = parameter.get().to_vec::<f32>();
        if !seen.contains(&values) {
            seen.push(values);
            names.push(name.clone());
        }
    }
    names
}

const TWICE: &str = "A shared parameter is listed under each of its names. An optimizer steps \
    what it finds in the list, so it would step this one twice. Keep an entry only if no earlier \
    one holds the same parameter; `a.is(&b)` tells.";
const PREFIX: &str = "The names lack the way to them. What comes back from a child needs the \
    child's name and a dot in front, at every level once.";
const OWN: &str = "Those are the module's own parameters. Modules inside it have parameters too, \
    and modules inside those.";
const CHILDREN: &str = "The parameters of the children come first. PyTorch lists a module's own \
    parameters before those of the modules inside it.";
const SORTED: &str = "The names are sorted. In the alphabet 10 comes before 2, and the \
    optimizer's state, which is kept by place, would land on other weights. The order is that in \
    which the parts were assigned.";
const FROZEN: &str = "Frozen parameters are missing. That a parameter asks for no gradient does \
    not take it out of the model: a checkpoint needs it.";
const EQUAL: &str = "Parameters with equal numbers were taken for one. The weights of two norms \
    begin as ones and are two parameters all the same. `a.is(&b)` asks for the parameter and not \
    for its numbers.";
const EACH: &str = "Each module looks for repetitions among its own parameters only. The \
    embedding and the head share one across two modules: ask once more at the level where both \
    lists meet.";
const COPIED: &str = "The names are right, and a parameter is a new one. An optimizer would step \
    the copy, and the model would never learn.";
