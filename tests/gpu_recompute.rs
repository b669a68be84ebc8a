//! What recomputation costs, counted on the simulated GPU: floating-point operations of one
//! training step of a transformer with 12 blocks. Named in .ci/run.

use engine_room::memory::{
    Role, bytes_by_op_at_peak, max_memory_allocated, memory_allocated, reset_peak_memory_stats,
};
use engine_room::nn::{Gpt, GptConfig, Module};
use engine_room::rng::{Generator, manual_seed};
use engine_room::{Device, Tensor, sim};

/// FLOPs of the step, bytes of activations at its peak, and all gradients.
fn step(n: usize, recomputed: bool) -> (u64, u64, Vec<(String, Vec<f32>)>) {
    let gpu = Device::Sim(n);
    let (vocab, context, layers) = (16, 16, 12);
    let (width, heads, dropout, tied) = (32, 4, 0.1, false);
    let config = GptConfig { vocab, context, width, layers, heads, dropout, tied };
    let mut generator = Generator::new(3);
    let model = Gpt::new(&config, &mut generator).recompute_blocks(|_| recomputed);
    model.to_device(gpu);
    let tokens = Tensor::randint(0, vocab as i64, &[2, context], &mut generator);
    let (x, y) = (tokens.to(gpu), tokens.reshape(&[2 * context]).to(gpu));
    manual_seed(11);
    sim::reset(n);
    reset_peak_memory_stats(gpu);
    let before = memory_allocated(gpu);
    model.forward(&x).reshape(&[2 * context, vocab]).cross_entropy(&y).backward();
    let flops = sim::launches(n).counters.flops;
    let at_peak = bytes_by_op_at_peak(gpu);
    assert_eq!(at_peak.iter().map(|it| it.bytes).sum::<u64>(), max_memory_allocated(gpu));
    assert!(max_memory_allocated(gpu) > before);
    let activations =
        at_peak.iter().filter(|it| it.role == Role::Activation).map(|it| it.bytes).sum();
    let gradients = model.named_parameters().into_iter();
    let gradients = gradients.map(|(name, it)| (name, it.get().grad().unwrap().to_vec())).collect();
    (flops, activations, gradients)
}

#[test]
fn one_more_forward_pass_is_what_it_costs() {
    let (plain, all, want) = step(0, false);
    let (again, few, got) = step(1, true);
    let ratio = again as f64 / plain as f64;
    println!("FLOPs {plain}, recomputed {again}: {ratio:.4} times; activations {all}, {few} bytes");
    assert!((1.2..=1.34).contains(&ratio), "{ratio}");
    assert!(few * 4 <= all, "{few} bytes of {all}");
    for ((name, want), (_, got)) in want.iter().zip(&got) {
        let difference = want.iter().zip(got).map(|(want, got)| (want - got).abs());
        // Tokens that occur twice add up by atomics, in no order: two plain runs differ as much.
        let allowed = if name == "tokens.weight" { 1e-6 } else { 0.0 };
        let worst = difference.fold(0.0, f32::max);
        assert!(worst <= allowed, "the gradient of {name} differs by {worst}");
    }
}
