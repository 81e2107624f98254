//! From the name of a protocol to a library's file.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use wayhop_core::ParameterError;

/// Endings of shared libraries, and of Python modules.
const ENDINGS: [&str; 3] = ["so", "dylib", "py"];
/// What a model of ns-3 begins with. The library of `ns3:olsr` is `libwayhop-ns3-olsr.so`, which is built on the user's machine (`ns3/` in
/// the sources): ns-3's license does not allow a release to contain it.
const NS3: &str = "ns3:";
const NS3_FILE: &str = "libwayhop-ns3-";
/// What may stand before a path, to say what the file is.
const KINDS: [&str; 2] = ["library:", "python:"];
/// More folders with such libraries, separated as in `PATH`.
const FOLDERS: &str = "WAYHOP_LIBRARY_PATH";

/// Whether a file is a Python module.
pub fn is_python(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "py")
}

/// The file of the library or module that `name` means: a path, also after `library:` or `python:`, or `ns3:` and a model. `None` if it is
/// neither: then it is the name of a protocol.
pub fn locate(name: &str) -> Option<Result<PathBuf, ParameterError>> {
    if let Some(model) = name.strip_prefix(NS3) {
        return Some(ns3(model, &folders()));
    }
    if let Some(path) = KINDS.iter().find_map(|kind| name.strip_prefix(kind)) {
        return Some(Ok(path.into()));
    }
    let path = Path::new(name);
    let is_path = name.contains('/') || path.extension().is_some_and(|e| ENDINGS.iter().any(|end| e == *end));
    is_path.then(|| Ok(path.to_owned()))
}

/// Where the libraries of ns-3's models may be: those that the user names; beside the program, and where a package has them; in
/// `target/ns3`, where `make ns3` puts them, for a program in `target/debug` or `target/release`.
fn folders() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        env::var_os(FOLDERS).map(|list| env::split_paths(&list).collect()).unwrap_or_default();
    if let Ok(program) = env::current_exe()
        && let Some(folder) = program.parent()
    {
        all.extend([folder.to_owned(), folder.join("../lib/wayhop"), folder.join("../ns3")]);
    }
    all
}

fn ns3(model: &str, folders: &[PathBuf]) -> Result<PathBuf, ParameterError> {
    let file = format!("{NS3_FILE}{model}.so");
    if let Some(path) = folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()) {
        return Ok(path);
    }
    let others = models(folders);
    let remedy = if others.is_empty() {
        format!(
            "apt-get install g++ make libns3-dev, then `make ns3` in Wayhop's sources; or name its folder in {FOLDERS}"
        )
    } else {
        format!("use {}", others.into_iter().collect::<Vec<_>>().join(", "))
    };
    Err(ParameterError { key: None, problem: format!("{file} is not installed"), remedy })
}

/// The names of the models that have a library.
fn models(folders: &[PathBuf]) -> BTreeSet<String> {
    let files = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    files
        .filter_map(|file| {
            let name = file.file_name().into_string().ok()?;
            Some(format!("{NS3}{}", name.strip_prefix(NS3_FILE)?.strip_suffix(".so")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_library_and_a_word_is_not() {
        assert_eq!(locate("./mine"), Some(Ok("./mine".into())));
        assert_eq!(locate("libmine.so"), Some(Ok("libmine.so".into())));
        assert_eq!(locate("library:mine"), Some(Ok("mine".into())));
        assert_eq!(locate("python:./mine.py"), Some(Ok("./mine.py".into())));
        assert_eq!(locate("dsr"), None);
    }

    #[test]
    fn a_model_of_ns3_is_found_in_the_first_folder_that_has_it() {
        let scratch = env::temp_dir().join(format!("wayhop-locate-{}", std::process::id()));
        let [without, with] = ["without", "with"].map(|name| scratch.join(name));
        for folder in [&without, &with] {
            fs::create_dir_all(folder).unwrap();
        }
        let library = with.join("libwayhop-ns3-olsr.so");
        fs::write(&library, "").unwrap();
        let both = [without.clone(), with];
        assert_eq!(ns3("olsr", &both), Ok(library));
        assert_eq!(ns3("zrp", &both).unwrap_err().remedy, "use ns3:olsr");
        let missing = ns3("olsr", &[without]).unwrap_err();
        assert!(missing.remedy.contains("libns3-dev") && missing.remedy.contains("make ns3"), "{missing:?}");
        fs::remove_dir_all(scratch).unwrap();
    }
}
