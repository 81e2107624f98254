//! Beacons of a network of 802.11g stations.

use wayhop_core::Mac;

use super::DATA_HEADER_LEN;
use crate::bytes::put;

/// A beacon (IEEE 802.11-2020 9.3.3.2) of an access point with the eight rates of OFDM; 6, 12 and
/// 24 Mb/s are basic.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Beacon<'a> {
    /// Who sends it.
    pub transmitter: Mac,
    /// The network.
    pub bssid: Mac,
    /// Sequence number; 12 bits.
    pub sequence: u16,
    /// The sender's clock, in microseconds.
    pub timestamp_us: u64,
    /// From one beacon to the next, in units of 1024 microseconds.
    pub interval_tu: u16,
    /// The network's name, at most 32 octets.
    pub ssid: &'a [u8],
}

/// Rates in units of 500 kb/s; the highest bit marks basic ones (9.4.2.3).
const RATES: [u8; 8] = [BASIC + 12, 18, BASIC + 24, 36, BASIC + 48, 72, 96, 108];
const BASIC: u8 = 0x80;
/// An infrastructure network (ESS) with short slots (9.4.1.4).
const CAPABILITIES: u16 = 0x0401;

impl Beacon<'_> {
    /// Writes the frame, without FCS, over the contents of `out`. A name that is too long is truncated.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.clear();
        out.resize(DATA_HEADER_LEN, 0);
        put(out, 0, [0x80, 0]);
        put(out, 4, Mac::BROADCAST.0);
        put(out, 10, self.transmitter.0);
        put(out, 16, self.bssid.0);
        put(out, 22, (self.sequence << 4).to_le_bytes());
        out.extend(self.timestamp_us.to_le_bytes());
        out.extend(self.interval_tu.to_le_bytes());
        out.extend(CAPABILITIES.to_le_bytes());
        let ssid = &self.ssid[..self.ssid.len().min(32)];
        // Name, rates, traffic map without traffic, ERP information without protection.
        for (id, body) in [(0, ssid), (1, &RATES), (5, &[0, 1, 0, 0]), (42, &[0])] {
            out.extend([id, body.len() as u8]);
            out.extend(body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dot11::{Frame, FrameType};

    #[test]
    fn a_beacon_is_as_long_as_the_radio_model_says_and_names_its_network() {
        let mut out = vec![1; 3];
        let sender = Mac([2, 0, 0, 0, 0, 9]);
        let beacon = Beacon {
            transmitter: sender,
            bssid: Mac([2, 0, 0, 0, 0, 1]),
            sequence: 0x123,
            timestamp_us: 1_024_000,
            interval_tu: 100,
            ssid: b"wayhop",
        };
        beacon.write(&mut out);
        // 67 octets with FCS.
        assert_eq!(out.len(), 63);
        let frame = Frame::new_checked(&out[..]).unwrap();
        assert_eq!(frame.kind(), FrameType::Management);
        assert_eq!((frame.receiver(), frame.transmitter()), (Mac::BROADCAST, Some(sender)));
        assert_eq!(frame.sequence(), Some((0x123, 0)));
        assert_eq!(out[24..32], 1_024_000_u64.to_le_bytes());
        assert_eq!(out[36..44], *b"\0\x06wayhop");
    }
}
