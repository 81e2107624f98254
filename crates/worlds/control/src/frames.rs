//! Messages of programs and applications on a socket: a line with a JSON object, followed by as
//! many bytes as its `octets` says.

use serde_json::{Map, Value};
use wayhop_core::ProgramMessage;

/// The longest line, octets.
const MAX_LINE: usize = 64 << 10;

/// A message as it goes over the socket.
pub fn frame(message: ProgramMessage) -> Vec<u8> {
    let ProgramMessage { mut head, mut data } = message;
    if !data.is_empty() {
        head.insert("octets".to_owned(), data.len().into());
    }
    let mut bytes = Value::Object(head).to_string().into_bytes();
    bytes.push(b'\n');
    bytes.append(&mut data);
    bytes
}

/// Why what comes is no frame. Nothing after it can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The line does not end.
    #[error(
        "the line is longer than {MAX_LINE} bytes; end it with a line feed, and send the payload after it, \
         with its length as `octets`"
    )]
    Line,
    /// It is no object.
    #[error("the line is not a JSON object ({0}); send one such as {{\"wayhop\": 1, \"do\": \"hello\"}}")]
    Object(String),
    /// The length is none.
    #[error("`octets` is not a number of bytes; give 0 or more, or remove it")]
    Octets,
    /// It is too large.
    #[error("a payload of {0} bytes is too long (at most {1}); send it in smaller pieces")]
    TooLarge(u64, u64),
}

/// Takes frames out of the octets of a connection. Memory is that of one frame, and grows as its octets come.
#[derive(Debug)]
pub struct Frames {
    bytes: Vec<u8>,
    /// How far a line's end was looked for.
    searched: usize,
    /// The object whose octets come, and how many.
    head: Option<(Map<String, Value>, usize)>,
    largest: u64,
}

impl Frames {
    /// Payloads have at most `largest` octets.
    pub fn new(largest: u64) -> Self {
        Self { bytes: Vec::new(), searched: 0, head: None, largest }
    }

    /// Octets came.
    pub fn push(&mut self, octets: &[u8]) {
        self.bytes.extend_from_slice(octets);
    }

    /// Octets that it holds.
    pub fn held(&self) -> usize {
        self.bytes.len()
    }

    /// The next whole frame.
    ///
    /// # Errors
    /// If what comes is none.
    pub fn next_frame(&mut self) -> Result<Option<ProgramMessage>, FrameError> {
        if self.head.is_none() && !self.read_line()? {
            return Ok(None);
        }
        let Some((_, wanted)) = &self.head else { return Ok(None) };
        if self.bytes.len() < *wanted {
            return Ok(None);
        }
        let rest = self.bytes.split_off(*wanted);
        let data = std::mem::replace(&mut self.bytes, rest);
        Ok(self.head.take().map(|(head, _)| ProgramMessage { head, data }))
    }

    fn read_line(&mut self) -> Result<bool, FrameError> {
        let found = self.bytes[self.searched..].iter().position(|b| *b == b'\n');
        let Some(end) = found.map(|i| self.searched + i) else {
            self.searched = self.bytes.len();
            return if self.bytes.len() > MAX_LINE { Err(FrameError::Line) } else { Ok(false) };
        };
        if end > MAX_LINE {
            return Err(FrameError::Line);
        }
        let rest = self.bytes.split_off(end + 1);
        let line = std::mem::replace(&mut self.bytes, rest);
        self.searched = 0;
        let short = |e: serde_json::Error| FrameError::Object(e.to_string().chars().take(120).collect());
        let mut head: Map<String, Value> = serde_json::from_slice(&line[..end]).map_err(short)?;
        let octets = match head.remove("octets") {
            None | Some(Value::Null) => 0,
            Some(v) => v.as_u64().ok_or(FrameError::Octets)?,
        };
        if octets > self.largest {
            return Err(FrameError::TooLarge(octets, self.largest));
        }
        self.head = Some((head, octets as usize));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object(v: &Value) -> Map<String, Value> {
        v.as_object().cloned().expect("an object")
    }

    proptest! {
        #[test]
        fn frames_are_read_as_they_were_written_in_whatever_pieces_they_come(
            payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 1..6),
            piece in 1usize..64,
        ) {
            let frames: Vec<ProgramMessage> = payloads
                .into_iter()
                .enumerate()
                .map(|(i, data)| ProgramMessage { head: object(&json!({"id": i, "do": "send"})), data })
                .collect();
            let bytes: Vec<u8> = frames.iter().cloned().flat_map(frame).collect();
            let (mut reader, mut read) = (Frames::new(300), Vec::new());
            for part in bytes.chunks(piece) {
                reader.push(part);
                while let Some(message) = reader.next_frame().expect("frames") {
                    read.push(message);
                }
                prop_assert!(reader.held() <= 400 + piece);
            }
            prop_assert_eq!(read, frames);
        }

        #[test]
        fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let mut reader = Frames::new(100);
            reader.push(&bytes);
            while let Ok(Some(message)) = reader.next_frame() {
                prop_assert!(message.data.len() <= 100);
            }
        }
    }

    #[test]
    fn a_hostile_line_is_refused_before_it_fills_the_memory() {
        let mut endless = Frames::new(10);
        endless.push(&vec![b'x'; MAX_LINE + 1]);
        assert_eq!(endless.next_frame(), Err(FrameError::Line));
        let refused = |line: &str| {
            let mut reader = Frames::new(10);
            reader.push(line.as_bytes());
            reader.next_frame().expect_err("refused")
        };
        assert_eq!(refused("{\"octets\": 11}\n"), FrameError::TooLarge(11, 10));
        assert_eq!(refused("{\"octets\": -1}\n"), FrameError::Octets);
        assert!(matches!(refused("[1]\n"), FrameError::Object(_)));
        assert!(matches!(refused("{\"a\": 1} {}\n"), FrameError::Object(_)));
    }
}
