//! Packets that were overheard lately.

use wayhop_wire::ipv4;

/// The packets that were overheard lately, by source and identification: a table with one place for each hash.
#[derive(Clone, Default, Hash)]
pub(crate) struct HeardPackets(Vec<u64>);

const HEARD: usize = 256;

impl HeardPackets {
    /// Whether this packet is heard for the first time.
    pub(crate) fn is_new(&mut self, ip: &ipv4::Packet<'_>) -> bool {
        if self.0.is_empty() {
            self.0.resize(HEARD, u64::MAX);
        }
        let key = u64::from(ip.src().to_bits()) << 16 | u64::from(ip.id());
        let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize % HEARD;
        core::mem::replace(&mut self.0[slot], key) != key
    }
}
