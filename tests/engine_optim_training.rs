//! What stands around an optimizer: clipping, schedules and the gradient scaler, against PyTorch
//! 2.9.1; the given cases D07 and D09.

#[path = "engine/failed.rs"]
mod failed;
#[path = "engine/optim.rs"]
mod optim;
#[path = "engine/refused.rs"]
mod refused;

use std::slice;

use engine_room::amp::GradScaler;
use engine_room::nn::Parameter;
use engine_room::optim::{
    AdamW, CosineAnnealingLr, LambdaLr, LinearLr, LrScheduler, Optimizer, ParamGroup, Schedule,
    SequentialLr, Sgd, clip_grad_norm_, clip_grad_value_,
};
use engine_room::{DType, Tensor};
use failed::fails;
use optim::{agree, float, floats, give, golden, numbers, parameter, start, tensors, values};
use refused::refused;

// Clipping

/// Parameters with these gradients.
fn with_gradients(grads: &[&[f32]]) -> Vec<Parameter> {
    let params = grads.iter().map(|grad| {
        let p = parameter(&vec![1.0; grad.len()]);
        give(&p, &Tensor::from_vec(grad.to_vec(), &[grad.len()]));
        p
    });
    params.collect()
}

fn gradients(params: &[Parameter]) -> Vec<f32> {
    params.iter().flat_map(|p| values(&p.get().grad().expect("it has one"))).collect()
}

#[test]
fn d07_clipping_by_global_norm() {
    const INF: f64 = f64::INFINITY;
    let check = |grads: &[&[f32]], norm_type: f64, norm: f64, want: &[f64]| {
        let params = with_gradients(grads);
        let got = clip_grad_norm_(&params, 1.0, norm_type, false).expect("it is not asked to fail");
        agree("norm", &[got as f32], &[norm], 2e-6);
        agree("gradients", &gradients(&params), want, 2e-6);
    };
    check(&[&[3.0], &[4.0]], 2.0, 5.0, &[0.6, 0.8]);
    check(&[&[3.0, -4.0]], INF, 4.0, &[0.75, -1.0]);
    check(&[&[0.0, 0.0]], 2.0, 0.0, &[0.0, 0.0]);
    check(&[&[f32::INFINITY, 1.0], &[2.0]], 2.0, INF, &[f64::NAN, 0.0, 0.0]);
    // Small ones stay to the last bit.
    let params = with_gradients(&[&[0.3], &[0.4]]);
    agree("norm", &[clip_grad_norm_(&params, 1.0, 2.0, false).unwrap() as f32], &[0.5], 2e-6);
    assert_eq!(gradients(&params), [0.3, 0.4]);
    let params = with_gradients(&[&[f32::INFINITY, 1.0], &[2.0]]);
    fails(clip_grad_norm_(&params, 1.0, 2.0, true), &["norm of the gradients is inf"]);
    assert_eq!(gradients(&params), [f32::INFINITY, 1.0, 2.0]);
    assert_eq!(clip_grad_norm_(&[parameter(&[1.0])], 1.0, 2.0, true), Ok(0.0));
    // Of its kind: NaN in any norm, p = 1, a limit of 0, and squares that only an f64 can hold.
    for p in [1.0, 2.0, 2.5, INF] {
        let params = with_gradients(&[&[1.0], &[f32::NAN, 2.0]]);
        fails(clip_grad_norm_(&params, 1.0, p, true), &["norm of the gradients is NaN"]);
        assert!(clip_grad_norm_(&params, 1.0, p, false).unwrap().is_nan());
        assert!(gradients(&params).iter().all(|x| x.is_nan()), "p = {p}");
    }
    check(&[&[3.0], &[-4.0]], 1.0, 7.0, &[3.0 / 7.0, -4.0 / 7.0]);
    check(&[&[3e30], &[4e30]], 2.0, 5e30, &[0.6, 0.8]);
    let params = with_gradients(&[&[3.0]]);
    clip_grad_norm_(&params, 0.0, 2.0, true).unwrap();
    assert_eq!(gradients(&params), [0.0]);
}

#[test]
fn clipping_of_half_types_is_computed_wide() {
    let p = Parameter::new(Tensor::ones(&[100]).to(DType::F16));
    give(&p, &Tensor::full(&[100], 1000.0));
    let norm = clip_grad_norm_(slice::from_ref(&p), 1.0, 2.0, true);
    assert_eq!(norm, Ok(10_000.0), "a square of 1000 is too large for an f16");
    agree("f16", &gradients(&[p]), &[0.1; 100], 2f64.powi(-11));
}

#[test]
fn clipping_is_that_of_pytorch() {
    let golden = golden();
    let given = || {
        let params = start(&golden, DType::F32);
        let grads = tensors(&golden, &golden["grads"][7]);
        params.iter().zip(&grads).for_each(|(p, grad)| give(p, grad));
        params
    };
    for case in golden["clipped"].as_array().expect("a list") {
        let (params, max_norm) = (given(), float(&case["max_norm"]));
        let norm = clip_grad_norm_(&params, max_norm, float(&case["norm_type"]), true).unwrap();
        agree("norm", &[norm as f32], &[float(&case["norm"])], 1e-6);
        agree(&format!("{case}"), &gradients(&params), &floats(&case["grads"]), 1e-6);
    }
    let params = given();
    clip_grad_value_(&params, 0.25);
    agree("by value", &gradients(&params), &floats(&golden["value_clipped"]), 0.0);
    let params = with_gradients(&[&[f32::NAN, f32::INFINITY, -2.0, 0.5]]);
    clip_grad_value_(&params, 1.0);
    agree("by value", &gradients(&params), &[f64::NAN, 1.0, -1.0, 0.5], 0.0);
    assert!(refused(|| clip_grad_value_(&params, -1.0)).message.contains("0 or more"));
    assert!(refused(|| clip_grad_norm_(&params, -1.0, 2.0, true)).message.contains("0 or more"));
    assert!(refused(|| clip_grad_norm_(&params, 1.0, 0.0, true)).message.contains("above 0"));
}

// Schedules

fn sequential() -> SequentialLr {
    let schedules: Vec<Box<dyn Schedule>> = vec![
        Box::new(LinearLr::new(0.01, 1.0, 8)),
        Box::new(CosineAnnealingLr::new(30, 1e-3)),
        Box::new(LambdaLr(|step| 0.5f64.powi(step as i32))),
    ];
    SequentialLr::new(schedules, vec![8, 38])
}

fn schedule(name: &str, optimizer: &mut dyn Optimizer) -> LrScheduler {
    match name {
        "linear" => LrScheduler::new(LinearLr::new(0.1, 1.0, 10), optimizer),
        "linear_down" => LrScheduler::new(LinearLr::new(1.0, 0.25, 30), optimizer),
        "cosine" => LrScheduler::new(CosineAnnealingLr::new(20, 1e-4), optimizer),
        "lambda" => LrScheduler::new(LambdaLr(|step| 0.95f64.powi(step as i32)), optimizer),
        "sequential" => LrScheduler::new(sequential(), optimizer),
        _ => panic!("the golden file has {name}, which this test does not know"),
    }
}

fn two_groups() -> Sgd {
    let group = |lr| ParamGroup { params: vec![parameter(&[1.0])], lr, weight_decay: 0.0 };
    Sgd::with_groups(vec![group(0.1), group(0.02)])
}

fn rates(optimizer: &dyn Optimizer) -> Vec<f64> {
    optimizer.groups().iter().map(|group| group.lr).collect()
}

/// PyTorch's cosine goes from rate to rate and drifts; in f64 that is far below 1e-9.
#[test]
fn fifty_rates_are_those_of_pytorch() {
    let golden = golden();
    for case in golden["schedules"].as_array().expect("a list") {
        let mut optimizer = two_groups();
        let mut scheduler = schedule(case["schedule"].as_str().expect("a name"), &mut optimizer);
        for (step, want) in case["rates"].as_array().expect("a list").iter().enumerate() {
            for (got, want) in rates(&optimizer).iter().zip(floats(want)) {
                let close = (got - want).abs() <= 1e-9 * want.abs();
                assert!(close, "{} at step {step}: {got}, not {want}", case["schedule"]);
            }
            scheduler.step(&mut optimizer);
        }
    }
}

#[test]
fn a_restored_schedule_goes_on() {
    let mut optimizer = two_groups();
    let mut whole = LrScheduler::new(sequential(), &mut optimizer);
    (0..20).for_each(|_| whole.step(&mut optimizer));
    let (saved, state) = (whole.state_dict(), optimizer.state_dict());
    assert_eq!((saved.last_epoch, &saved.base_lrs[..]), (20, &[0.1, 0.02][..]));
    let mut again = two_groups();
    let mut resumed = LrScheduler::new(sequential(), &mut again);
    resumed.load_state_dict(&saved).expect("it has as many groups");
    again.load_state_dict(&state).expect("it is the same optimizer");
    assert_eq!(rates(&again), rates(&optimizer));
    for _ in 0..30 {
        whole.step(&mut optimizer);
        resumed.step(&mut again);
        assert_eq!(rates(&again), rates(&optimizer));
    }
    let mut other = Sgd::new(vec![parameter(&[1.0])], 0.5);
    let mut other = LrScheduler::new(sequential(), &mut other);
    fails(other.load_state_dict(&saved), &["2 groups", "this optimizer 1"]);
}

#[test]
fn schedules_that_make_no_sense_are_refused() {
    assert!(refused(|| LinearLr::new(0.1, 1.0, 0)).message.contains("1 or more"));
    assert!(refused(|| LinearLr::new(-0.1, 1.0, 5)).message.contains("0 or more"));
    assert!(refused(|| CosineAnnealingLr::new(0, 0.0)).message.contains("1 or more"));
    let two = || -> Vec<Box<dyn Schedule>> {
        vec![Box::new(LinearLr::new(0.1, 1.0, 5)), Box::new(CosineAnnealingLr::new(5, 0.0))]
    };
    assert!(refused(|| SequentialLr::new(two(), vec![])).message.contains("milestones"));
    let mut three = two();
    three.extend(two().pop());
    assert!(refused(|| SequentialLr::new(three, vec![5, 5])).message.contains("rising"));
}

// The scaler

fn small_scaler() -> GradScaler {
    GradScaler::new().init_scale(8.0).growth_factor(2.0).backoff_factor(0.5).growth_interval(2)
}

/// One iteration with loss = p; its gradient is replaced if there is another. What the scaled
/// gradient was, whether it stepped, p and the scale.
fn iterate(
    p: &Parameter,
    optimizer: &mut dyn Optimizer,
    scaler: &mut GradScaler,
    other: Option<f32>,
) -> (f32, bool, f32, f32) {
    optimizer.zero_grad(true);
    scaler.scale(&p.get().sum()).backward();
    let grad = p.get().grad().expect("p was used");
    let scaled = grad.item();
    if let Some(other) = other {
        grad.fill_(other);
    }
    let stepped = scaler.step(optimizer);
    scaler.update();
    (scaled, stepped, p.get().item(), scaler.get_scale())
}

#[test]
fn d09_the_scaler_skips_backs_off_and_grows() {
    let p = parameter(&[1.0]);
    let (mut sgd, mut scaler) = (Sgd::new(vec![p.clone()], 0.1), small_scaler());
    let table = [
        (None, [8.0, 0.9, 8.0]),
        (Some(f32::INFINITY), [8.0, 0.9, 4.0]),
        (None, [4.0, 0.8, 4.0]),
        (None, [4.0, 0.7, 8.0]),
        (Some(f32::NAN), [8.0, 0.7, 4.0]),
        (None, [4.0, 0.6, 4.0]),
    ];
    for (other, want) in table {
        let (scaled, stepped, p, scale) = iterate(&p, &mut sgd, &mut scaler, other);
        agree("D09", &[scaled, p, scale], &want, 1e-5);
        assert_eq!(stepped, other.is_none());
    }
}

/// Of the kind of D09: a skipped step leaves the state of AdamW and the schedule where they were.
#[test]
fn a_skipped_step_changes_nothing() {
    let run = |overflows: &[usize]| {
        let p = parameter(&[1.0]);
        let mut adamw = AdamW::new(vec![p.clone()], 0.1);
        let mut scheduler = LrScheduler::new(LinearLr::new(0.1, 1.0, 4), &mut adamw);
        let mut scaler = small_scaler();
        let (mut path, mut taken) = (Vec::new(), 0);
        for at in 0.. {
            let other = overflows.contains(&at).then_some(f32::NEG_INFINITY);
            let (_, stepped, now, _) = iterate(&p, &mut adamw, &mut scaler, other);
            if stepped {
                scheduler.step(&mut adamw);
                taken += 1;
                path.push((now, adamw.groups()[0].lr));
            }
            assert_eq!(adamw.state_dict().params[0].step, taken);
            if taken == 6 {
                return path;
            }
        }
        unreachable!("the loop ends by itself")
    };
    assert_eq!(run(&[]), run(&[0, 3, 4]));
}

#[test]
fn fifty_steps_with_scaling_clipping_and_a_schedule() {
    let golden = golden();
    let want = &golden["training"];
    let params = start(&golden, DType::F32);
    let mut adamw = AdamW::new(params.clone(), 0.02).weight_decay(0.05);
    let mut scheduler = LrScheduler::new(sequential(), &mut adamw);
    let mut scaler = GradScaler::new().init_scale(1024.0).growth_interval(5);
    for at in 0..50 {
        adamw.zero_grad(true);
        let grads = tensors(&golden, &golden["grads"][at]);
        let losses = params.iter().zip(&grads).map(|(p, grad)| p.get().mul(grad).sum());
        let loss = losses.reduce(|a, b| a.add(&b)).expect("there are parameters");
        scaler.scale(&loss).backward();
        if let Some(bad) = want["bad"].get(at.to_string()) {
            let grad = params[0].get().grad().expect("it was used");
            grad.select(0, 2).fill_(float(bad));
        }
        scaler.unscale_(&mut adamw);
        clip_grad_norm_(&params, 1.0, 2.0, false).expect("it is not asked to fail");
        if scaler.step(&mut adamw) {
            scheduler.step(&mut adamw);
        }
        scaler.update();
        let what = format!("step {at}");
        agree(&what, &numbers(&params), &floats(&want["path"][at]), 1e-6);
        assert_eq!(f64::from(scaler.get_scale()), float(&want["scales"][at]), "{what}");
        assert_eq!(f64::from(scaler.state_dict().growth_tracker), float(&want["trackers"][at]));
    }
}

/// A gradient of 1e-7 times 65536 fits an f16, and the step in f32 gets it back: divided in place
/// it would have become 1.2e-7.
#[test]
fn an_f16_gradient_is_divided_in_the_step() {
    let p = Parameter::new(Tensor::zeros(&[1]).to(DType::F16));
    let mut sgd = Sgd::new(vec![p.clone()], 1000.0);
    let mut scaler = GradScaler::new();
    let loss = p.get().to(DType::F32).mul_scalar(1e-7).sum();
    scaler.scale(&loss).backward();
    assert!(refused(|| scaler.unscale_(&mut sgd)).message.contains("leave the dividing to step()"));
    assert!(scaler.step(&mut sgd));
    agree("f16", &numbers(&[p]), &[-1e-4], 2f64.powi(-10));
    // The scale is too large for an f16, and so the scaled loss is none.
    let loss = Tensor::ones(&[]).to(DType::F16);
    assert_eq!((scaler.scale(&loss).dtype(), scaler.scale(&loss).item()), (DType::F32, 65536.0));
}

#[test]
fn a_scaler_is_told_in_order() {
    let p = parameter(&[1.0]);
    let (mut sgd, mut scaler) = (Sgd::new(vec![p.clone()], 0.1), small_scaler());
    assert!(refused(|| scaler.update()).message.contains("call step() first"));
    assert!(refused(|| scaler.step(&mut sgd)).message.contains("call backward() first"));
    assert!(refused(|| scaler.unscale_(&mut sgd)).message.contains("call backward() first"));
    scaler.scale(&p.get().sum()).backward();
    scaler.unscale_(&mut sgd);
    assert_eq!(gradients(slice::from_ref(&p)), [1.0]);
    assert!(refused(|| scaler.unscale_(&mut sgd)).message.contains("already"));
    assert!(scaler.step(&mut sgd));
    agree("once", &numbers(slice::from_ref(&p)), &[0.9], 1e-6);
    assert!(refused(|| scaler.step(&mut sgd)).message.contains("already"));
    assert!(refused(|| scaler.unscale_(&mut sgd)).message.contains("after step()"));
    scaler.update();
    // Two optimizers: one overflow backs off for both, and the other steps.
    let q = parameter(&[1.0]);
    let mut other = Sgd::new(vec![q.clone()], 0.1);
    scaler.scale(&p.get().sum().add(&q.get().sum())).backward();
    q.get().grad().expect("it was used").fill_(f32::NAN);
    p.get().grad().expect("it was used").fill_(scaler.get_scale());
    assert_eq!((scaler.step(&mut sgd), scaler.step(&mut other)), (true, false));
    let before = scaler.get_scale();
    scaler.update();
    assert_eq!(scaler.get_scale(), before / 2.0);
}

#[test]
fn a_scaler_is_saved_and_can_be_off() {
    let p = parameter(&[1.0]);
    let (mut sgd, mut scaler) = (Sgd::new(vec![p.clone()], 0.1), small_scaler());
    iterate(&p, &mut sgd, &mut scaler, None);
    let mut again = GradScaler::new();
    again.load_state_dict(&scaler.state_dict());
    assert_eq!(again.state_dict(), scaler.state_dict());
    assert_eq!(iterate(&p, &mut sgd, &mut again, None).3, 16.0, "the second of two");
    // It does not grow beyond f32.
    let mut large = small_scaler().init_scale(f32::MAX).growth_interval(1);
    p.get().zero_grad();
    give(&p, &Tensor::ones(&[1]));
    large.step(&mut sgd);
    large.update();
    assert_eq!(large.get_scale(), f32::MAX);
    let p = parameter(&[1.0]);
    let (mut sgd, mut off) = (Sgd::new(vec![p.clone()], 0.1), GradScaler::new().enabled(false));
    let (scaled, stepped, p, scale) = iterate(&p, &mut sgd, &mut off, None);
    assert_eq!((scaled, stepped, scale), (1.0, true, 1.0));
    agree("off", &[p], &[0.9], 1e-6);
    refused(|| GradScaler::new().growth_factor(1.0));
    refused(|| GradScaler::new().backoff_factor(1.0));
}
