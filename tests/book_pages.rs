//! The book as it is built: complete, readable offline and without scripts, every link leading
//! somewhere; and a build that fails when an included item has gone.
//!
//! Needs mdBook 0.5.4 on the PATH. The browser's part needs chromium and says when it is not run.

#[path = "book_pages/html.rs"]
mod html;

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use html::{main_part, prose, tags, without_scripts, words};

struct Book {
    folder: PathBuf,
    log: String,
    /// HTML of every page but the frame that holds the table of contents.
    pages: BTreeMap<String, String>,
}

impl Book {
    /// The chapters: not the page for printing, which repeats them.
    fn chapters(&self) -> impl Iterator<Item = (&String, &String)> {
        self.pages.iter().filter(|(name, _)| *name != "print.html")
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests has a parent").to_path_buf()
}

/// A folder for one test, empty.
fn empty(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book-pages").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn mdbook(root: &Path, into: &Path, preprocessor: Option<&Path>) -> Output {
    let mut command = Command::new("mdbook");
    command.arg("build").arg("--dest-dir").arg(into).current_dir(root);
    if let Some(program) = preprocessor {
        let program = format!("'{}'", program.display());
        command.env("MDBOOK_PREPROCESSOR__ENGINE_ROOM__COMMAND", program);
    }
    command.output().expect("mdBook runs: cargo install mdbook --version 0.5.4 --locked")
}

/// Everything that a program printed.
fn printed(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat()
}

/// The book, built once for all tests of this file.
fn book() -> &'static Book {
    static BOOK: OnceLock<Book> = OnceLock::new();
    BOOK.get_or_init(|| {
        let folder = empty("book");
        let output = mdbook(&root(), &folder, None);
        let log = printed(&output);
        assert!(output.status.success(), "mdbook build failed:\n{log}");
        let mut pages = BTreeMap::new();
        for file in files(&folder).into_iter().filter(|file| file.ends_with(".html")) {
            let text = std::fs::read_to_string(folder.join(&file)).expect("a page");
            pages.insert(file, text);
        }
        pages.remove("toc.html");
        Book { folder, log, pages }
    })
}

/// Every file under a folder, by its path with forward slashes.
fn files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            files.extend(files_under(&name, &entry.path()));
        } else {
            files.push(name);
        }
    }
    files
}

fn files_under(name: &str, folder: &Path) -> Vec<String> {
    files(folder).into_iter().map(|file| format!("{name}/{file}")).collect()
}

/// Fails with every finding, one a line.
fn none(findings: Vec<String>) {
    assert!(findings.is_empty(), "{} finding(s):\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn the_build_warns_of_nothing() {
    let warned = book().log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR"));
    none(warned.map(String::from).collect());
}

#[test]
fn no_directive_and_no_formula_is_left_in_the_text() {
    let mut findings = Vec::new();
    for (page, html) in &book().pages {
        let text = prose(main_part(html));
        for mark in ["{{#", "$$", "\\frac", "\\cdot"] {
            findings.extend(text.contains(mark).then(|| format!("{page}: {mark}")));
        }
    }
    none(findings);
}

#[test]
fn nothing_is_fetched_from_a_network() {
    let is_far = |address: &str| address.starts_with("http") || address.starts_with("//");
    let mut findings = Vec::new();
    for (page, html) in &book().pages {
        for tag in tags(html).iter().filter(|tag| tag.name != "a") {
            for name in ["src", "href", "srcset", "data", "xlink:href", "action"] {
                let far = tag.get(name).filter(|address| is_far(address));
                findings.extend(far.map(|address| format!("{page}: <{}> {address}", tag.name)));
            }
        }
    }
    for file in files(&book().folder).iter().filter(|file| file.ends_with(".css")) {
        let css = std::fs::read_to_string(book().folder.join(file)).expect("a style sheet");
        let far = css.contains("@import") || css.contains("url(http") || css.contains("url(//");
        findings.extend(far.then(|| format!("{file} fetches something")));
    }
    none(findings);
}

#[test]
fn images_have_a_text_and_headings_an_id() {
    let mut findings = Vec::new();
    for (page, html) in &book().pages {
        for tag in tags(main_part(html)) {
            let needed = match tag.name.as_str() {
                "img" => "alt",
                "svg" => "aria-label",
                "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => "id",
                _ => continue,
            };
            if tag.get(needed).is_none_or(|text| text.trim().is_empty()) {
                findings.push(format!("{page}: <{}> without {needed}", tag.name));
            }
            if tag.name == "svg" && tag.get("role") != Some("img") {
                findings.push(format!("{page}: <svg> without role=\"img\""));
            }
        }
    }
    none(findings);
}

#[test]
fn every_link_inside_the_book_leads_somewhere() {
    let book = book();
    let ids: BTreeMap<&String, HashSet<&str>> =
        book.pages.iter().map(|(page, html)| (page, ids(html))).collect();
    let mut findings = Vec::new();
    for (page, html) in &book.pages {
        for tag in tags(html) {
            let address = tag.get("href").or_else(|| tag.get("src"));
            let Some(address) = address.filter(|address| !address.contains(':')) else { continue };
            let (file, id) = address.split_once('#').unwrap_or((address, ""));
            let target = if file.is_empty() { page.clone() } else { resolved(page, file) };
            if !book.folder.join(&target).is_file() {
                findings.push(format!("{page}: {address} is no file"));
            } else if !id.is_empty() && ids.get(&target).is_some_and(|ids| !ids.contains(id)) {
                findings.push(format!("{page}: {address} has no such id"));
            }
        }
    }
    none(findings);
}

fn ids(html: &str) -> HashSet<&str> {
    tags(html).iter().filter_map(|tag| tag.get("id")).collect()
}

/// A relative address as seen from a page, as a path from the book's folder.
fn resolved(page: &str, address: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in address.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn checks_and_hints_open_without_a_script() {
    let (mut findings, mut checks, mut hints) = (Vec::new(), 0, 0);
    for (page, html) in book().chapters() {
        let text = without_scripts(main_part(html));
        let all = tags(&text);
        for section in all.iter().filter(|tag| tag.name == "section" && tag.has_class("check")) {
            let rest = &text[section.range.end..];
            let check = &rest[..rest.find("</section>").expect("a section ends")];
            let options = check.matches("<details><summary>").count();
            let whys = check.matches("<strong>Right.").count() + check.matches(">Not so.").count();
            checks += 1;
            if options < 2 || options != whys || check.matches("</details>").count() != options {
                findings.push(format!("{page}: {options} options, {whys} explanations"));
            }
        }
        hints += all.iter().filter(|tag| tag.name == "details" && tag.has_class("hint")).count();
        let scripted =
            all.iter().filter(|tag| tag.attributes.iter().any(|(k, _)| k.starts_with("on")));
        findings.extend(scripted.map(|tag| format!("{page}: <{}> needs a script", tag.name)));
    }
    none(findings);
    assert!(checks > 0 && hints > 0, "{checks} checks and {hints} hints in the whole book");
}

#[test]
fn a_chapter_is_neither_long_nor_silent() {
    let mut findings = Vec::new();
    let numbered = |page: &&String| page.starts_with(|c: char| c.is_ascii_digit());
    for page in book().pages.keys().filter(numbered) {
        let (count, mut asked) = words(main_part(&book().pages[page]));
        if !(1500..=3000).contains(&count) {
            findings.push(format!("{page}: {count} words of prose, not 1,500 to 3,000"));
        }
        asked.push(count);
        let mut last = 0;
        for at in asked {
            let gap = at - last;
            if gap > 700 {
                findings.push(format!("{page}: {gap} words without a question, from {last} on"));
            }
            last = at;
        }
    }
    none(findings);
}

#[test]
fn words_are_those_of_the_prose() {
    let page = "<main><h1>One <code>two</code></h1><p>three <math><mi>x</mi></math> - 5</p>\
                <pre>no</pre><section class=\"check\"><p>no</p><section>no</section></section>\
                <p class=\"source\">no</p><p>six.</p>";
    assert_eq!(words(page), (6, vec![5]));
}

/// An `{{#item}}` of the book whose name is a function: chapter, source file, function.
fn included_function() -> (String, String, String) {
    let source = root().join("book/src");
    for file in files(&source).into_iter().filter(|file| file.ends_with(".md")) {
        let text = std::fs::read_to_string(source.join(&file)).expect("a chapter");
        for line in text.lines().filter_map(|line| line.strip_prefix("{{#item src/")) {
            let mut words = line.trim_end_matches("}}").split_whitespace();
            let (Some(path), Some(name)) = (words.next(), words.next()) else { continue };
            let function = name.rsplit("::").next().unwrap_or(name).to_string();
            let path = format!("src/{path}");
            let code = std::fs::read_to_string(root().join(&path)).expect("the source file");
            if code.contains(&format!("fn {function}(")) {
                return (file, path, function);
            }
        }
    }
    panic!("no chapter includes a function of the engine");
}

#[test]
fn renaming_an_included_item_fails_the_build() {
    book(); // builds the preprocessor
    let copy = empty("renamed");
    for part in ["book/src", "book/theme", "src", "sim/src", "labs", "kernels"] {
        copy_folder(&root().join(part), &copy.join(part));
    }
    std::fs::copy(root().join("book.toml"), copy.join("book.toml")).expect("book.toml copies");
    let name = format!("engine-room-book{}", std::env::consts::EXE_SUFFIX);
    let program = root().join("target/preprocessor/debug").join(name);
    let before = mdbook(&copy, &copy.join("out"), Some(&program));
    assert!(before.status.success(), "the copy builds:\n{}", printed(&before));

    let (chapter, path, function) = included_function();
    let file = copy.join(&path);
    let code = std::fs::read_to_string(&file).expect("the source file");
    let renamed = code.replace(&format!("fn {function}("), &format!("fn {function}_renamed("));
    std::fs::write(&file, renamed).expect("the copy can be changed");
    let after = mdbook(&copy, &copy.join("out"), Some(&program));
    let report = printed(&after);
    assert!(!after.status.success(), "{function} of {path} was renamed and nobody noticed");
    assert!(report.contains(&format!("book/src/{chapter}:")), "names the chapter:\n{report}");
    assert!(report.contains(&format!("{function}_renamed")), "names the near item:\n{report}");
}

fn copy_folder(from: &Path, to: &Path) {
    if !from.is_dir() {
        return;
    }
    for file in files(from) {
        let target = to.join(&file);
        std::fs::create_dir_all(target.parent().expect("a parent")).expect("a folder");
        std::fs::copy(from.join(&file), target).expect("a file copies");
    }
}

/// The browser that is here; without one a note is written past the test harness, which would keep
/// it to itself.
fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        let note = "not run here: the book in a browser (no chromium on the PATH)\n";
        let _ = std::io::stderr().write_all(note.as_bytes());
    }
    found
}

#[test]
fn a_browser_shows_every_chapter_without_a_script_or_a_network() {
    let Some(browser) = browser() else { return };
    let mut findings = Vec::new();
    for (page, html) in book().chapters() {
        let shown = shown(browser, page, "plain", &without_scripts(html));
        for id in tags(main_part(html)).iter().filter_map(|tag| tag.get("id")) {
            let missing = !shown.contains(&format!("id=\"{id}\""));
            findings.extend(missing.then(|| format!("{page}: {id} is not shown")));
        }
        findings.extend((!shown.contains("</main>")).then(|| format!("{page}: nothing shown")));
    }
    none(findings);
}

#[test]
fn arrow_keys_turn_no_page_and_the_keyboard_reaches_the_menu() {
    let Some(browser) = browser() else { return };
    let press = "<script>addEventListener('load', () => { for (const key of ['ArrowRight', \
                 'ArrowLeft']) { document.body.dispatchEvent(new KeyboardEvent('keydown', { key, \
                 bubbles: true })); } document.body.dataset.stayed = 'yes'; });</script></body>";
    let html = book().pages["introduction.html"].replace("</body>", press);
    let shown = shown(browser, "introduction.html", "keys", &html);
    assert!(shown.contains("data-stayed=\"yes\""), "an arrow key turned the page");
    let menu = tags(&shown).into_iter().find(|tag| tag.get("id") == Some("mdbook-sidebar-toggle"));
    assert_eq!(menu.and_then(|menu| menu.get("tabindex")), Some("0"), "the menu takes no focus");
    let body = shown.find("<body").expect("a body");
    let first = shown[body..].find("<a ").map(|at| &shown[body + at..]).expect("a link");
    assert!(first.starts_with("<a id=\"skip-link\""), "the skip link comes first");
}

/// What a browser makes of a page's HTML, beside the page itself, with every host name refused.
fn shown(browser: &str, page: &str, name: &str, html: &str) -> String {
    let file = book().folder.join(page).with_extension(format!("{name}.html"));
    std::fs::write(&file, html).expect("the page for the browser");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"])
        .arg(format!("--user-data-dir={}", empty(name).display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .expect("the browser runs");
    std::fs::remove_file(&file).expect("the page for the browser goes");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
