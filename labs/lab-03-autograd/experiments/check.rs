//! Finite differences against autograd: what a gradient costs, and how wrong a small step is.

use engine_room::{Tensor, no_grad};
use engine_room_labs::{Cell, LabArgs, Output, Plot, Table, median_seconds};

use crate::experiments::{loss, network_and_batch};
use crate::network::{Network, Sizes};

const WIDTHS: [usize; 4] = [4, 8, 16, 32];
const STEPS: [f32; 7] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// Prints the cost over the number of parameters and the error over the size of the step.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    let mut costs = Table::new()
        .column("parameters", "parameters", "")
        .column("autograd", "autograd", "")
        .column("passes", "passes", "")
        .column("differences", "differences", "")
        .column("ratio", "ratio", "");
    for width in WIDTHS {
        let problem = Problem::of(args, width);
        let autograd = median_seconds(11, || drop(problem.gradients()));
        let differences = median_seconds(3, || drop(problem.differences(1e-2)));
        let passes = 2 * problem.parameters();
        costs.row([
            Cell::Count(problem.parameters() as u64),
            Cell::Seconds(autograd),
            Cell::Count(passes as u64),
            Cell::Seconds(differences),
            Cell::Ratio(differences / autograd),
        ]);
    }
    output.table("costs", &costs);
    let problem = Problem::of(args, WIDTHS[1]);
    let exact = problem.gradients();
    let largest = exact.iter().fold(0.0f32, |most, g| most.max(g.abs()));
    let error = |step: f32| {
        let off = problem.differences(step).into_iter().zip(&exact).map(|(d, g)| (d - g).abs());
        (off.fold(0.0, f32::max) / largest) as f64
    };
    let errors = STEPS.map(|step| (step as f64, error(step)));
    output.say("The largest error of a difference, as a share of the largest gradient, in f32:\n");
    let mut table = Table::new().column("step", "step", "").column("error", "error", "");
    errors.iter().for_each(|&(step, error)| table.row([Cell::Number(step), Cell::Number(error)]));
    output.table("errors", &table);
    let (x, y) = (("step", ""), ("error / largest gradient", ""));
    let mut plot = Plot::lines("Too large a step, too small a step", x, y).log_x().log_y();
    plot.series("central differences in f32", errors);
    output.plot(&plot)
}

/// A network and a batch at which the gradient of the loss is asked for.
struct Problem<'a> {
    args: &'a LabArgs,
    network: Network,
    images: Tensor,
    labels: Tensor,
}

impl Problem<'_> {
    fn of(args: &LabArgs, width: usize) -> Problem<'_> {
        let sizes = Sizes { batch: 32, inputs: 64, width, depth: 1, classes: 10 };
        let (network, images, labels) = network_and_batch(&sizes, args.seed);
        Problem { args, network, images, labels }
    }

    fn parameters(&self) -> usize {
        self.network.parameters().map(Tensor::numel).sum()
    }

    fn loss(&self) -> Tensor {
        loss::of(self.args, &self.network, &self.images, &self.labels)
    }

    /// Every element of the gradient by one backward pass.
    fn gradients(&self) -> Vec<f32> {
        self.network.parameters().for_each(Tensor::zero_grad);
        self.loss().backward();
        let gradient = |parameter: &Tensor| parameter.grad().map_or(Vec::new(), |g| g.to_vec());
        self.network.parameters().flat_map(gradient).collect()
    }

    /// Every element of the gradient by two forward passes each.
    fn differences(&self, step: f32) -> Vec<f32> {
        no_grad(|| {
            let of_parameter = |parameter: &Tensor| {
                let slope = |i: usize| {
                    let unit = unit(parameter.shape(), i);
                    parameter.add_(&unit, step);
                    let above = self.loss().item();
                    parameter.add_(&unit, -2.0 * step);
                    let below = self.loss().item();
                    parameter.add_(&unit, step);
                    (above - below) / (2.0 * step)
                };
                (0..parameter.numel()).map(slope).collect::<Vec<f32>>()
            };
            self.network.parameters().flat_map(of_parameter).collect()
        })
    }
}

/// A tensor of zeros with a one at place `i`.
fn unit(shape: &[usize], i: usize) -> Tensor {
    let mut values = vec![0.0; shape.iter().product()];
    values[i] = 1.0;
    Tensor::from_vec(values, shape)
}
