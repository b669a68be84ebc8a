//! The map of the book as a table, and as a figure.

use engine_room_labs::{Cell, LabArgs, Output, Table};

use crate::map::{self, TECHNIQUES};

/// Prints what each chapter's technique saves and what it pays, and draws the triangle.
pub fn run(_: &LabArgs, output: &mut Output) -> Result<(), String> {
    let mut table = Table::new()
        .column("chapter", "chapter", "")
        .column("what", "what is done", "")
        .column("saves", "saves", "")
        .column("pays", "pays with", "");
    for technique in &TECHNIQUES {
        let (pays, saves) = match technique.pays_saves {
            Some((pays, saves)) => (pays.name(), saves.name()),
            None => ("-", "any of the three"),
        };
        table.row([technique.chapter, technique.what, saves, pays].map(Cell::from));
    }
    output.table("rows", &table);
    output.figure(&map::svg()?)
}
