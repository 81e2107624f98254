//! The studio's player within a report.

use std::path::PathBuf;

use wayhop_report::{Inset, Page, Section};

use crate::failure::Failure;

/// The page with a replay of each of these run directories before the rest.
pub(super) fn before(mut page: Page, of: &[PathBuf]) -> Result<Page, Failure> {
    page.sections.insert(0, section(of)?);
    Ok(page)
}

fn section(of: &[PathBuf]) -> Result<Section, Failure> {
    let one = |dir: &PathBuf| {
        if !dir.join("manifest.json").is_file() {
            return Err(Failure::Usage(format!(
                "{}: not a run directory; --replay needs single runs",
                dir.display()
            )));
        }
        let title = format!("Replay of {}", dir.display());
        Ok(Inset { title, html: wayhop_studio::replay(dir).map_err(Failure::Run)? })
    };
    Ok(Section {
        heading: "Replay".to_owned(),
        text: vec![
            "Space plays and pauses, the slider jumps in time, a click selects a node; the button Keys lists all shortcuts.".to_owned(),
        ],
        insets: of.iter().map(one).collect::<Result<_, _>>()?,
        ..Section::default()
    })
}
