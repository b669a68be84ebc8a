//! 3.5: a gradient check has to accept right gradients and to find wrong ones, at every scale.

use std::cell::RefCell;

use grading::{Check, Diagnosis};

use super::Implementation;
use super::evidence::Judged;
use super::places::{ABSOLUTE, Meaning, Place, RELATIVE, SLOPE, places, steps};

/// 3.5
pub fn judge(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let scattered: Vec<f64> = (0..40).map(|_| 0.8 + 0.4 * f64::from(rng.uniform())).collect();
    let places = places(scattered);
    for place in &places {
        right(imp, check, place, &place.gradient, place.rejected)?;
    }
    for place in &places[..2] {
        almost_right(imp, check, place)?;
    }
    for (name, factor, accepted) in FALSIFIED {
        for place in &places {
            wrong(imp, check, place, name, factor, accepted)?;
        }
    }
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        not_a_number(imp, check, &places[0], wrong)?;
    }
    two_wrong(imp, check, &places[1])?;
    constant(imp, check)?;
    for place in &steps() {
        right(imp, check, place, &place.gradient, place.rejected)?;
    }
    nothing_to_check(imp, check)
}

/// Ways in which an element is falsified, with a factor, and what it means if that is accepted.
const FALSIFIED: [(&str, f64, Meaning); 5] = [
    ("twice what it is", 2.0, ("3.5-accepts-wrong", ACCEPTS)),
    ("of the wrong sign", -1.0, ("3.5-sign-ignored", SIGN)),
    ("1% too large", 1.01, ("3.5-too-tolerant", TOLERANT)),
    ("0.02% too small", 0.9998, ("3.5-too-tolerant", TOLERANT)),
    ("zero", 0.0, ("3.5-accepts-wrong", ACCEPTS)),
];

fn call(
    imp: &Implementation,
    check: &mut Check,
    place: &Place,
    claim: &[f64],
) -> Result<Judged, Diagnosis> {
    let points = RefCell::new(Vec::new());
    let f = |x: &[f64]| {
        points.borrow_mut().push(x.to_vec());
        (place.f)(x)
    };
    let shown = |values: &[f64]| match values.len() {
        9.. => format!("{} numbers", values.len()),
        _ => format!("{values:?}"),
    };
    let called = format!(
        "gradient_check({}, x {}, gradient {})",
        place.words,
        shown(&place.x),
        shown(claim)
    );
    let found = check.call(called.as_str(), || (imp.gradient_check)(&f, &place.x, claim))?;
    let points = points.into_inner();
    let most = 8 * place.x.len() + 1;
    check.require(points.len() <= most, || {
        Diagnosis::new("3.5-too-many-calls")
            .called(called.as_str())
            .got(format!("{} calls of f", points.len()))
            .expected(format!("at most 8 for each of {} elements", place.x.len()))
            .thought("A slope needs two calls, a formula of higher order four.")
    })?;
    Ok(Judged { called, found, points })
}

/// The claim is right, and has to be accepted.
fn right(
    imp: &Implementation,
    check: &mut Check,
    place: &Place,
    claim: &[f64],
    rejected: Meaning,
) -> Result<(), Diagnosis> {
    let judged = call(imp, check, place, claim)?;
    let Some(element) = judged.found else { return Ok(()) };
    let (key, thought) = judged.of_rejection(place, element).unwrap_or(rejected);
    let longest = judged.longest(&place.x);
    let step =
        if longest > 0.0 { format!("; the longest step was {longest:.1e}") } else { String::new() };
    Err(Diagnosis::new(key)
        .called(judged.called)
        .got(format!("Some({element}){step}"))
        .expected("None: the gradient is right everywhere")
        .thought(thought))
}

/// Claims within the tolerance of the truth have to be accepted.
fn almost_right(imp: &Implementation, check: &mut Check, place: &Place) -> Result<(), Diagnosis> {
    for factor in [1.0 + 6e-5, 1.0 - 6e-5] {
        let claim: Vec<f64> = place.gradient.iter().map(|g| g * factor).collect();
        right(imp, check, place, &claim, ("3.5-too-strict", STRICT))?;
    }
    Ok(())
}

/// Every element in turn is falsified, and has to be found.
fn wrong(
    imp: &Implementation,
    check: &mut Check,
    place: &Place,
    name: &str,
    factor: f64,
    accepted: Meaning,
) -> Result<(), Diagnosis> {
    let last = place.x.len() - 1;
    for element in 0..=last {
        if place.gradient[element] == 0.0 {
            continue;
        }
        let mut claim = place.gradient.clone();
        claim[element] *= factor;
        let small = place.gradient[element].abs() < 0.1;
        let meaning = match element {
            1.. if factor == 2.0 => ("3.5-some-unchecked", UNCHECKED),
            _ if small => ("3.5-absolute-tolerance", ABSOLUTE),
            _ => accepted,
        };
        wrong_at(imp, check, place, &claim, &[element], meaning)
            .map_err(|found| named(found, element, name))?;
    }
    Ok(())
}

fn named(diagnosis: Diagnosis, element: usize, name: &str) -> Diagnosis {
    let called = format!("{}, of which element {element} is {name}", diagnosis.called);
    diagnosis.called(called)
}

/// The claim is wrong at these elements, and one of them has to be named.
fn wrong_at(
    imp: &Implementation,
    check: &mut Check,
    place: &Place,
    claim: &[f64],
    elements: &[usize],
    accepted: Meaning,
) -> Result<(), Diagnosis> {
    let judged = call(imp, check, place, claim)?;
    let (key, thought) = match judged.found {
        Some(found) if elements.contains(&found) => return Ok(()),
        Some(_) => ("3.5-wrong-index", INDEX),
        None if elements.iter().any(|&element| judged.stood_still(&place.x, element)) => {
            ("3.5-step-zero-accepted", ZERO_ACCEPTED)
        }
        None => accepted,
    };
    let expected: Vec<String> = elements.iter().map(|i| format!("Some({i})")).collect();
    Err(Diagnosis::new(key)
        .called(judged.called)
        .got(format!("{:?}", judged.found))
        .expected(format!("{}: there the claim is wrong", expected.join(" or ")))
        .thought(thought))
}

fn not_a_number(
    imp: &Implementation,
    check: &mut Check,
    place: &Place,
    value: f64,
) -> Result<(), Diagnosis> {
    let meaning = if value.is_nan() {
        ("3.5-nan-accepted", NAN)
    } else {
        ("3.5-infinity-accepted", INFINITE)
    };
    for element in 0..place.x.len() {
        let mut claim = place.gradient.clone();
        claim[element] = value;
        wrong_at(imp, check, place, &claim, &[element], meaning)?;
    }
    Ok(())
}

fn two_wrong(imp: &Implementation, check: &mut Check, place: &Place) -> Result<(), Diagnosis> {
    // What is too much in one element is too little in the other.
    let claim = [place.gradient[0] + 1.0, place.gradient[1] - 1.0];
    wrong_at(imp, check, place, &claim, &[0, 1], ("3.5-sum-compared", SUM))
}

/// Where the slope is 0, the claim may differ from it by 1e-7 and no more.
fn constant(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let flat = Place {
        words: "2, a constant",
        f: |_| 2.0,
        x: vec![1.5, -0.5],
        gradient: vec![0.0, 0.0],
        rejected: ("3.5-relative-only", RELATIVE),
    };
    right(imp, check, &flat, &flat.gradient, flat.rejected)?;
    right(imp, check, &flat, &[6e-8, -6e-8], flat.rejected)?;
    wrong_at(imp, check, &flat, &[0.0, 3e-7], &[1], ("3.5-too-tolerant", TOLERANT))
}

fn nothing_to_check(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let empty = Place {
        words: "1, of no number",
        f: |_| 1.0,
        x: Vec::new(),
        gradient: Vec::new(),
        rejected: ("3.5-slope", SLOPE),
    };
    right(imp, check, &empty, &[], empty.rejected)
}

const STRICT: &str = "The claim differs from the gradient by 6e-5 of it, and up to 1e-4 counts \
    as right.";
const ACCEPTS: &str = "The claim is far off and is accepted. Compare the slope that you measure \
    with what is claimed for the same element.";
const ZERO_ACCEPTED: &str = "x0 is 0 here, and f was asked at x itself: a step that is a share of \
    x0 is 0 too, and the slope becomes 0 / 0, which is NaN. 'Is the difference too large?' is \
    false for NaN, so the claim passes. Keep the step from shrinking to 0, and ask whether the \
    difference is small enough.";
const UNCHECKED: &str = "A wrong first element is found and this one is not. Every element needs \
    its own two calls of f, the last one too.";
const SIGN: &str = "Slope and claim have the same size and different signs, which is as wrong as \
    can be: training would go uphill. Compare the numbers and not their magnitudes.";
const TOLERANT: &str = "The claim is off by more than 1e-4 of the slope and by more than 1e-7, \
    so it is wrong. A looser tolerance lets real mistakes pass.";
const NAN: &str = "A comparison with NaN is always false. Asked as 'is the difference too \
    large?', NaN passes. Ask 'is the difference small enough?' and reject everything else.";
const INFINITE: &str = "The claim is infinite. A tolerance that is a share of the claim is \
    infinite as well; take the share of the slope that you have measured.";
const INDEX: &str = "An element is named that is right. The answer is the index of the element \
    in which slope and claim differ.";
const SUM: &str = "One element is claimed too large and another too small, and their sum is \
    right. Each element has to be compared on its own.";
