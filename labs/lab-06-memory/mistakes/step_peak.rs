//! Wrong predictions of the peak of a training step: 6.7.

use engine_room::nn::GptConfig;

use super::super::solution;
use super::super::step::{Moment, PeakBytes, Rule, Step};
use super::{Wrong, wrong};

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_moments();
    all.extend(of_the_choice());
    all.extend(of_recomputation());
    all.extend(of_activations());
    all.extend(of_attention());
    all.extend(of_masks());
    all.extend(of_rows());
    all.extend(of_weights());
    all
}

fn peak(
    diagnosis: &'static str,
    name: &'static str,
    f: fn(&GptConfig, &Step) -> PeakBytes,
) -> Wrong {
    wrong("6.7", diagnosis, name, |table| table.peak_of_step = f)
}

/// What a prediction adds up; each mistake changes one of the numbers.
struct Bill {
    layers: u64,
    weights_before: u64,
    weights_of_block: u64,
    weights_behind: u64,
    /// Weights with a gradient when the last block is reached.
    used_behind: u64,
    numbers: u64,
    tokens: u64,
    mask: u64,
    stored: u64,
    block: u64,
    end: u64,
    /// What of the end is still there at a block.
    end_stays: u64,
}

/// The numbers of a model: tokens of the batch, width, vocabulary.
fn sizes(config: &GptConfig, step: &Step) -> [u64; 3] {
    [step.batch * step.time, config.width as u64, config.vocab as u64]
}

fn bill(config: &GptConfig, step: &Step) -> Bill {
    let [rows, width, vocab] = sizes(config, step);
    let mask = if config.dropout > 0.0 { rows * width } else { 0 };
    let block = 64 * rows * width + 16 * rows + 4 * rows * config.heads as u64 + 2 * mask;
    Bill {
        layers: config.layers as u64,
        weights_before: (vocab + config.context as u64) * width,
        weights_of_block: width * (12 * width + 13),
        weights_behind: 2 * width + if config.tied { 0 } else { vocab * width },
        used_behind: 2 * width + vocab * width,
        numbers: [0, 1, 2][step.rule as usize],
        tokens: 16 * rows,
        mask,
        stored: if step.recompute { 4 * rows * width } else { block },
        block,
        end: 4 * rows * (2 * width + 2 + vocab),
        end_stays: 0,
    }
}

impl Bill {
    fn weights(&self) -> u64 {
        self.weights_before + self.layers * self.weights_of_block + self.weights_behind
    }

    fn at(&self, moment: Moment) -> PeakBytes {
        let (gradients, activations) = match moment {
            Moment::Loss => (0, self.mask + self.layers * self.stored + self.end),
            Moment::Block(i) => (
                self.used_behind + (self.layers - 1 - i) * self.weights_of_block,
                self.mask + i * self.stored + self.block + self.end_stays,
            ),
            Moment::Step => (self.weights(), 0),
        };
        let weights = self.weights();
        PeakBytes {
            moment,
            parameters: 4 * weights,
            gradients: 4 * gradients,
            optimizer: 4 * self.numbers * weights,
            activations: self.tokens + activations,
        }
    }

    fn moments(&self) -> Vec<PeakBytes> {
        let blocks = (0..self.layers).rev().map(Moment::Block);
        let moments = [Moment::Loss].into_iter().chain(blocks).chain([Moment::Step]);
        moments.map(|moment| self.at(moment)).collect()
    }

    fn peak(&self) -> PeakBytes {
        self.peak_with(Some)
    }

    /// The first of the largest moments, when each has been changed or left out.
    fn peak_with(&self, change: impl Fn(PeakBytes) -> Option<PeakBytes>) -> PeakBytes {
        let changed = self.moments().into_iter().filter_map(change);
        let largest = changed.reduce(|peak, it| if sum(&it) > sum(&peak) { it } else { peak });
        largest.expect("one moment at least")
    }
}

fn sum(it: &PeakBytes) -> u64 {
    it.gradients + it.activations
}

fn of_moments() -> Vec<Wrong> {
    vec![
        peak("6.7-own-peaks", "each role's own peak", |config, step| {
            let bill = bill(config, step);
            let moments = [Moment::Loss, Moment::Block(bill.layers - 1), Moment::Block(0)];
            let activations = moments.map(|moment| bill.at(moment).activations);
            let activations = activations.into_iter().max().unwrap_or(0);
            PeakBytes { activations, ..bill.at(Moment::Step) }
        }),
        peak("6.7-always-loss", "always at the loss", |config, step| {
            bill(config, step).at(Moment::Loss)
        }),
        peak("6.7-logits-stay", "nothing of the end is freed", |config, step| {
            let bill = bill(config, step);
            Bill { end_stays: bill.end, ..bill }.peak()
        }),
        peak("6.7-no-gradients-yet", "gradients come at the end", |config, step| {
            bill(config, step).peak_with(|it| match it.moment {
                Moment::Block(_) => Some(PeakBytes { gradients: 0, ..it }),
                _ => Some(it),
            })
        }),
        peak("6.7-own-gradient", "a block's own gradients", |config, step| {
            let bill = bill(config, step);
            Bill { used_behind: bill.used_behind + bill.weights_of_block, ..bill }.peak()
        }),
        peak("6.7-gradients-at-loss", "all gradients at the loss", |config, step| {
            bill(config, step).peak_with(|it| match it.moment {
                Moment::Loss => Some(PeakBytes { gradients: it.parameters, ..it }),
                _ => Some(it),
            })
        }),
        peak("6.7-rule-of-thumb", "the loss and all gradients", |config, step| {
            let loss = bill(config, step).at(Moment::Loss);
            PeakBytes { gradients: loss.parameters, ..loss }
        }),
    ]
}

fn of_the_choice() -> Vec<Wrong> {
    vec![
        peak("6.7-no-step", "not at the end", |config, step| {
            bill(config, step).peak_with(|it| (it.moment != Moment::Step).then_some(it))
        }),
        peak("6.7-no-blocks", "loss or end", |config, step| {
            let is_block = |it: &PeakBytes| matches!(it.moment, Moment::Block(_));
            bill(config, step).peak_with(|it| (!is_block(&it)).then_some(it))
        }),
        peak("6.7-last-of-equal", "the last of equals", |config, step| {
            // Of equals `max_by_key` finds the last one.
            bill(config, step).moments().into_iter().max_by_key(sum).expect("a loss at least")
        }),
        peak("6.7-moment", "names the loss", |config, step| PeakBytes {
            moment: Moment::Loss,
            ..solution::peak_of_step(config, step)
        }),
    ]
}

fn of_recomputation() -> Vec<Wrong> {
    vec![
        peak("6.7-never-again", "no recomputation", |config, step| {
            bill(config, &Step { recompute: false, ..*step }).peak()
        }),
        peak("6.7-again-forgotten", "no block has run again", |config, step| {
            let bill = bill(config, step);
            let block = if step.recompute { bill.stored } else { bill.block };
            Bill { block, ..bill }.peak()
        }),
        peak("6.7-inputs-forgotten", "recomputed blocks keep nothing", |config, step| {
            let bill = bill(config, step);
            let stored = if step.recompute { 0 } else { bill.stored };
            Bill { stored, ..bill }.peak()
        }),
    ]
}

/// With another number of bytes that a block keeps.
fn with_block(bill: Bill, step: &Step, block: u64) -> Bill {
    Bill { block, stored: if step.recompute { bill.stored } else { block }, ..bill }
}

/// With so many numbers more, or fewer, that a block keeps for each token.
fn by_token(config: &GptConfig, step: &Step, more: i64) -> PeakBytes {
    let bill = bill(config, step);
    let bytes = 4 * (step.batch * step.time) as i64 * more;
    let block = bill.block.saturating_add_signed(bytes);
    with_block(bill, step, block).peak()
}

fn of_activations() -> Vec<Wrong> {
    vec![
        peak("6.7-hidden-once", "one hidden tensor", |config, step| {
            by_token(config, step, -4 * config.width as i64)
        }),
        peak("6.7-sums-kept", "the terms of the sums", |config, step| {
            by_token(config, step, 2 * config.width as i64)
        }),
        peak("6.7-logits-forgotten", "no log-softmax", |config, step| {
            let [rows, _, vocab] = sizes(config, step);
            let bill = bill(config, step);
            Bill { end: bill.end - 4 * rows * vocab, ..bill }.peak()
        }),
        peak("6.7-logits-twice", "logits and log-softmax", |config, step| {
            let [rows, _, vocab] = sizes(config, step);
            let bill = bill(config, step);
            Bill { end: bill.end + 4 * rows * vocab, ..bill }.peak()
        }),
    ]
}

fn of_attention() -> Vec<Wrong> {
    vec![
        peak("6.7-scores", "keeps the scores", |config, step| {
            by_token(config, step, config.heads as i64 * step.time as i64)
        }),
        peak("6.7-scores-instead", "the scores for their sums", |config, step| {
            by_token(config, step, config.heads as i64 * (step.time as i64 - 1))
        }),
        peak("6.7-attended-twice", "the attention's output, too", |config, step| {
            by_token(config, step, config.width as i64)
        }),
        peak("6.7-copy", "no copy of the heads", |config, step| {
            by_token(config, step, -(config.width as i64))
        }),
        peak("6.7-qkv", "no q, k, v", |config, step| {
            by_token(config, step, -3 * config.width as i64)
        }),
    ]
}

fn of_masks() -> Vec<Wrong> {
    vec![
        peak("6.7-masks-always", "masks without dropout", |config, step| {
            bill(&GptConfig { dropout: 0.5, ..config.clone() }, step).peak()
        }),
        peak("6.7-one-mask", "one mask in a block", |config, step| {
            let bill = bill(config, step);
            let block = bill.block - bill.mask;
            with_block(bill, step, block).peak()
        }),
        peak("6.7-masks-forgotten", "no masks", |config, step| {
            bill(&GptConfig { dropout: 0.0, ..config.clone() }, step).peak()
        }),
        peak("6.7-masks-in-f32", "masks of 4 bytes", |config, step| {
            let bill = bill(config, step);
            let (mask, block) = (4 * bill.mask, bill.block + 6 * bill.mask);
            Bill { mask, ..with_block(bill, step, block) }.peak()
        }),
        peak("6.7-first-mask", "no mask of the embeddings", |config, step| {
            Bill { mask: 0, ..bill(config, step) }.peak()
        }),
    ]
}

fn of_rows() -> Vec<Wrong> {
    vec![
        peak("6.7-norms", "no rows of the norms", |config, step| {
            let [rows, ..] = sizes(config, step);
            let bill = bill(config, step);
            let (block, end) = (bill.block - 16 * rows, bill.end - 8 * rows);
            Bill { end, ..with_block(bill, step, block) }.peak()
        }),
        peak("6.7-eight-bytes", "4 bytes a token", |config, step| {
            let bill = bill(config, step);
            Bill { tokens: bill.tokens / 2, ..bill }.peak()
        }),
        peak("6.7-statistics", "tensors of the width only", |config, step| {
            let [rows, ..] = sizes(config, step);
            let bill = bill(config, step);
            let block = bill.block - 4 * rows * (4 + config.heads as u64);
            let end = bill.end - 8 * rows;
            Bill { end, ..with_block(bill, step, block) }.peak()
        }),
        peak("6.7-tokens", "no tokens", |config, step| {
            Bill { tokens: 0, ..bill(config, step) }.peak()
        }),
    ]
}

fn of_weights() -> Vec<Wrong> {
    vec![
        peak("6.7-head-always", "a head of its own", |config, step| {
            bill(&GptConfig { tied: false, ..config.clone() }, step).peak()
        }),
        peak("6.7-no-head", "a gradient of the head alone", |config, step| {
            Bill { weights_behind: 2 * config.width as u64, ..bill(config, step) }.peak()
        }),
        peak("6.7-tied-late", "a tied gradient comes at the end", |config, step| {
            let bill = bill(config, step);
            Bill { used_behind: bill.weights_behind, ..bill }.peak()
        }),
        peak("6.7-one-number", "AdamW keeps one", |config, step| {
            let rule = if step.rule == Rule::AdamW { Rule::SgdMomentum } else { step.rule };
            bill(config, &Step { rule, ..*step }).peak()
        }),
        peak("6.7-32-bits", "counts in u32", |config, step| {
            let right = solution::peak_of_step(config, step);
            let narrow = |n: u64| u64::from(u32::try_from(n).expect("fits into 32 bits"));
            PeakBytes { activations: narrow(right.activations), ..right }
        }),
    ]
}
