//! A capture of chosen frames of other captures.

use super::frame::CapturedFrame;
use super::pcapng::{Packet, put_interface, put_packet, put_section};
use crate::Direction;

/// A pcapng file in memory. Each frame keeps its time, its direction and its comment.
#[derive(Debug)]
pub struct Excerpt {
    octets: Vec<u8>,
    /// Name and link type of those that are in the file.
    interfaces: Vec<(String, u16)>,
}

impl Default for Excerpt {
    fn default() -> Self {
        let mut octets = Vec::new();
        put_section(&mut octets);
        Self { octets, interfaces: Vec::new() }
    }
}

impl Excerpt {
    /// Appends a frame, on the interface of this name. A frame without a time gets time 0.
    pub fn put(&mut self, interface: &str, f: &CapturedFrame) {
        let is_it = |(name, link_type): &(String, u16)| name == interface && *link_type == f.link_type;
        let number = self.interfaces.iter().position(is_it).unwrap_or_else(|| {
            put_interface(&mut self.octets, interface, 0, f.link_type);
            self.interfaces.push((interface.to_owned(), f.link_type));
            self.interfaces.len() - 1
        });
        let packet = Packet {
            interface: number as u32,
            time_ns: f.time_ns.unwrap_or(0),
            head: &[],
            bytes: &f.bytes,
            original_len: f.original_len,
            direction: f.sent.map(|sent| if sent { Direction::Tx } else { Direction::Rx }),
        };
        put_packet(&mut self.octets, &packet, f.comment.as_deref());
    }

    /// Octets so far.
    pub fn size(&self) -> usize {
        self.octets.len()
    }

    /// The file.
    pub fn finish(self) -> Vec<u8> {
        self.octets
    }
}
