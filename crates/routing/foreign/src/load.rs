//! Loading libraries, each once.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::{fs, io};

use sha2::{Digest as _, Sha256};
use wayhop_core::{ApplicationDescription, Description, LibraryFile, hex};

use crate::application;
use crate::description::{self, Foreign};
use crate::ffi::application::library::ApplicationLibrary;
use crate::ffi::call::enter;
use crate::ffi::library::Library;
#[cfg(unix)]
use crate::locate::is_python;
use crate::progress::{self, Callback};
#[cfg(unix)]
use crate::python::{ApplicationModule, Module};

/// What a process has loaded.
type Loaded = (&'static Description, LibraryFile);

/// The same for applications.
type LoadedApplication = (&'static ApplicationDescription, LibraryFile);

static FILES: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());
static APPLICATIONS: Mutex<Vec<LoadedApplication>> = Mutex::new(Vec::new());
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
    let place = fs::canonicalize(path).map_err(|e| unreadable(&e))?;
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, _)) = files.iter().find(|(_, f)| f.path == place) {
        return Ok(known);
    }
    let (mut file, number) = meet(place, path)?;
    let library = open(&file.path, path, number)?;
    let facts = library.facts();
    if let Some(other) = files.iter().find(|(d, _)| d.name == facts.name) {
        let (other, name) = (other.1.path.display(), &facts.name);
        return Err(format!("its protocol has the same name as that of {other}: {name}"));
    }
    file.version.clone_from(&facts.version);
    let description = description::add(library)?;
    files.push((description, file));
    Ok(description)
}

/// Loads the application of the library at `path`, if it is not loaded yet.
///
/// # Errors
/// Says what is wrong with it, and what to do.
pub fn load_application(path: &Path) -> Result<&'static ApplicationDescription, String> {
    let place = fs::canonicalize(path).map_err(|e| unreadable(&e))?;
    let mut files = APPLICATIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((known, _)) = files.iter().find(|(_, f)| f.path == place) {
        return Ok(known);
    }
    let (mut file, number) = meet(place, path)?;
    let library = open_application(&file.path, path, number)?;
    let facts = library.facts();
    if let Some(other) = files.iter().find(|(d, _)| d.name == facts.name) {
        let (other, name) = (other.1.path.display(), &facts.name);
        return Err(format!("its application has the same name as that of {other}: {name}"));
    }
    file.version.clone_from(&facts.version);
    let description = application::add(library)?;
    files.push((description, file));
    Ok(description)
}

fn unreadable(e: &io::Error) -> String {
    format!("it cannot be read ({e})")
}

/// A file that is about to be loaded, in a process that somebody watches, and its number for a supervisor. Its version is
/// not known yet.
fn meet(place: PathBuf, path: &Path) -> Result<(LibraryFile, u8), String> {
    if let Some(supervise) = SUPERVISE.get() {
        supervise(path)?;
    }
    let content = fs::read(&place).map_err(|e| unreadable(&e))?;
    let number = progress::add_library(&path.display().to_string());
    let sha256 = hex(&Sha256::digest(&content));
    let bytes = content.len() as u64;
    Ok((LibraryFile { path: place, bytes, sha256, version: String::new() }, number))
}

/// Loads what is at `place`, which the user called `path`.
fn open(place: &Path, path: &Path, number: u8) -> Result<Box<dyn Foreign>, String> {
    #[cfg(unix)]
    if is_python(path) {
        return Ok(Box::new(Module::load(place, path, number)?));
    }
    let _entered = enter(number, Callback::Load, 0, 0, None);
    Ok(Box::new(Library::load(place, path, number)?))
}

/// The same for an application.
#[cfg_attr(
    not(unix),
    expect(unused_variables, reason = "an interpreter would be told the user's name of it")
)]
fn open_application(place: &Path, path: &Path, number: u8) -> Result<Box<dyn application::Foreign>, String> {
    #[cfg(unix)]
    if is_python(path) {
        return Ok(Box::new(ApplicationModule::load(place, path, number)?));
    }
    let _entered = enter(number, Callback::LoadApplication, 0, 0, None);
    Ok(Box::new(ApplicationLibrary::load(place, number)?))
}

/// The protocols of the libraries that are loaded, and their files.
pub fn loaded() -> Vec<(&'static Description, LibraryFile)> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// The applications of the libraries that are loaded, and their files.
pub fn loaded_applications() -> Vec<(&'static ApplicationDescription, LibraryFile)> {
    APPLICATIONS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
