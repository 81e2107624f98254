//! The studio's player within a report.

use std::path::PathBuf;

use wayhop_report::{Inset, Page, Section};

use crate::failure::{Failure, usage};

/// The page with a replay of each of these run directories before the rest.
pub(super) fn before(mut page: Page, of: &[PathBuf]) -> Result<Page, Failure> {
    let one = |dir: &PathBuf| {
        if !dir.join("manifest.json").is_file() {
            return Err(usage!("{}: not a run directory; --replay needs single runs", dir.display()));
        }
        let title = format!("Replay of {}", dir.display());
        Ok(Inset { title, html: wayhop_studio::replay(dir).map_err(Failure::Run)? })
    };
    let section = Section {
        heading: "Replay".to_owned(),
        text: vec![
            "Space plays and pauses, the slider jumps in time, a click selects a node; the button Keys lists all shortcuts.".to_owned(),
        ],
        insets: of.iter().map(one).collect::<Result<_, _>>()?,
        ..Section::default()
    };
    page.sections.insert(0, section);
    Ok(page)
}
