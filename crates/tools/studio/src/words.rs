//! Words of a column as numbers of one octet.

use rustc_hash::FxHashMap;

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
