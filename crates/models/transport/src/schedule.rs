//! Packets at given times.

use wayhop_core::Span;

/// When a flow sends which packet: in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    packets: Vec<Scheduled>,
}

/// One of them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// When, from the flow's start on.
    pub after: Span,
    /// UDP payload, octets.
    pub payload_bytes: u32,
}

impl Schedule {
    /// Adds a packet; false, and nothing is added, if it comes before the last one.
    pub fn push(&mut self, packet: Scheduled) -> bool {
        let in_order = self.packets.last().is_none_or(|last| last.after <= packet.after);
        if in_order {
            self.packets.push(packet);
        }
        in_order
    }

    /// The packets.
    pub fn packets(&self) -> &[Scheduled] {
        &self.packets
    }

    /// The longest payload, octets; 0 without packets.
    pub fn longest_payload(&self) -> u32 {
        self.packets.iter().map(|p| p.payload_bytes).max().unwrap_or(0)
    }

    /// The mean time between two packets; zero if there are not two.
    pub fn mean_interval(&self) -> Span {
        let gaps = self.packets.len().saturating_sub(1) as u64;
        match (self.packets.first(), self.packets.last()) {
            (Some(first), Some(last)) if gaps > 0 => {
                Span::from_nanos((last.after.as_nanos() - first.after.as_nanos()) / gaps)
            }
            _ => Span::ZERO,
        }
    }

    /// The same with each payload at least so long, octets.
    #[must_use]
    pub fn with_payload_of_at_least(&self, octets: u32) -> Self {
        let longer = |p: &Scheduled| Scheduled { payload_bytes: p.payload_bytes.max(octets), ..*p };
        Self { packets: self.packets.iter().map(longer).collect() }
    }
}
