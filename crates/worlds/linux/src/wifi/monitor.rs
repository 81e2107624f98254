//! Signals out of radiotap headers: a monitor interface on the same hardware, such as
//! `iw dev wlan0 interface add mon0 type monitor && ip link set mon0 up`, shows every frame with the power of its reception.

use wayhop_core::Mac;
use wayhop_wire::dot11::{Frame, FrameType};
use wayhop_wire::radiotap;

/// Who transmitted a frame of a monitor interface, and the power of its reception, dBm. `None` for a frame that is broken,
/// does not name its transmitter, or was sent by this host.
pub fn heard(frame: &[u8]) -> Option<(Mac, f32)> {
    let (radio, frame) = radiotap::split(frame).ok()?;
    let broken = radio.flags.is_some_and(|f| f & radiotap::flags::BAD_FCS != 0);
    let dbm = radio.signal_dbm.filter(|_| !broken && radio.tx_flags.is_none())?;
    let frame = Frame::new_checked(frame).ok()?;
    let names = matches!(frame.kind(), FrameType::Data | FrameType::Management | FrameType::Rts);
    let transmitter = frame.transmitter().filter(|m| names && !m.is_group())?;
    Some((transmitter, f32::from(dbm)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A beacon of an IBSS as mac80211 shows it on a monitor interface, by hand from radiotap.org and IEEE 802.11: flags
    /// (FCS at the end), rate 1 Mb/s, channel 2412 MHz (CCK, 2 GHz), -63 dBm, antenna 1.
    const BEACON: &[u8] = &[
        0, 0, 16, 0, 0x2e, 0x08, 0,
        0, // version, length, present: flags, rate, channel, signal, antenna
        0x10, 2, 0x6c, 0x09, 0xa0, 0x00, 0xc1, 1, // the fields
        0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // beacon, duration, to all
        2, 0, 10, 0, 0, 2, 2, 0, 10, 0, 0, 99, 0x10, 0, // from, BSSID, sequence
    ];

    #[test]
    fn a_frame_tells_its_transmitter_and_the_power_of_its_reception() {
        assert_eq!(heard(BEACON), Some((Mac([2, 0, 10, 0, 0, 2]), -63.0)));
    }

    #[test]
    fn a_frame_with_a_wrong_checksum_tells_nothing_as_its_addresses_may_be_wrong() {
        let mut broken = BEACON.to_vec();
        broken[8] |= 0x40;
        assert_eq!(heard(&broken), None);
    }

    #[test]
    fn an_acknowledgement_does_not_name_its_transmitter() {
        let ack = [&BEACON[..16], &[0xd4, 0, 0, 0, 2, 0, 10, 0, 0, 1]].concat();
        assert_eq!(heard(&ack), None);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_without_harm(octets in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = heard(&octets);
        }
    }
}
