//! Columns of a table as Parquet's column chunks.
//!
//! The `parquet` crate's own column writer hashes each value for its dictionary, and compares it with the least and the
//! greatest. Here texts are numbers already ([`super::texts::Texts`]), integers with few different values are small, and
//! the others grow: dictionaries are arrays, and only their entries are compared.

mod chunk;
mod delta;
mod dictionary;
mod hybrid;
mod pages;
#[cfg(test)]
mod tests;
mod values;

pub(super) use chunk::{Encoder, Part};
pub(super) use pages::EncodedChunk;
pub(super) use values::Values;
