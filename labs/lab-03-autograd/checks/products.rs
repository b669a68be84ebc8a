//! 3.1 and 3.2: the learner's backward pass runs inside an operation of the engine.

use std::sync::{Arc, Mutex, PoisonError};

use engine_room::Tensor;
use engine_room::autograd::{Ctx, Op, apply};
use engine_room::rng::Generator;
use grading::{Check, Diagnosis, Idea, with_inputs};

use super::inputs::Lie::{Packed, Transposed};
use super::inputs::{Lie, Matrix, random};
use super::{Backward, Implementation};

type Gradients = [Option<Tensor>; 2];

/// An operation whose backward pass is the learner's. What it returns is kept for the check and
/// not handed on, so that a wrong shape is the check's to explain and not the engine's.
struct Product {
    name: &'static str,
    forward: fn(&Tensor, &Tensor) -> Tensor,
    backward: Backward,
    returned: Arc<Mutex<Option<Gradients>>>,
}

impl Op<2> for Product {
    fn name(&self) -> &'static str {
        self.name
    }

    fn forward(&self, ctx: &mut Ctx, [a, b]: [&Tensor; 2]) -> Tensor {
        ctx.save(a);
        ctx.save(b);
        (self.forward)(a, b)
    }

    fn backward(&self, ctx: &Ctx, dy: &Tensor) -> Gradients {
        let gradients = (self.backward)(ctx, dy);
        *self.returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(gradients);
        [None, None]
    }
}

/// One call of the learner's function: what goes in, and which inputs require a gradient.
struct Call {
    words: String,
    names: [&'static str; 3],
    a: Tensor,
    b: Tensor,
    dy: Tensor,
    needs: [bool; 2],
}

impl Call {
    /// Forward and backward through the engine; what the learner's function returned.
    fn run(
        &self,
        check: &mut Check,
        name: &'static str,
        forward: fn(&Tensor, &Tensor) -> Tensor,
        backward: Backward,
    ) -> Result<Gradients, Diagnosis> {
        let leaf = |x: &Tensor, needs: bool| x.detach().requires_grad_(needs);
        let (a, b) = (leaf(&self.a, self.needs[0]), leaf(&self.b, self.needs[1]));
        let returned = Arc::default();
        let op = Product { name, forward, backward, returned: Arc::clone(&returned) };
        let y = apply(op, [&a, &b]);
        check
            .call(self.words.as_str(), || y.backward_with(&self.dy))
            .map_err(|diagnosis| self.with_inputs(diagnosis))?;
        let gradients = returned.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(gradients.unwrap_or_default())
    }

    /// Compares what came with what must come. An input that needs no gradient may have one.
    fn compare(
        &self,
        check: &Check,
        key_of_none: &str,
        got: &Gradients,
        want: [Tensor; 2],
        ideas: [Vec<Idea<Tensor>>; 2],
    ) -> Result<(), Diagnosis> {
        let [da, db] = [0, 1].map(|input| format!("d{}", self.names[input]));
        let parts = [da.as_str(), &db].into_iter().zip(got).zip(want).zip(ideas).zip(self.needs);
        for ((((what, got), want), ideas), needed) in parts {
            match got {
                Some(got) => check
                    .tensor(what, &self.words, got, &want, 1e-5, &ideas)
                    .map_err(|diagnosis| self.with_inputs(diagnosis))?,
                None => check.require(!needed, || self.none(key_of_none, what, &want))?,
            }
        }
        Ok(())
    }

    /// The numbers of small inputs, for a learner who computes along.
    fn with_inputs(&self, diagnosis: Diagnosis) -> Diagnosis {
        let tensors = self.names.into_iter().zip([&self.a, &self.b, &self.dy]);
        let called = with_inputs(&self.words, &tensors.collect::<Vec<_>>());
        diagnosis.called(called)
    }

    fn none(&self, key: &str, what: &str, want: &Tensor) -> Diagnosis {
        Diagnosis::new(key)
            .called(self.words.as_str())
            .got(format!("{what} = None"))
            .expected(format!("{what} of shape {:?}", want.shape()))
            .thought(
                "None says that nobody asks for this gradient. Both inputs act on the result, so \
                 both have a gradient; `ctx.needs(i)` says whether somebody asks for that of \
                 input i.",
            )
    }
}

/// The parts of an idea for one of the two gradients.
fn idea(key: &'static str, thought: &'static str, value: Tensor) -> Idea<Tensor> {
    Idea { key, thought, value }
}

/// 3.1
pub fn mul(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    let shapes: [&[usize]; 9] =
        [&[2, 3], &[3], &[1, 4], &[4, 1], &[], &[1], &[2, 3, 4], &[0, 3], &[5, 2]];
    for shape in shapes {
        for (lies, needs) in [
            ([Packed, Packed, Packed], [true, true]),
            ([Transposed, Packed, Transposed], [true, false]),
            ([Packed, Transposed, Packed], [false, true]),
            ([Transposed, Transposed, Packed], [true, true]),
        ] {
            let call = mul_call(&mut rng, shape, lies, needs);
            let [a, b, dy] = [&call.a, &call.b, &call.dy].map(Tensor::copy);
            let [a, b, dy] = [&a, &b, &dy];
            let got = call.run(check, "mul", Tensor::mul, imp.mul_backward)?;
            let want = [times(&[dy, b]), times(&[dy, a])];
            let ideas = [mul_ideas(a, b, dy), mul_ideas(b, a, dy)];
            call.compare(check, "3.1-gradient-forgotten", &got, want, ideas)?;
        }
    }
    Ok(())
}

fn mul_call(rng: &mut Generator, shape: &[usize], lies: [Lie; 3], needs: [bool; 2]) -> Call {
    let [a, b, dy] = lies.map(|lie| random(rng, shape, lie));
    let views =
        if lies.contains(&Transposed) && shape.len() > 1 { ", some of them views" } else { "" };
    let words = format!("mul_backward(dy {shape:?}) with a, b {shape:?} saved{views}");
    Call { words, names: ["a", "b", "dy"], a, b, dy, needs }
}

/// What goes wrong for the gradient of `own`, whose other factor is `other`.
fn mul_ideas(own: &Tensor, other: &Tensor, dy: &Tensor) -> Vec<Idea<Tensor>> {
    vec![
        idea(
            "3.1-swapped-factors",
            "That is dy times the input itself. If a grows by one, a . b grows by b: each input's \
             gradient is dy times the other factor.",
            times(&[dy, own]),
        ),
        idea(
            "3.1-dy-forgotten",
            "That is the other factor alone: how y changes with this input. The loss changes by \
             dy for each unit of y, so it has to be multiplied by dy.",
            times(&[other]),
        ),
        idea(
            "3.1-rule-of-the-sum",
            "That is dy itself, which is right for a + b. In a . b a change of one factor is \
             multiplied by the other one.",
            times(&[dy]),
        ),
        idea(
            "3.1-both-factors",
            "That is dy times both factors. The factor whose gradient it is has no place in it: \
             the slope of a . b along a is b.",
            times(&[dy, own, other]),
        ),
        idea(
            "3.1-dy-replaced",
            "That is a . b, the result of the forward pass. The input whose gradient it is has no \
             place in it: dy stands there instead, times the other factor.",
            times(&[own, other]),
        ),
        idea(
            "3.1-summed",
            "That is the sum over all elements. y = a . b is elementwise: each element of a acts \
             on one element of y, so a gradient has the shape of its input and nothing is summed.",
            sum(&times(&[dy, other])),
        ),
    ]
}

/// The elementwise product, in `f64`.
fn times(factors: &[&Tensor]) -> Tensor {
    let mut product = vec![1.0f64; factors[0].numel()];
    for factor in factors {
        for (p, x) in product.iter_mut().zip(factor.to_vec::<f32>()) {
            *p *= f64::from(x);
        }
    }
    Tensor::from_vec(product.into_iter().map(|p| p as f32).collect(), factors[0].shape())
}

fn sum(x: &Tensor) -> Tensor {
    Tensor::scalar(x.to_vec::<f32>().iter().sum())
}

/// 3.2. Where sizes differ, most wrong orders do not run at all. The square case, in which they
/// do, then tells by its values which one it is.
pub fn matmul(imp: &Implementation, check: &mut Check) -> Result<(), Diagnosis> {
    let mut rng = check.rng();
    if let Err(diagnosis) = matmul_of_size(imp, check, &mut rng, [2, 3, 4]) {
        if diagnosis.key == "panicked" {
            matmul_of_size(imp, check, &mut rng, [3, 3, 3])?;
        }
        return Err(diagnosis);
    }
    for size in [
        [3, 3, 3],
        [4, 2, 3],
        [1, 4, 3],
        [3, 4, 1],
        [4, 1, 3],
        [1, 1, 1],
        [5, 7, 6],
        [4, 4, 2],
        [2, 4, 4],
        [4, 2, 4],
        [9, 10, 11],
        [0, 0, 2],
        [0, 3, 2],
        [3, 0, 2],
        [2, 3, 0],
    ] {
        matmul_of_size(imp, check, &mut rng, size)?;
    }
    Ok(())
}

fn matmul_of_size(
    imp: &Implementation,
    check: &mut Check,
    rng: &mut Generator,
    size: [usize; 3],
) -> Result<(), Diagnosis> {
    for (lies, needs) in [
        ([Packed, Packed, Packed], [true, true]),
        ([Transposed, Packed, Packed], [false, true]),
        ([Packed, Transposed, Packed], [true, false]),
        ([Transposed, Transposed, Transposed], [true, true]),
    ] {
        let call = matmul_call(rng, size, lies, needs);
        let [a, b, dc] = [&call.a, &call.b, &call.dy].map(Matrix::of);
        let got = call.run(check, "matmul", Tensor::matmul, imp.matmul_backward)?;
        let want = [dc.times(&b.transposed()), a.transposed().times(&dc)].map(|m| m.tensor());
        let ideas = matmul_ideas(&a, &b, &dc);
        call.compare(check, "3.2-gradient-forgotten", &got, want, ideas)?;
    }
    Ok(())
}

fn matmul_call(
    rng: &mut Generator,
    [m, k, n]: [usize; 3],
    lies: [Lie; 3],
    needs: [bool; 2],
) -> Call {
    let a = random(rng, &[m, k], lies[0]);
    let b = random(rng, &[k, n], lies[1]);
    let dy = random(rng, &[m, n], lies[2]);
    let views = if lies.contains(&Transposed) { ", some of them views" } else { "" };
    let shapes = format!("dC [{m}, {n}]) with A [{m}, {k}], B [{k}, {n}] saved");
    let words = format!("matmul_backward({shapes}{views}");
    Call { words, names: ["A", "B", "dC"], a, b, dy, needs }
}

fn matmul_ideas(a: &Matrix, b: &Matrix, dc: &Matrix) -> [Vec<Idea<Tensor>>; 2] {
    let (at, bt, dct) = (a.transposed(), b.transposed(), dc.transposed());
    if a.size == b.size && a.size[0] == a.size[1] {
        return [
            vec![
                idea(PLAIN, PLAIN_OF_A, dc.times(b).tensor()),
                idea(ORDER, ORDER_OF_A, bt.times(dc).tensor()),
                idea(ELEMENTS, ELEMENTS_THOUGHT, elementwise(dc, b)),
            ],
            vec![
                idea(PLAIN, PLAIN_OF_B, a.times(dc).tensor()),
                idea(ORDER, ORDER_OF_B, dc.times(&at).tensor()),
                idea(ELEMENTS, ELEMENTS_THOUGHT, elementwise(dc, a)),
            ],
        ];
    }
    [
        vec![
            idea(OUTPUTS, OUTPUTS_THOUGHT, at.times(dc).tensor()),
            idea(RESULT, RESULT_OF_A, b.times(&dct).tensor()),
            idea(RESHAPE, RESHAPE_THOUGHT, dc.times(&b.reshaped()).tensor()),
        ],
        vec![
            idea(OUTPUTS, OUTPUTS_THOUGHT, dc.times(&bt).tensor()),
            idea(RESULT, RESULT_OF_B, dct.times(a).tensor()),
            idea(RESHAPE, RESHAPE_THOUGHT, a.reshaped().times(dc).tensor()),
        ],
    ]
}

fn elementwise(x: &Matrix, y: &Matrix) -> Tensor {
    times(&[&x.tensor(), &y.tensor()])
}

const OUTPUTS: &str = "3.2-outputs-swapped";
const OUTPUTS_THOUGHT: &str = "That is the gradient of the other input. They are returned in the \
    order of the inputs: dA first, then dB.";
const RESULT: &str = "3.2-result-transposed";
const RESULT_OF_A: &str = "That is what B . dC^T gives: dA transposed. Each element of dA \
    collects one row of dC against one row of B: dA = dC . B^T, with the shape of A.";
const RESULT_OF_B: &str = "That is what dC^T . A gives: dB transposed. Each element of dB \
    collects one column of A against one column of dC: dB = A^T . dC, with the shape of B.";
const RESHAPE: &str = "3.2-reshaped";
const RESHAPE_THOUGHT: &str = "That is what comes if the saved matrix is reshaped to the \
    transposed shape. Reshaping keeps the order of the numbers; a transpose makes rows of the \
    columns.";
const PLAIN: &str = "3.2-no-transpose";
const PLAIN_OF_A: &str = "That is dC . B without a transpose; it runs only because all sizes are \
    equal here. A's element [m, k] meets row k of B, so dC's row m is summed against B's row k: \
    dA = dC . B^T.";
const PLAIN_OF_B: &str = "That is A . dC without a transpose; it runs only because all sizes are \
    equal here. B's element [k, n] meets column k of A: dB = A^T . dC.";
const ORDER: &str = "3.2-order";
const ORDER_OF_A: &str = "That is B^T . dC. A product of matrices does not commute: with shapes \
    (N, K) and (M, N) this one fits only if all sizes are equal. dA = dC . B^T.";
const ORDER_OF_B: &str = "That is dC . A^T. A product of matrices does not commute: with shapes \
    (M, N) and (K, M) this one fits only if all sizes are equal. dB = A^T . dC.";
const ELEMENTS: &str = "3.2-elementwise";
const ELEMENTS_THOUGHT: &str = "That is the elementwise product, the rule of 3.1. In a matrix \
    product one element meets a whole row or column, and all of those contributions add up.";
