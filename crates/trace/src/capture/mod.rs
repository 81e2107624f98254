//! Captures: writing one per node, reading anyone's.

mod blocks;
mod files;
mod pcapng;
mod reader;
#[cfg(test)]
mod tests;

pub(crate) use files::Captures;
pub use reader::{CaptureError, CaptureReader, CapturedFrame};
