//! The packets that a capture shows.

use std::io::Read;
use std::net::Ipv4Addr;

use wayhop_core::{Classifier, Mac};
use wayhop_wire::ipv4;

use crate::capture::{CaptureError, CaptureReader, CapturedFrame};
use crate::decode::{PassedOver, network};
use crate::identity::Fnv;

/// Packets of one capture that are compared at most: some 500 MB of memory.
const MAX_PACKETS: usize = 1 << 23;

/// Why two captures cannot be compared.
#[derive(Debug)]
pub enum DiffError {
    /// The capture cannot be read.
    Capture(CaptureError),
    /// It can, but not used so; the text says why, and what to do.
    Unusable(String),
    /// Its link types are not decoded: what they are, and what to do.
    LinkTypes(String),
}

impl std::fmt::Display for DiffError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Capture(e) => e.fmt(f),
            Self::Unusable(what) | Self::LinkTypes(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for DiffError {}

/// Whose packets of the first capture count as sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Those that the file marks as sent by the capturing interface.
    Marked,
    /// Those of this transmitter.
    Mac(Mac),
    /// Those of this IP source.
    Ip(Ipv4Addr),
}

/// What a packet is known by.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    id: u16,
    protocol: u8,
    fragment: u16,
    pub(super) transmitter: Option<Mac>,
    /// A digest of the header that the routing protocol changes at each hop; `None` without one, or if it was cut.
    pub(super) header: Option<u64>,
}

/// One packet, once.
#[derive(Copy, Clone, Debug)]
pub(super) struct Sighting {
    pub(super) name: Name,
    pub(super) time_ns: u64,
    pub(super) frame: u64,
}

/// The packets that a node sent, or those that it heard.
#[derive(Clone, Debug)]
pub struct Sightings {
    classifier: &'static dyn Classifier,
    pub(super) list: Vec<Sighting>,
    /// Whether every frame told its transmitter.
    pub(super) transmitters: bool,
    /// Whether every such header was captured whole.
    pub(super) headers: bool,
    passed_over: PassedOver,
    /// Frames of the capture.
    frames: u64,
}

impl Sightings {
    /// None yet.
    pub fn new(classifier: &'static dyn Classifier) -> Self {
        let passed_over = PassedOver::default();
        Self { classifier, list: Vec::new(), transmitters: true, headers: true, passed_over, frames: 0 }
    }

    /// Those that `sender` sent, in a capture.
    pub fn sent(
        capture: impl Read,
        sender: Sender,
        classifier: &'static dyn Classifier,
    ) -> Result<Self, DiffError> {
        let mut sightings = Self::new(classifier);
        let mut marks = false;
        let packets = sightings.read(capture, |frame, transmitter, source| {
            marks |= frame.sent.is_some();
            match sender {
                Sender::Marked => frame.sent == Some(true),
                Sender::Mac(m) => transmitter == Some(m),
                Sender::Ip(a) => source == a,
            }
        })?;
        if packets > 0 && !marks && sender == Sender::Marked {
            let what = "the capture does not mark which packets its node sent; give the node's MAC or IP address with \
                --sender";
            return Err(DiffError::Unusable(what.to_owned()));
        }
        Ok(sightings)
    }

    /// Those that the capturing node heard: all that the capture does not mark as sent.
    pub fn heard(capture: impl Read, classifier: &'static dyn Classifier) -> Result<Self, DiffError> {
        let mut sightings = Self::new(classifier);
        sightings.read(capture, |frame, _, _| frame.sent != Some(true))?;
        Ok(sightings)
    }

    /// Adds what is in a frame of type `link_type` (a LINKTYPE number); one without an IP packet adds nothing. `frame` is
    /// its number.
    pub fn add(&mut self, link_type: u16, bytes: &[u8], time_ns: u64, frame: u64) {
        if let Some((name, _)) = self.name(link_type, bytes) {
            self.list.push(Sighting { name, time_ns, frame });
        }
    }

    /// The number of packets.
    pub fn len(&self) -> usize {
        self.list.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// What to know before believing what a capture seems to show: frames that are not decoded, or no packets at all.
    pub fn remark(&self) -> Option<String> {
        self.passed_over.undecoded().or_else(|| {
            let (frames, reasons) = (self.frames, self.passed_over.reasons());
            self.is_empty().then(|| format!("no packets to compare in {frames} frames{reasons}"))
        })
    }

    /// Reads the packets that `counts` accepts, by frame, transmitter and IP source. Returns how many packets there were.
    fn read(
        &mut self,
        capture: impl Read,
        mut counts: impl FnMut(&CapturedFrame, Option<Mac>, Ipv4Addr) -> bool,
    ) -> Result<u64, DiffError> {
        let mut reader = CaptureReader::new(capture).map_err(DiffError::Capture)?;
        let mut frame = CapturedFrame::default();
        let mut packets = 0;
        while reader.next_into(&mut frame).map_err(DiffError::Capture)? {
            self.frames = frame.number;
            let before = (self.transmitters, self.headers);
            let Some((name, transmitter)) = self.name(frame.link_type, &frame.bytes) else { continue };
            packets += 1;
            if !counts(&frame, transmitter, name.source) {
                // What is not compared need not be complete.
                (self.transmitters, self.headers) = before;
                continue;
            }
            if self.list.len() >= MAX_PACKETS {
                return Err(DiffError::Unusable(format!(
                    "more than {MAX_PACKETS} packets; split the capture first (editcap -c)"
                )));
            }
            self.list.push(Sighting { name, time_ns: frame.time_ns.unwrap_or(0), frame: frame.number });
        }
        match self.passed_over.undecoded() {
            Some(what) if packets == 0 => Err(DiffError::LinkTypes(what)),
            _ => Ok(packets),
        }
    }

    fn name(&mut self, link_type: u16, bytes: &[u8]) -> Option<(Name, Option<Mac>)> {
        let link = network(link_type, bytes).map_err(|why| self.passed_over.add(why)).ok()?;
        let ip = ipv4::Packet::new_snapped(link.ip).ok()?;
        let mut header = None;
        if let Some(captured) = self.classifier.route_header(link.ip) {
            header = captured.map(|header| Fnv::new().add(header).0);
            self.headers &= header.is_some();
        }
        self.transmitters &= link.transmitter.is_some();
        let name = Name {
            source: ip.src(),
            destination: ip.dst(),
            id: ip.id(),
            protocol: ip.protocol(),
            fragment: ip.fragment_offset(),
            transmitter: link.transmitter,
            header,
        };
        Some((name, link.transmitter))
    }
}
