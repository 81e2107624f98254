//! Columns of numbers for the page, as octets that it reads in place.
//!
//! Layout, little-endian: the four octets `WHS1`; the length of the head as u32; the head, JSON padded with spaces so that what
//! follows begins at a multiple of 8; the columns, each padded to a multiple of 8. The head names each column with its type and
//! its offset from the end of the head, so that columns may be added without a new version.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

const MAGIC: &[u8; 4] = b"WHS1";

/// A frame being put together.
#[derive(Debug, Default)]
pub(crate) struct FrameBuilder {
    head: Map<String, Value>,
    columns: Vec<Value>,
    body: Vec<u8>,
}

impl FrameBuilder {
    /// A figure of the head.
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.head.insert(key.to_owned(), value.into());
    }

    pub(crate) fn f64s(&mut self, name: &str, values: impl IntoIterator<Item = f64>) {
        self.column(name, "f64", values.into_iter().flat_map(f64::to_le_bytes));
    }

    pub(crate) fn i32s(&mut self, name: &str, values: impl IntoIterator<Item = i32>) {
        self.column(name, "i32", values.into_iter().flat_map(i32::to_le_bytes));
    }

    pub(crate) fn u8s(&mut self, name: &str, values: impl IntoIterator<Item = u8>) {
        self.column(name, "u8", values);
    }

    fn column(&mut self, name: &str, kind: &str, octets: impl IntoIterator<Item = u8>) {
        self.columns.push(json!({"name": name, "type": kind, "offset": self.body.len()}));
        self.body.extend(octets);
        self.body.resize(self.body.len().next_multiple_of(8), 0);
    }

    /// The bytes of a frame whose columns have `rows` rows.
    pub(crate) fn finish(mut self, rows: usize) -> Vec<u8> {
        self.set("rows", rows);
        self.set("columns", self.columns.clone());
        let mut head = Value::Object(self.head).to_string().into_bytes();
        head.resize((head.len() + 8).next_multiple_of(8) - 8, b' ');
        let length = u32::try_from(head.len()).expect("a head of names");
        [&MAGIC[..], &length.to_le_bytes(), &head, &self.body].concat()
    }
}

/// Different words in a column, 255 being for the rest.
const MOST_WORDS: u8 = 255;

/// Words, numbered in the order in which they come; 0 is for none.
#[derive(Debug, Default)]
pub(crate) struct Words {
    list: Vec<String>,
    numbers: FxHashMap<Vec<u8>, u8>,
}

impl Words {
    pub(crate) fn number(&mut self, word: Option<&[u8]>) -> u8 {
        let Some(word) = word else { return 0 };
        if let Some(known) = self.numbers.get(word) {
            return *known;
        }
        let next = u8::try_from(self.list.len() + 1).unwrap_or(MOST_WORDS);
        if next < MOST_WORDS {
            self.list.push(String::from_utf8_lossy(word).into_owned());
            self.numbers.insert(word.to_vec(), next);
        }
        next
    }

    /// The words; the first has the number 1.
    pub(crate) fn list(&self) -> &[String] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_lie_where_the_head_says_at_multiples_of_eight() {
        let mut frame = FrameBuilder::default();
        frame.u8s("kind", [1, 2, 3]);
        frame.f64s("time_ns", [0.5, -1.0, 2.0]);
        let octets = frame.finish(3);
        assert_eq!(&octets[..4], b"WHS1");
        let length = u32::from_le_bytes(octets[4..8].try_into().unwrap()) as usize;
        assert_eq!((8 + length) % 8, 0);
        let head: Value = serde_json::from_slice(&octets[8..8 + length]).unwrap();
        assert_eq!(head["rows"], 3);
        let body = &octets[8 + length..];
        assert_eq!(body[..3], [1, 2, 3]);
        let at = head["columns"][1]["offset"].as_u64().unwrap() as usize;
        assert_eq!(at % 8, 0);
        assert_eq!(f64::from_le_bytes(body[at + 8..at + 16].try_into().unwrap()), -1.0);
    }
}
