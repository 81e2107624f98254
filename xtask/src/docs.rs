//! The generated pages of `docs/reference`.

use std::fs;
use std::path::Path;

use crate::architecture;

/// A page's path from the root, and the function that makes its text.
type Page = (&'static str, fn() -> String);

const PAGES: &[Page] = &[
    ("docs/reference/scenario.md", wayhop_scenario::reference_markdown),
    ("docs/reference/sweep.md", wayhop_sweep::reference_markdown),
    ("docs/reference/node.md", wayhop_daemon::reference_markdown),
    ("docs/reference/bundle-agent.md", wayhop_bundle_agent::reference_markdown),
    ("docs/reference/mobile-ip.md", wayhop_daemon::mobile_ip::reference_markdown),
    ("docs/reference/cli.md", wayhop_cli::reference_markdown),
    ("docs/reference/exit-codes.md", wayhop_cli::exit_codes_markdown),
    ("docs/reference/schemas/summary.schema.json", wayhop_cli::schemas::summary),
    ("docs/reference/schemas/manifest.schema.json", wayhop_cli::schemas::manifest),
    ("docs/reference/schemas/why.schema.json", wayhop_cli::schemas::why),
    ("docs/reference/schemas/merge.schema.json", wayhop_cli::schemas::merge),
    ("docs/reference/schemas/why-lost.schema.json", wayhop_cli::schemas::why_lost),
    ("docs/reference/schemas/matrix-solve.schema.json", wayhop_cli::schemas::matrix_solve),
    ("docs/reference/schemas/matrix-drive.schema.json", wayhop_cli::schemas::matrix_drive),
    ("docs/reference/schemas/bundle-send.schema.json", wayhop_cli::schemas::bundle::send),
    ("docs/reference/schemas/bundle-receive.schema.json", wayhop_cli::schemas::bundle::receive),
    ("docs/reference/schemas/bundle-list.schema.json", wayhop_cli::schemas::bundle::list),
    ("docs/reference/schemas/fleet.schema.json", wayhop_cli::schemas::fleet),
    ("docs/reference/schemas/ctl-hello.schema.json", wayhop_cli::schemas::ctl::hello),
    ("docs/reference/schemas/ctl-tables.schema.json", wayhop_cli::schemas::ctl::tables),
    ("docs/reference/schemas/ctl-counters.schema.json", wayhop_cli::schemas::ctl::counters),
    ("docs/reference/schemas/ctl-params.schema.json", wayhop_cli::schemas::ctl::params),
    ("docs/reference/schemas/ctl-position.schema.json", wayhop_cli::schemas::ctl::position),
    ("docs/reference/schemas/ctl-links.schema.json", wayhop_cli::schemas::ctl::links),
    ("docs/reference/schemas/ctl-watch.schema.json", wayhop_cli::schemas::ctl::watch),
];

/// The picture of docs/architecture.md.
const PICTURE: &str = "docs/img/architecture.svg";

/// Writes every page.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    for (page, generate) in PAGES {
        let path = root.join(page);
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
    let mut findings = stale_among(root, PAGES)?;
    if fs::read_to_string(root.join(PICTURE)).ok() != Some(architecture::svg(root)?) {
        findings.push(format!("{PICTURE}: stale; run `cargo xtask docs`"));
    }
    Ok(findings)
}

fn stale_among(root: &Path, pages: &[Page]) -> Result<Vec<String>, String> {
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

    fn page() -> String {
        "# Page\n".into()
    }

    #[test]
    fn a_page_is_stale_when_it_is_missing_or_differs() {
        let root = tempfile::tempdir().unwrap();
        let pages: &[Page] = &[("page.md", page)];
        let stale = ["page.md: stale; run `cargo xtask docs` and commit the result"];
        assert_eq!(stale_among(root.path(), pages).unwrap(), stale);
        fs::write(root.path().join("page.md"), "# Old page\n").unwrap();
        assert_eq!(stale_among(root.path(), pages).unwrap(), stale);
        fs::write(root.path().join("page.md"), "# Page\n").unwrap();
        assert!(stale_among(root.path(), pages).unwrap().is_empty());
    }
}
