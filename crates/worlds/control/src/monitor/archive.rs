//! The files of a folder, within limits: in all, and per sending address.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What a file takes of a disk at least, octets; sizes are rounded up to multiples of it.
const BLOCK: u64 = 4096;

/// The most that a folder, or an address in it, has.
#[derive(Copy, Clone, Debug)]
pub(super) struct ArchiveLimit {
    pub(super) octets: u64,
    pub(super) files: usize,
}

#[derive(Copy, Clone, Debug, Default)]
struct Usage {
    octets: u64,
    files: usize,
}

impl Usage {
    /// Whether the file may grow by `octets` bytes.
    fn has_room(self, octets: u64, bound: ArchiveLimit) -> bool {
        self.octets + octets <= bound.octets && self.files < bound.files
    }
}

#[derive(Debug)]
struct ArchivedFile {
    address: String,
    octets: u64,
    written: SystemTime,
}

/// What is known of the folder's files.
#[derive(Debug)]
pub(super) struct Archive {
    of_all: ArchiveLimit,
    of_address: ArchiveLimit,
    files: BTreeMap<PathBuf, ArchivedFile>,
    usage: Usage,
    by_address: BTreeMap<String, Usage>,
}

impl Archive {
    /// Of this folder, with what is in it already.
    pub(super) fn new(folder: &Path, of_all: ArchiveLimit, of_address: ArchiveLimit) -> Self {
        let mut archive = Self {
            of_all,
            of_address,
            files: BTreeMap::new(),
            usage: Usage::default(),
            by_address: BTreeMap::new(),
        };
        for file in fs::read_dir(folder).into_iter().flatten().flatten() {
            archive.look(&file.path());
        }
        archive
    }

    /// Makes room for `octets` more bytes in the file of this path, from this address, by deleting the least
    /// recently written of the other files, the address's own first. Returns the deleted files.
    pub(super) fn make_room(&mut self, address: &str, file: &Path, octets: u64) -> io::Result<Vec<PathBuf>> {
        // It may begin a block.
        let octets = octets.next_multiple_of(BLOCK);
        let mut gone = Vec::new();
        while !self.by_address.get(address).copied().unwrap_or_default().has_room(octets, self.of_address)
            && let Some(path) = self.oldest_but(file, |k| k.address == address)
        {
            self.remove(&path)?;
            gone.push(path);
        }
        while !self.usage.has_room(octets, self.of_all)
            && let Some(path) = self.oldest_but(file, |_| true)
        {
            self.remove(&path)?;
            gone.push(path);
        }
        Ok(gone)
    }

    fn oldest_but(&self, file: &Path, which: impl Fn(&ArchivedFile) -> bool) -> Option<PathBuf> {
        let all = self.files.iter().filter(|(path, k)| *path != file && which(k));
        all.min_by_key(|(_, k)| k.written).map(|(path, _)| path.clone())
    }

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        self.look(path);
        Ok(())
    }

    /// Takes notice of how a file is now, or that it is no more.
    pub(super) fn look(&mut self, path: &Path) {
        if let Some(old) = self.files.remove(path) {
            self.count(&old.address, |u| {
                u.octets -= old.octets;
                u.files -= 1;
            });
        }
        let Some(address) = address_of(path) else { return };
        let Ok(now) = fs::symlink_metadata(path) else { return };
        let octets = now.len().next_multiple_of(BLOCK);
        let written = now.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        self.count(&address, |u| {
            u.octets += octets;
            u.files += 1;
        });
        self.files.insert(path.to_owned(), ArchivedFile { address, octets, written });
    }

    fn count(&mut self, address: &str, change: impl Fn(&mut Usage)) {
        change(&mut self.usage);
        let of_address = self.by_address.entry(address.to_owned()).or_default();
        change(of_address);
        if of_address.files == 0 {
            self.by_address.remove(address);
        }
    }
}

/// The address in a name like NODE_ADDRESS.jsonl or NODE_ADDRESS.jsonl.2; other files are not ours.
fn address_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (stem, rest) = name.rsplit_once(".jsonl")?;
    let is_number = |n: &str| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
    (rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number)).then_some(())?;
    stem.rsplit_once('_').map(|(_, address)| address.to_owned())
}
