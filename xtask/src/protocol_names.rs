//! Code that names a protocol outside of the protocol's own crate.
//!
//! Everything that other crates need to know about a protocol is in its description, so that a new
//! protocol needs no change anywhere else.

use std::path::Path;

use crate::{sources, text};

/// Crates that may name protocols besides the protocols' own: the registry, the packet formats, papers' experiments about
/// one protocol, and this one, which knows the dependencies.
const MAY_NAME: &[&str] = &["protocols", "wire", "reproduce", "xtask", "fuzz"];

/// One line for each place in the sources under `root` that names a protocol and may not.
pub(crate) fn findings(root: &Path) -> Result<Vec<String>, String> {
    // `none` is a word of every page, and no protocol.
    let names: Vec<&str> = wayhop_protocols::names().filter(|name| *name != "none").collect();
    let mut findings = Vec::new();
    for (owner, folder) in sources::packages(root)? {
        if MAY_NAME.contains(&owner.as_str()) || names.contains(&owner.as_str()) {
            continue;
        }
        for file in sources::rust_files(&folder.join("src"))? {
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            if !is_test(&shown) {
                findings.extend(in_source(&shown, &sources::read(&file)?, &names));
            }
        }
    }
    Ok(findings)
}

/// Whether a file holds tests only. They run protocols.
fn is_test(shown: &str) -> bool {
    shown.contains("/tests/") || shown.ends_with("tests.rs")
}

fn in_source(shown: &str, source: &str, names: &[&str]) -> Vec<String> {
    let code = text::without_comments(source);
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    // Commands in help texts are samples.
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("wayhop "));
    let named = lines.filter_map(|(index, line)| {
        let line = line.to_ascii_lowercase();
        names.iter().find(|name| line.contains(**name)).map(|name| (index + 1, name))
    });
    named
        .map(|(line, name)| {
            format!("{shown}:{line}: names {name}: take it from wayhop_core::Description, and put it there if it is missing")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_text_that_name_a_protocol_are_found_and_comments_samples_and_tests_are_not() {
        let source = "// babel in a comment\n\
            const HELP: &str = \"\n  wayhop run --protocol babel\";\n\
            let e = wayhop_babel::Engine::new();\n\
            if name == \"babel\" {}\n\
            enum P { Babel }\n\
            #[cfg(test)]\nmod tests {\n    const NAME: &str = \"babel\";\n}\n";
        let found = in_source("f.rs", source, &["babel"]);
        let lines: Vec<_> = found.iter().filter_map(|f| f.split(':').nth(1)).collect();
        assert_eq!(lines, ["4", "5", "6"], "{found:?}");
        assert!(is_test("crates/sim/src/net/tests.rs") && !is_test("crates/sim/src/net.rs"));
    }
}
