//! The messages: a header of 16 bytes, and zeros up to the length.

/// Length of the header.
pub(super) const HEADER_LEN: usize = 16;
const MAGIC: [u8; 4] = *b"WREQ";

/// A request or an answer. Big-endian: `WREQ`, 1 for a request or 2 for an answer, three bytes 0, the request's number (32 bits), and how many
/// bytes the answer has (32 bits).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) is_answer: bool,
    /// The client's number for the request, from 0.
    pub(super) number: u32,
    /// The length of the answer, bytes.
    pub(super) answer_bytes: u32,
}

impl Message {
    pub(super) fn read(data: &[u8]) -> Option<Self> {
        let (head, _) = data.split_first_chunk::<HEADER_LEN>()?;
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let is_answer = match head[4..8] {
            [1, 0, 0, 0] => false,
            [2, 0, 0, 0] => true,
            _ => return None,
        };
        (head[..4] == MAGIC).then(|| Self { is_answer, number: word(8), answer_bytes: word(12) })
    }

    /// With zeros up to `bytes`.
    pub(super) fn write(self, bytes: u32) -> Vec<u8> {
        let mut data = vec![0; (bytes as usize).max(HEADER_LEN)];
        data[..4].copy_from_slice(&MAGIC);
        data[4] = 1 + u8::from(self.is_answer);
        data[8..12].copy_from_slice(&self.number.to_be_bytes());
        data[12..16].copy_from_slice(&self.answer_bytes.to_be_bytes());
        data
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_come_back_as_they_were(is_answer: bool, number: u32, answer_bytes: u32, bytes in 0_u32..2_000) {
            let message = Message { is_answer, number, answer_bytes };
            let data = message.write(bytes);
            prop_assert_eq!(data.len(), (bytes as usize).max(HEADER_LEN));
            prop_assert_eq!(Message::read(&data), Some(message));
        }

        #[test]
        fn any_bytes_are_read_or_refused(data: Vec<u8>) {
            if let Some(message) = Message::read(&data) {
                prop_assert_eq!(&message.write(0)[..], &data[..HEADER_LEN]);
            }
        }
    }
}
