//! The output of the examples, as the documentation shows it.

#[path = "../examples/transfers.rs"]
#[expect(dead_code, reason = "its main is the example's")]
mod transfers;

#[test]
fn the_documentation_of_sim_shows_what_the_example_prints() {
    let source = include_str!("../src/device/sim/mod.rs");
    let docs = source.lines().filter_map(|line| line.strip_prefix("//! "));
    let docs = docs.collect::<Vec<_>>().join("\n");
    let report = transfers::report();
    assert!(docs.contains(&report), "put this into src/device/sim/mod.rs:\n{report}");
}
