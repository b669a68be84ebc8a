//! 2.7: the bytes that the engine's counters show, or for models too large to run, layouts.

use engine_room::rng::Generator;
use engine_room::{DType, Device, Layout, Tensor, memory};
use grading::diagnosis::key;
use grading::{Check, Death, Diagnosis, Idea};

use super::super::attention::{Sizes, grouped_attention};
use super::Implementation;
use super::foretold::{THOUGHTS, foretold};

/// 2.7
pub fn bytes(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let mut answers = Vec::new();
    for sizes in small(&mut rng) {
        let (called, got) = asked(imp, check, &sizes)?;
        answers.push(Answer { called, sizes, got, want: counted(&sizes) });
    }
    judged(check, &answers)?;
    for death in [Death::MemoryLimit, Death::TimeLimit] {
        check.if_it_dies(death, "2.7-runs-the-model", RUNS);
    }
    for sizes in large() {
        let (called, got) = asked(imp, check, &sizes).map_err(of_a_panic)?;
        let want = by_layouts(&sizes);
        let ideas = [Idea { key: "2.7-32-bits", thought: WIDTH, value: want & 0xffff_ffff }];
        check.equal("bytes", &called, &got, &want, &ideas)?;
    }
    Ok(())
}

/// Sizes that run in no time: first ordinary ones, then with more and more sizes of 1.
fn small(rng: &mut Generator) -> Vec<Sizes> {
    let mut sizes = |batch, [queries, keys]: [usize; 2], [heads, kv_heads]: [usize; 2]| Sizes {
        batch,
        queries,
        keys,
        heads,
        kv_heads,
        head_width: 2 + rng.below(6),
        dtype: DType::F32,
    };
    let half = |sizes| Sizes { dtype: DType::BF16, ..sizes };
    let [even, asked] = [[5, 5], [4, 11]];
    vec![
        sizes(2, even, [6, 6]),
        sizes(3, asked, [4, 4]),
        half(sizes(2, asked, [4, 4])),
        sizes(2, asked, [6, 3]),
        half(sizes(3, [7, 7], [8, 2])),
        sizes(3, [2, 9], [2, 2]),
        sizes(1, asked, [4, 4]),
        sizes(1, asked, [6, 2]),
        sizes(3, [1, 9], [4, 4]),
        half(sizes(2, [1, 13], [6, 3])),
        sizes(1, [1, 9], [4, 4]),
        sizes(1, [1, 9], [6, 3]),
        sizes(2, asked, [5, 1]),
        sizes(1, asked, [5, 1]),
        sizes(3, [1, 7], [4, 1]),
        sizes(1, [1, 7], [4, 1]),
        sizes(3, asked, [1, 1]),
        sizes(3, [4, 1], [5, 5]),
        sizes(3, [4, 1], [6, 2]),
        sizes(3, [4, 1], [5, 1]),
        sizes(3, [1, 1], [6, 6]),
        sizes(1, [1, 1], [6, 2]),
    ]
}

/// Models that people serve: their heads, in contexts that they are made for.
fn large() -> Vec<Sizes> {
    let sizes = |batch, queries, keys, [heads, kv_heads]: [usize; 2], head_width| Sizes {
        batch,
        queries,
        keys,
        heads,
        kv_heads,
        head_width,
        dtype: DType::BF16,
    };
    vec![
        sizes(16, 8_192, 8_192, [32, 8], 128),
        sizes(64, 1, 32_768, [64, 8], 128),
        sizes(1, 131_072, 131_072, [40, 40], 128),
        sizes(32, 1, 4_096, [71, 1], 64),
    ]
}

/// Runs it and reads the counters.
fn counted(sizes: &Sizes) -> u64 {
    let &Sizes { batch: b, queries, keys, heads, kv_heads, head_width: d, dtype } = sizes;
    let input = |tokens: usize, heads: usize| {
        Tensor::full_on(&[b, tokens, heads * d], 1.0, dtype, Device::Cpu)
    };
    let (q, k, v) = (input(queries, heads), input(keys, kv_heads), input(keys, kv_heads));
    memory::reset_hidden_copies();
    grouped_attention(&q, &k, &v, sizes);
    memory::hidden_copies().iter().map(|copies| copies.bytes).sum()
}

/// Follows the layouts alone: a reshape that finds no strides copies everything it shows.
fn by_layouts(sizes: &Sizes) -> u64 {
    let &Sizes { batch: b, queries: l, keys: s, heads: h, kv_heads: g, head_width: d, dtype } =
        sizes;
    let mut elements = 0;
    let mut reshape = |layout: Layout, shape: &[usize]| {
        layout.view(shape).unwrap_or_else(|| {
            elements += shape.iter().product::<usize>() as u64;
            Layout::contiguous(shape)
        })
    };
    let q = Layout::contiguous(&[b, l, h, d]).transpose(1, 2);
    reshape(q, &[b * h, l, d]);
    for transposed in [true, false] {
        let mut x = Layout::contiguous(&[b, s, g, d]).transpose(1, 2);
        if g < h {
            let grouped = x.view(&[b, g, 1, s, d]).and_then(|x| x.expand(&[b, g, h / g, s, d]));
            x = reshape(grouped.expect("a size of 1 stretches"), &[b, h, s, d]);
        }
        match transposed {
            true => reshape(x.transpose(2, 3), &[b * h, d, s]),
            false => reshape(x, &[b * h, s, d]),
        };
    }
    reshape(Layout::contiguous(&[b, h, l, d]).transpose(1, 2), &[b, l, h * d]);
    elements * dtype.size() as u64
}

fn asked(
    imp: &Implementation,
    check: &mut Check,
    sizes: &Sizes,
) -> Result<(String, u64), Diagnosis> {
    let &Sizes { batch, queries, keys, heads, kv_heads, head_width, dtype } = sizes;
    let called = format!(
        "copied_bytes(batch {batch}, queries {queries}, keys {keys}, heads {heads}, kv_heads \
         {kv_heads}, head_width {head_width}, {dtype})"
    );
    let got = check.call(called.as_str(), || (imp.copied_bytes)(sizes))?;
    Ok((called, got))
}

/// Who runs a model of this size gets no memory; who multiplies in 32 bits gets an overflow.
fn of_a_panic(panic: Diagnosis) -> Diagnosis {
    let (key, thought) = match panic.key.as_str() {
        key::PANICKED if panic.got.contains("overflow") => ("2.7-32-bits", WIDTH),
        key::PANICKED if panic.got.contains("memory") => ("2.7-runs-the-model", RUNS),
        _ => return panic,
    };
    Diagnosis { key: key.to_owned(), ..panic }.thought(thought)
}

struct Answer {
    called: String,
    sizes: Sizes,
    got: u64,
    want: u64,
}

/// The first wrong answer, with the thought that explains it and most of the other answers.
fn judged(check: &Check, answers: &[Answer]) -> Result<(), Diagnosis> {
    let Some(wrong) = answers.iter().find(|answer| answer.got != answer.want) else {
        return Ok(());
    };
    let agrees = |flaw, answer: &Answer| foretold(&answer.sizes, flaw) == answer.got;
    let agreements = |flaw| answers.iter().filter(|answer| agrees(flaw, answer)).count();
    let explain = THOUGHTS.iter().filter(|(flaw, ..)| agrees(*flaw, wrong)).rev();
    let (key, thought) = explain
        .max_by_key(|(flaw, ..)| agreements(*flaw))
        .map_or((key::WRONG_VALUE, ""), |&(_, key, thought)| (key, thought));
    let right = answers.iter().filter(|answer| answer.got == answer.want).count();
    check.require(false, || {
        Diagnosis::new(key)
            .called(wrong.called.as_str())
            .got(format!("{} bytes; {right} of {} answers are right", wrong.got, answers.len()))
            .expected(format!("{} bytes", wrong.want))
            .thought(thought)
    })
}

const WIDTH: &str = "The number does not fit into 32 bits: copies of real models take more than \
    4 GiB. Multiply in usize or u64.";
const RUNS: &str = "The function seems to run the model. These sizes do not fit into memory: \
    that is why one wants to know before. The sizes alone decide.";
