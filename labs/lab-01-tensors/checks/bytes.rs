//! 1.1: bytes of tensors and of lists of parameters, as the engine's storages take them.

use engine_room::rng::Generator;
use engine_room::{DType, Device, Tensor};
use grading::{Check, Death, Diagnosis, Idea};

use super::super::formats::Format;
use super::super::training::Parameter;
use super::Implementation;

/// 1.1
pub fn bytes(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    for format in Format::ALL {
        let matrix = [5 + rng.below(40), 50 + rng.below(40)];
        let image = [2 + rng.below(3), 3, 7 + rng.below(9), 17 + rng.below(9)];
        let shapes: [&[usize]; 6] = [&matrix, &image, &[1 + matrix[0]], &[], &[0, 4], &[1]];
        for shape in shapes {
            tensor(imp, check, shape, format, held(shape, format))?;
        }
    }
    check.if_it_dies(Death::Panicked, "1.1-32-bits", WIDTH);
    for format in Format::ALL {
        let embedding = [128_256, 8_192 * (5 + rng.below(4))];
        let want = embedding.iter().product::<usize>() * dtype(format).size();
        tensor(imp, check, &embedding, format, want as u64)?;
    }
    for kind in [Kind::Plain, Kind::Mixed, Kind::Tied, Kind::Both] {
        for format in Format::ALL {
            list(imp, check, &parameters(&mut rng, kind), format)?;
        }
    }
    list(imp, check, &[], Format::Bf16)
}

/// A type of the engine with elements as large as the format's. A tensor core reads fp32 numbers
/// from memory and computes with them as tf32.
fn dtype(format: Format) -> DType {
    match format {
        Format::F32 | Format::Tf32 => DType::F32,
        Format::F16 => DType::F16,
        Format::Bf16 => DType::BF16,
        Format::E4m3 | Format::E5m2 | Format::I8 => DType::U8,
    }
}

/// The bytes of a real tensor.
fn held(shape: &[usize], format: Format) -> u64 {
    Tensor::full_on(shape, 1, dtype(format), Device::Cpu).nbytes()
}

fn tensor(
    imp: &Implementation,
    check: &mut Check,
    shape: &[usize],
    format: Format,
    want: u64,
) -> Result<(), Diagnosis> {
    let called = format!("tensor_bytes(shape {shape:?}, {})", format.name());
    let got = check.call(called.as_str(), || (imp.tensor_bytes)(shape, format))?;
    check.equal("bytes", &called, &got, &want, &ideas(shape, format, want))
}

fn ideas(shape: &[usize], format: Format, want: u64) -> Vec<Idea<u64>> {
    let idea = |key, thought, value| Idea { key, thought, value };
    let numel: u64 = shape.iter().map(|&size| size as u64).product();
    let size = dtype(format).size() as u64;
    let sum: u64 = shape.iter().map(|&size| size as u64).sum();
    let mut ideas = vec![
        idea("1.1-32-bits", WIDTH, want & 0xffff_ffff),
        idea("1.1-sum-of-sizes", SUM, sum * size),
        idea("1.1-bits", BITS, want * 8),
        idea("1.1-elements", ELEMENTS, numel),
        idea("1.1-format-ignored", IGNORED, numel * 4),
    ];
    if shape.is_empty() {
        ideas.insert(0, idea("1.1-no-sizes-no-bytes", SCALAR, 0));
    }
    if format == Format::Tf32 {
        let sizes = [numel * 2, (numel * 19).div_ceil(8), numel * 19 / 8, numel * 3];
        ideas.splice(0..0, sizes.map(|value| idea("1.1-tf32-stored", TF32, value)));
    }
    ideas
}

/// What makes a list of parameters more than a sum of products.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    Mixed,
    Tied,
    Both,
}

/// An embedding, blocks of a norm and two matrices, and an output layer.
fn parameters(rng: &mut Generator, kind: Kind) -> Vec<Parameter> {
    let (mixed, tied) = (kind != Kind::Plain && kind != Kind::Tied, kind != Kind::Plain);
    let tied = tied && kind != Kind::Mixed;
    let (width, rows, blocks) = (8 + rng.below(40), 60 + rng.below(40), 1 + rng.below(3));
    let entry = |name: String, shape: Vec<usize>| Parameter {
        keep_f32: mixed && name.ends_with("norm.weight"),
        name,
        shape,
        tied_to: None,
    };
    let mut list = vec![entry("embedding.weight".to_owned(), vec![rows, width])];
    for block in 0..blocks {
        list.push(entry(format!("blocks.{block}.norm.weight"), vec![width]));
        list.push(entry(format!("blocks.{block}.up.weight"), vec![4 * width, width]));
        list.push(entry(format!("blocks.{block}.down.weight"), vec![width, 4 * width]));
    }
    list.push(entry("norm.weight".to_owned(), vec![width]));
    let output = entry("output.weight".to_owned(), vec![rows, width]);
    list.push(Parameter { tied_to: tied.then_some(0), ..output });
    if kind == Kind::Both {
        // A second norm that is the first one again: an entry that is tied and kept.
        let again = entry("extra.norm.weight".to_owned(), vec![width]);
        list.push(Parameter { tied_to: Some(1), ..again });
    }
    list
}

fn list(
    imp: &Implementation,
    check: &mut Check,
    parameters: &[Parameter],
    format: Format,
) -> Result<(), Diagnosis> {
    let own = |parameter: &Parameter| if parameter.keep_f32 { Format::F32 } else { format };
    let total = |count: &dyn Fn(usize, &Parameter) -> bool, own: &dyn Fn(&Parameter) -> Format| {
        let counted = parameters.iter().enumerate().filter(|&(at, p)| count(at, p));
        counted.map(|(_, p)| held(&p.shape, own(p))).sum::<u64>()
    };
    let untied = |_: usize, p: &Parameter| p.tied_to.is_none();
    let alone = |at: usize, p: &Parameter| {
        p.tied_to.is_none() && !parameters.iter().any(|other| other.tied_to == Some(at))
    };
    let (all, in_format) = (|_: usize, _: &Parameter| true, |_: &Parameter| format);
    let idea = |key, thought, value| Idea { key, thought, value };
    let ideas = [
        idea("1.1-tied-counted-twice", TIED, total(&all, &own)),
        idea("1.1-norms-in-the-format", KEPT, total(&untied, &in_format)),
        idea("1.1-tied-not-counted", GONE, total(&alone, &own)),
        idea("1.1-format-ignored", IGNORED, total(&untied, &|_| Format::F32)),
        idea("1.1-all-alike", ALIKE, total(&all, &in_format)),
    ];
    let want = total(&untied, &own);
    let called = format!("parameter_bytes({}, {})", described(parameters), format.name());
    let got = check.call(called.as_str(), || (imp.parameter_bytes)(parameters, format))?;
    check.equal("bytes", &called, &got, &want, &ideas)
}

/// The list in words, one entry a line.
fn described(parameters: &[Parameter]) -> String {
    let line = |p: &Parameter| {
        let kept = if p.keep_f32 { ", keep_f32" } else { "" };
        let tied = p.tied_to.map_or(String::new(), |at| format!(", tied to entry {at}"));
        format!("\n  {} {:?}{kept}{tied}", p.name, p.shape)
    };
    match parameters {
        [] => "an empty list".to_owned(),
        _ => format!("the list{}\n", parameters.iter().map(line).collect::<String>()),
    }
}

const WIDTH: &str = "The number does not fit into 32 bits: a matrix like this holds more than 4.3 \
    billion numbers. Convert each size to u64 before you multiply.";
const SUM: &str = "The sizes have been added. A matrix of 3 rows and 4 columns holds 3 times 4 \
    numbers.";
const BITS: &str = "Those are bits. A byte has 8 of them.";
const ELEMENTS: &str = "That is the number of elements. Each of them takes as many bytes as its \
    format has.";
const IGNORED: &str = "Those are the bytes in fp32. Formats of 16 bits take 2 bytes for a \
    number, formats of 8 bits take 1.";
const SCALAR: &str = "A tensor without dimensions holds one number: a loss is one. The product \
    of no sizes is 1, not 0.";
const TF32: &str = "tf32 is a way of computing, not of storing. A matrix unit reads fp32 numbers \
    from memory and drops 13 bits of each on its way in. In memory every number keeps its 4 \
    bytes, so tf32 saves time and no memory.";
const TIED: &str = "The tied entry has been counted again. It is the same memory under a second \
    name: a training step updates it once, a checkpoint needs it once.";
const KEPT: &str = "All entries have been counted in the model's format. Those with keep_f32 \
    stay in fp32, at 4 bytes a number.";
const GONE: &str = "Both names of the tied memory have been left out. One of them has to count: \
    the entry that the other is tied to.";
const ALIKE: &str = "Every entry has been counted in the same format, tied ones too. Leave out \
    what is tied to an earlier entry, and count what has keep_f32 in fp32.";
