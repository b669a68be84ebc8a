//! Walks through the functions of a solution and puts a switch at each place that can be changed.

use std::collections::BTreeMap;

use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprMatch, File, Item, ItemFn, Stmt, parse_quote};

use crate::rules;

/// One mutant: where it is, and what it changes.
struct Mutant {
    exercise: String,
    line: usize,
    change: String,
}

/// The source with all mutants in it, and the table of them. Changes that `exceptions` lists as
/// not compiling are left out.
pub fn schemata(source: &str, exceptions: &str) -> Result<String, String> {
    let mut file: File = syn::parse_file(source).map_err(|error| error.to_string())?;
    file.attrs.clear();
    let exercises = exercises(source);
    let mut mutator = Mutator { exercise: String::new(), mutants: Vec::new(), exceptions };
    for item in &mut file.items {
        if let Item::Fn(function) = item {
            mutator.function(function, &exercises);
        }
    }
    let rows = mutator.mutants.iter().map(|Mutant { exercise, line, change }| {
        quote!(::grading::Mutant { exercise: #exercise, line: #line, change: #change })
    });
    let table = quote!(pub const MUTANTS: &[::grading::Mutant] = &[#(#rows),*];);
    Ok(format!("{}\n{table}\n", file.to_token_stream()))
}

/// The exercise of each `// SOLUTION 3.1`, by its line, and of each function whose documentation
/// begins with it, as that of a helper does: `/// 3.1 The sum of ..`.
fn exercises(source: &str) -> BTreeMap<usize, String> {
    let id = |line: &str| {
        let line = line.trim();
        let marked = line.strip_prefix("// SOLUTION ").map(str::trim);
        let documented = || line.strip_prefix("/// ")?.split(' ').next().filter(|word| is_id(word));
        marked.or_else(documented).map(str::to_owned)
    };
    (1..).zip(source.lines()).filter_map(|(at, line)| Some((at, id(line)?))).collect()
}

/// Whether a word is like 3.1.
fn is_id(word: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    word.split_once('.').is_some_and(|(lab, exercise)| number(lab) && number(exercise))
}

struct Mutator<'a> {
    exercise: String,
    mutants: Vec<Mutant>,
    exceptions: &'a str,
}

impl Mutator<'_> {
    fn function(&mut self, function: &mut ItemFn, exercises: &BTreeMap<usize, String>) {
        let span = function.span();
        let mut inside = exercises.range(span.start().line..=span.end().line);
        let Some((_, exercise)) = inside.next() else { return };
        self.exercise.clone_from(exercise);
        let other = rules::other_results(&function.sig.output);
        self.visit_block_mut(&mut function.block);
        let Some(Stmt::Expr(tail, None)) = function.block.stmts.last_mut() else { return };
        let line = tail.span().start().line;
        let same = text(tail);
        let other = other.into_iter().filter(|value| text(value) != same).map(|value| {
            let change = format!("the result becomes {}", text(&value));
            (value, change)
        });
        self.switch(tail, line, other.collect());
    }

    /// Puts a `match` on the active mutant in place of an expression.
    fn switch(&mut self, place: &mut Expr, line: usize, replacements: Vec<(Expr, String)>) {
        let mut switch: ExprMatch = parse_quote!(match ::engine_room_mutation::active() {});
        for (replacement, change) in replacements {
            if let Some(id) = self.number(line, change) {
                switch.arms.push(parse_quote!(#id => #replacement,));
            }
        }
        if !switch.arms.is_empty() {
            let original = place.clone();
            switch.arms.push(parse_quote!(_ => #original,));
            // In brackets: an operator may follow, which after a plain `match` would begin a line.
            *place = parse_quote!((#switch));
        }
    }

    /// The number of a new mutant; none if it is known not to compile.
    fn number(&mut self, line: usize, change: String) -> Option<u32> {
        let known = format!("{} | does not compile | {change} |", self.exercise);
        if self.exceptions.lines().any(|line| line.starts_with(&known)) {
            return None;
        }
        self.mutants.push(Mutant { exercise: self.exercise.clone(), line, change });
        u32::try_from(self.mutants.len()).ok()
    }
}

impl VisitMut for Mutator<'_> {
    fn visit_expr_mut(&mut self, place: &mut Expr) {
        let original = place.clone();
        let line = original.span().start().line;
        self.visit_inside(place);
        let replacements = rules::replacements(&original).into_iter().map(|replacement| {
            let change = format!("{} -> {}", text(&original), text(&replacement));
            (replacement, change)
        });
        self.switch(place, line, replacements.collect());
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let last = block.stmts.len().saturating_sub(1);
        for (at, statement) in block.stmts.iter_mut().enumerate() {
            let original = statement.clone();
            self.visit_stmt_mut(statement);
            if rules::can_be_deleted(&original, at == last) {
                let line = original.span().start().line;
                if let Some(id) = self.number(line, format!("deleted: {}", text(&original))) {
                    let kept = statement.clone();
                    *statement = parse_quote!(if ::engine_room_mutation::active() != #id { #kept });
                }
            }
        }
    }
}

impl Mutator<'_> {
    /// Goes on into an expression, but not into what is assigned to, called or matched by name.
    fn visit_inside(&mut self, place: &mut Expr) {
        match place {
            Expr::Assign(assign) => {
                self.visit_place(&mut assign.left);
                self.visit_expr_mut(&mut assign.right);
            }
            Expr::Binary(binary) if rules::is_assignment(&binary.op) => {
                self.visit_place(&mut binary.left);
                self.visit_expr_mut(&mut binary.right);
            }
            Expr::Call(call) => {
                call.args.iter_mut().for_each(|argument| self.visit_expr_mut(argument));
            }
            Expr::If(branch) => {
                self.visit_condition(&mut branch.cond);
                self.visit_block_mut(&mut branch.then_branch);
                if let Some((_, other)) = &mut branch.else_branch {
                    self.visit_inside(other);
                }
            }
            Expr::While(looped) => {
                self.visit_condition(&mut looped.cond);
                self.visit_block_mut(&mut looped.body);
            }
            Expr::Repeat(repeat) => self.visit_expr_mut(&mut repeat.expr),
            _ => visit_mut::visit_expr_mut(self, place),
        }
    }

    fn visit_place(&mut self, place: &mut Expr) {
        if let Expr::Index(index) = place {
            self.visit_expr_mut(&mut index.index);
        }
    }

    /// A condition is also negated, unless it matches a pattern.
    fn visit_condition(&mut self, condition: &mut Expr) {
        if let Expr::Let(matched) = condition {
            return self.visit_expr_mut(&mut matched.expr);
        }
        let (line, negated) = (condition.span().start().line, rules::negated(condition));
        let change = format!("if {} -> if !({})", text(condition), text(condition));
        self.visit_expr_mut(condition);
        self.switch(condition, line, vec![(negated, change)]);
    }
}

/// Source text on one line, spaced as people write it.
pub fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (from, to) in [
        (" . ", "."),
        (" .", "."),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        (" ,", ","),
        (" ;", ";"),
        ("& ", "&"),
        (" :: ", "::"),
        (" ?", "?"),
        (" !", "!"),
    ] {
        text = text.replace(from, to);
    }
    text.replace('\n', " ")
}
