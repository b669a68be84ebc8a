//! `printing.cu`: what is printed, and findings at the line that asked for them.

use crate::harness::{args, each, line};
use engine_room_sim::exec::Kind;

#[test]
fn formats() {
    each("printing", |host| {
        let printed = host.launch("hello", line(3, 32), args![2, 2.7154_f64]);
        let mut lines: Vec<&str> = printed.lines().collect();
        lines.sort();
        let right = [
            "block 0 of 3:  2.72, text, a, 1fe, -10000000000%",
            "block 1 of 3:  2.72, text, b, 1fe, -10000000000%",
            "block 2 of 3:  2.72, text, c, 1fe, -10000000000%",
        ];
        assert_eq!(lines, right, "{}", host.variant);
        let printed = host.launch("table", line(1, 32), args![]);
        let right = ["[3   |   3|0003|+7]", "[11  |  11|0011|+7]", "[19  |  19|0019|+7]"];
        assert!(right.iter().all(|row| printed.contains(row)), "{printed}, {}", host.variant);
        assert_eq!(printed.matches("the end\n").count(), 1, "{printed}, {}", host.variant);
        assert_eq!(printed.lines().count(), 5, "{printed}, {}", host.variant);
    });
}

/// The line of a file of programs on which something stands.
fn line_of(name: &str, what: &str) -> u32 {
    let path = format!("{}/programs/{name}.cu", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the source");
    1 + text.lines().position(|line| line.contains(what)).expect("the line") as u32
}

#[test]
fn assertions() {
    each("printing", |host| {
        let mut data = [1_i32; 256];
        data[200] = 0;
        let (x, y) = (host.buffer(&data), host.buffer(&[0_i32; 256]));
        host.launch("checked", line(2, 128), args![x, y]);
        assert_eq!(host.read::<i32>(y, 256), data, "{}", host.variant);
        data[200] = -1;
        let x = host.buffer(&data);
        let report = host.report("checked", line(2, 128), args![x, y]);
        let [finding] = &report.findings[..] else { panic!("{:#?}", report.findings) };
        assert_eq!(finding.kind, Kind::Assert, "{}", host.variant);
        assert_eq!((finding.block, finding.thread), ([1, 0, 0], [72, 0, 0]), "{}", host.variant);
        assert!(finding.message.contains("x[i] >= 0"), "{}", finding.message);
        let place = &finding.places[0];
        assert!(place.file.ends_with("printing.cu"), "{place:?}");
        assert_eq!(place.line, line_of("printing", "assert(x[i]"), "{}", host.variant);
    });
}

#[test]
fn traps() {
    let mut data = [0_i32; 64];
    data[40] = 77;
    each("printing", |host| {
        let x = host.buffer(&data);
        let report = host.report("trapped", line(1, 64), args![x]);
        let finding = report.findings.first().unwrap_or_else(|| panic!("{}", host.variant));
        assert_eq!(finding.kind, Kind::Trap, "{}", host.variant);
        assert_eq!(finding.thread, [40, 0, 0], "{}", host.variant);
        let place = &finding.places[0];
        assert_eq!(place.line, line_of("printing", "__trap()"), "{}", host.variant);
    });
}
