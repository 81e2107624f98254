//! Captures: writing one per node, reading anyone's.

mod blocks;
mod excerpt;
mod files;
mod frame;
mod index;
mod pcapng;
mod reader;
mod stream;
#[cfg(test)]
mod tests;

pub use excerpt::Excerpt;
pub(crate) use files::Captures;
pub use frame::CapturedFrame;
pub use index::CaptureIndex;
pub use pcapng::{EthernetFrame, put_ethernet_frame, put_ethernet_headers};
pub use reader::{CaptureError, CaptureReader};
pub use stream::FrameStream;
