//! Wrong steps of AdamW: 4.3. Each is written as a learner would, and not as the check thinks it.

use super::super::solution;
use super::super::state::{AdamSettings, AdamState};
use super::{Wrong, wrong};

type Step = fn(&mut [f32], Option<&[f32]>, &mut AdamState, &AdamSettings);

pub fn mistakes() -> Vec<Wrong> {
    let mut all = of_the_decay();
    all.extend(of_the_formula());
    all.extend(of_the_state());
    all
}

fn adamw(diagnosis: &'static str, name: &'static str, f: Step) -> Wrong {
    wrong("4.3", diagnosis, name, |table| table.adamw_step = f)
}

/// The settings without their decay, and the step with them.
fn undecayed(w: &mut [f32], g: Option<&[f32]>, state: &mut AdamState, settings: &AdamSettings) {
    solution::adamw_step(w, g, state, &AdamSettings { weight_decay: 0.0, ..*settings });
}

fn of_the_decay() -> Vec<Wrong> {
    vec![
        adamw("4.3-decay-in-the-gradient", "L2", |w, g, state, settings| {
            let Some(g) = g else { return };
            let decay = settings.weight_decay as f32;
            let g: Vec<f32> = g.iter().zip(w.iter()).map(|(g, w)| g + decay * w).collect();
            undecayed(w, Some(&g), state, settings);
        }),
        adamw("4.3-decay-without-lr", "wd alone", |w, g, state, settings| {
            if g.is_some() {
                let kept = 1.0 - settings.weight_decay;
                w.iter_mut().for_each(|w| *w = (f64::from(*w) * kept) as f32);
            }
            undecayed(w, g, state, settings);
        }),
        adamw("4.3-decay-after-the-step", "step, then decay", |w, g, state, settings| {
            undecayed(w, g, state, settings);
            if g.is_some() {
                let kept = 1.0 - settings.lr * settings.weight_decay;
                w.iter_mut().for_each(|w| *w = (f64::from(*w) * kept) as f32);
            }
        }),
    ]
}

/// The step with other divisors than 1 - beta^t, or another update.
fn changed(
    w: &mut [f32],
    g: Option<&[f32]>,
    state: &mut AdamState,
    settings: &AdamSettings,
    correction: fn(f64, i32) -> f64,
    update: fn(f64, f64, f64) -> f64,
) {
    let Some(g) = g else { return };
    let AdamSettings { lr, beta1, beta2, eps, weight_decay } = *settings;
    state.step += 1;
    let [of_m, of_v] = [beta1, beta2].map(|beta| correction(beta, state.step as i32));
    for i in 0..w.len() {
        let g = f64::from(g[i]);
        let m = beta1 * f64::from(state.m[i]) + (1.0 - beta1) * g;
        let v = beta2 * f64::from(state.v[i]) + (1.0 - beta2) * g * g;
        let decayed = f64::from(w[i]) * (1.0 - lr * weight_decay);
        w[i] = (decayed - lr * update(m / of_m, v / of_v, eps)) as f32;
        (state.m[i], state.v[i]) = (m as f32, v as f32);
    }
}

fn correction(beta: f64, t: i32) -> f64 {
    1.0 - beta.powi(t)
}

fn update(m: f64, v: f64, eps: f64) -> f64 {
    m / (v.sqrt() + eps)
}

fn of_the_formula() -> Vec<Wrong> {
    vec![
        adamw("4.3-no-correction", "none", |w, g, state, settings| {
            changed(w, g, state, settings, |_, _| 1.0, update);
        }),
        adamw("4.3-counts-late", "t from 0", |w, g, state, settings| {
            changed(w, g, state, settings, |beta, t| correction(beta, t - 1), update);
        }),
        adamw("4.3-eps-in-the-root", "sqrt(v + eps)", |w, g, state, settings| {
            changed(w, g, state, settings, correction, |m, v, eps| m / (v + eps).sqrt());
        }),
        adamw("4.3-no-root", "m / v", |w, g, state, settings| {
            changed(w, g, state, settings, correction, |m, v, eps| m / (v + eps));
        }),
    ]
}

fn of_the_state() -> Vec<Wrong> {
    vec![
        adamw("4.3-counts-each-weight", "counts in the loop", |w, g, state, settings| {
            let Some(g) = g else { return };
            for i in 0..w.len() {
                let mut one = AdamState::new(1);
                (one.step, one.m[0], one.v[0]) = (state.step, state.m[i], state.v[i]);
                solution::adamw_step(&mut w[i..=i], Some(&g[i..=i]), &mut one, settings);
                (state.step, state.m[i], state.v[i]) = (one.step, one.m[0], one.v[0]);
            }
        }),
        adamw("4.3-stores-the-corrected", "m_hat is stored", |w, g, state, settings| {
            solution::adamw_step(w, g, state, settings);
            if g.is_some() {
                let t = state.step as i32;
                state.m.iter_mut().for_each(|m| *m /= 1.0 - settings.beta1.powi(t) as f32);
                let of_v = 1.0 - settings.beta2.powi(t);
                state.v.iter_mut().for_each(|v| *v = (f64::from(*v) / of_v) as f32);
            }
        }),
        adamw("4.3-state-forgotten", "m and v are local", |w, g, state, settings| {
            solution::adamw_step(w, g, state, settings);
            if g.is_some() {
                state.m.fill(0.0);
                state.v.fill(0.0);
            }
        }),
        adamw("4.3-none-unwrapped", "unwraps", |w, g, state, settings| {
            let g = g.unwrap();
            solution::adamw_step(w, Some(g), state, settings);
        }),
        adamw("4.3-none-is-zero", "None is zeros", |w, g, state, settings| {
            let zeros = vec![0.0; w.len()];
            solution::adamw_step(w, Some(g.unwrap_or(&zeros)), state, settings);
        }),
        adamw("4.3-zero-is-none", "skips zeros", |w, g, state, settings| {
            let g = g.filter(|g| g.iter().any(|&x| x != 0.0));
            solution::adamw_step(w, g, state, settings);
        }),
    ]
}
