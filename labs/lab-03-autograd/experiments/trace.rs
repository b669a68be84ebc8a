//! One backward pass with numbers small enough to follow by hand.

use std::collections::BTreeMap;

use engine_room::Tensor;
use engine_room::autograd::Graph;
use engine_room_labs::{Cell, LabArgs, Output, Table, diagram};

/// Prints every node's dy and what its backward pass makes of it, in the order of the walk.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    let x = Tensor::from_vec(vec![1.0f32, 2.0], &[1, 2]);
    let w = Tensor::from_vec(vec![1.0f32, -1.0, 3.0, 2.0], &[2, 2]).requires_grad_(true);
    let b = Tensor::from_vec(vec![-8.0f32, 1.0], &[2]).requires_grad_(true);
    let h = x.matmul(&w).add(&b).relu();
    let loss = h.mul(&h).sum();
    output.say(&format!(
        "h = relu(x . w + b) = {}, loss = sum(h * h) = {}\n",
        flat(&h),
        flat(&loss)
    ));
    output.table("rows", &walk(&loss));
    output.figure(&diagram::svg(&Graph::of(&loss), &["w", "b"])?)?;
    loss.backward();
    for (name, leaf) in [("w", w), ("b", b)] {
        let grad = leaf.grad().ok_or("the leaf has no gradient")?;
        output.say(&format!("{name}.grad = {}", flat(&grad)));
    }
    Ok(())
}

/// The walk of the engine's `backward`, with a row written down at each node.
fn walk(root: &Tensor) -> Table {
    let mut table = Table::new().column("node", "node", "").column("dy", "dy comes in", "").column(
        "gives",
        "gradients go out",
        "",
    );
    let node = root.node().expect("the loss was recorded");
    let mut waiting = BTreeMap::from([(node.id(), (node, Tensor::ones(root.shape())))]);
    while let Some((_, (node, dy))) = waiting.pop_last() {
        let inputs = node.backward(&dy);
        let out: Vec<String> = inputs.iter().flatten().map(flat).collect();
        let out = if node.is_leaf() { "stored as .grad".to_string() } else { out.join(" and ") };
        table.row([Cell::from(node.name()), flat(&dy).into(), out.into()]);
        for (input, dx) in node.edges().iter().zip(inputs) {
            if let (Some(input), Some(dx)) = (input, dx) {
                let sum = match waiting.remove(&input.id()) {
                    Some((_, earlier)) => earlier.add(&dx),
                    None => dx,
                };
                waiting.insert(input.id(), (input.clone(), sum));
            }
        }
    }
    table
}

/// The numbers alone, as a nested list: `[[0, 8], [0, 16]]`.
fn flat(tensor: &Tensor) -> String {
    let numbers = tensor.to_vec::<f32>();
    let row = |row: &[f32]| {
        let row: Vec<String> = row.iter().map(f32::to_string).collect();
        format!("[{}]", row.join(", "))
    };
    match tensor.shape() {
        [] => numbers[0].to_string(),
        [_] => row(&numbers),
        shape => {
            let width = shape[shape.len() - 1];
            let rows: Vec<String> = numbers.chunks(width).map(row).collect();
            format!("[{}]", rows.join(", "))
        }
    }
}
