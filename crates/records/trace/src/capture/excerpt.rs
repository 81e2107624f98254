//! A capture of chosen frames of other captures.

use super::frame::CapturedFrame;
use super::pcapng::{ENHANCED_PACKET, begin, end, flags_of, option, pad, put_interface, put_section};
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
        let to = &mut self.octets;
        let packet = begin(to, ENHANCED_PACKET);
        let (ns, captured) = (f.time_ns.unwrap_or(0), f.bytes.len() as u32);
        for word in [number as u32, (ns >> 32) as u32, ns as u32, captured, f.original_len.max(captured)] {
            to.extend(word.to_le_bytes());
        }
        let at = to.len();
        to.extend_from_slice(&f.bytes);
        pad(to, at);
        if let Some(sent) = f.sent {
            let direction = if sent { Direction::Tx } else { Direction::Rx };
            option(to, 2, &flags_of(direction).to_le_bytes()); // epb_flags
        }
        if let Some(comment) = &f.comment {
            option(to, 1, comment.as_bytes()); // opt_comment
        }
        end(to, packet);
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
