//! What was said of a run lately, numbered, for viewers that join or come back.

use std::collections::VecDeque;

use axum::body::Bytes;
use axum::extract::ws::{Message, Utf8Bytes};

/// What is kept, octets. Fifty nodes with ten flows say some 100 kB a second.
const MOST_OCTETS: usize = 32 << 20;

/// Numbered messages, the oldest of which go.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    /// The number of the first one kept.
    first: u64,
    messages: VecDeque<Message>,
    octets: usize,
    pub(crate) ended: bool,
}

fn octets(m: &Message) -> usize {
    match m {
        Message::Text(text) => text.len(),
        Message::Binary(bytes) => bytes.len(),
        _ => 0,
    }
}

impl Ring {
    pub(crate) fn next(&self) -> u64 {
        self.first + self.messages.len() as u64
    }

    pub(crate) fn text(&mut self, text: String) {
        self.push(Message::Text(Utf8Bytes::from(text)));
    }
    pub(crate) fn frame(&mut self, octets: Vec<u8>) {
        self.push(Message::Binary(Bytes::from(octets)));
    }

    fn push(&mut self, message: Message) {
        self.octets += octets(&message);
        self.messages.push_back(message);
        while self.octets > MOST_OCTETS {
            let Some(oldest) = self.messages.pop_front() else { return };
            self.octets -= octets(&oldest);
            self.first += 1;
        }
    }

    /// At most `most` messages from a number on, and the number of the first, which is later if some were discarded.
    pub(crate) fn since(&self, number: u64, most: usize) -> (u64, Vec<Message>) {
        let begin = number.max(self.first);
        let skip = (begin - self.first) as usize;
        (begin, self.messages.iter().skip(skip).take(most).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_go_and_numbers_stay() {
        let mut ring = Ring::default();
        for i in 0..40 {
            assert_eq!(ring.next(), i);
            ring.frame(vec![i as u8; 1 << 20]);
        }
        let (begin, all) = ring.since(0, 100);
        assert_eq!((begin, all.len(), ring.next()), (8, 32, 40));
        let (begin, some) = ring.since(30, 4);
        assert!(begin == 30 && some.len() == 4 && matches!(&some[0], Message::Binary(b) if b[0] == 30));
        assert_eq!(ring.since(40, 4), (40, vec![]));
    }
}
