//! Packs frames into datagrams: those of one moment together, since each datagram floods the mesh.

use wayhop_wire::rtcm3::Frame;

/// A datagram of several frames has no more octets, so that no interface has to cut it; a single longer frame goes alone.
const ROOM: usize = 1_100;

/// A datagram that is being filled.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    octets: Vec<u8>,
    frames: u64,
}

impl Packer {
    /// Puts a frame in. What it has no room beside comes out: a full datagram, and how many frames it has.
    pub(crate) fn push(&mut self, frame: Frame<'_>) -> Option<(Vec<u8>, u64)> {
        let full = if self.octets.len() + frame.bytes().len() > ROOM { self.take() } else { None };
        self.octets.extend_from_slice(frame.bytes());
        self.frames += 1;
        full
    }

    /// Takes out what is in it.
    pub(crate) fn take(&mut self) -> Option<(Vec<u8>, u64)> {
        let (octets, frames) = (std::mem::take(&mut self.octets), std::mem::take(&mut self.frames));
        (frames > 0).then_some((octets, frames))
    }
}
