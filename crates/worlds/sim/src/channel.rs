//! The properties shared by all frames of a radio.

use wayhop_core::Span;

/// A radio, as the network layer and captures know it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) link_delay: Span,
    pub(crate) mhz: u16,
}
