//! Messages of nl80211 (linux/nl80211.h), as far as a node needs them: attributes behind the generic netlink header.

use netlink_packet_core::NlasIterator;
use wayhop_core::Mac;

/// Ask for the hardware behind an interface, and its answer.
pub(super) const GET_WIPHY: u8 = 1;
pub(super) const NEW_WIPHY: u8 = 3;
/// Ask for the stations that an interface hears, and an answer.
pub(super) const GET_STATION: u8 = 17;
pub(super) const NEW_STATION: u8 = 19;

/// "This driver supports reflecting back TX status to the socket error queue when requested with the socket option."
pub(super) const FEATURE_SK_TX_STATUS: u32 = 1;

// Attributes.
const IFINDEX: u16 = 3;
const MAC: u16 = 6;
const STA_INFO: u16 = 21;
const FEATURE_FLAGS: u16 = 143;
// Attributes in STA_INFO: of the last frame, and averaged; octets that are dBm with a sign.
const SIGNAL: u16 = 7;
const SIGNAL_AVG: u16 = 13;

/// The attribute that says which interface is meant.
pub(super) fn about_interface(ifindex: u32) -> Vec<u8> {
    attribute(IFINDEX, &ifindex.to_ne_bytes())
}

/// An attribute: length, type, value, padded to four octets.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut a = (4 + value.len() as u16).to_ne_bytes().to_vec();
    a.extend(kind.to_ne_bytes());
    a.extend(value);
    a.resize(a.len().next_multiple_of(4), 0);
    a
}

/// The first attribute of this type.
pub(super) fn find(attributes: &[u8], kind: u16) -> Option<&[u8]> {
    let found = NlasIterator::new(attributes).map_while(Result::ok).find(|a| a.kind() == kind)?;
    let (at, length) = (4, found.value_length());
    found.into_inner().get(at..at + length)
}

/// A station's link address and the power of its last frame, dBm, out of the attributes of an answer.
pub fn station(attributes: &[u8]) -> Option<(Mac, f32)> {
    let mac = Mac(find(attributes, MAC)?.try_into().ok()?);
    let info = find(attributes, STA_INFO)?;
    let dbm = find(info, SIGNAL).or_else(|| find(info, SIGNAL_AVG))?;
    Some((mac, f32::from(dbm.first()?.cast_signed())))
}

/// What the hardware can do, out of the attributes of an answer.
pub fn feature_flags(attributes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(find(attributes, FEATURE_FLAGS)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An answer to GET_STATION as nl80211_send_station() of Linux writes it, by hand from linux/nl80211.h: interface 3,
    /// address 02:00:0a:00:00:02, generation 1; in STA_INFO, with the flag for nested attributes: inactive for 120 ms,
    /// received 4096 octets, signal -57 dBm, average -60 dBm, expected throughput.
    #[cfg(target_endian = "little")]
    const STATION: &[u8] = &[
        8, 0, 3, 0, 3, 0, 0, 0, // IFINDEX
        10, 0, 6, 0, 0x02, 0x00, 0x0a, 0x00, 0x00, 0x02, 0, 0, // MAC
        8, 0, 46, 0, 1, 0, 0, 0, // GENERATION
        44, 0, 21, 0x80, // STA_INFO
        8, 0, 1, 0, 120, 0, 0, 0, // INACTIVE_TIME
        8, 0, 2, 0, 0, 0x10, 0, 0, // RX_BYTES
        5, 0, 7, 0, 0xc7, 0, 0, 0, // SIGNAL
        5, 0, 13, 0, 0xc4, 0, 0, 0, // SIGNAL_AVG
        8, 0, 27, 0, 1, 0, 0, 0, // EXPECTED_THROUGHPUT
    ];

    #[cfg(target_endian = "little")]
    #[test]
    fn a_station_has_the_signal_of_its_last_frame() {
        assert_eq!(station(STATION), Some((Mac([2, 0, 10, 0, 0, 2]), -57.0)));
        let mut averaged = STATION.to_vec();
        averaged[50] = 99;
        assert_eq!(station(&averaged).map(|s| s.1), Some(-60.0), "a driver that gives only the average");
        for end in 0..STATION.len() - 16 {
            assert_eq!(station(&STATION[..end]), None, "cut after {end} octets");
        }
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn the_feature_that_sockets_hear_of_the_fate_of_frames_is_the_lowest_bit() {
        let wiphy = [8, 0, 1, 0, 0, 0, 0, 0, 8, 0, 143, 0, 0x01, 0x80, 0x02, 0];
        let flags = feature_flags(&wiphy).expect("feature flags");
        assert_eq!(flags, 0x0002_8001);
        assert_ne!(flags & FEATURE_SK_TX_STATUS, 0);
        assert_eq!(feature_flags(&wiphy[..8]), None);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_harm(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = (station(&octets), feature_flags(&octets));
        }

        #[test]
        fn a_signal_is_found_wherever_it_stands(before in prop::collection::vec((8_u16..21, prop::collection::vec(any::<u8>(), 0..9)), 0..4), dbm in any::<i8>()) {
            let mut all: Vec<u8> = before.iter().flat_map(|(k, v)| attribute(*k, v)).collect();
            all.extend(attribute(STA_INFO, &attribute(SIGNAL, &[dbm.cast_unsigned()])));
            all.extend(attribute(MAC, &[2, 0, 0, 0, 0, 1]));
            prop_assert_eq!(station(&all), Some((Mac([2, 0, 0, 0, 0, 1]), f32::from(dbm))));
        }
    }
}
