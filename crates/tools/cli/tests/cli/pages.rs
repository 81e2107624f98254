//! The README's five minutes: its commands run, in order, and print what it shows.
//!
//! A block of shell commands may be followed by a block of text with what its last command prints. A line `...` there stands
//! for any number of lines; so lines with times of the wall clock can be left out. `cargo xtask samples` writes the samples
//! anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Ran;

/// The section whose commands run.
const SECTION: &str = "## An ns-2 user in five minutes";
/// Set by `cargo xtask samples`: write what is printed into the README.
const REWRITE: &str = "WAYHOP_REWRITE_SAMPLES";
/// Stands for lines that are left out.
const GAP: &str = "...";

/// A fenced block of the section.
#[derive(Debug, PartialEq)]
struct Block {
    language: String,
    /// The index of its first line in the file, behind the fence.
    first: usize,
    lines: Vec<String>,
}

fn blocks(readme: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let (mut within, mut open) = (false, false);
    for (i, line) in readme.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(language), false) => {
                open = true;
                if within {
                    out.push(Block { language: language.to_owned(), first: i + 1, lines: Vec::new() });
                }
            }
            (Some(_), true) => open = false,
            (None, true) if within => out.last_mut().expect("a block is open").lines.push(line.to_owned()),
            (None, false) if line.starts_with("## ") => within = line == SECTION,
            _ => {}
        }
    }
    out
}

/// The commands of Wayhop in a block of shell, lines that go on joined.
fn commands(block: &Block) -> Vec<String> {
    let joined = block.lines.join("\n").replace("\\\n", " ");
    joined.lines().filter(|l| l.starts_with("wayhop ")).map(str::to_owned).collect()
}

/// The sample with the lines that were printed in the place of those that it shows, or why that cannot be.
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
        return Err(format!("the output goes on with \"{}\"; end the sample with {GAP}", printed[at]));
    }
    Ok(out)
}

/// Runs a line of shell as a user would, with `wayhop` in the path.
fn shell(line: &str, dir: &Path) -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_wayhop")).parent().expect("a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(dir).env("PATH", format!("{}:{path}", bin.display()));
    let ran = Ran::of(&command.output().expect("a shell"));
    assert_eq!(ran.status, Some(0), "README: {line}\n{}", ran.err);
    ran.out
}

#[test]
fn the_five_minutes_print_what_the_readme_shows() {
    let root: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", ".."].iter().collect();
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md");
    let blocks = blocks(&readme);
    let dir = tempfile::tempdir().expect("a directory");
    let scenarios = root.join("scenarios").canonicalize().expect("the scenarios");
    std::os::unix::fs::symlink(scenarios, dir.path().join("scenarios")).expect("a link");

    let mut lines: Vec<String> = readme.lines().map(str::to_owned).collect();
    let (mut printed, mut runs, mut samples, mut stale) = (String::new(), 0, 0, Vec::new());
    for block in &blocks {
        if block.language == "sh" {
            for line in commands(block) {
                printed = shell(&line, dir.path());
                runs += 1;
            }
        } else if block.language == "text" {
            samples += 1;
            let now = brought_up_to_date(&block.lines, &printed.lines().collect::<Vec<_>>())
                .unwrap_or_else(|why| panic!("README.md:{}: {why}", block.first + 1));
            for (i, (shown, now)) in block.lines.iter().zip(&now).enumerate().filter(|(_, (a, b))| a != b) {
                stale.push(format!(
                    "README.md:{}: shows \"{shown}\", and it is \"{now}\"",
                    block.first + 1 + i
                ));
                lines[block.first + i].clone_from(now);
            }
        }
    }
    assert!(runs >= 4 && samples >= 1, "README.md has no section \"{SECTION}\" with commands and a sample");
    if std::env::var_os(REWRITE).is_some() {
        fs::write(root.join("README.md"), lines.join("\n") + "\n").expect("README.md is written");
    } else {
        assert!(stale.is_empty(), "{}\nrun `cargo xtask samples` and commit the result", stale.join("\n"));
    }
}

#[test]
fn blocks_belong_to_the_section_and_lines_that_go_on_are_one_command() {
    let text = format!(
        "```sh\nwayhop doctor\n```\n{SECTION}\n```sh\ncargo build\nwayhop run a \\\n    --json\n```\n```text\nx\n```\n\
         ## Next\n```sh\nwayhop doctor\n```\n"
    );
    let found = blocks(&text);
    assert_eq!(
        found.iter().map(|b| (b.language.as_str(), b.first)).collect::<Vec<_>>(),
        [("sh", 5), ("text", 10)]
    );
    assert_eq!(commands(&found[0]), ["wayhop run a      --json"]);
    assert_eq!(found[1].lines, ["x"]);
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
    assert!(update(&sample[..4], &printed).unwrap_err().contains("goes on with \"time  1 s\""));
    assert!(update(&["...", "total 6"], &printed).unwrap_err().contains("begins with \"total\""));
    assert!(update(&["..."], &printed).unwrap() == ["..."]);
    assert!(update(&["flow", "a"], &printed[..1]).unwrap_err().contains("ends before \"a\""));
}
