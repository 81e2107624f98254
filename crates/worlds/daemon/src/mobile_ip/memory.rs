//! What a home agent knows of its mobile nodes, in a file, from which a restarted one resumes.
//!
//! The file is replaced atomically, and is on the disk before a request is answered: no
//! identification counts twice, even after a power failure.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::net::Ipv4Addr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wayhop_mobile_ip::KnownMobile;

use crate::kernel::ownership::give_to;
use crate::log::Log;

/// A longer file is not ours: 1,024 mobile nodes of four bindings each need less.
const LONGEST: u64 = 4 << 20;
/// Where services keep what survives a restart of the machine.
const FOLDER: &str = "/var/lib/wayhop";

#[derive(Debug, Default, Serialize, Deserialize)]
struct Text {
    mobiles: Vec<KnownMobile>,
}

/// The file, and what is in it.
pub(super) struct Memory {
    path: PathBuf,
    known: BTreeMap<Ipv4Addr, KnownMobile>,
    /// It cannot be written to, and that was told.
    is_lost: bool,
}

impl Memory {
    /// Where it is if nobody says otherwise: for each home agent of a host a folder of its own, since the file is replaced by a user
    /// who may write nowhere else.
    pub(super) fn usual(agent: Ipv4Addr) -> PathBuf {
        let folder = std::env::var_os("WAYHOP_STATE_DIR").filter(|d| !d.is_empty());
        folder
            .map_or_else(|| FOLDER.into(), PathBuf::from)
            .join(format!("home-agent-{agent}"))
            .join("bindings.json")
    }

    /// Reads the file, if it exists, and makes sure that this user can replace it. An unusable one
    /// is logged, and the agent starts without bindings.
    pub(super) fn open(path: PathBuf, user: &str, log: &Log) -> Self {
        let known = read(&path).unwrap_or_else(|e| {
            log.warning(format_args!(
                "{}: {e}; remove the file. Its bindings are lost, so mobile nodes are unreachable until \
                 they register again",
                path.display()
            ));
            Vec::new()
        });
        if let Err(e) = prepare(&path, user) {
            log.warning(format_args!("{}: {e}", path.display()));
        }
        Self { path, known: known.into_iter().map(|m| (m.home, m)).collect(), is_lost: false }
    }

    /// What an earlier life of this agent knew.
    pub(super) fn known(&self) -> Vec<Value> {
        self.known.values().filter_map(|known| serde_json::to_value(known).ok()).collect()
    }

    /// What is known of a mobile node now.
    pub(super) fn keep(&mut self, known: Value, log: &Log) {
        let Ok(known) = serde_json::from_value::<KnownMobile>(known) else { return };
        self.known.insert(known.home, known);
        self.write(log);
    }

    /// Replaces the file; at the start to see whether this user can.
    pub(super) fn write(&mut self, log: &Log) {
        let outcome = write(&self.path, &self.known);
        if let Err(e) = &outcome
            && !self.is_lost
        {
            log.warning(format_args!(
                "cannot write {}: {e}; bindings will be lost when the agent stops. Make the folder \
                 writable for `user`, or set another `bindings_file`",
                self.path.display()
            ));
        }
        self.is_lost = outcome.is_err();
    }
}

fn read(path: &Path) -> io::Result<Vec<KnownMobile>> {
    let file = match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other("it is too long for a bindings file"));
    }
    let text: Text = serde_json::from_slice(&text).map_err(io::Error::other)?;
    Ok(text.mobiles)
}

/// Makes the folder, and gives it and an earlier file to the user. A folder that was there stays whose it is.
fn prepare(path: &Path, user: &str) -> io::Result<()> {
    let folder = folder_of(path);
    if !folder.exists() {
        fs::create_dir_all(folder.parent().unwrap_or(folder))?;
        fs::DirBuilder::new().mode(0o700).create(folder)?;
        give_to(folder, user)?;
    }
    Ok(())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn write(path: &Path, known: &BTreeMap<Ipv4Addr, KnownMobile>) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(&Text { mobiles: known.values().cloned().collect() })?;
    let part = path.with_extension("json.part");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&part, path)?;
    // The new name is on the disk, too.
    File::open(folder_of(path))?.sync_all()
}

#[cfg(test)]
mod tests {
    use wayhop_mobile_ip::KnownBinding;

    use super::*;

    #[test]
    fn what_was_kept_is_read_again_and_damage_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bindings.json");
        assert_eq!(read(&path).unwrap(), []);
        let home = Ipv4Addr::new(10, 1, 0, 9);
        let binding = KnownBinding {
            care_of: Ipv4Addr::new(10, 4, 0, 2),
            is_reverse: true,
            granted_ntp: u64::MAX - 1,
            lifetime_s: 300,
        };
        let known = KnownMobile { home, identification: Some(u64::MAX), bindings: vec![binding] };
        write(&path, &[(home, known.clone())].into()).unwrap();
        assert_eq!(read(&path).unwrap(), [known]);
        let text = fs::read_to_string(&path).unwrap();
        for damage in ["", "{", &text.replace("10.4.0.2", "there"), &text.replace("300", "65536")] {
            fs::write(&path, damage).unwrap();
            assert!(read(&path).is_err(), "{damage}");
        }
        File::create(&path).unwrap().set_len(LONGEST + 1).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("too long"));
    }
}
