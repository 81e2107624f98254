//! The project's own checks and generators: `cargo xtask help`.

mod architecture;
mod circles;
mod command;
mod crates;
mod dependencies;
mod docs;
mod golden;
mod markers;
mod modules;
mod named_tests;
mod prose;
mod protocol_names;
mod release;
mod sources;
mod text;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::{cargo, run};

const USAGE: &str = "\
cargo xtask check          direction of dependencies, circles of files, forbidden names, protocols
                           named outside of their crates, file sizes, marks of unsolved merges,
                           wording, stale generated docs and captures
cargo xtask docs           write the generated pages of docs/reference, and the picture of the architecture
cargo xtask docs --check   fail if they are stale
cargo xtask samples        run the commands of README and tutorials, write what they print into the samples
cargo xtask golden         make captures/rfc*/*.pcapng of the octets in the *.txt beside them
cargo xtask release        check that everything agrees on the version, then build packages, archives and a bill of
                           materials into dist/, and print the commands that publish them
                           --only deb,static,source,sbom   build some of these
                           --out DIR                       into another folder
                           --draft                         report disagreement, but build; with these:
                           --profile P                     another profile than dist
                           --binary FILE                   package this program
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["check"] => check(&root()),
        ["docs"] => docs::write(&root()).map(|()| Vec::new()),
        ["docs", "--check"] => docs::stale(&root()),
        ["samples"] => write_samples(&root()).map(|()| Vec::new()),
        ["release", options @ ..] => release::release(&root(), options),
        ["golden"] => golden::write(&root()).map(|()| Vec::new()),
        ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(findings) if findings.is_empty() => ExitCode::SUCCESS,
        Ok(findings) => {
            for finding in &findings {
                eprintln!("{finding}");
            }
            eprintln!("xtask: {} finding(s)", findings.len());
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Everything that `cargo xtask check` finds wrong, one line each.
fn check(root: &Path) -> Result<Vec<String>, String> {
    let crates = crates::in_workspace(root)?;
    let mut findings = dependencies::findings(&crates);
    findings.extend(architecture::findings(&crates));
    findings.extend(sources::findings(root)?);
    findings.extend(circles::findings(root)?);
    findings.extend(markers::findings(root)?);
    findings.extend(docs::stale(root)?);
    findings.extend(golden::stale(root)?);
    findings.extend(named_tests::findings(root)?);
    findings.extend(protocol_names::findings(root)?);
    findings.extend(prose::findings(root)?);
    Ok(findings)
}

fn root() -> PathBuf {
    // This package lies one level below the root.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Runs the pages' commands and writes what they print into their samples. The tests that compare them do both, since they
/// have the program at hand; `cargo test` fails on a stale sample.
fn write_samples(root: &Path) -> Result<(), String> {
    let words = ["test", "--quiet", "--package", "wayhop-cli", "--test", "cli", "pages::"];
    run(cargo().args(words).current_dir(root).env("WAYHOP_REWRITE_SAMPLES", "1"))
}
