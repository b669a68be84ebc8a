//! Headers over one storage: where each element lies, as a table and as a figure.

use engine_room::{Layout, Tensor};
use engine_room_labs::grid::{Shown, svg};
use engine_room_labs::{LabArgs, Output, Table};

use crate::exercise;
use crate::experiments::{header, share};
use crate::header::Header;

/// Prints the views of twelve numbers and draws them, then the chain that the text does by hand.
pub fn run(args: &LabArgs, output: &mut Output) -> Result<(), String> {
    let x = Tensor::arange(12).reshape(&[3, 4]);
    let views = [
        ("x", x.clone()),
        ("x.transpose(0, 1)", x.transpose(0, 1)),
        ("x.narrow(1, 1, 2)", x.narrow(1, 1, 2)),
        ("x.select(0, 1).expand(&[3, 4])", x.select(0, 1).expand(&[3, 4])),
    ];
    output.say("Twelve numbers as x: [3, 4], and views of it. Places are counted in elements:\n");
    let mut table = named(&["view", "shape", "strides", "offset", "places, in logical order"]);
    for (name, view) in &views {
        let places: Vec<String> = view.layout().positions().map(|p| p.to_string()).collect();
        table.row(cells(name, view.layout()).into_iter().chain([places.join(" ").into()]));
    }
    output.table("views", &table);
    output.say("Headers of 24 numbers, one step after the other:\n");
    output.table("steps", &steps(args));
    output.figure(&svg(12, 4, &views.map(|(name, view)| shown(name, view.layout())))?)
}

fn named(headings: &[&'static str]) -> Table {
    headings.iter().fold(Table::new(), |table, heading| table.column(heading, heading, ""))
}

fn cells(name: &str, layout: &Layout) -> [engine_room_labs::Cell; 4] {
    [
        name.into(),
        format!("{:?}", layout.shape()).into(),
        format!("{:?}", layout.strides()).into(),
        layout.offset().to_string().into(),
    ]
}

fn shown(name: &str, layout: &Layout) -> Shown {
    let shape = layout.shape();
    Shown {
        title: name.to_string(),
        header: header(layout),
        shape: [shape[0], shape[1]],
        places: layout.positions().collect(),
    }
}

/// The shape that is asked for last, and the one that needs a copy.
const KEEPS: [usize; 2] = [2, 6];
const COPIES: [usize; 2] = [4, 3];

/// One element after each step, and whether a step has left the storage.
fn steps(args: &LabArgs) -> Table {
    let x = Tensor::arange(24).reshape(&[2, 3, 4]);
    let permuted = x.permute(&[2, 0, 1]);
    let narrowed = permuted.narrow(0, 1, 2);
    let mut headings = vec!["y", "shape", "strides", "offset", "y[1, 0, 2]", "storage"];
    headings.extend(args.mine.then_some("yours"));
    let mut table = named(&headings);
    let chain = [
        ("x", &x),
        ("x.permute(&[2, 0, 1])", &permuted),
        (" ... .narrow(0, 1, 2)", &narrowed),
        (" ... .reshape(&[2, 6])", &narrowed.reshape(&KEEPS)),
        (" ... .reshape(&[4, 3])", &narrowed.reshape(&COPIES)),
    ];
    let mine = args.mine.then(yours);
    for (i, (name, step)) in chain.into_iter().enumerate() {
        let element = match step.shape() {
            [_, _, _] => step.select(0, 1).select(0, 0).select(0, 2).item().to_string(),
            _ => "-".to_string(),
        };
        let storage = if share(&x, step) { "that of x" } else { "its own" };
        let row = cells(name, step.layout()).into_iter().chain([element.into(), storage.into()]);
        table.row(row.chain(mine.as_ref().map(|mine| mine[i].to_string().into())));
    }
    table
}

/// The same steps by the reader's functions.
fn yours() -> [Header; 5] {
    let x = packed(&[2, 3, 4]);
    let permuted = exercise::permute(&x, &[2, 0, 1]);
    let narrowed = exercise::narrow(&permuted, 0, 1, 2);
    let [keeps, copies] = [KEEPS, COPIES].map(|shape| {
        let of = |strides| Header { shape: shape.to_vec(), strides, offset: narrowed.offset };
        exercise::view_strides(&narrowed, &shape).map_or_else(|| packed(&shape), of)
    });
    [x, permuted, narrowed, keeps, copies]
}

fn packed(shape: &[usize]) -> Header {
    Header { shape: shape.to_vec(), strides: exercise::contiguous_strides(shape), offset: 0 }
}
