//! From the name of a protocol to a library's file.

use std::path::{Path, PathBuf};

use wayhop_core::ParameterError;

/// Endings of shared libraries.
const ENDINGS: [&str; 2] = ["so", "dylib"];

/// The file of the library that `name` means: a path. `None` if it is none: then it is the name of a protocol.
pub fn locate(name: &str) -> Option<Result<PathBuf, ParameterError>> {
    let path = Path::new(name);
    let is_path = name.contains('/') || path.extension().is_some_and(|e| ENDINGS.iter().any(|end| e == *end));
    is_path.then(|| Ok(path.to_owned()))
}
