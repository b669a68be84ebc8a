//! How saved activations and parameters grow with the batch and with the depth.

use engine_room::Tensor;
use engine_room::autograd::Graph;
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table};

use crate::exercise;
use crate::experiments::network_and_batch;
use crate::network::Sizes;

const BATCHES: [usize; 5] = [1, 16, 64, 256, 1024];
const DEPTHS: [usize; 5] = [1, 2, 4, 8, 16];
const SIZES: Sizes = Sizes { batch: 64, inputs: 64, width: 128, depth: 2, classes: 10 };

/// Prints a table for each of the two, and draws the one over the batch.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.say("Two hidden layers of 128, the batch grows:\n");
    let by_batch: Vec<Point> =
        BATCHES.iter().map(|&batch| Point::of(Sizes { batch, ..SIZES }, args.seed)).collect();
    output.table("batch", &table(args, &by_batch));
    output.say("A batch of 64, the depth grows:\n");
    let by_depth: Vec<Point> =
        DEPTHS.iter().map(|&depth| Point::of(Sizes { depth, ..SIZES }, args.seed)).collect();
    output.table("depth", &table(args, &by_depth));
    output.prediction("3.b", by_depth[DEPTHS.len() - 1].activations as f64, "bytes");
    let (x, y) = (("batch", "images"), ("memory", "bytes"));
    let mut plot = Plot::lines("What a training step keeps", x, y).log_x().log_y();
    let points = |bytes: fn(&Point) -> u64| {
        by_batch
            .iter()
            .map(|point| (point.sizes.batch as f64, bytes(point) as f64))
            .collect::<Vec<_>>()
    };
    plot.series("kept for the backward pass", points(|point| point.activations));
    plot.series("parameters", points(|point| point.parameters));
    output.plot(&plot)
}

/// What one network holds.
struct Point {
    sizes: Sizes,
    parameters: u64,
    activations: u64,
}

impl Point {
    fn of(sizes: Sizes, seed: u64) -> Point {
        let (network, images, labels) = network_and_batch(&sizes, seed);
        let loss = network.forward(&images).cross_entropy(&labels);
        Point {
            sizes,
            parameters: network.parameters().map(Tensor::nbytes).sum(),
            activations: Graph::of(&loss).activation_bytes(),
        }
    }
}

fn table(args: &LabArgs, points: &[Point]) -> Table {
    let mut table = Table::new()
        .column("batch", "batch", "images")
        .column("depth", "depth", "")
        .column("parameters", "parameters", "bytes")
        .column("activations", "kept", "bytes")
        .column("ratio", "ratio", "");
    if args.mine {
        table = table.column("mine", "yours", "bytes");
    }
    for point in points {
        let mine = args.mine.then(|| Cell::Bytes(exercise::saved_bytes(&point.sizes, false)));
        let measured = [
            Cell::Count(point.sizes.batch as u64),
            Cell::Count(point.sizes.depth as u64),
            Cell::Bytes(point.parameters),
            Cell::Bytes(point.activations),
            Cell::Ratio(point.activations as f64 / point.parameters as f64),
        ];
        table.row(measured.into_iter().chain(mine));
    }
    table
}
