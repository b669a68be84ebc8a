//! A table: printed as plain ASCII, or as rows of JSON.

use comfy_table::{CellAlignment, ContentArrangement, presets::ASCII_MARKDOWN};
use serde_json::{Map, Value};

use crate::cell::Cell;

struct Column {
    key: &'static str,
    heading: &'static str,
    unit: &'static str,
}

/// Rows of [`Cell`]s under named columns.
#[derive(Default)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without columns or rows.
    pub fn new() -> Table {
        Table::default()
    }

    /// Adds a column: its key in JSON, its heading, and its unit (`""` if it has none). Cells that
    /// print their unit themselves bring it along: seconds, ratios and shares need none here.
    pub fn column(mut self, key: &'static str, heading: &'static str, unit: &'static str) -> Table {
        self.columns.push(Column { key, heading, unit });
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it does not have one cell a column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let cells: Vec<Cell> = cells.into_iter().collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has one cell for each column");
        self.rows.push(cells);
    }

    /// The rows, for a plot of them.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// The table as text: no colours, numbers to the right, no blanks at the ends of lines.
    pub fn text(&self) -> String {
        let mut table = comfy_table::Table::new();
        table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.columns.iter().map(Column::title));
        for row in &self.rows {
            table.add_row(row.iter().map(Cell::text));
        }
        for (i, column) in table.column_iter_mut().enumerate() {
            if self.is_numeric(i) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// The rows as JSON objects, keyed by the columns' keys.
    pub fn json(&self) -> Value {
        let row = |cells: &Vec<Cell>| {
            let pairs = self.columns.iter().zip(cells);
            Value::Object(pairs.map(|(c, cell)| (c.key.to_string(), cell.json())).collect())
        };
        Value::Array(self.rows.iter().map(row).collect())
    }

    /// The unit of each column that has one, by key.
    pub fn units(&self) -> Map<String, Value> {
        let unit = |(i, c): (usize, &Column)| {
            let unit = if c.unit.is_empty() { self.unit_of_cells(i)? } else { c.unit };
            Some((c.key.to_string(), Value::from(unit)))
        };
        self.columns.iter().enumerate().filter_map(unit).collect()
    }

    fn unit_of_cells(&self, column: usize) -> Option<&'static str> {
        self.rows.iter().find_map(|row| row[column].own_unit())
    }

    fn is_numeric(&self, column: usize) -> bool {
        self.rows.iter().all(|row| row[column].is_number())
    }
}

impl Column {
    fn title(&self) -> String {
        match self.unit {
            "" => self.heading.to_string(),
            unit => format!("{} ({unit})", self.heading),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new().column("node", "node", "").column("saved", "saved", "bytes");
        table.row(["MatMul".into(), Cell::Bytes(4_194_304)]);
        table.row(["Relu".into(), Cell::Bytes(512)]);
        table
    }

    #[test]
    fn numbers_stand_to_the_right() {
        let expected = "\
| node   | saved (bytes) |
|--------|---------------|
| MatMul |     4,194,304 |
| Relu   |           512 |
";
        assert_eq!(table().text(), expected);
    }

    #[test]
    fn json_holds_plain_numbers_and_units() {
        assert_eq!(table().json()[0]["saved"], 4_194_304);
        assert_eq!(table().units()["saved"], "bytes");
        let mut timed = Table::new().column("time", "time", "");
        timed.row([Cell::Seconds(0.5)]);
        assert_eq!(timed.units()["time"], "seconds");
    }
}
