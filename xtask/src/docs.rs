//! The generated pages of `docs/reference`.

use std::fs;
use std::path::Path;

use crate::architecture;

/// Makes the text of a page.
type Generator = fn() -> String;

/// Pages by their path from the root.
const PAGES: &[(&str, Generator)] = &[
    ("docs/reference/scenario.md", wayhop_scenario::reference_markdown),
    ("docs/reference/sweep.md", wayhop_sweep::reference_markdown),
    ("docs/reference/node.md", wayhop_daemon::reference_markdown),
    ("docs/reference/bundle-agent.md", wayhop_bundle_agent::reference_markdown),
    ("docs/reference/mobile-ip.md", wayhop_daemon::mobile_ip::reference_markdown),
    ("docs/reference/cli.md", wayhop_cli::reference_markdown),
    ("docs/reference/exit-codes.md", wayhop_cli::exit_codes_markdown),
];

/// Those pages, and the JSON Schemas.
fn pages() -> Vec<(String, Generator)> {
    let schemas = wayhop_cli::SCHEMAS.iter().chain(wayhop_cli::HOST_SCHEMAS);
    let schemas = schemas.map(|(name, make)| (format!("docs/reference/schemas/{name}.schema.json"), *make));
    PAGES.iter().map(|(page, make)| ((*page).to_owned(), *make)).chain(schemas).collect()
}

const PICTURE: &str = "docs/img/architecture.svg";

pub(crate) fn write(root: &Path) -> Result<(), String> {
    for (page, generate) in pages() {
        let path = root.join(&page);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        fs::write(&path, generate()).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let picture = architecture::svg(root)?;
    fs::write(root.join(PICTURE), picture).map_err(|error| format!("{PICTURE}: {error}"))
}

/// One line for each page that is not what its generator makes now.
pub(crate) fn stale(root: &Path) -> Result<Vec<String>, String> {
    let mut findings = stale_among(root, &pages())?;
    if fs::read_to_string(root.join(PICTURE)).ok() != Some(architecture::svg(root)?) {
        findings.push(format!("{PICTURE}: stale; run `cargo xtask docs`"));
    }
    Ok(findings)
}

fn stale_among(root: &Path, pages: &[(String, Generator)]) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for (page, generate) in pages {
        let path = root.join(page);
        let stored = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        if stored != generate() {
            findings.push(format!("{page}: stale; run `cargo xtask docs` and commit the result"));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_stale_when_it_is_missing_or_differs() {
        let root = tempfile::tempdir().unwrap();
        let pages: &[(String, Generator)] = &[("page.md".into(), || "# Page\n".into())];
        let stale = ["page.md: stale; run `cargo xtask docs` and commit the result"];
        assert_eq!(stale_among(root.path(), pages).unwrap(), stale);
        fs::write(root.path().join("page.md"), "# Old page\n").unwrap();
        assert_eq!(stale_among(root.path(), pages).unwrap(), stale);
        fs::write(root.path().join("page.md"), "# Page\n").unwrap();
        assert!(stale_among(root.path(), pages).unwrap().is_empty());
    }
}
