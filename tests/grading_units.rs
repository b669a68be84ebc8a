//! The grading library's parts that need no child process.

use engine_room::Tensor;
use grading::salvage::{CompileError, Place, blame, replaced};
use grading::{
    Check, Diagnosis, Facts, Idea, Kind, Lab, Progress, Report, State, root, state, strip,
};

const SOLUTION: &str = "\
//! Doubles.

// STUB use grading::exercise;
use engine_room::Tensor;

/// Doubles.
pub fn double(x: u64) -> u64 {
    // SOLUTION 3.1
    let y = x;
    x + y
    // END
}

fn halved(x: u64) -> u64 {
    // SOLUTION 3.2
    // STUB x * 2
    x / 2
    // END
}

// SOLUTION
fn helper() {}
// END
pub fn tripled(x: u64) -> u64 {
    // SOLUTION 3.3
    check(x);
    // END

    3 * x
}
";

const STUB: &str = "\
//! Doubles.

use grading::exercise;
use engine_room::Tensor;

/// Doubles.
pub fn double(x: u64) -> u64 {
    exercise!(\"3.1\")
}

fn halved(x: u64) -> u64 {
    x * 2
}

pub fn tripled(x: u64) -> u64 {
    exercise!(\"3.3\");

    3 * x
}
";

#[test]
fn a_solution_is_stripped() {
    assert_eq!(strip(SOLUTION).as_deref(), Ok(STUB));
    assert_eq!(strip(STUB).as_deref(), Ok(STUB), "a stub has no marks left");
}

#[test]
fn marks_that_do_not_fit_are_refused_with_their_line() {
    for (solution, problem) in [
        ("a\n// SOLUTION 3.1\nb\n", "line 2: SOLUTION without an END"),
        ("a\n// END\n", "line 2: END without a SOLUTION"),
        ("// SOLUTION 3.1\n// SOLUTION 3.2\n", "line 2: SOLUTION inside the one of line 1"),
    ] {
        assert_eq!(strip(solution), Err(problem.to_owned()));
    }
}

fn facts(functions: &[&str]) -> Facts {
    Facts {
        id: "3.1".to_owned(),
        title: "Double".to_owned(),
        functions: functions.iter().map(|name| (*name).to_owned()).collect(),
        kind: Kind::Implement,
        minutes: grading::model::Minutes { estimate: 15, measured: vec![30, 10, 20] },
        points: 10,
        section: String::new(),
        statement: String::new(),
        hints: Vec::new(),
        time_limit: 10,
    }
}

#[test]
fn an_exercise_is_not_started_until_a_token_changes() {
    let facts = facts(&["double", "tripled"]);
    let is = |source: &str| state::is_not_started(&facts, source, STUB);
    assert!(is(STUB));
    assert!(is(&STUB.replace("    exercise!(\"3.1\")", "  // first\n exercise! ( \"3.1\" )")));
    assert!(is(&STUB.replace("    3 * x", "    /* then */ 3 * x // so")));
    assert!(is(&STUB.replace("x * 2", "x / 2")), "another exercise's function");
    assert!(!is(&STUB.replace("exercise!(\"3.1\")", "exercise!(\"3.2\")")));
    assert!(!is(&STUB.replace("3 * x", "3 * x;")));
    assert!(!is(&STUB.replace("double(x: u64)", "double(y: u64)")));
    assert!(!is(&STUB.replace("fn tripled", "fn renamed")));
    assert!(!is(&STUB.replace("3 * x\n}", "3 * x\n")));
}

fn error(file: &str, line: usize, text: &str) -> CompileError {
    let place = Place { file: file.to_owned(), line, text: text.to_owned() };
    CompileError { rendered: format!("error in line {line}"), places: vec![place] }
}

#[test]
fn a_compile_error_is_laid_at_the_function_that_holds_it() {
    let functions = ["double", "halved", "tripled"];
    let blamed = |errors: &[CompileError], text: &str| {
        blame(errors, text, &functions).map(|names| names.into_keys().collect::<Vec<_>>())
    };
    let at = |line| error("tests/../labs/lab-03-autograd/exercise.rs", line, "y");
    let some = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(blamed(&[at(8)], STUB), some(&["double"]));
    assert_eq!(blamed(&[at(12), at(16), at(18)], STUB), some(&["halved", "tripled"]));
    assert_eq!(blamed(&[at(3)], STUB), None, "an import belongs to no exercise");
    assert_eq!(blamed(&[at(8), at(3)], STUB), None);
    let signature = error("labs/lab-03-autograd/checks.rs", 9, "$m::tripled");
    assert_eq!(blamed(&[signature], STUB), some(&["tripled"]));
    let open = STUB.replace("x * 2\n}", "x * (2\n");
    assert_eq!(blamed(&[at(1)], &open), some(&["halved"]));
}

#[test]
fn a_broken_function_is_replaced_and_no_line_moves() {
    let broken = STUB.replace("    x * 2\n}", "    let y = (x;\n    y +\n");
    let salvaged = replaced(&broken, STUB, "halved").expect("the stub has the function");
    assert_eq!(salvaged.lines().count(), broken.lines().count());
    let line = |text: &str| text.lines().position(|line| line.contains("fn tripled"));
    assert_eq!(line(&salvaged), line(&broken));
    assert!(state::is_not_started(&facts(&["double", "halved", "tripled"]), &salvaged, STUB));
    let gone = replaced("fn other() {}\n", STUB, "halved").expect("it is put at the end");
    assert!(gone.contains("fn halved"));
    let explained = STUB.replace("    x * 2\n", "    // Half of it.\n    x * 2\n");
    let salvaged = replaced(&broken, &explained, "halved").expect("a comment ends with its line");
    assert!(state::is_not_started(&facts(&["halved"]), &salvaged, STUB));
}

#[test]
fn every_lab_of_the_course_is_described_well() {
    let labs = Lab::all(&root()).expect("every lab.toml is right");
    for facts in labs.iter().flat_map(|lab| &lab.exercises) {
        assert!(facts.minutes.typical() > 0, "{} takes no time", facts.id);
    }
    assert_eq!(facts(&["double"]).minutes.typical(), 20);
}

#[test]
fn a_description_that_is_wrong_says_what() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("lab-98-wrong");
    std::fs::create_dir_all(&folder).expect("the target folder can be written");
    let head = "id = \"98\"\nslug = \"98-wrong\"\ntitle = \"Wrong\"\nobjectives = []\n";
    let exercise = "[[exercise]]\nid = \"97.1\"\ntitle = \"T\"\nfunctions = [\"f\"]\n\
                    kind = \"implement\"\nminutes = { estimate = 5, measured = [] }\npoints = 1\n\
                    section = \"s\"\nstatement = \"S\"\nhints = [\"a\", \"b\"]\n";
    let right_id = exercise.replace("97.1", "98.1");
    for (text, problem) in [
        (format!("{head}{exercise}"), "id \"97.1\" must begin with \"98.\""),
        (format!("{head}{right_id}"), "exercise 98.1 needs three hints"),
        (format!("{head}{right_id}pints = 3\n"), "unknown field `pints`"),
        (head.replace("98-", "99-") + &right_id, "slug \"99-wrong\" does not fit"),
    ] {
        std::fs::write(folder.join("lab.toml"), text).expect("lab.toml can be written");
        let error = Lab::load(&folder).expect_err("the description is wrong");
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn tensors_are_compared_shape_first() {
    let check = Check::new(1);
    let tensor = |values: &[f32], shape: &[usize]| Tensor::from_vec(values.to_vec(), shape);
    let want = tensor(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    let idea = || Idea { key: "3.1-doubled", thought: "Twice.", value: want.mul_scalar(2.0) };
    let compare = |got: &Tensor| check.tensor("da", "f(a)", got, &want, 1e-5, &[idea()]);
    let key = |got: &Tensor| compare(got).map_err(|diagnosis| diagnosis.key);
    assert_eq!(compare(&want.add_scalar(1e-6)), Ok(()));
    assert_eq!(key(&want.reshape(&[3, 2])), Err("wrong-shape".to_owned()));
    assert_eq!(key(&want.mul_scalar(2.0)), Err("3.1-doubled".to_owned()));
    assert_eq!(key(&want.mul_scalar(f32::NAN)), Err("wrong-value".to_owned()));
    let wrong = compare(&tensor(&[1.0, 2.0, 3.0, 4.5, 5.0, 6.0], &[2, 3])).expect_err("it differs");
    assert!(wrong.got.starts_with("da[1, 0] = 4.5"), "{}", wrong.got);
    assert!(wrong.expected.starts_with("da[1, 0] = 4\n"), "{}", wrong.expected);
}

#[test]
fn a_diagnosis_reads_as_plain_text() {
    let diagnosis = Diagnosis {
        section: "'Two inputs' in chapter 03".to_owned(),
        seed: Some(42),
        ..Diagnosis::new("3.1-swapped")
    };
    let text = diagnosis
        .called("mul_backward(a: [2, 3])")
        .got("da has shape [3, 2]")
        .expected("da has shape [2, 3]")
        .thought("That is what A\u{b7}B gives. ".repeat(8))
        .to_string();
    assert!(text.starts_with("called    mul_backward(a: [2, 3])\ngot       da has"), "{text}");
    assert!(text.contains("\nSee 'Two inputs' in chapter 03.\nSeed 42: "), "{text}");
    assert!(text.is_ascii() && text.lines().all(|line| line.len() <= 90), "{text}");
}

#[test]
fn progress_keeps_states_and_first_guesses() {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("progress");
    let _ = std::fs::remove_dir_all(&root);
    let mut progress = Progress::load(&root).expect("no file is no progress");
    assert_eq!(progress.first_guess("3.a", "4096").guess, "4096");
    assert_eq!(progress.first_guess("3.a", "17").guess, "4096");
    let lab = r#"{"id":"03","exercises":[
        {"id":"3.1","state":"passed","points":5,"max_points":5,"diagnosis":null},
        {"id":"3.2","state":"not_started","points":0,"max_points":5,"diagnosis":null}]}"#;
    let report = Report::new(vec![serde_json::from_str(lab).expect("a report")]);
    assert_eq!(report.last_line(false), "environment good, 1 of 2 solved");
    assert_eq!(report.last_line(true), "1 failed, 1 of 2 solved");
    assert!(progress.record(&report));
    assert!(!progress.record(&report));
    progress.save(&root).expect("it can be written");
    assert_eq!(Progress::load(&root).as_ref(), Ok(&progress));
    assert_eq!(progress.exercise.len(), 1, "what nobody touched is not recorded");
}

#[test]
fn a_state_is_void_once_the_answer_has_changed() {
    let root = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("stale");
    let _ = std::fs::remove_dir_all(&root);
    let shipped = grading::root().join("labs/lab-03-autograd");
    let lab = root.join("labs/lab-03-autograd");
    std::fs::create_dir_all(&lab).expect("a folder");
    for (from, to) in [("lab.toml", "lab.toml"), ("stub.rs", "stub.rs"), ("stub.rs", "exercise.rs")]
    {
        std::fs::copy(shipped.join(from), lab.join(to)).expect("a copy");
    }
    let text = "[exercise.\"3.1\"]\nstate = \"passed\"\ngraded = \"of another answer\"\n\
                hints = 2\n[exercise.\"3.2\"]\nstate = \"passed\"\n";
    std::fs::create_dir_all(root.join(".progress")).expect("a folder");
    std::fs::write(Progress::path(&root), text).expect("a file");
    let progress = Progress::load(&root).expect("it can be read");
    assert_eq!((progress.exercise["3.1"].state, progress.exercise["3.1"].hints), (None, 2));
    assert_eq!(progress.exercise["3.2"].state, Some(State::Passed));
}
