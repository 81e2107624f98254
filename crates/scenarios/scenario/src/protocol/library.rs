//! Protocols from shared libraries and Python modules.

use std::path::{Path, PathBuf};

use wayhop_document::{Document, Error, Result};

use super::Protocol;

impl Protocol {
    /// Loads the library that the section names, if it names one, and takes its protocol's name. `doc` is the text with the
    /// section, from whose folder paths count.
    pub fn load(&mut self, doc: &Document) -> Result<()> {
        if wayhop_protocols::ALL.iter().any(|d| d.name == self.name) {
            self.library = None;
            return Ok(());
        }
        if let Some(located) = wayhop_protocols::locate(&self.name) {
            let path = located.map_err(|e| doc.error("protocol.name", e.problem, e.remedy))?;
            let description = load(&path, "protocol.name", doc)?;
            description.clone_into(&mut self.name);
            self.library = Some(path.to_string_lossy().into_owned());
            return Ok(());
        }
        let Some(library) = &self.library else { return Ok(()) };
        let name = load(Path::new(library), "protocol.library", doc)?;
        if self.name.is_empty() {
            name.clone_into(&mut self.name);
        } else if self.name != name {
            let what = format!("{library} has the protocol {name}, not {}", self.name);
            return Err(doc.error(
                "protocol.name",
                what,
                "remove `name`: a library names its protocol itself",
            ));
        }
        Ok(())
    }

    /// The library's file, without regard to a working directory or a scenario's folder.
    pub(crate) fn library_path(&self, doc: &Document) -> Option<PathBuf> {
        let path = doc.folder().join(self.library.as_ref()?);
        Some(std::path::absolute(&path).unwrap_or(path))
    }
}

/// The name of a library's protocol.
fn load(path: &Path, key: &str, doc: &Document) -> Result<&'static str> {
    match wayhop_protocols::load(&doc.folder().join(path)) {
        Ok(description) => Ok(description.name),
        Err(what) => Err(cannot_use(path, &what, key, doc)),
    }
}

/// What is wrong with a library or module, with what to do behind a semicolon, as an error at `key`.
pub(crate) fn cannot_use(path: &Path, what: &str, key: &str, doc: &Document) -> Error {
    let (what, remedy) = what.split_once("; ").unwrap_or((what, "check the file"));
    let kind = if wayhop_protocols::is_python(path) { "Python module" } else { "library" };
    doc.error(key, format!("cannot use the {kind} {}: {what}", path.display()), remedy)
}
