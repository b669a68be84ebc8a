//! Datasets, samplers and the loader: every example once an epoch, and a training that is stopped
//! in the middle of an epoch goes on with the batches that it would have seen.

#[path = "engine/refused.rs"]
mod refused;

use std::collections::BTreeSet;

use engine_room::Tensor;
use engine_room::data::{DataLoader, Dataset, Sampler, SamplerState, TensorDataset, collate};
use engine_room::rng::Generator;
use refused::refused;

/// Examples that say their own number: `([10 i, 10 i + 1], i)`.
fn numbered(len: usize) -> TensorDataset {
    let pairs = (0..len).flat_map(|i| [10.0 * i as f32, 10.0 * i as f32 + 1.0]).collect();
    let labels = (0..len as i64).collect();
    TensorDataset::new(vec![
        Tensor::from_vec(pairs, &[len, 2]),
        Tensor::from_vec::<i64>(labels, &[len]),
    ])
}

/// The labels of a batch, after a look at whether the pairs belong to them.
fn labels(batch: &[Tensor]) -> Vec<i64> {
    let [pairs, labels] = batch else { panic!("two tensors an example, not {}", batch.len()) };
    let labels = labels.to_vec::<i64>();
    let want = labels.iter().flat_map(|&i| [10.0 * i as f32, 10.0 * i as f32 + 1.0]);
    assert_eq!(pairs.shape(), [labels.len(), 2]);
    assert_eq!(pairs.to_vec::<f32>(), want.collect::<Vec<_>>());
    labels
}

/// The labels of the rest of an epoch, batch by batch.
fn epoch<D: Dataset>(loader: &mut DataLoader<D>) -> Vec<Vec<i64>> {
    loader.map(|batch| labels(&batch)).collect()
}

#[test]
fn in_order_the_last_batch_is_what_is_left() {
    let mut loader = DataLoader::new(numbered(7), Sampler::sequential(7), 3);
    for _ in 0..2 {
        assert_eq!(epoch(&mut loader), [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    }
    assert_eq!(loader.batches_per_epoch(), 3);
    let mut loader = DataLoader::new(numbered(6), Sampler::sequential(6), 3);
    assert_eq!(epoch(&mut loader), [[0, 1, 2], [3, 4, 5]]);
    assert_eq!(loader.batches_per_epoch(), 2);
}

#[test]
fn drop_last_leaves_out_the_batch_that_is_not_full() {
    let mut loader = DataLoader::new(numbered(7), Sampler::sequential(7), 3).drop_last(true);
    for _ in 0..2 {
        assert_eq!(epoch(&mut loader), [[0, 1, 2], [3, 4, 5]]);
    }
    assert_eq!(loader.batches_per_epoch(), 2);
    let mut loader = DataLoader::new(numbered(6), Sampler::sequential(6), 3).drop_last(true);
    assert_eq!(epoch(&mut loader).len(), 2);
}

#[test]
fn a_batch_larger_than_the_data_is_all_of_it_or_dropped() {
    let mut loader = DataLoader::new(numbered(2), Sampler::sequential(2), 5);
    assert_eq!((epoch(&mut loader), loader.batches_per_epoch()), (vec![vec![0, 1]], 1));
    let mut loader = DataLoader::new(numbered(2), Sampler::sequential(2), 5).drop_last(true);
    assert_eq!((epoch(&mut loader).len(), loader.batches_per_epoch()), (0, 0));
    assert_eq!(loader.state().epoch, 1, "an epoch without a batch is over all the same");
}

#[test]
fn of_no_data_every_epoch_is_empty() {
    for sampler in [Sampler::sequential(0), Sampler::random(0, 3)] {
        let mut loader = DataLoader::new(numbered(0), sampler, 4);
        assert_eq!((epoch(&mut loader).len(), epoch(&mut loader).len()), (0, 0));
        assert_eq!(loader.batches_per_epoch(), 0);
        assert!(numbered(0).is_empty() && !numbered(1).is_empty());
    }
}

#[test]
fn shuffled_epochs_have_every_example_once_and_differ() {
    let mut loader = DataLoader::new(numbered(50), Sampler::random(50, 9), 8);
    let epochs: Vec<Vec<i64>> = (0..20).map(|_| epoch(&mut loader).concat()).collect();
    for one in &epochs {
        let mut sorted = one.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
    assert_eq!(epochs.iter().collect::<BTreeSet<_>>().len(), 20, "no order comes twice");
    let mut again = DataLoader::new(numbered(50), Sampler::random(50, 9), 8);
    assert_eq!(epoch(&mut again).concat(), epochs[0]);
    let mut other = DataLoader::new(numbered(50), Sampler::random(50, 10), 8);
    assert_ne!(epoch(&mut other).concat(), epochs[0]);
}

/// The orders are what one generator's permutations would be if each drew one number more.
#[test]
fn an_epochs_order_is_found_without_the_epochs_before_it() {
    let mut generator = Generator::new(4);
    let mut sampler = Sampler::random(9, 4);
    for epoch in 0..5 {
        let want = generator.permutation(9);
        generator.next_u32();
        let state = SamplerState { len: 9, seed: Some(4), epoch, taken: 0 };
        assert_eq!(Sampler::from_state(state).take(9), want, "epoch {epoch}");
        assert_eq!(sampler.take(9), want);
        sampler.next_epoch();
    }
}

/// A training of two epochs is stopped after each of its calls of `next` in turn, those that end
/// an epoch among them.
#[test]
fn a_training_stopped_anywhere_goes_on_with_the_same_batches() {
    let all = 11;
    for sampler in [Sampler::sequential(all), Sampler::random(all, 21)] {
        for drop_last in [false, true] {
            let start = |sampler| DataLoader::new(numbered(all), sampler, 4).drop_last(drop_last);
            let steps = |loader: &mut DataLoader<TensorDataset>, count: usize| -> Vec<_> {
                (0..count).map(|_| loader.next().map(|batch| labels(&batch))).collect()
            };
            let whole = steps(&mut start(sampler.clone()), 12);
            for stop in 0..12 {
                let mut first = start(sampler.clone());
                assert_eq!(steps(&mut first, stop), whole[..stop]);
                let mut second = start(Sampler::from_state(first.state()));
                assert_eq!(steps(&mut second, 12 - stop), whole[stop..], "stopped after {stop}");
            }
        }
    }
}

#[test]
fn a_loop_that_was_left_goes_on_with_the_rest_of_its_epoch() {
    let mut loader = DataLoader::new(numbered(5), Sampler::sequential(5), 2);
    assert_eq!(loader.by_ref().next().map(|batch| labels(&batch)), Some(vec![0, 1]));
    let state = SamplerState { len: 5, seed: None, epoch: 0, taken: 2 };
    assert_eq!(loader.state(), state);
    assert_eq!(epoch(&mut loader), [vec![2, 3], vec![4]]);
}

/// A dataset that computes its examples, and leaves the batch to [`collate`].
struct Squares;

impl Dataset for Squares {
    fn len(&self) -> usize {
        4
    }

    fn get(&self, index: usize) -> Vec<Tensor> {
        vec![Tensor::scalar((index * index) as f32), Tensor::arange(3).add_scalar(index as f32)]
    }
}

#[test]
fn examples_that_are_computed_are_stacked() {
    let mut loader = DataLoader::new(Squares, Sampler::sequential(4), 3);
    let batch = loader.next().expect("a first batch");
    assert_eq!(batch[0].to_vec::<f32>(), [0.0, 1.0, 4.0]);
    assert_eq!((batch[0].shape(), batch[1].shape()), (&[3][..], &[3, 3][..]));
    assert_eq!(batch[1].to_vec::<f32>(), [0.0, 1.0, 2.0, 1.0, 2.0, 3.0, 2.0, 3.0, 4.0]);
}

/// The fast way of a tensor dataset and the general one must agree, types included.
#[test]
fn a_gathered_batch_is_the_stack_of_its_examples() {
    let data = numbered(6);
    for indices in [&[4, 0, 4][..], &[5]] {
        let stacked = collate(&indices.iter().map(|&i| data.get(i)).collect::<Vec<_>>());
        for (a, b) in data.batch(indices).iter().zip(&stacked) {
            assert_eq!((a.shape(), a.dtype()), (b.shape(), b.dtype()));
        }
        assert_eq!(labels(&data.batch(indices)), labels(&stacked));
    }
    assert_eq!(collate(&[]).len(), 0);
}

#[test]
fn what_does_not_fit_is_refused_in_words() {
    let uneven = refused(|| TensorDataset::new(vec![Tensor::ones(&[3, 2]), Tensor::ones(&[2])]));
    assert_eq!(uneven.operands, ["f32 [3, 2], f32 [2]"]);
    assert!(uneven.message.contains("equally many rows") && uneven.at.contains("engine_data.rs"));
    refused(|| TensorDataset::new(Vec::new()));
    refused(|| TensorDataset::new(vec![Tensor::scalar(1.0)]));
    let ragged = vec![vec![Tensor::scalar(1.0)], vec![]];
    assert!(refused(|| collate(&ragged)).message.contains("one has 1 tensors and one has 0"));
    let zero = refused(|| DataLoader::new(numbered(3), Sampler::sequential(3), 0));
    assert!(zero.message.contains("at least one example") && zero.at.contains("engine_data.rs"));
    let other = refused(|| DataLoader::new(numbered(3), Sampler::random(4, 0), 2));
    assert!(other.to_string().contains("3 examples, a sampler of 4"), "{other}");
    let beyond = SamplerState { len: 3, seed: None, epoch: 0, taken: 4 };
    assert!(refused(|| Sampler::from_state(beyond)).operands[0].contains("4 of 3"));
}
