//! The beacon: a header of 8 bytes, and zeros up to the length.

/// Length of the header.
pub(super) const HEADER_LEN: usize = 8;
const MAGIC: [u8; 4] = *b"WBCN";

/// A beacon. Big-endian: `WBCN`, and its number (32 bits).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The sender's number for it, from 0.
    pub(super) number: u32,
}

impl Message {
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        let ([magic @ .., a, b, c, d], _) = data.split_first_chunk::<HEADER_LEN>()?;
        (*magic == MAGIC).then(|| Self { number: u32::from_be_bytes([*a, *b, *c, *d]) })
    }

    /// Into a datagram's data, which has at least [`HEADER_LEN`] bytes.
    pub(super) fn write(self, data: &mut [u8]) {
        data[..4].copy_from_slice(&MAGIC);
        data[4..HEADER_LEN].copy_from_slice(&self.number.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_beacon_has_its_bytes_in_network_order() {
        let mut data = [0; 12];
        Message { number: 0x0102_0304 }.write(&mut data);
        assert_eq!(&data, b"WBCN\x01\x02\x03\x04\0\0\0\0");
    }

    proptest! {
        #[test]
        fn beacons_come_back_as_they_were(number: u32, bytes in HEADER_LEN..2_000) {
            let mut data = vec![0; bytes];
            Message { number }.write(&mut data);
            prop_assert_eq!(Message::read(&data), Some(Message { number }));
        }

        #[test]
        fn any_bytes_are_read_or_refused(data: Vec<u8>) {
            if let Some(message) = Message::read(&data) {
                let mut again = [0; HEADER_LEN];
                message.write(&mut again);
                prop_assert_eq!(&again[..], &data[..HEADER_LEN]);
            }
        }
    }
}
