//! Applications from shared libraries.

use std::path::Path;

use wayhop_core::ApplicationDescription;
use wayhop_document::{Document, Result};

use super::schema::ApplicationSection;
use crate::protocol::cannot_use;

impl ApplicationSection {
    /// Loads the library that the section names, if it names one, and takes its application's name. `key` is the section's in `doc`,
    /// from whose folder paths count.
    pub(crate) fn load(&mut self, key: &str, doc: &Document) -> Result<()> {
        if let Some(located) = wayhop_applications::locate(&self.name) {
            let path = located.map_err(|e| doc.error(&format!("{key}.name"), e.problem, e.remedy))?;
            load(&path, &format!("{key}.name"), doc)?.name.clone_into(&mut self.name);
            self.library = Some(path.to_string_lossy().into_owned());
            return Ok(());
        }
        let Some(library) = &self.library else { return Ok(()) };
        let name = load(Path::new(library), &format!("{key}.library"), doc)?.name;
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        } else if self.name != name {
            let what = format!("{library} has the application {name}, not {}", self.name);
            let remedy = "remove `name`: a library names its application itself";
            return Err(doc.error(&format!("{key}.name"), what, remedy));
        }
        Ok(())
    }
}

/// The application of a library.
pub(super) fn load(path: &Path, key: &str, doc: &Document) -> Result<&'static ApplicationDescription> {
    wayhop_applications::load(&doc.folder().join(path)).map_err(|what| cannot_use(path, &what, key, doc))
}
