//! What one attention keeps for its backward pass, by the length of the text: as one operation,
//! and as the five that its formula asks for.

use engine_room::memory::{Role, bytes_by_role};
use engine_room::rng::Generator;
use engine_room::{Attention, DType, Device, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table};

const HEADS: usize = 4;
const WIDTH: usize = 16;
const TIMES: [usize; 6] = [32, 64, 128, 256, 512, 1024];

/// Prints a row a length.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let device = output.device()?;
    output.say(&format!(
        "Causal attention over one text, {HEADS} heads of {WIDTH} numbers. Bytes kept for \
         backward:\n"
    ));
    let mut table = Table::new()
        .column("time", "tokens", "")
        .column("by_hand", "five operations", "")
        .column("fused", "one operation", "")
        .column("scores", "4 heads x T x T x 4 bytes", "");
    let mut points = [Vec::new(), Vec::new()];
    for time in TIMES {
        let mut generator = Generator::new(args.seed);
        let shape = [1, HEADS, time, WIDTH];
        let inputs = [0, 1, 2]
            .map(|_| Tensor::randn(&shape, &mut generator).to(device).requires_grad_(true));
        let kept = [by_hand, fused].map(|attend| kept(device, &inputs, attend));
        for (points, bytes) in points.iter_mut().zip(kept) {
            points.push((time as f64, bytes as f64));
        }
        let scores = (HEADS * time * time * 4) as u64;
        let bytes = [kept[0], kept[1], scores].map(Cell::Bytes);
        table.row([Cell::Count(time as u64)].into_iter().chain(bytes));
    }
    output.table("rows", &table);
    let title = "What one attention keeps, by the length of the text";
    let mut plot = Plot::lines(title, ("tokens", ""), ("kept", "bytes")).log_x().log_y();
    let [hand, fused] = points;
    plot.series("five operations", hand);
    plot.series("one operation", fused);
    output.plot(&plot)
}

/// Bytes that the graph of a result keeps besides its leaves.
fn kept(device: Device, inputs: &[Tensor; 3], attend: fn(&[Tensor; 3]) -> Tensor) -> u64 {
    let of = |role: Role| bytes_by_role(device)[role as usize].1;
    let before = of(Role::Activation);
    let result = attend(inputs);
    let kept = of(Role::Activation) - before;
    drop(result);
    kept
}

/// softmax(q · kᵀ / √E, without the keys that come later) · v.
fn by_hand([q, k, v]: &[Tensor; 3]) -> Tensor {
    let time = q.shape()[2];
    let scale = 1.0 / (WIDTH as f64).sqrt();
    let places = Tensor::arange_on(time, DType::I64, q.device());
    let later = places.gt(&places.unsqueeze(-1));
    let scores = q.matmul(&k.transpose(-2, -1)).mul_scalar(scale);
    scores.masked_fill(&later, f64::NEG_INFINITY).softmax(-1).matmul(v)
}

fn fused([q, k, v]: &[Tensor; 3]) -> Tensor {
    q.scaled_dot_product_attention(k, v, Attention { causal: true, ..Attention::default() })
}
