//! Control messages (cmsg(3)) of the kernel, and the transmit status in them.

/// `SOL_SOCKET` and `SCM_WIFI_STATUS` (linux/socket.h, asm-generic/socket.h).
const WIFI_STATUS: (i32, i32) = (libc::SOL_SOCKET, libc::SCM_WIFI_STATUS);

/// Offset of the data in a control message: length (a `size_t`), level and type (`int`s), padded to the word.
const HEADER: usize = aligned(size_of::<usize>() + 8);

const fn aligned(n: usize) -> usize {
    n.next_multiple_of(size_of::<usize>())
}

/// One after the other: level, type and data. Whatever the octets are, this ends and reads nothing beside them.
pub fn control_messages(octets: &[u8]) -> impl Iterator<Item = (i32, i32, &[u8])> {
    let mut rest = octets;
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk()?;
        let length = usize::from_ne_bytes(*length);
        let level = i32::from_ne_bytes(*after.first_chunk()?);
        let kind = i32::from_ne_bytes(*after.get(4..)?.first_chunk()?);
        let data = rest.get(HEADER..length)?;
        rest = length
            .checked_next_multiple_of(size_of::<usize>())
            .and_then(|n| rest.get(n..))
            .unwrap_or_default();
        Some((level, kind, data))
    })
}

/// Whether the frame that a message of an error queue is about was acknowledged; `None` if the message does not tell.
pub fn wifi_status(octets: &[u8]) -> Option<bool> {
    let (.., data) = control_messages(octets).find(|(level, kind, _)| (*level, *kind) == WIFI_STATUS)?;
    Some(i32::from_ne_bytes(*data.first_chunk()?) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the kernel's `put_cmsg` lays it out on a 64-bit machine.
    fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut m = (HEADER + data.len()).to_ne_bytes().to_vec();
        m.extend(level.to_ne_bytes());
        m.extend(kind.to_ne_bytes());
        m.resize(HEADER, 0);
        m.extend(data);
        m.resize(aligned(m.len()), 0);
        m
    }

    /// What Linux 6.18 put into the error queue of a packet socket with `SO_TIMESTAMPING` for a frame over veth: the same
    /// queue and the same extended error (ENOMSG, origin 4) as a transmit status, with `SCM_TIMESTAMPING` in its place.
    const TIMESTAMP: &str = "40000000000000000100000025000000678c026b00000000b774062a00000000\
        00000000000000000000000000000000000000000000000000000000000000003000000000000000\
        07010000100000002a00000004000000000000000000000000000000000000000000000000000000";

    fn octets(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap();
        digits.chunks(2).map(pair).collect()
    }

    #[test]
    fn a_message_of_the_kernel_about_something_else_is_no_status() {
        if cfg!(all(target_pointer_width = "64", target_endian = "little")) {
            let kernel = octets(TIMESTAMP);
            let kinds: Vec<_> = control_messages(&kernel).map(|(l, k, d)| (l, k, d.len())).collect();
            // SOL_SOCKET, SCM_TIMESTAMPING: three timespecs; SOL_PACKET, PACKET_TX_TIMESTAMP: an extended error.
            assert_eq!(kinds, [(1, 37, 48), (263, 16, 32)]);
            assert_eq!(wifi_status(&kernel), None);
        }
    }

    #[test]
    fn the_status_is_found_among_others_acknowledged_or_not() {
        for (value, acked) in [(1_i32, true), (0, false)] {
            let mut all = message(libc::SOL_PACKET, 16, &[0; 32]);
            all.extend(message(WIFI_STATUS.0, WIFI_STATUS.1, &value.to_ne_bytes()));
            assert_eq!(wifi_status(&all), Some(acked));
        }
        assert_eq!(wifi_status(&message(WIFI_STATUS.0, WIFI_STATUS.1, &[1, 0])), None, "cut short");
    }

    proptest! {
        #[test]
        fn messages_come_out_as_they_went_in(all in prop::collection::vec((any::<i32>(), any::<i32>(), prop::collection::vec(any::<u8>(), 0..40)), 0..5)) {
            let octets: Vec<u8> = all.iter().flat_map(|(l, k, d)| message(*l, *k, d)).collect();
            let read: Vec<_> = control_messages(&octets).map(|(l, k, d)| (l, k, d.to_vec())).collect();
            prop_assert_eq!(read, all);
        }

        #[test]
        fn any_octets_are_read_to_an_end(octets in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(control_messages(&octets).count() <= octets.len() / HEADER + 1);
            let _ = wifi_status(&octets);
        }
    }
}
