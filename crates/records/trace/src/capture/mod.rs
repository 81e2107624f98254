//! Captures: writing one per node, reading anyone's.

mod blocks;
mod files;
mod index;
mod pcapng;
mod reader;
mod stream;
#[cfg(test)]
mod tests;

pub use blocks::CapturedFrame;
pub(crate) use files::Captures;
pub use index::CaptureIndex;
pub use pcapng::{EthernetFrame, Excerpt, put_ethernet_frame, put_ethernet_headers};
pub use reader::{CaptureError, CaptureReader};
pub use stream::FrameStream;
