//! The table of `key_averages`, in PyTorch's columns (`torch/autograd/profiler_util.py`, 2.9.1).

use std::cmp::Ordering;
use std::fmt::Write;

use crate::device::driver::Nanoseconds;
use crate::profiler::averages::{Average, GroupBy, KeyAverages};

/// What a table is sorted by, the largest first. PyTorch's names for these are in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// As the keys first came up.
    Order,
    /// `cpu_time_total`
    CpuTime,
    /// `self_cpu_time_total`
    SelfCpuTime,
    /// `device_time_total`, once `cuda_time_total`
    DeviceTime,
    /// `self_device_time_total`, once `self_cuda_time_total`
    SelfDeviceTime,
    /// `cpu_time`: of one event on average
    CpuTimeAverage,
    /// `device_time`, once `cuda_time`: of one event on average
    DeviceTimeAverage,
    /// `cpu_memory_usage`
    Memory,
    /// `self_cpu_memory_usage`
    SelfMemory,
    /// `device_memory_usage`, once `cuda_memory_usage`
    DeviceMemory,
    /// `self_device_memory_usage`, once `self_cuda_memory_usage`
    SelfDeviceMemory,
    /// `count`
    Count,
    /// `flops`
    Flops,
}

impl SortBy {
    /// Which of two rows comes first. Equal ones stay as they are.
    fn order(self, a: &Average, b: &Average) -> Ordering {
        let time = |of: fn(&Average) -> Nanoseconds| of(b).cmp(&of(a));
        let bytes = |of: fn(&Average) -> i64| of(b).cmp(&of(a));
        let average = |of: fn(&Average) -> f64| of(b).total_cmp(&of(a));
        match self {
            SortBy::Order => Ordering::Equal,
            SortBy::CpuTime => time(|row| row.cpu_time_total),
            SortBy::SelfCpuTime => time(|row| row.self_cpu_time_total),
            SortBy::DeviceTime => time(|row| row.device_time_total),
            SortBy::SelfDeviceTime => time(|row| row.self_device_time_total),
            SortBy::CpuTimeAverage => average(Average::cpu_time),
            SortBy::DeviceTimeAverage => average(Average::device_time),
            SortBy::Memory => bytes(|row| row.memory),
            SortBy::SelfMemory => bytes(|row| row.self_memory),
            SortBy::DeviceMemory => bytes(|row| row.device_memory),
            SortBy::SelfDeviceMemory => bytes(|row| row.self_device_memory),
            SortBy::Count => b.count.cmp(&a.count),
            SortBy::Flops => b.flops.cmp(&a.flops),
        }
    }
}

const WIDTH: usize = 12;
const NAME_WIDTH: usize = 55;
/// A longer name is cut to this length.
const SHORT: usize = NAME_WIDTH - 3;
const SHAPES_WIDTH: usize = 80;
const GAP: &str = "  ";

/// One column: its heading, its width, and what stands in a row.
struct Column<'a> {
    heading: String,
    width: usize,
    cell: Box<dyn Fn(&Average) -> String + 'a>,
}

impl<'a> Column<'a> {
    fn new(heading: &str, cell: impl Fn(&Average) -> String + 'a) -> Column<'a> {
        Column { heading: heading.to_string(), width: WIDTH, cell: Box::new(cell) }
    }
}

impl KeyAverages {
    /// The rows in the order of a table.
    pub fn sorted(&self, sort_by: SortBy) -> Vec<&Average> {
        let mut rows: Vec<&Average> = self.rows.iter().collect();
        rows.sort_by(|a, b| sort_by.order(a, b));
        rows
    }

    /// The table, of at most `row_limit` rows. Percentages are of all rows, printed or not.
    /// PyTorch's, but for spaces at the ends of lines; that it leaves out the columns of memory
    /// where nothing was allocated; and a last line that says so if times are modelled. Of no rows
    /// there is no table: the text is empty.
    pub fn table(&self, sort_by: SortBy, row_limit: usize) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let rows = self.sorted(sort_by);
        let columns = self.columns(&rows);
        let line: Vec<String> = columns.iter().map(|it| "-".repeat(it.width)).collect();
        let line = line.join(GAP);
        let headings = joined(&columns, |column| column.heading.clone());
        let mut out = format!("{line}\n{headings}\n{line}\n");
        for row in rows.iter().take(row_limit) {
            out += &joined(&columns, |column| (column.cell)(row));
            out.push('\n');
        }
        out += &format!("{line}\nSelf CPU time total: {}\n", time(self.cpu_total as f64));
        if self.has_device {
            let total = time(self.device_total as f64);
            let _ = writeln!(out, "Self CUDA time total: {total}");
        }
        if let Some(gpu) = &self.modelled {
            let _ = writeln!(out, "All times are modelled, from the published figures of {gpu}.");
        }
        out
    }

    fn columns(&self, rows: &[&Average]) -> Vec<Column<'_>> {
        let longest = rows.iter().map(|row| self.name(row).chars().count()).max().unwrap_or(0);
        let width = (longest + 4).min(NAME_WIDTH);
        let name = Column::new("Name", move |row| shortened(self.name(row)));
        let mut columns = vec![Column { width, ..name }];
        columns.extend(self.time_columns());
        columns.extend(memory_columns(rows));
        columns.push(Column::new("# of Calls", |row| row.count.to_string()));
        if rows.iter().any(|row| !row.shapes.is_empty()) {
            let longest = rows.iter().map(|row| format!("{:?}", row.shapes).len()).max();
            let width = (longest.unwrap_or(0) + 4).min(SHAPES_WIDTH);
            let cell = move |row: &Average| cut(&format!("{:?}", row.shapes), width);
            columns.push(Column { width, ..Column::new("Input Shapes", cell) });
        }
        columns.extend(flops_column(rows));
        columns
    }

    fn name<'a>(&self, row: &'a Average) -> &'a str {
        match (self.group_by, row.key.as_str()) {
            (GroupBy::Module, "") => "(all)",
            (_, key) => key,
        }
    }

    fn time_columns(&self) -> Vec<Column<'_>> {
        let (cpu, device) = (self.cpu_total, self.device_total);
        let mut columns = vec![
            Column::new("Self CPU %", move |row| share(row.self_cpu_time_total, cpu)),
            Column::new("Self CPU", |row| time(row.self_cpu_time_total as f64)),
            Column::new("CPU total %", move |row| share(row.cpu_time_total, cpu)),
            Column::new("CPU total", |row| time(row.cpu_time_total as f64)),
            Column::new("CPU time avg", |row| time(row.cpu_time())),
        ];
        if self.has_device {
            columns.extend([
                Column::new("Self CUDA", |row| time(row.self_device_time_total as f64)),
                Column::new("Self CUDA %", move |row| share(row.self_device_time_total, device)),
                Column::new("CUDA total", |row| time(row.device_time_total as f64)),
                Column::new("CUDA time avg", |row| time(row.device_time())),
            ]);
        }
        columns
    }
}

/// The host's memory if any row has some, and that of devices if any has allocated more there than
/// it freed.
fn memory_columns<'a>(rows: &[&Average]) -> Vec<Column<'a>> {
    let has_host = rows.iter().any(|row| row.memory != 0 || row.self_memory != 0);
    let has_device = rows.iter().any(|row| row.self_device_memory > 0);
    let mut columns = Vec::new();
    if has_host || has_device {
        columns.push(Column::new("CPU Mem", |row| memory(row.memory)));
        columns.push(Column::new("Self CPU Mem", |row| memory(row.self_memory)));
    }
    if has_device {
        columns.push(Column::new("CUDA Mem", |row| memory(row.device_memory)));
        columns.push(Column::new("Self CUDA Mem", |row| memory(row.self_device_memory)));
    }
    columns
}

/// FLOPs in the unit that suits the smallest number, if there is any.
fn flops_column<'a>(rows: &[&Average]) -> Option<Column<'a>> {
    const UNITS: [&str; 6] = ["FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"];
    let least = rows.iter().map(|row| row.flops).filter(|&flops| flops > 0).min()?;
    let unit = (least.ilog10() as usize / 3).min(UNITS.len() - 1);
    let scale = [1.0, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15][unit];
    let cell = move |row: &Average| match row.flops {
        0 => "--".to_string(),
        flops => format!("{:8.3}", flops as f64 * scale),
    };
    Some(Column::new(&format!("Total {}", UNITS[unit]), cell))
}

fn joined(columns: &[Column], cell: impl Fn(&Column) -> String) -> String {
    let cells = columns.iter().map(|column| format!("{:>1$}", cell(column), column.width));
    cells.collect::<Vec<String>>().join(GAP)
}

fn shortened(name: &str) -> String {
    match name.chars().count() {
        ..SHORT => name.to_string(),
        _ => format!("{}...", cut(name, SHORT)),
    }
}

fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// Nanoseconds as PyTorch prints times.
pub(super) fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e9 => format!("{:.3}s", ns / 1e9),
        ns if ns >= 1e6 => format!("{:.3}ms", ns / 1e6),
        ns => format!("{:.3}us", ns / 1e3),
    }
}

/// A part of a whole in percent; of nothing it is no number.
pub(super) fn share(part: u64, whole: u64) -> String {
    match whole {
        0 => "NaN".to_string(),
        whole => format!("{:.2}%", part as f64 * 100.0 / whole as f64),
    }
}

/// Bytes as PyTorch prints them.
pub(super) fn memory(bytes: i64) -> String {
    let units = [(1i64 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")];
    match units.iter().find(|(unit, _)| bytes.unsigned_abs() >= *unit as u64) {
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} B"),
    }
}
