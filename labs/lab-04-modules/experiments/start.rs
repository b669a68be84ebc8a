//! What a deep network makes of a signal, by how its weights begin.

use engine_room::nn::init::{kaiming_uniform_, normal_};
use engine_room::no_grad;
use engine_room::rng::Generator;
use engine_room::{DType, Tensor};
use engine_room_labs::{Cell, LabArgs, Output, Table};

const WIDTH: usize = 256;
const BATCH: usize = 64;
const DEPTHS: [usize; 4] = [1, 5, 10, 20];

/// Fills the weights of one layer.
type Start = fn(&Tensor, &mut Generator);

const STARTS: [(&str, Start); 4] = [
    ("normal, standard deviation 1", |w, g| normal_(w, 0.0, 1.0, g)),
    ("normal, standard deviation 0.02", |w, g| normal_(w, 0.0, 0.02, g)),
    ("PyTorch's Linear: within 1/16", |w, g| kaiming_uniform_(w, 5f32.sqrt(), g)),
    ("Kaiming for relu: within 0.153", |w, g| kaiming_uniform_(w, 0.0, g)),
];

/// Prints a row a start.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    output.measured();
    output.say(&format!(
        "Layers of {WIDTH} with a relu after each and no bias. Root of the mean square of what \
         comes out,\nwhere 1 came in:\n"
    ));
    let mut table = Table::new()
        .column("start", "weights", "")
        .column("after_1", "1 layer", "")
        .column("after_5", "5 layers", "")
        .column("after_10", "10 layers", "")
        .column("after_20", "20 layers", "");
    for (name, start) in STARTS {
        let sizes = sizes(start, &mut Generator::new(args.seed));
        table.row([name.into()].into_iter().chain(sizes.map(Cell::Number)));
    }
    output.table("rows", &table);
    Ok(())
}

/// The size of the signal at each of the depths.
fn sizes(start: Start, generator: &mut Generator) -> [f64; DEPTHS.len()] {
    let mut x = Tensor::randn(&[BATCH, WIDTH], generator);
    let mut after = Vec::new();
    for _ in 0..DEPTHS[DEPTHS.len() - 1] {
        let w = Tensor::zeros(&[WIDTH, WIDTH]);
        start(&w, generator);
        x = no_grad(|| x.linear(&w, None).relu());
        let exact = x.to(DType::F64);
        after.push(exact.mul(&exact).mean().item_as::<f64>().sqrt());
    }
    DEPTHS.map(|depth| after[depth - 1])
}
