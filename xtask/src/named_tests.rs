//! Tests that the documentation names must exist: the last cell of a table's row says what covers it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::sources::{packages, read, rust_files};
use crate::text;

/// The pages whose tables name tests: the ledger of deviations, and the conformance tables.
const PAGES: &[&str] = &[
    "docs/deviations.md",
    "docs/reference/dsdv.md",
    "docs/reference/rfc3561.md",
    "docs/reference/rfc4728.md",
    "docs/reference/rfc4728-flow-state.md",
];

/// One line for each name in a table that no function has.
pub(crate) fn findings(root: &Path) -> Result<Vec<String>, String> {
    let mut functions = BTreeSet::new();
    for (_, folder) in packages(root)? {
        for file in rust_files(&folder)? {
            functions.extend(function_names(&text::code_only(&read(&file)?)));
        }
    }
    let mut findings = Vec::new();
    for page in PAGES {
        let path = root.join(page);
        if path.is_file() {
            findings.extend(stale_names(page, &read(&path)?, &functions));
        }
    }
    Ok(findings)
}

fn stale_names(page: &str, markdown: &str, functions: &BTreeSet<String>) -> Vec<String> {
    let named = markdown.lines().enumerate().flat_map(|(at, line)| {
        let row = line.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|'));
        let cell = row.and_then(|row| row.rsplit('|').next());
        names(cell.unwrap_or_default()).map(move |name| (at + 1, name)).collect::<Vec<_>>()
    });
    named
        .filter(|(_, name)| !functions.contains(*name))
        .map(|(line, name)| format!("{page}:{line}: there is no test {name}; correct the name or the row"))
        .collect()
}

/// What stands between backticks and looks like a test's name: words joined by underscores, three or more, so that
/// names of parameters and profiles can be mentioned, too.
fn names(cell: &str) -> impl Iterator<Item = &str> {
    let is_name = |s: &&str| {
        s.matches('_').count() >= 2
            && s.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    cell.split('`').skip(1).step_by(2).filter(is_name)
}

fn function_names(code: &str) -> impl Iterator<Item = String> + '_ {
    code.split("fn ")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn a_name_in_the_last_cell_without_a_function_is_found() {
        let page = "# Rows\n\n| what | test |\n|---|---|\n| a | `it_is_there`, `it_is_gone` |\n";
        assert_eq!(
            stale_names("docs/x.md", page, &known(&["it_is_there"])),
            ["docs/x.md:5: there is no test it_is_gone; correct the name or the row"]
        );
        assert!(stale_names("docs/x.md", page, &known(&["it_is_there", "it_is_gone"])).is_empty());
    }

    #[test]
    fn names_elsewhere_and_short_ones_are_no_tests() {
        let page = "`not_in_a_table`\n| `not_the_last_cell` | no test yet, for `rfc` and `mtu_bytes` |\n";
        assert!(stale_names("docs/x.md", page, &known(&[])).is_empty());
    }

    #[test]
    fn functions_are_found_in_code_only() {
        let code = text::code_only("/// fn in_a_comment\nfn a_test_of_it() {}\n    pub fn other<T>() {}\n");
        assert_eq!(function_names(&code).collect::<Vec<_>>(), ["a_test_of_it", "other"]);
    }
}
