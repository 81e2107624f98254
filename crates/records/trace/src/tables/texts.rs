//! Texts of a table, each kept once and known by a number.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, Messages};

/// The number of a text of [`Texts`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextId(pub(super) u32);

/// Names of the program that are looked up without hashing, and addresses, and sets of messages.
const NAMES: usize = 256;
const ADDRS: usize = 1 << 10;
const MESSAGES: usize = 64;

/// Texts by their numbers. What a row holds (a name, an address, a set of messages) leads to its text without
/// formatting or hashing it, as long as it came recently.
pub(crate) struct Texts {
    all: Vec<Arc<str>>,
    ids: FxHashMap<Arc<str>, TextId>,
    names: Slots<(usize, usize)>,
    addrs: Slots<Addr>,
    /// Those that share a slot, too.
    addr_ids: FxHashMap<Addr, TextId>,
    messages: Slots<Messages>,
}

/// A cache with one place for each key.
struct Slots<K>(Vec<Option<(K, TextId)>>);

impl<K: Copy + PartialEq> Slots<K> {
    /// With a power of two of places.
    fn new(places: usize) -> Self {
        Self(vec![None; places])
    }
    fn find(&self, place: usize, key: K) -> Option<TextId> {
        self.0[place & (self.0.len() - 1)].filter(|(k, _)| *k == key).map(|(_, id)| id)
    }
    fn put(&mut self, place: usize, key: K, id: TextId) {
        let last = self.0.len() - 1;
        self.0[place & last] = Some((key, id));
    }
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            ids: FxHashMap::default(),
            names: Slots::new(NAMES),
            addrs: Slots::new(ADDRS),
            addr_ids: FxHashMap::default(),
            messages: Slots::new(MESSAGES),
        }
    }
}

impl Texts {
    /// Any text.
    pub(crate) fn text(&mut self, s: &str) -> TextId {
        if let Some(id) = self.ids.get(s) {
            return *id;
        }
        // A row group has fewer cells than this counts.
        let id = TextId(self.all.len() as u32);
        let s: Arc<str> = s.into();
        self.all.push(Arc::clone(&s));
        self.ids.insert(s, id);
        id
    }

    /// A text of the program itself.
    pub(crate) fn name(&mut self, s: &'static str) -> TextId {
        // The same place and length are the same text.
        let key = (s.as_ptr().addr(), s.len());
        let place = (key.0 >> 2) ^ key.1;
        self.names.find(place, key).unwrap_or_else(|| {
            let id = self.text(s);
            self.names.put(place, key, id);
            id
        })
    }

    /// The dotted form of an address.
    pub(crate) fn addr(&mut self, a: Addr) -> TextId {
        let place = a.to_bits() as usize;
        self.addrs.find(place, a).unwrap_or_else(|| {
            let known = self.addr_ids.get(&a).copied();
            let id = known.unwrap_or_else(|| self.text(&a.to_string()));
            self.addr_ids.insert(a, id);
            self.addrs.put(place, a, id);
            id
        })
    }

    /// The names of messages, joined by `+`; nothing for none.
    pub(crate) fn messages(&mut self, m: Messages) -> Option<TextId> {
        if m.is_empty() {
            return None;
        }
        let place = usize::from(m.bits());
        if let Some(id) = self.messages.find(place, m) {
            return Some(id);
        }
        let names: Vec<&str> = m.names().collect();
        let id = (!names.is_empty()).then(|| self.text(&names.join("+")))?;
        self.messages.put(place, m, id);
        Some(id)
    }

    pub(super) fn get(&self, id: TextId) -> &str {
        &self.all[id.0 as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}
