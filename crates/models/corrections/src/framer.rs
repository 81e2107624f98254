//! Frames out of a stream that comes in pieces.

use wayhop_wire::rtcm3::{Frame, find};

/// Puts pieces together. It keeps less than the longest frame.
#[derive(Debug, Default)]
pub(crate) struct Framer {
    octets: Vec<u8>,
}

impl Framer {
    /// Takes the next piece, and hands out the frames that are complete now.
    pub(crate) fn push(&mut self, piece: &[u8], mut frame: impl FnMut(Frame<'_>)) {
        self.octets.extend_from_slice(piece);
        let mut at = 0;
        loop {
            let found = find(&self.octets[at..]);
            at += found.skipped;
            let Some(whole) = found.frame else { break };
            at += whole.bytes().len();
            frame(whole);
        }
        self.octets.drain(..at);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use wayhop_wire::rtcm3::{MAX_LEN, crc24q};

    /// A frame with this message.
    pub(crate) fn frame(message: &[u8]) -> Vec<u8> {
        let mut frame = vec![0xd3, (message.len() >> 8) as u8, message.len() as u8];
        frame.extend(message);
        let crc = crc24q(&frame).to_be_bytes();
        frame.extend(&crc[1..]);
        frame
    }

    proptest! {
        #[test]
        fn frames_come_out_however_the_stream_is_cut(
            messages in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 2..60), 1..8),
            cuts in proptest::collection::vec(1_usize..40, 1..60),
        ) {
            let frames: Vec<Vec<u8>> = messages.iter().map(|m| frame(m)).collect();
            // Between frames a receiver sends its position in ASCII.
            let stream = frames.join(&b"$GNGGA,120000*00\r\n"[..]);
            let (mut framer, mut out, mut rest) = (Framer::default(), Vec::new(), &stream[..]);
            for cut in cuts.iter().cycle() {
                let (piece, later) = rest.split_at((*cut).min(rest.len()));
                framer.push(piece, |f| out.push(f.bytes().to_vec()));
                prop_assert!(framer.octets.len() < MAX_LEN);
                rest = later;
                if rest.is_empty() {
                    break;
                }
            }
            prop_assert_eq!(out, frames);
        }
    }
}
