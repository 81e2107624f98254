//! The files of a run on a host, from `find` and `sha256sum` there, and digests of files here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::config::is_inside;

/// The most files of one host's run.
const MOST: usize = 100_000;
/// The longest path, bytes.
const LONGEST: usize = 1024;

/// A file on the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteFile {
    /// Its path below the run's folder.
    pub path: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// Its SHA-256.
    pub digest: String,
}

/// Reads a listing: lines `size BYTES ./PATH` of find, and `DIGEST  ./PATH` of sha256sum. Only files of this host are returned:
/// `HOST.log`, and those below `HOST/` and `HOST.programs/`, with the number of the others.
pub fn parse(text: &str, host: &str) -> (Vec<RemoteFile>, usize) {
    let mut files: BTreeMap<&str, (Option<u64>, Option<&str>)> = BTreeMap::new();
    let mut strange = 0;
    for line in text.lines() {
        let (path, size, digest) = if let Some(rest) = line.strip_prefix("size ") {
            let Some((size, path)) = rest.split_once(' ') else { continue };
            (path, size.parse::<u64>().ok(), None)
        } else if let Some((digest, path)) = line.split_once("  ").filter(|(d, _)| is_one(d)) {
            (path, None, Some(digest))
        } else {
            continue;
        };
        let Some(path) = path.strip_prefix("./").filter(|p| belongs(p, host)) else {
            strange += usize::from(digest.is_none());
            continue;
        };
        if files.len() >= MOST && !files.contains_key(path) {
            strange += 1;
            continue;
        }
        let file = files.entry(path).or_default();
        file.0 = size.or(file.0);
        file.1 = digest.or(file.1);
    }
    let listed = files.into_iter().filter_map(|(path, (bytes, digest))| {
        Some(RemoteFile { path: path.to_owned(), bytes: bytes?, digest: digest?.to_owned() })
    });
    let listed: Vec<RemoteFile> = listed.collect();
    (listed, strange)
}

/// Whether a path belongs to the host's part of a run, and is safe to create here.
fn belongs(path: &str, host: &str) -> bool {
    let own = path
        .strip_prefix(host)
        .is_some_and(|rest| rest == ".log" || rest.starts_with('/') || rest.starts_with(".programs/"));
    own && path.len() <= LONGEST
        && is_inside(Path::new(path))
        && Path::new(path).extension().is_none_or(|e| e != "part")
        && !path.contains("//")
}

pub(crate) fn digest_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut chunk = vec![0; 64 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(wayhop_core::hex(&hash.finalize())),
            n => hash.update(&chunk[..n]),
        }
    }
}

fn is_one(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_whole_facts_of_the_hosts_own_files_count() {
        let d = "a".repeat(64);
        let text = format!(
            "Welcome\nsize 10 ./car-1/packets.parquet\n{d}  ./car-1/packets.parquet\nsize 5 ./car-1.log\n{d}  ./car-1.log\n\
             size 7 ./car-1/no digest\nsize 1 ./car-2/x\n{d}  ./car-2/x\nsize 1 ./car-1/../../etc/passwd\n{d}  ./car-1/../../etc/passwd\n\
             size 1 /etc/passwd\nsize 1 ./car-1evil\nsize 2 ./car-1.programs/gpsd/stdout.log\n\
             {d}  ./car-1.programs/gpsd/stdout.log\n.\n"
        );
        let (files, strange) = parse(&text, "car-1");
        let paths: Vec<&str> = files.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, ["car-1.log", "car-1.programs/gpsd/stdout.log", "car-1/packets.parquet"]);
        assert_eq!(strange, 4);
    }

    proptest! {
        #[test]
        fn no_listing_leads_out_of_the_hosts_folder(lines in proptest::collection::vec("(size [0-9]{1,3} \\./|)[a./~\u{1}-]{0,12}", 0..50)) {
            let d = "b".repeat(64);
            let listed = lines.iter().flat_map(|l| [l.clone(), format!("{d}  {}", l.split(' ').next_back().unwrap_or(""))]);
            let text = listed.collect::<Vec<_>>().join("\n");
            for f in parse(&text, "a").0 {
                prop_assert!(f.path == "a.log" || f.path.starts_with("a/") || f.path.starts_with("a.programs/"));
                prop_assert!(Path::new(&f.path).components().all(|c| matches!(c, std::path::Component::Normal(_))));
            }
        }
    }

    #[test]
    fn it_is_that_of_the_standard() {
        // FIPS 180-4's example "abc".
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        let digest = digest_of(file.path()).unwrap();
        assert_eq!(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(is_one(&digest) && !is_one("ba78") && !is_one(&"g".repeat(64)));
    }
}
