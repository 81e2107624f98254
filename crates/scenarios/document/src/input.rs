//! Reads input files: plain or gzip, and never more than a limit. Paths between files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use flate2::read::MultiGzDecoder;

use crate::error::{Error, LineColumn, Result};

const MAX_INPUT_BYTES: u64 = 256 * 1024 * 1024;

/// The text of a file; gzip is recognised by its first bytes.
pub fn read_text(path: &Path) -> Result<String> {
    read_bounded(path, MAX_INPUT_BYTES).and_then(decode).map_err(|e| e.in_file(path))
}

/// The bytes of a file, which may be text in any encoding; gzip is recognised by its first bytes.
pub fn read_octets(path: &Path) -> Result<Vec<u8>> {
    read_bounded(path, MAX_INPUT_BYTES)
        .and_then(|bytes| unpacked(bytes, MAX_INPUT_BYTES))
        .map_err(|e| e.in_file(path))
}

/// The bytes of a file as they are.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    read_bounded(path, MAX_INPUT_BYTES).map_err(|e| e.in_file(path))
}

fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let file = File::open(path).map_err(|e| match e.kind() {
        ErrorKind::NotFound => {
            Error::new("no such file", "check the name; paths in a scenario are relative to its folder")
        }
        ErrorKind::PermissionDenied => Error::new("permission denied", "check the file's permissions"),
        _ => unreadable(&e),
    })?;
    let meta = file.metadata().map_err(|e| unreadable(&e))?;
    if meta.is_dir() {
        return Err(Error::new("is a folder", "give a file in it"));
    }
    if meta.len() > limit {
        return Err(too_large(meta.len(), limit));
    }
    read_limited(file, limit, unreadable)
}

/// The text of a pipe; gzip is recognised by its first bytes.
pub fn read_all(input: impl Read) -> Result<String> {
    read_limited(input, MAX_INPUT_BYTES, unreadable).and_then(decode)
}

fn read_limited(input: impl Read, limit: u64, failed: fn(&io::Error) -> Error) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(limit + 1).read_to_end(&mut bytes).map_err(|e| failed(&e))?;
    if bytes.len() as u64 > limit {
        return Err(too_large(format_args!("more than {limit}"), limit));
    }
    Ok(bytes)
}

/// The text in the bytes of a file: unpacks gzip and checks the encoding.
pub fn decode(bytes: Vec<u8>) -> Result<String> {
    decode_within(bytes, MAX_INPUT_BYTES)
}

fn decode_within(bytes: Vec<u8>, limit: u64) -> Result<String> {
    let mut bytes = unpacked(bytes, limit)?;
    // Some editors begin a text with a byte-order mark, which is not part of the text.
    if bytes.starts_with("\u{feff}".as_bytes()) {
        bytes.drain(..3);
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(Error::new("is UTF-16 text", "save the file as UTF-8"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let valid = e.utf8_error().valid_up_to();
        let head = String::from_utf8_lossy(&e.as_bytes()[..valid]).into_owned();
        Error::new(
            "is not UTF-8 text",
            "check that this is the right file, saved as UTF-8, and compressed, if at all, with gzip",
        )
        .at(LineColumn::of(&head, valid))
    })
}

fn unpacked(bytes: Vec<u8>, limit: u64) -> Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    read_limited(MultiGzDecoder::new(&bytes[..]), limit, |e| {
        let reason = match e.kind() {
            ErrorKind::UnexpectedEof => "the gzip data is truncated".to_owned(),
            _ => format!("the gzip data is damaged ({e})"),
        };
        Error::new(reason, "download or write the file again")
    })
}

fn too_large(size: impl std::fmt::Display, limit: u64) -> Error {
    Error::new(format!("has {size} bytes; the limit is {limit}"), "split or shorten it")
}

fn unreadable(e: &io::Error) -> Error {
    Error::new(format!("cannot be read ({e})"), "check the file")
}

/// The path from an absolute folder to an absolute file.
pub fn relative_path(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir.as_os_str());
    let down: Vec<&OsStr> = file.components().skip(shared).map(Component::as_os_str).collect();
    up.chain(down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut w = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        w.write_all(data).unwrap();
        w.finish().unwrap()
    }

    #[test]
    fn gzip_is_read_as_it_is() {
        let two_members = [gzip(b"one "), gzip(b"two")].concat();
        assert_eq!(decode_within(two_members, 100).unwrap(), "one two");
        assert_eq!(decode_within(b"plain".to_vec(), 100).unwrap(), "plain");
    }

    #[test]
    fn a_gzip_bomb_stops_at_the_limit() {
        let bomb = gzip(&vec![b'#'; 10_000_000]);
        assert!(bomb.len() < 20_000);
        let e = decode_within(bomb, 100_000).unwrap_err();
        assert_eq!(e.to_string(), "has more than 100000 bytes; the limit is 100000; split or shorten it");
    }

    #[test]
    fn damaged_files_are_told_apart() {
        let whole = gzip(&b"some text that is long enough to be cut in two".repeat(20));
        let cut = decode_within(whole[..whole.len() / 2].to_vec(), 10_000).unwrap_err();
        assert!(cut.to_string().starts_with("the gzip data is truncated"), "{cut}");
        let mut bad = whole;
        let middle = bad.len() - 6;
        bad[middle] ^= 0xff;
        let bad = decode_within(bad, 10_000).unwrap_err();
        assert!(bad.to_string().starts_with("the gzip data is damaged"), "{bad}");
        let binary = decode_within(b"ab\ncd\xff".to_vec(), 100).unwrap_err();
        assert_eq!(binary.place, Some(LineColumn { line: 2, column: 3 }));
    }

    #[test]
    fn a_file_above_the_limit_is_refused_by_its_size_and_an_endless_one_by_reading() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("huge.tcl");
        // A hole of 1 GB: nothing of it is read.
        File::create(&path).unwrap().set_len(1_000_000_000).unwrap();
        let e = read_text(&path).unwrap_err().to_string();
        assert!(e.ends_with("has 1000000000 bytes; the limit is 268435456; split or shorten it"), "{e}");
        let e = read_bounded(Path::new("/dev/zero"), 1_000).unwrap_err().to_string();
        assert!(e.contains("more than 1000 bytes"), "{e}");
        assert!(read_text(dir.path()).unwrap_err().to_string().contains("is a folder; give a file in it"));
        let e = read_text(&dir.path().join("none")).unwrap_err().to_string();
        assert!(e.contains("no such file; check the name"), "{e}");
    }

    #[test]
    fn the_path_between_two_places_goes_up_and_then_down() {
        for (folder, file, expected) in [
            ("/a/b", "/a/b/m.tcl", "m.tcl"),
            ("/a/b", "/a/c/d/m.tcl", "../c/d/m.tcl"),
            ("/", "/m.tcl", "m.tcl"),
            ("/a/b", "/m.tcl", "../../m.tcl"),
        ] {
            assert_eq!(relative_path(Path::new(folder), Path::new(file)), Path::new(expected));
        }
    }
}
