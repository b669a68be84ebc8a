//! The output of the examples, as the documentation shows it, and the dictionary of chapter 00.

#[path = "engine/dictionary.rs"]
mod dictionary;
#[path = "../examples/transfers.rs"]
#[expect(dead_code, reason = "its main is the example's")]
mod transfers;

use serde_json::Value;

#[test]
fn the_documentation_of_sim_shows_what_the_example_prints() {
    let source = include_str!("../src/device/sim/mod.rs");
    let docs = source.lines().filter_map(|line| line.strip_prefix("//! "));
    let docs = docs.collect::<Vec<_>>().join("\n");
    let report = transfers::report();
    assert!(docs.contains(&report), "put this into src/device/sim/mod.rs:\n{report}");
}

/// The two cells of each row of the chapter's dictionary: PyTorch, and the engine.
fn page() -> Vec<[String; 2]> {
    let text = include_str!("../book/src/00-start/index.md");
    let table = text.lines().skip_while(|line| *line != "| PyTorch | the engine |").skip(2);
    let table = table.take_while(|line| line.starts_with('|'));
    let cells = |line: &str| {
        let mut code = line.split('`').skip(1).step_by(2).map(|code| code.replace("\\|", "|"));
        [code.next().unwrap_or_default(), code.next().unwrap_or_default()]
    };
    table.map(cells).collect()
}

/// Without white space, braces around a closure's body and commas before a closing bracket.
fn compact(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    text.replace(",)", ")").replace("||{", "||").replace("})", ")")
}

#[test]
fn every_name_of_the_dictionary_compiles() {
    let source = compact(include_str!("engine/dictionary.rs"));
    let rows = dictionary::rows();
    let page = page();
    let shown: Vec<&str> = page.iter().map(|[python, _]| python.as_str()).collect();
    assert_eq!(shown, rows.iter().map(|row| row.python).collect::<Vec<_>>());
    for [python, engine] in &page {
        let forms = ["row", "done"].map(|name| {
            let closure = if name == "done" { "|| " } else { "" };
            compact(&format!("{name}(\"{python}\", {closure}{engine})"))
        });
        let found = forms.iter().any(|form| source.contains(form));
        assert!(found, "the page says {engine} for {python}; tests/engine/dictionary.rs does not");
    }
}

#[test]
fn the_dictionary_gives_what_pytorch_gives() {
    let golden: Value = serde_json::from_str(include_str!("golden/dictionary.json")).unwrap();
    let golden = golden["rows"].as_array().expect("rows");
    let rows = dictionary::rows();
    assert_eq!(golden.len(), rows.len(), "run tests/golden/make_dictionary.py");
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|x| x.as_f64().expect("a number")).collect()
    };
    for (row, torch) in rows.iter().zip(golden) {
        assert_eq!(torch["python"], row.python, "run tests/golden/make_dictionary.py");
        let shape: Vec<f64> = row.shape.iter().map(|&size| size as f64).collect();
        assert_eq!(shape, numbers(&torch["shape"]), "{}", row.python);
        let want = numbers(&torch["numbers"]);
        let close = row.numbers.iter().zip(&want).all(|(a, b)| (a - b).abs() <= 1e-6);
        assert!(close && row.numbers.len() == want.len(), "{}: {want:?}", row.python);
    }
}
