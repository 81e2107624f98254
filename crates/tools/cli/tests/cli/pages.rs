//! The tutorial pages: their commands run, in order, and print the output on the pages.
//!
//! The README and the tutorials are run as a reader would, each from its beginning to its end in a
//! directory of its own that has the repository's scenarios and examples. The words after the language of a
//! fenced block say how it is handled:
//!
//! | block | what happens |
//! |---|---|
//! | `sh` | each command runs and succeeds; `sudo` is left out |
//! | `sh background` | each command runs until the page ends, as in another terminal |
//! | `sh ctrl-c` | those commands are interrupted first |
//! | `text` | the last command printed this |
//! | `toml` | `wayhop run --check` accepts this scenario |
//! | any language, `file="NAME"` | is saved under this name |
//! | any language, `no-run="REASON"` | nothing |
//!
//! A line `...` in a sample is any number of lines; so lines with times of the wall clock can be left out.
//! `cargo xtask samples` updates the samples. Pages with `sudo` need root.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::Ran;
use crate::emulate::is_root;

/// Set by `cargo xtask samples`: write what is printed into the pages.
const REWRITE: &str = "WAYHOP_REWRITE_SAMPLES";
/// Stands for lines that are left out.
const GAP: &str = "...";

/// A fenced block of a page.
#[derive(Debug, PartialEq)]
struct Block {
    language: String,
    /// What follows the language: `background`, `file="NAME"`, ...
    rest: String,
    /// The index of its first line in the file, behind the fence.
    first: usize,
    lines: Vec<String>,
}

impl Block {
    /// The value of an attribute, such as `NAME` of `file="NAME"`.
    fn attribute(&self, name: &str) -> Option<&str> {
        let (_, value) = self.rest.split_once(&format!("{name}=\""))?;
        value.split('"').next()
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut open = false;
    for (i, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(info), false) => {
                let (language, rest) = info.split_once(' ').unwrap_or((info, ""));
                let (language, rest) = (language.to_owned(), rest.trim().to_owned());
                out.push(Block { language, rest, first: i + 1, lines: Vec::new() });
                open = true;
            }
            (Some(_), true) => open = false,
            (None, true) => out.last_mut().expect("a block is open").lines.push(line.to_owned()),
            (None, false) => {}
        }
    }
    out
}

/// The commands of a block of shell, lines that go on joined.
fn commands(block: &Block) -> Vec<String> {
    let joined = block.lines.join("\n").replace("\\\n", " ");
    let lines = joined.lines().filter(|l| !l.trim().is_empty());
    lines.map(|l| l.strip_prefix("sudo ").unwrap_or(l).to_owned()).collect()
}

/// The sample with the lines that were printed instead of those that it shows, or why that cannot be.
fn brought_up_to_date(sample: &[String], printed: &[&str]) -> Result<Vec<String>, String> {
    let first_word = |l: &str| l.split_whitespace().next().unwrap_or_default().to_owned();
    let (mut out, mut at, mut gap) = (Vec::new(), 0, false);
    for line in sample {
        if line.trim() == GAP {
            (gap, out) = (true, [out, vec![line.clone()]].concat());
            continue;
        }
        if gap {
            // The next shown line is found by its first word.
            let word = first_word(line);
            let skipped = printed[at..].iter().position(|l| first_word(l) == word);
            at += skipped.ok_or_else(|| format!("no line of the output begins with \"{word}\""))?;
        }
        gap = false;
        let shown = printed.get(at).ok_or_else(|| format!("the output ends before \"{line}\""))?;
        out.push((*shown).to_owned());
        at += 1;
    }
    if !gap && at < printed.len() {
        return Err(format!("the output continues with \"{}\"; end the sample with {GAP}", printed[at]));
    }
    Ok(out)
}

/// A page, and the directory in which a reader follows it.
struct Reader {
    page: PathBuf,
    dir: tempfile::TempDir,
    /// What the last command printed.
    printed: String,
    background: Vec<(String, Child)>,
    /// The page's lines, with samples brought up to date.
    lines: Vec<String>,
    stale: Vec<String>,
}

impl Reader {
    /// A shell with `wayhop` in the path.
    fn shell(&self, line: &str) -> Command {
        let bin = Path::new(env!("CARGO_BIN_EXE_wayhop")).parent().expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(self.dir.path())
            .env("PATH", format!("{}:{path}", bin.display()));
        command
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{}", self.page.display(), line + 1)
    }

    fn run(&mut self, line: &str, first: usize) {
        let ran = Ran::of(&self.shell(line).output().expect("a shell"));
        assert_eq!(ran.status, Some(0), "{}: {line}\n{}{}", self.place(first), ran.out, ran.err);
        self.printed = ran.out;
    }

    /// Starts a command and waits for its first output.
    fn start(&mut self, line: String, first: usize) {
        let log = self.dir.path().join(format!("background-{}.log", self.background.len()));
        let to = || Stdio::from(fs::File::options().create(true).append(true).open(&log).expect("a log"));
        let mut command = self.shell(&format!("exec {line}"));
        let mut child = command.stdin(Stdio::null()).stdout(to()).stderr(to()).spawn().expect("a shell");
        let until = Instant::now() + Duration::from_secs(5);
        while fs::metadata(&log).is_ok_and(|m| m.len() == 0) && Instant::now() < until {
            sleep(Duration::from_millis(50));
        }
        let ended = child.try_wait().expect("a status");
        let told = fs::read_to_string(&log).unwrap_or_default();
        assert_eq!(ended, None, "{}: {line}\n{told}", self.place(first));
        self.background.push((line, child));
    }

    /// Ctrl-C in each of the other terminals.
    fn interrupt(&mut self) {
        for (_, child) in &self.background {
            let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(status.is_ok(), "kill: {status:?}");
        }
        for (line, mut child) in self.background.drain(..) {
            let status = child.wait().expect("a status");
            let interrupted = status.signal() == Some(2) || status.code() == Some(130);
            assert!(interrupted || status.success(), "{line}: {status}");
        }
    }

    fn compare(&mut self, block: &Block) {
        let now = brought_up_to_date(&block.lines, &self.printed.lines().collect::<Vec<_>>())
            .unwrap_or_else(|why| panic!("{}: {why}", self.place(block.first)));
        for (i, (shown, now)) in block.lines.iter().zip(&now).enumerate().filter(|(_, (a, b))| a != b) {
            let place = self.place(block.first + i);
            self.stale.push(format!("{place}: shows \"{shown}\", and it is \"{now}\""));
            self.lines[block.first + i].clone_from(now);
        }
    }

    fn follow(&mut self, block: &Block) {
        let text = block.lines.join("\n") + "\n";
        match (block.language.as_str(), block.rest.as_str()) {
            _ if block.attribute("no-run").is_some_and(|reason| !reason.is_empty()) => {}
            (_, rest) if rest.starts_with("file=") => {
                let name = block.attribute("file").expect("a name");
                fs::write(self.dir.path().join(name), text).expect("written");
            }
            ("sh", "background") => {
                for line in commands(block) {
                    self.start(line, block.first);
                }
            }
            ("sh", rest @ ("" | "ctrl-c")) => {
                if rest == "ctrl-c" {
                    self.interrupt();
                }
                for line in commands(block) {
                    self.run(&line, block.first);
                }
            }
            ("text", "") => self.compare(block),
            ("toml", "") => {
                fs::write(self.dir.path().join("checked.toml"), text).expect("written");
                self.run("wayhop run checked.toml --check", block.first);
            }
            (language, rest) => panic!(
                "{}: \"{language} {rest}\" says neither how to run this nor why it does not run",
                self.place(block.first)
            ),
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        for (_, child) in &mut self.background {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Follows a page from its beginning to its end.
fn follow(page: &str) {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", ".."].iter().collect();
    let text = fs::read_to_string(root.join(page)).expect("a page");
    if text.contains("\nsudo ") && !is_root() {
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let scenarios = root.join("scenarios").canonicalize().expect("the scenarios");
    std::os::unix::fs::symlink(scenarios, dir.path().join("scenarios")).expect("a link");
    // Readers build in these.
    for (folder, files) in [
        ("examples/c", &["flood.c", "flood.toml", "request.c", "request.toml", "Makefile"][..]),
        ("examples/python", &["flooding.py", "greedy.py", "mesh.toml", "request.py", "request.toml"]),
        ("crates/routing/foreign/include", &["wayhop.h"]),
    ] {
        fs::create_dir_all(dir.path().join(folder)).expect("a folder");
        for file in files {
            let path = Path::new(folder).join(file);
            fs::copy(root.join(&path), dir.path().join(&path)).expect("a copy");
        }
    }
    let mut reader = Reader {
        page: page.into(),
        dir,
        printed: String::new(),
        background: Vec::new(),
        lines: text.lines().map(str::to_owned).collect(),
        stale: Vec::new(),
    };
    let blocks = blocks(&text);
    assert!(blocks.iter().any(|b| b.language == "sh"), "{page} has no commands");
    for block in &blocks {
        reader.follow(block);
    }
    reader.interrupt();
    if std::env::var_os(REWRITE).is_some() {
        fs::write(root.join(page), reader.lines.join("\n") + "\n").expect("the page is written");
    } else {
        let stale = reader.stale.join("\n");
        assert!(stale.is_empty(), "{stale}\nrun `cargo xtask samples` and commit the result");
    }
}

/// A test for each page, and the list of the pages.
macro_rules! pages {
    ($($test:ident: $page:literal,)*) => {
        $(#[test] fn $test() { follow($page); })*
        const PAGES: &[&str] = &[$($page),*];
    };
}

pages! {
    the_readme_runs: "README.md",
    a_figure_for_a_paper_runs: "docs/tutorials/figure-for-a-paper.md",
    programs_on_a_moving_mesh_run: "docs/tutorials/programs-on-a-moving-mesh.md",
    a_class_with_the_studio_runs: "docs/tutorials/class-with-the-studio.md",
    a_protocol_in_c_runs: "docs/tutorials/c-protocol.md",
    a_protocol_in_python_runs: "docs/tutorials/python-protocol.md",
    sweeps_on_many_machines_run: "docs/concepts/clusters.md",
    the_field_guide_runs: "docs/tutorials/field-guide.md",
}

#[test]
fn every_tutorial_runs() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/tutorials");
    for file in fs::read_dir(folder).expect("the tutorials") {
        let name = file.expect("a file").file_name();
        let page = format!("docs/tutorials/{}", name.display());
        assert!(PAGES.contains(&page.as_str()), "no test runs {page}");
    }
}

#[test]
fn blocks_have_attributes_and_lines_that_go_on_are_one_command() {
    let page = "```sh no-run=\"needs a card\"\niw dev\n```\ntext\n```toml file=\"a.toml\"\nx\n```\n\
                ```sh\nsudo wayhop run a \\\n    --json\n\ncat b\n```\n";
    let found = blocks(page);
    let heads: Vec<_> = found.iter().map(|b| (b.language.as_str(), b.first)).collect();
    assert_eq!(heads, [("sh", 1), ("toml", 5), ("sh", 8)]);
    assert_eq!(found[0].attribute("no-run"), Some("needs a card"));
    assert_eq!(found[1].attribute("file"), Some("a.toml"));
    assert_eq!(found[1].attribute("no-run"), None);
    assert_eq!(commands(&found[2]), ["wayhop run a      --json", "cat b"]);
}

#[test]
fn a_sample_is_compared_line_by_line_and_a_gap_ends_at_the_next_lines_first_word() {
    let update = |sample: &[&str], printed: &[&str]| {
        brought_up_to_date(&sample.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>(), printed)
    };
    let printed = ["flow  %", "   0  9", "   1  8", "", "sum   7", "time  1 s"];
    let sample = ["flow  %", "   0  5", "  ...", "sum   6", "..."];
    assert_eq!(update(&sample, &printed).unwrap(), ["flow  %", "   0  9", "  ...", "sum   7", "..."]);
    // What is left out without a gap, at the end or before it, is told.
    assert!(update(&sample[..4], &printed).unwrap_err().contains("continues with \"time  1 s\""));
    assert!(update(&["...", "total 6"], &printed).unwrap_err().contains("begins with \"total\""));
    assert!(update(&["..."], &printed).unwrap() == ["..."]);
    assert!(update(&["flow", "a"], &printed[..1]).unwrap_err().contains("ends before \"a\""));
}
