//! The book's mdBook preprocessor: reads a book as JSON, writes it back with every directive
//! resolved, or says on stderr what cannot be resolved and fails the build.

mod chapter;
mod checks;
mod items;
mod kernels;
mod lab;
mod links;
mod markdown;
mod math;
mod output;
mod problem;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use mdbook_preprocessor::book::Book;
use problem::Problem;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, renderer] = &arguments[..] {
        // mdBook asks so unless `renderers` in book.toml says it.
        return ExitCode::from(u8::from(first != "supports" || renderer != "html"));
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report}");
            ExitCode::FAILURE
        }
    }
}

/// The whole job: standard input to standard output, or the report of everything that is wrong.
fn run() -> Result<(), String> {
    let (context, mut book) = mdbook_preprocessor::parse_input(std::io::stdin()).map_err(|e| {
        let version = mdbook_preprocessor::MDBOOK_VERSION;
        format!(
            "The book as mdBook hands it over cannot be read: {e}.\nThis book needs mdBook \
             {version}: cargo install mdbook --version {version} --locked"
        )
    })?;
    let source = context.root.join(&context.config.book.src);
    let problems = process(&mut book, &context.root, &source);
    if problems.is_empty() {
        let written = serde_json::to_writer(std::io::stdout(), &book);
        return written.map_err(|e| format!("The book cannot be handed back to mdBook: {e}."));
    }
    let list: Vec<String> = problems.iter().map(Problem::to_string).collect();
    Err(format!("{}\n\n{} problem(s) in the book.", list.join("\n\n"), list.len()))
}

/// Resolves every chapter in place. What could not be resolved comes back.
fn process(book: &mut Book, root: &Path, source: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut pages: BTreeMap<PathBuf, links::Page> = BTreeMap::new();
    book.for_each_chapter_mut(|chapter| {
        let Some(path) = chapter.path.clone() else { return };
        let place = chapter::Place::new(root, source, &path);
        let written = std::mem::take(&mut chapter.content);
        let (expanded, mut wrong) = chapter::expand(&place, &written);
        problems.append(&mut wrong);
        pages.insert(path, links::Page::new(place.shown, written, &expanded));
        chapter.content = expanded;
    });
    problems.extend(links::check(&pages, source));
    problems
}
