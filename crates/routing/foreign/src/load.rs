//! Loading libraries, each once.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use sha2::{Digest as _, Sha256};
use wayhop_core::{Description, LibraryFile, hex};

use crate::ffi::call::enter;
use crate::ffi::library::Library;
#[cfg(unix)]
use crate::locate::is_python;
use crate::progress::{self, Callback};
#[cfg(unix)]
use crate::python::Module;
use crate::slots::{self, Foreign};

/// What a process has loaded.
type Loaded = (&'static Description, LibraryFile);

static FILES: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());
static SUPERVISE: OnceLock<Supervise> = OnceLock::new();

/// Moves a command into a process of its own, or refuses to load a library, with the reason.
pub type Supervise = fn(&Path) -> Result<(), String>;

/// What is called before a library is loaded.
pub fn supervise_by(supervise: Supervise) {
    let _ = SUPERVISE.set(supervise);
}

/// Loads the library at `path`, if it is not loaded yet. A file that changed since then stays as it was: the process has its
/// old code.
///
/// # Errors
/// Says what is wrong with it, and what to do.
pub fn load(path: &Path) -> Result<&'static Description, String> {
    let unreadable = |e| format!("it cannot be read ({e})");
    let place = fs::canonicalize(path).map_err(unreadable)?;
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, _)) = files.iter().find(|(_, f)| f.path == place) {
        return Ok(known);
    }
    if let Some(supervise) = SUPERVISE.get() {
        supervise(path)?;
    }
    let content = fs::read(&place).map_err(unreadable)?;
    let sha256 = hex(&Sha256::digest(&content));
    progress::set_library(&path.display().to_string());
    let library = open(&place, path)?;
    let facts = library.facts();
    if let Some(other) = files.iter().find(|(d, _)| d.name == facts.name) {
        let (other, name) = (other.1.path.display(), &facts.name);
        return Err(format!("its protocol has the same name as that of {other}: {name}"));
    }
    let version = facts.version.clone();
    let description = slots::add(library)?;
    files.push((description, LibraryFile { path: place, bytes: content.len() as u64, sha256, version }));
    Ok(description)
}

/// Loads what is at `place`, which the user called `path`.
fn open(place: &Path, path: &Path) -> Result<Box<dyn Foreign>, String> {
    #[cfg(unix)]
    if is_python(path) {
        return Ok(Box::new(Module::load(place, path)?));
    }
    let _entered = enter(Callback::Load, 0, 0, None);
    Ok(Box::new(Library::load(place, path)?))
}

/// The protocols of the libraries that are loaded, and their files.
pub fn loaded() -> Vec<(&'static Description, LibraryFile)> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
