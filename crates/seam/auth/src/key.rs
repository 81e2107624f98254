//! The keys that the nodes of a network share.

use core::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use wayhop_wire::auth::TAG_LEN;

/// The shortest key, octets: what the tag can resist.
pub const MIN_KEY: usize = 16;
/// The longest key, octets: the block length of SHA-256. A longer one would be hashed first (RFC 2104, section 2).
pub const MAX_KEY: usize = 64;
/// The most keys at a time.
pub const MAX_KEYS: usize = 16;

/// A key. Nothing prints its octets.
#[derive(Clone)]
pub struct Key {
    id: u8,
    /// HMAC-SHA-256 that has taken the key in already.
    mac: Hmac<Sha256>,
}

impl Key {
    /// A key with its number; `None` if it is shorter than [`MIN_KEY`] or longer than [`MAX_KEY`].
    pub fn new(id: u8, octets: &[u8]) -> Option<Self> {
        if !(MIN_KEY..=MAX_KEY).contains(&octets.len()) {
            return None;
        }
        Some(Self { id, mac: Hmac::new_from_slice(octets).ok()? })
    }
    /// Its number.
    pub fn id(&self) -> u8 {
        self.id
    }

    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        for part in parts {
            mac.update(part);
        }
        mac
    }
    /// The tag of these octets: the first half of HMAC-SHA-256 (RFC 2104, section 5).
    pub(crate) fn tag(&self, parts: &[&[u8]]) -> [u8; TAG_LEN] {
        let whole: [u8; 32] = self.over(parts).finalize().into_bytes().into();
        let mut tag = [0; TAG_LEN];
        tag.copy_from_slice(&whole[..TAG_LEN]);
        tag
    }
    /// Whether this is the tag of these octets, in a time that does not depend on where it differs.
    pub(crate) fn verifies(&self, parts: &[&[u8]], tag: &[u8; TAG_LEN]) -> bool {
        self.over(parts).verify_truncated_left(tag).is_ok()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key {{ id: {} }}", self.id)
    }
}

/// The keys of a node, and what it does with them. The first one signs, all verify.
#[derive(Clone, Debug)]
pub struct Keys {
    list: Arc<[Key]>,
    /// Whether DSR's packets with data and nothing but their route are authenticated, too.
    pub data: bool,
}

impl Keys {
    /// These keys; `None` if there are none or more than [`MAX_KEYS`], or if two have the same number.
    pub fn new(list: Vec<Key>, data: bool) -> Option<Self> {
        let is_twice = |(i, k): (usize, &Key)| list[..i].iter().any(|other| other.id == k.id);
        let is_good = (1..=MAX_KEYS).contains(&list.len()) && !list.iter().enumerate().any(is_twice);
        is_good.then(|| Self { list: list.into(), data })
    }
    /// The numbers of the keys, the one that signs first.
    pub fn ids(&self) -> impl Iterator<Item = u8> + '_ {
        self.list.iter().map(Key::id)
    }
    pub(crate) fn first(&self) -> &Key {
        &self.list[0]
    }
    pub(crate) fn find(&self, id: u8) -> Option<&Key> {
        self.list.iter().find(|k| k.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, section 4.2: test case 1, and its first 128 bits as in section 4.6.
    #[test]
    fn the_tag_is_the_first_half_of_hmac_sha_256() {
        let key = Key::new(1, &[0x0b; 20]).unwrap();
        let expected =
            [0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b, 0xf1, 0x2b];
        assert_eq!(key.tag(&[b"Hi ", b"There"]), expected);
        assert!(key.verifies(&[b"Hi There"], &expected));
        assert!(!key.verifies(&[b"Hi there"], &expected));
    }

    #[test]
    fn keys_are_long_enough_differ_in_number_and_are_not_printed() {
        assert!(Key::new(1, &[7; MIN_KEY - 1]).is_none());
        assert!(Key::new(1, &[7; MAX_KEY + 1]).is_none());
        let key = |id| Key::new(id, &[0xab; 16]).unwrap();
        assert!(Keys::new(vec![key(1), key(2), key(1)], true).is_none());
        assert!(Keys::new(vec![], true).is_none());
        let keys = Keys::new(vec![key(3), key(1)], true).unwrap();
        assert_eq!(keys.ids().collect::<Vec<_>>(), [3, 1]);
        assert!(!format!("{keys:?}").contains("171") && !format!("{keys:?}").contains("ab"));
    }
}
