//! What a radio's frames say of it.

use wayhop_core::Span;
use wayhop_radio::FrameKind;

/// A radio, as the network layer and captures know it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) link_delay: Span,
    pub(crate) mhz: u16,
    pub(crate) data_rate_100kbps: u16,
    pub(crate) basic_rate_100kbps: u16,
}

impl Channel {
    /// The rate of frames of a kind.
    pub(crate) fn rate_100kbps(self, kind: FrameKind) -> u16 {
        if kind == FrameKind::Data { self.data_rate_100kbps } else { self.basic_rate_100kbps }
    }
}
