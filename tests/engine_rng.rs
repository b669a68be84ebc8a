//! The random numbers: Philox against its authors' known answers, and what is made of its bits.

use engine_room::Tensor;
use engine_room::rng::{self, Generator, GeneratorState};

/// Philox 4x32-10 as the paper writes it, with all four counter words. The generator reaches only
/// counters below 2^64, so the known answers check this, and this checks the generator.
fn reference(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let high_low = |a: u32, b: u32| {
        let product = u64::from(a) * u64::from(b);
        ((product >> 32) as u32, product as u32)
    };
    let (mut c, mut k) = (counter, key);
    for round in 0..10 {
        if round > 0 {
            k = [k[0].wrapping_add(0x9E37_79B9), k[1].wrapping_add(0xBB67_AE85)];
        }
        let ((high0, low0), (high1, low1)) =
            (high_low(0xD251_1F53, c[0]), high_low(0xCD9E_8D57, c[2]));
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0];
    }
    c
}

fn block(generator: &mut Generator) -> [u32; 4] {
    [(); 4].map(|()| generator.next_u32())
}

/// Source: Random123 1.14, tests/kat_vectors, the lines "philox4x32 10".
#[test]
fn known_answers_of_random123() {
    let zeros = [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
    let ones = [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd];
    let pi = [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1];
    assert_eq!(reference([0; 4], [0; 2]), zeros);
    assert_eq!(reference([u32::MAX; 4], [u32::MAX; 2]), ones);
    let digits = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
    assert_eq!(reference(digits, [0xa409_3822, 0x299f_31d0]), pi);
    assert_eq!(block(&mut Generator::new(0)), zeros);
}

#[test]
fn the_seed_is_the_key_and_the_block_the_counter() {
    for seed in [1, 42, 0xFFFF_FFFF, 0x1_0000_0000, 0x0123_4567_89AB_CDEF, u64::MAX] {
        let mut generator = Generator::new(seed);
        for counter in 0..100 {
            let want = reference([counter, 0, 0, 0], [seed as u32, (seed >> 32) as u32]);
            assert_eq!(block(&mut generator), want, "seed {seed}, block {counter}");
        }
    }
}

/// From the first known answer: 24 bits of each word, and Box and Muller's formula by hand.
#[test]
fn first_values_of_seed_0() {
    let mut generator = Generator::new(0);
    let uniform = [(); 4].map(|()| generator.uniform());
    let bits = [0x66_27e8, 0xe1_69c5, 0xbc_57ac, 0x9b_00db];
    assert_eq!(uniform, bits.map(|bits| bits as f32 / 16_777_216.0));
    let (u, v) = (0x6627_e8d5_u32 as f64 + 0.5, 0xe169_c58d_u32 as f64 + 0.5);
    let (u, v) = (u / 4_294_967_296.0, v / 4_294_967_296.0);
    let want = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    assert_eq!(Generator::new(0).normal(), want as f32);
    assert!((want - 0.991_137_679_930).abs() < 1e-12, "{want}");
    assert_eq!(Generator::new(0).below(10), 3);
    assert_eq!(Generator::new(0).permutation(6), PERMUTATION);
}

/// Fisher and Yates by hand on the first five words times 6, 5, 4, 3 and 2, upper halves.
const PERMUTATION: [usize; 6] = [0, 3, 1, 5, 4, 2];

#[test]
fn a_seed_is_a_stream() {
    let draw = |seed| Tensor::randn(&[5, 7], &mut Generator::new(seed)).to_vec::<f32>();
    assert_eq!(draw(9), draw(9));
    assert_ne!(draw(9), draw(10));
    let mut once = Generator::new(9);
    let parts = [Tensor::randn(&[3, 5], &mut once), Tensor::randn(&[4, 5], &mut once)];
    let parts: Vec<f32> = parts.iter().flat_map(Tensor::to_vec::<f32>).collect();
    assert_eq!(parts, draw(9), "two calls go on where one call would be");
    let mut copy = once.clone();
    assert_eq!(copy.next_u32(), once.next_u32());
}

/// Mean, variance, third and fourth moment about the mean. The bounds are five standard errors.
#[test]
fn moments_of_uniform_and_normal() {
    let n = 200_000;
    let moments = |draw: &mut dyn FnMut() -> f32| {
        let x: Vec<f64> = (0..n).map(|_| draw() as f64).collect();
        let mean = x.iter().sum::<f64>() / n as f64;
        let about = |power| x.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n as f64;
        [mean, about(2), about(3), about(4)]
    };
    let mut generator = Generator::new(77);
    let uniform = moments(&mut || generator.uniform());
    let normal = moments(&mut || generator.normal());
    let near = |got: [f64; 4], want: [f64; 4], errors: [f64; 4]| {
        let error = |i: usize| (got[i] - want[i]).abs() * f64::from(n).sqrt() / errors[i];
        assert!((0..4).all(|i| error(i) < 5.0), "{got:?} instead of {want:?}");
    };
    // Standard deviations of the single terms, from the moments of the two distributions.
    near(uniform, [0.5, 1.0 / 12.0, 0.0, 1.0 / 80.0], [0.289, 0.075, 0.05, 0.017]);
    near(normal, [0.0, 1.0, 0.0, 3.0], [1.0, 1.42, 3.9, 9.8]);
}

#[test]
fn uniform_stays_below_1_on_a_grid_of_2_to_the_24() {
    let mut generator = Generator::new(5);
    for _ in 0..100_000 {
        let x = generator.uniform();
        assert!((0.0..1.0).contains(&x) && (x * 16_777_216.0).fract() == 0.0, "{x}");
    }
    // The bits are all used: the least one is set about every other time.
    let odd = (0..1000).filter(|_| (generator.uniform() * 16_777_216.0) as u32 % 2 == 1).count();
    assert!((400..600).contains(&odd), "{odd}");
}

/// Chi squared with n - 1 degrees of freedom stays below mean + 5 standard deviations.
#[test]
fn below_is_even_enough() {
    let mut generator = Generator::new(3);
    for n in [1, 2, 3, 7, 10, 100, 1000] {
        let draws = 100 * n;
        let mut counts = vec![0.0; n];
        (0..draws).for_each(|_| counts[generator.below(n)] += 1.0);
        let squared: f64 = counts.iter().map(|count| (count - 100.0_f64).powi(2) / 100.0).sum();
        let free = (n - 1) as f64;
        assert!(squared <= free + 5.0 * (2.0 * free).sqrt(), "n = {n}: chi squared {squared}");
    }
    assert!(std::panic::catch_unwind(|| Generator::new(0).below(0)).is_err());
}

#[test]
fn permutation_is_one_and_every_one_comes() {
    let mut generator = Generator::new(8);
    for n in [0, 1, 2, 17, 1000] {
        let mut order = generator.permutation(n);
        order.sort_unstable();
        assert_eq!(order, (0..n).collect::<Vec<_>>());
    }
    let mut counts = std::collections::BTreeMap::new();
    (0..6000).for_each(|_| *counts.entry(generator.permutation(3)).or_insert(0) += 1);
    assert_eq!(counts.len(), 6);
    assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
}

#[test]
fn each_thread_has_a_default_generator() {
    let draw = || rng::with_default(|generator| generator.next_u32());
    let own = || std::thread::spawn(move || (rng::get_state(), draw())).join().expect("no panic");
    let (state, first) = own();
    assert_eq!(state, GeneratorState { seed: 0, drawn: 0 });
    rng::manual_seed(7);
    let seventh: Vec<u32> = (0..6).map(|_| draw()).collect();
    let mut explicit = Generator::new(7);
    assert!(seventh.iter().all(|&drawn| drawn == explicit.next_u32()));
    assert_eq!(rng::get_state(), explicit.state());
    assert_eq!(own().1, first, "another thread's numbers depend on no other thread");
    rng::manual_seed(9);
    rng::set_state(explicit.state());
    assert_eq!(draw(), explicit.next_u32());
    let nested = || rng::with_default(|_| draw());
    assert!(std::panic::catch_unwind(nested).is_err());
    assert_eq!(draw(), explicit.next_u32(), "it stays usable");
}

#[test]
fn a_stream_goes_on_from_its_state() {
    for drawn in 0..9 {
        let mut first = Generator::new(7);
        (0..drawn).for_each(|_| _ = first.next_u32());
        let state = first.state();
        assert_eq!(state, GeneratorState { seed: 7, drawn });
        let mut second = Generator::from_state(state);
        for _ in 0..9 {
            assert_eq!(first.next_u32(), second.next_u32(), "after {drawn}");
            assert_eq!(first.state(), second.state());
        }
    }
}
