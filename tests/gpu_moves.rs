//! Elements moved, cast, chosen, changed in place and made on a GPU, against the CPU.

#[path = "gpu/agree.rs"]
mod agree;
#[path = "gpu/closely.rs"]
mod closely;

use agree::agree;
use closely::{EQUAL, closely};
use engine_room::driver::{HostMemory, Route};
use engine_room::rng::Generator;
use engine_room::{DType, Device, Scalar, Tensor, sim};

const SIZES: [usize; 7] = [0, 1, 31, 32, 33, 1023, 1025];

/// Different numbers that every type can hold, but for `bool`: there some are true.
fn numbers(shape: &[usize], dtype: DType, generator: &mut Generator) -> Tensor {
    match dtype {
        DType::Bool => Tensor::randint(0, 2, shape, generator).to(dtype),
        _ => Tensor::randint(0, 200, shape, generator).to(dtype),
    }
}

type View = fn(&Tensor) -> Tensor;

/// Views of a tensor of three dimensions.
const VIEWS: [View; 8] = [
    |x| x.clone(),
    |x| x.transpose(0, 2),
    |x| x.permute(&[1, 2, 0]),
    |x| x.slice(1, 1, 30, 3),
    |x| x.slice(2, 0, 6, 5).transpose(0, 1),
    |x| x.narrow(0, 1, 1).expand(&[7, 33, 6]),
    |x| x.select(1, 32).unsqueeze(1).expand(&[4, 5, 6]),
    |x| x.narrow(1, 3, 0),
];

#[test]
fn copies_of_views() {
    let mut generator = Generator::new(821);
    for dtype in DType::ALL {
        let x = [numbers(&[4, 33, 6], dtype, &mut generator)];
        for view in VIEWS {
            agree("copy", &x, 0.0, |x| view(&x[0]).copy());
        }
    }
    for count in SIZES {
        let x = [numbers(&[count, 2], DType::F32, &mut generator)];
        closely("copy", &x, EQUAL, |x| x[0].transpose(0, 1).copy());
    }
    for shape in [[33, 100], [64, 64], [1, 77], [1025, 2], [100, 31]] {
        let x = [numbers(&shape, DType::F16, &mut generator)];
        closely("transpose", &x, EQUAL, |x| x[0].transpose(0, 1).contiguous());
    }
}

/// What casts treat in different ways: fractions, halfway cases, numbers beyond each range.
const DIFFICULT: [f64; 41] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.99,
    -0.99,
    1.5,
    254.9,
    255.0,
    255.5,
    256.0,
    -1.0,
    2047.5,
    2049.0,
    65504.0,
    65519.9,
    65520.0,
    1e6,
    16777217.0,
    2147483520.0,
    2147483647.5,
    2147483648.0,
    -2147483648.0,
    -2147483649.0,
    9.2e18,
    9223372036854775807.0,
    -9223372036854775808.0,
    -1e19,
    1e19,
    1e39,
    -1e39,
    1e-8,
    6e-8,
    1e-46,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    1.00390625,
    1.01171875,
    1.00048828125,
    3.4e38,
];
const DIFFICULT_INTEGERS: [i64; 22] = [
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    257,
    -128,
    -129,
    65519,
    65520,
    16777217,
    -16777219,
    2147483647,
    2147483648,
    -2147483648,
    i64::MAX,
    i64::MIN,
    i64::MAX - 512,
    (1 << 53) + 1,
    (1 << 60) + (1 << 35) + 1,
];

fn difficult(dtype: DType) -> Tensor {
    match dtype.is_floating_point() {
        true => Tensor::from_vec(DIFFICULT.to_vec(), &[41]).to(dtype),
        false => Tensor::from_vec(DIFFICULT_INTEGERS.to_vec(), &[22]).to(dtype),
    }
}

#[test]
fn casts_between_all_types() {
    let mut generator = Generator::new(822);
    for from in DType::ALL {
        for to in DType::ALL {
            closely(&format!("{from} to {to}"), &[difficult(from)], EQUAL, |x| x[0].to(to));
            let x = [numbers(&[5, 33], from, &mut generator)];
            let turned = |x: &Tensor| x.transpose(0, 1).slice(0, 1, 33, 2);
            closely("to", &x, EQUAL, |x| turned(&x[0]).to(to));
        }
    }
}

#[test]
fn flips() {
    let mut generator = Generator::new(823);
    for dtype in DType::ALL {
        let x = [numbers(&[4, 33, 6], dtype, &mut generator)];
        for view in VIEWS {
            for dims in [&[0][..], &[2], &[0, 1], &[0, 2], &[0, 1, 2], &[]] {
                closely("flip", &x, EQUAL, |x| view(&x[0]).flip(dims));
            }
        }
    }
}

#[test]
fn choices() {
    let mut generator = Generator::new(824);
    for dtype in DType::ALL {
        for count in SIZES {
            let mask = Tensor::randint(0, 2, &[count], &mut generator).to(DType::Bool);
            let [a, b] = [0; 2].map(|_| numbers(&[count], dtype, &mut generator));
            let x = [mask, a, b];
            closely("where", &x, EQUAL, |x| Tensor::where_cond(&x[0], &x[1], &x[2]));
        }
        let mask = Tensor::randint(0, 2, &[33, 1], &mut generator).to(DType::Bool);
        let x = [mask, numbers(&[5, 33], dtype, &mut generator)];
        closely("where", &x, EQUAL, |x| {
            Tensor::where_cond(&x[0], &x[1].transpose(0, 1), &x[1].select(0, 2).unsqueeze(1))
        });
        closely("masked_fill", &x, EQUAL, |x| x[1].transpose(0, 1).masked_fill(&x[0], 1));
    }
    let x = [Tensor::randn(&[3, 5, 7], &mut generator)];
    for diagonal in [-9, -1, 0, 2, 9] {
        closely("tril", &x, EQUAL, |x| x[0].tril(diagonal));
        closely("triu", &x, EQUAL, |x| x[0].triu(diagonal));
    }
}

/// Changes a copy of the first input by the others.
#[track_caller]
fn changed(what: &str, x: &[Tensor], change: impl Fn(&Tensor, &[Tensor])) {
    closely(what, x, EQUAL, |x| {
        let target = x[0].copy();
        change(&target, x);
        target
    });
}

#[test]
fn changes_in_place() {
    let mut generator = Generator::new(825);
    for dtype in DType::ALL {
        let mask = Tensor::randint(0, 2, &[6, 33], &mut generator).to(DType::Bool);
        let [a, b] = [0; 2].map(|_| numbers(&[6, 33], dtype, &mut generator));
        let x = [a, b, mask];
        changed("copy_", &x, |t, x| t.copy_(&x[1]));
        changed("copy_", &x, |t, x| t.slice(1, 1, 33, 2).copy_(&x[1].narrow(1, 4, 16)));
        changed("copy_", &x, |t, x| t.transpose(0, 1).copy_(&x[1].select(0, 3).unsqueeze(1)));
        changed("fill_", &x, |t, _| t.slice(0, 1, 6, 2).fill_(1));
        changed("zero_", &x, |t, _| t.select(1, 7).zero_());
        changed("masked_fill_", &x, |t, x| t.masked_fill_(&x[2], 1));
        changed("masked_fill_", &x, |t, x| {
            t.transpose(0, 1).masked_fill_(&x[2].select(0, 1).unsqueeze(1), 0)
        });
        // Both operands in one storage.
        changed("copy_", &x, |t, _| t.select(0, 1).copy_(&t.select(0, 4)));
        if dtype == DType::F64 {
            continue;
        }
        let alpha = if dtype == DType::Bool { Scalar::Bool(true) } else { Scalar::Int(3) };
        changed("add_", &x, |t, x| t.add_(&x[1], alpha));
        changed("add_", &x, |t, _| t.add_(t, alpha));
        changed("add_", &x, |t, x| {
            t.slice(1, 0, 33, 3).add_(&x[1].select(1, 5).unsqueeze(1), alpha)
        });
        changed("mul_", &x, |t, x| t.mul_(&x[1]));
        changed("mul_", &x, |t, _| t.narrow(0, 0, 3).mul_(&t.narrow(0, 3, 3)));
    }
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let x = [0; 2].map(|_| Tensor::randn(&[1025], &mut generator).to(dtype));
        changed("add_", &x, |t, x| t.add_(&x[1], -0.3));
        changed("mul_", &x, |t, x| t.mul_(&x[1]));
    }
    let x = [Tensor::randn(&[33], &mut generator), Tensor::ones(&[33]).to(DType::BF16)];
    changed("add_", &x, |t, x| t.add_(&x[1], 2));
}

/// What was copied to a device and from it so far, in copies and bytes.
fn copied(n: usize) -> [(u64, u64); 2] {
    let pageable = [Route::ToDevice(HostMemory::Pageable), Route::ToHost(HostMemory::Pageable)];
    pageable.map(|route| {
        let route = sim::transfers(n).on(route);
        (route.count, route.bytes)
    })
}

#[test]
fn tensors_are_made_where_they_are() {
    let device = Device::Sim(31);
    for dtype in DType::ALL {
        for count in SIZES {
            for value in [Scalar::Int(0), Scalar::Int(1), Scalar::Int(77)] {
                let [there, here] =
                    [device, Device::Cpu].map(|d| Tensor::full_on(&[count], value, dtype, d));
                assert_eq!(in_f64(&there), in_f64(&here), "{value} as {dtype}");
            }
            let [there, here] = [device, Device::Cpu].map(|d| Tensor::arange_on(count, dtype, d));
            assert_eq!(in_f64(&there), in_f64(&here), "arange of {dtype}");
        }
    }
    assert_eq!(copied(31)[0], (0, 0), "nothing came from the host");
    let half = Tensor::full_on(&[3], -0.1, DType::BF16, device);
    assert_eq!(in_f64(&half), in_f64(&Tensor::full_on(&[3], -0.1, DType::BF16, Device::Cpu)));
}

fn in_f64(x: &Tensor) -> Vec<f64> {
    x.to(Device::Cpu).to(DType::F64).to_vec()
}

#[test]
fn only_what_a_view_shows_comes_back() {
    let device = Device::Sim(32);
    let x = Tensor::arange(4000).view(&[40, 100]).to(device);
    sim::reset(32);
    let column = x.select(1, 7);
    let expected: Vec<f32> = (0..40u16).map(|i| f32::from(i * 100 + 7)).collect();
    assert_eq!(column.to_vec::<f32>(), expected);
    assert_eq!(copied(32)[1], (1, 160), "a column crosses without what lies between");
    let back = column.to_non_blocking(Device::Cpu);
    device.synchronize().unwrap();
    assert_eq!((back.is_pinned(), back.to_vec::<f32>()), (true, expected));
}
