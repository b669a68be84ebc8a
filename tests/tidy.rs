//! Tidy: the rules of this repository, as tests.
//!
//! Each test is one rule over every file that git tracks, except those that a learner may edit.
//! Each rule is also shown a small planted violation (the `planted` modules beside it): a rule
//! that cannot fail is no rule.

#[path = "tidy/callers.rs"]
mod callers;
#[path = "tidy/docs.rs"]
mod docs;
#[path = "tidy/kernels.rs"]
mod kernels;
#[path = "tidy/layers.rs"]
mod layers;
#[path = "tidy/lexer.rs"]
mod lexer;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/sizes.rs"]
mod sizes;
#[path = "tidy/text.rs"]
mod text;
#[path = "tidy/tree.rs"]
mod tree;
#[path = "tidy/unsafety.rs"]
mod unsafety;
#[path = "tidy/words.rs"]
mod words;

use std::path::Path;
use std::sync::LazyLock;
use tree::{Check, Tree};

static TREE: LazyLock<Tree> = LazyLock::new(|| Tree::load(Path::new(env!("CARGO_MANIFEST_DIR"))));

/// Fails with every place that breaks the rule.
#[track_caller]
fn hold(rule: Check) {
    let broken = rule(&TREE);
    assert!(broken.is_empty(), "{} to tidy:\n{}", broken.len(), tree::report(&broken));
}

#[test]
fn there_are_files_to_look_at() {
    assert!(TREE.rust().count() > 0 && TREE.file("Cargo.toml").is_some());
}

macro_rules! rules {
    ($($name:ident: $rule:path,)*) => {
        $(#[test] fn $name() { hold($rule) })*
    };
}

rules! {
    files_are_short: sizes::files,
    functions_are_short: sizes::functions,
    lines_are_narrow: sizes::widths,
    parts_stay_within_their_budgets: sizes::budgets,
    files_say_what_they_are_for: docs::heads,
    public_items_are_documented: docs::items,
    ops_say_what_they_compute_and_keep: docs::ops,
    ops_are_in_the_table: docs::op_table,
    comments_are_neither_few_nor_many: docs::comment_share,
    unsafe_stands_where_it_may: unsafety::places,
    unsafe_is_argued_for: unsafety::arguments,
    ptx_is_that_of_the_sources: kernels::up_to_date,
    the_engine_has_every_kernel: kernels::rows,
    modules_know_only_their_layers: layers::directions,
    paths_begin_at_the_crate: layers::relative_paths,
    nothing_is_left_over: words::leftovers,
    no_test_is_switched_off: words::ignored_tests,
    lints_are_switched_off_with_a_reason: words::reasons,
    no_code_is_commented_out: words::commented_out,
    programs_print_plain_ascii: words::plain_ascii,
    no_test_looks_at_a_clock: words::clocks,
    what_is_public_is_called: callers::callers,
    each_job_has_one_helper: callers::helpers,
    chapters_follow_the_plan: names::plan,
    chapters_have_one_name: names::slugs,
    every_test_file_is_a_target: names::declarations,
    every_test_target_is_run: names::targets,
    manifests_keep_the_build_fast: names::manifests,
    no_file_names_a_machine: text::machines,
    text_files_end_well: text::endings,
    rust_has_no_tabs: text::tabs,
}
