//! The map of the book as a table, and as a figure.

use engine_room_labs::{Cell, LabArgs, Output, Table, triangle};

use crate::map::{Bill, Corner, TECHNIQUES, Technique};

/// Prints what each chapter's technique saves and what it pays, and draws the triangle.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    let mut table = Table::new()
        .column("chapter", "chapter", "")
        .column("what", "what is done", "")
        .column("saves", "saves", "")
        .column("pays", "pays with", "");
    for technique in &TECHNIQUES {
        let (pays, saves) = match technique.bill {
            Bill::Moves(pays, saves) => (pays.name(), saves.name()),
            Bill::Outside(price) => (price, "any of the three"),
        };
        table.row([technique.chapter, technique.what, saves, pays].map(Cell::from));
    }
    output.table("rows", &table);
    let corners = Corner::ALL.map(|corner| (corner.name(), corner.meaning()));
    output.figure(&triangle::svg(corners, &TECHNIQUES.each_ref().map(item))?)
}

fn item(technique: &Technique) -> triangle::Item {
    let label = format!("{} {}", technique.chapter, technique.what);
    let way = match technique.bill {
        Bill::Moves(pays, saves) => Some((pays as usize, saves as usize)),
        Bill::Outside(_) => None,
    };
    triangle::Item { label, way }
}
