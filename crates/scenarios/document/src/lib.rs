//! Configuration files of all kinds: TOML, overridden by the settings of the command line (`--set path.key=value`).
//!
//! A [`Document`] holds the text and knows the position of each key in it; it deserialises a value of any type that
//! serde can read, and its [`Error`]s name file, line, key, reason and remedy. [`Origins`] tell where each key was
//! set. Nothing here knows what the keys mean.

mod document;
mod error;
mod explain;
mod input;
mod omissions;
mod origin;
mod reference;
mod set;

pub use document::{Document, in_range, nearest_or, unknown_name};
pub use error::{Error, LineColumn, Problems, Result};
pub use input::{decode, read_all, read_bytes, read_octets, read_text, relative_path};
pub use omissions::Omissions;
pub use origin::{Origin, Origins, leaves};
pub use reference::{ReferenceTables, reference_tables};
pub use set::{apply_set, set_value};
