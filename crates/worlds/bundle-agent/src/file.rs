//! Files in bundles: a line with name, length and digest, followed by the content.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use wayhop_core::hex;

/// The first octets of a payload with a file.
const MAGIC: &[u8] = b"wayhop-file ";
/// The longest line, octets.
const MAX_LINE: usize = 4_096;

/// A file's metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHead {
    /// Its name, without folders.
    pub name: String,
    /// Its length, octets.
    pub bytes: u64,
    /// The SHA-256 of its octets, hexadecimal digits.
    pub sha256: String,
}

/// Why a payload is no file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileProblem {
    /// Its line cannot be read.
    #[error("it looks like a file, but its header is invalid")]
    Line,
    /// It would be written where the sender likes.
    #[error("{0:?} is not a valid file name")]
    Name(String),
    /// Its octets are others than those that were sent.
    #[error("its digest is {is}, but it was sent as {was}")]
    Digest {
        /// Of what came.
        is: String,
        /// As told.
        was: String,
    },
}

fn digest(octets: &[u8]) -> String {
    hex(&Sha256::digest(octets))
}

/// The payload of a file.
pub fn encode(name: &str, octets: &[u8]) -> Vec<u8> {
    let head = FileHead { name: name.to_owned(), bytes: octets.len() as u64, sha256: digest(octets) };
    let mut payload = MAGIC.to_vec();
    // A name and two numbers are always JSON.
    payload.extend(serde_json::to_vec(&head).unwrap_or_default());
    payload.push(b'\n');
    payload.extend_from_slice(octets);
    payload
}

/// The file in a payload; `None` if it is none.
///
/// # Errors
/// If it says that it is one, and is not what was sent.
pub fn decode(payload: &[u8]) -> Option<Result<(FileHead, &[u8]), FileProblem>> {
    let rest = payload.strip_prefix(MAGIC)?;
    Some(read(rest))
}

fn read(rest: &[u8]) -> Result<(FileHead, &[u8]), FileProblem> {
    let end = rest.iter().take(MAX_LINE).position(|b| *b == b'\n').ok_or(FileProblem::Line)?;
    let head: FileHead = serde_json::from_slice(&rest[..end]).map_err(|_| FileProblem::Line)?;
    let is_plain = !head.name.is_empty()
        && !head.name.starts_with('.')
        && !head.name.chars().any(|c| c.is_control() || c == '/' || c == '\\');
    if !is_plain {
        return Err(FileProblem::Name(head.name.chars().take(80).collect()));
    }
    let octets = &rest[end + 1..];
    let is = digest(octets);
    if is != head.sha256 {
        return Err(FileProblem::Digest { is, was: head.sha256.chars().take(64).collect() });
    }
    Ok((head, octets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_arrives_with_its_name_and_as_it_was() {
        let payload = encode("a.txt", b"hello");
        let (head, octets) = decode(&payload).expect("a file").expect("whole");
        assert_eq!((head.name.as_str(), head.bytes, octets), ("a.txt", 5, &b"hello"[..]));
        // The digest of "hello", by sha256sum.
        assert_eq!(head.sha256, "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        assert_eq!(decode(b"hello"), None);
    }

    #[test]
    fn a_file_that_was_changed_or_wants_another_folder_is_refused() {
        let mut payload = encode("a.txt", b"hello");
        *payload.last_mut().expect("octets") ^= 1;
        assert!(matches!(decode(&payload), Some(Err(FileProblem::Digest { .. }))));
        for name in ["../a", "/etc/passwd", ".bashrc", "", "a\nb"] {
            assert!(matches!(decode(&encode(name, b"x")), Some(Err(FileProblem::Name(_)))), "{name:?}");
        }
        assert_eq!(decode(b"wayhop-file {}"), Some(Err(FileProblem::Line)));
    }
}
