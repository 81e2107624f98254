//! What it costs to deliver a packet or an octet, as the papers and RFC 2501 count it.

use crate::summary::{Totals, ratio};
use crate::transmissions::Rfc2501;

impl Totals {
    /// Adds the routing headers that another node counted, if it did.
    pub fn add_routing_headers(&mut self, bytes: Option<u64>) {
        let all = self.routing_header_bytes.unwrap_or(0);
        self.routing_header_bytes = bytes.map(|own| all + own);
    }

    /// Sets what a packet and an octet that arrived cost, from what has been counted. What is not known, or of nothing, is `None`.
    pub(crate) fn set_loads(&mut self) {
        let (received, received_bytes) = (self.received, self.received_bytes);
        let per_packet = |n: u64| ratio(n, received);
        let per_octet = |n: u64| received_bytes.and_then(|all| ratio(n, all));
        let routing_bytes = self.routing_header_bytes.map(|headers| self.routing_bytes + headers);
        self.normalised_routing_load = per_packet(self.routing_packets);
        self.routing_bytes_per_byte = routing_bytes.and_then(per_octet);
        self.normalised_mac_load = self.overhead_frames.and_then(|f| per_packet(f.all()));
        self.rfc2501 = self.transmissions.map_or_else(Rfc2501::default, |t| Rfc2501 {
            data_bits_per_bit: per_octet(t.payload_bytes),
            control_bits_per_bit: per_octet(self.routing_bytes + t.header_bytes),
            packets_per_packet: per_packet(self.routing_packets + t.packets),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transmissions::{OverheadFrames, Transmissions};

    /// 10 packets of 50 octets arrived of 12 sent, over 2 hops each; 30 routing packets of 40 octets.
    fn counted() -> Totals {
        Totals {
            sent: 12,
            received: 10,
            received_bytes: Some(500),
            routing_packets: 30,
            routing_bytes: 1200,
            routing_header_bytes: Some(300),
            transmissions: Some(Transmissions { packets: 24, payload_bytes: 1200, header_bytes: 972 }),
            overhead_frames: Some(OverheadFrames { rts: 26, cts: 25, ack: 24, routing: 31, resolution: 4 }),
            ..Totals::default()
        }
    }

    #[test]
    fn each_load_is_what_its_definition_says() {
        let mut t = counted();
        t.set_loads();
        assert_eq!(t.normalised_routing_load, Some(3.0));
        assert_eq!(t.routing_bytes_per_byte, Some(3.0));
        assert_eq!(t.normalised_mac_load, Some(11.0));
        assert_eq!(t.rfc2501.data_bits_per_bit, Some(2.4));
        assert_eq!(t.rfc2501.control_bits_per_bit, Some(2172.0 / 500.0));
        assert_eq!(t.rfc2501.packets_per_packet, Some(5.4));
    }

    #[test]
    fn a_load_of_nothing_or_of_what_nobody_counted_is_null() {
        let mut nothing = Totals { received: 0, received_bytes: Some(0), ..counted() };
        nothing.set_loads();
        let mut unseen = Totals { transmissions: None, overhead_frames: None, ..counted() };
        unseen.routing_header_bytes = None;
        unseen.set_loads();
        assert_eq!(unseen.normalised_routing_load, Some(3.0));
        for t in [&nothing, &unseen] {
            assert_eq!((t.routing_bytes_per_byte, t.normalised_mac_load), (None, None));
            assert_eq!(t.rfc2501, Rfc2501::default());
        }
        assert_eq!(nothing.normalised_routing_load, None);
    }
}
