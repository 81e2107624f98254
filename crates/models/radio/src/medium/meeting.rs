//! A frame that begins at a station, and the others on the air there.

use crate::fate::Fate;

/// What follows from it, for both.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Meeting {
    /// What becomes of the new frame; `None` if it may be received.
    pub(crate) newcomer: Option<Fate>,
    /// The slot of the frame that the station was receiving.
    pub(crate) locked: Option<u32>,
    /// What becomes of that one; `None` if it may be received all the same.
    pub(crate) earlier: Option<Fate>,
    pub(crate) strongest: Option<HeardFrame>,
}

/// A frame that a station hears.
#[derive(Copy, Clone, Debug)]
pub(crate) struct HeardFrame {
    pub(crate) slot: u32,
    pub(crate) sender: u32,
    pub(crate) watts: f64,
}
