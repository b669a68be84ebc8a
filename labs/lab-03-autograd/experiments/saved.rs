//! What a graph keeps, node by node, and what the way a loss is written adds to it.

use std::collections::HashMap;

use engine_room::Tensor;
use engine_room::autograd::{Graph, GraphNode};
use engine_room::memory::Role;
use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::experiments::{loss, mine, network_and_batch};
use crate::network::Sizes;

const SIZES: Sizes = Sizes { batch: 64, inputs: 64, width: 128, depth: 2, classes: 10 };

/// Prints both tables.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let (network, images, labels) = network_and_batch(&SIZES, args.seed);
    let result = loss::of(args, &network, &images, &labels);
    let graph = Graph::of(&result);
    let Sizes { batch, inputs, width, depth, classes } = SIZES;
    output.say(&format!(
        "A batch of {batch} images of {inputs} pixels, {depth} hidden layers of {width}, {classes} \
         classes.\n"
    ));
    output.table("rows", &nodes(&graph));
    let parameters = network.parameters().map(Tensor::nbytes).sum::<u64>();
    let mut totals =
        Table::new().column("what", "what is alive", "").column("bytes", "size", "bytes");
    totals.row(["parameters".into(), Cell::Bytes(parameters)]);
    totals.row(["kept only for the backward pass".into(), Cell::Bytes(graph.activation_bytes())]);
    output.table("totals", &totals);
    output.say("The same loss, written in other ways: what the loss alone keeps.\n");
    output.table("losses", &losses(args));
    output.prediction("3.a", graph.activation_bytes() as f64, "bytes");
    Ok(())
}

/// One row a node. A storage that an earlier node keeps already costs nothing again.
fn nodes(graph: &Graph) -> Table {
    let mut table = Table::new()
        .column("node", "#", "")
        .column("operation", "operation", "")
        .column("result", "result", "")
        .column("saves", "saves", "")
        .column("bytes", "adds", "bytes")
        .column("note", "note", "");
    let mut keeper = HashMap::new();
    for node in graph.nodes().iter().filter(|node| node.name != "leaf") {
        let mut bytes = 0;
        let mut notes = Vec::new();
        for saved in &node.saved {
            let first = *keeper.entry(saved.storage).or_insert(node.place);
            if saved.role == Role::Parameter {
                notes.push("a parameter".to_string());
            } else if first != node.place {
                notes.push(format!("kept by #{first}"));
            } else {
                bytes += saved.bytes;
            }
        }
        table.row([
            Cell::Count(node.place as u64),
            node.name.into(),
            format!("{:?}", node.shape).into(),
            saved_shapes(node).into(),
            Cell::Bytes(bytes),
            notes.join("; ").into(),
        ]);
    }
    table
}

fn saved_shapes(node: &GraphNode) -> String {
    let shapes: Vec<String> = node.saved.iter().map(|saved| format!("{:?}", saved.shape)).collect();
    if shapes.is_empty() { "nothing".to_string() } else { shapes.join(" and ") }
}

/// The loss of logits that nothing else has saved, so that every byte is the loss's own.
fn losses(args: &LabArgs) -> Table {
    let mut table = Table::new().column("loss", "loss", "").column("bytes", "kept", "bytes");
    let (_, _, labels) = network_and_batch(&SIZES, args.seed);
    let logits = Tensor::zeros(&[SIZES.batch, SIZES.classes]).requires_grad_(true).mul_scalar(1.0);
    let mut row = |name: &str, loss: Tensor| {
        table.row([name.into(), Cell::Bytes(Graph::of(&loss).activation_bytes())]);
    };
    row("exp, sum, div, log, gather", loss::by_hand(&logits, &labels));
    row("the engine's: log_softmax, gather", logits.cross_entropy(&labels));
    if args.mine {
        row("yours: one fused operation", mine::cross_entropy(&logits, &labels));
    }
    table
}
