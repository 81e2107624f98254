//! `push`: the same binary, scenario and files on all hosts, by their digests.

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;

use crate::config::{Fleet, Host, is_inside, size};
use crate::error::{Error, Trouble};
use crate::pool::Context;
use crate::quote::quote;
use crate::report::{HostReport, PushResult};
use crate::script::{Script, finish};
use crate::{listing, pack};

/// The longest file that is sent, bytes.
const LONGEST: u64 = 4 << 30;

/// Lists which of the files in its variables are there, and checks the folder.
const LOOK: &str = r#"
umask 022
mkdir -p -- "$dir" || exit 1
[ -O "$dir" ] || { echo "$dir belongs to another user" >&2; exit 1; }
say machine "$(uname -m)"
if command -v gzip >/dev/null 2>&1; then say gzip yes; fi
have() { if [ -f "$dir/$2" ]; then say "digest_$1" "$(sha256sum < "$dir/$2")"; fi; }
"#;

/// Receives a file from standard input. It replaces the old one only when complete.
const TAKE: &str = r#"set -u; umask 022; cd || exit 1
file=$1; mode=$2; digest=$3; how=$4
mkdir -p -- "$(dirname -- "$file")" || exit 1
case $how in gzip) gzip -dc ;; *) cat ;; esac > "$file.part" || exit 1
set -- $(sha256sum < "$file.part")
[ "$1" = "$digest" ] || { echo "the received file does not match its digest" >&2; exit 1; }
chmod "$mode" "$file.part" && mv -f -- "$file.part" "$file""#;

/// Files for all hosts.
#[derive(Clone, Debug)]
pub(crate) struct Payload {
    files: Vec<PushedFile>,
    /// `None` if every host has its own program.
    binary: Option<PushedFile>,
    /// Holds compressed copies.
    _folder: Arc<TempDir>,
}

#[derive(Clone, Debug)]
struct PushedFile {
    here: PathBuf,
    /// Where it goes, below the fleet's folder.
    there: String,
    mode: &'static str,
    digest: String,
    bytes: u64,
    /// A compressed copy, and its length.
    packed: Option<(PathBuf, u64)>,
}

impl PushedFile {
    fn new(here: &Path, there: String, program: bool, folder: &Path) -> Result<Self, Error> {
        let cannot = |e: std::io::Error| Error::System(format!("cannot read {}: {e}", here.display()));
        let bytes = size(here)?;
        if bytes > LONGEST {
            return Err(Error::Usage(format!("{} is longer than {LONGEST} bytes", here.display())));
        }
        // Files that others may not read here, such as keys, stay private there.
        let private = std::fs::metadata(here).map_err(cannot)?.permissions().mode() & 0o004 == 0;
        let mode = if program {
            "755"
        } else if private {
            "600"
        } else {
            "644"
        };
        let digest = listing::digest_of(here).map_err(cannot)?;
        let name = format!("{}.gz", wayhop_core::file_name(&there));
        let packed = pack::gzipped(here, folder, &name)
            .map_err(|e| Error::System(format!("cannot compress {}: {e}; check $TMPDIR", here.display())))?;
        Ok(Self { here: here.to_owned(), there, mode, digest, bytes, packed })
    }
}

/// Where the scenario is at the hosts, below the fleet's folder.
pub(crate) fn scenario_there(fleet: &Fleet) -> String {
    let beside = fleet.scenario.strip_prefix(fleet.folder()).ok().filter(|p| is_inside(p));
    let name = fleet.scenario.file_name().map(PathBuf::from).unwrap_or_default();
    format!("files/{}", beside.map_or(name.as_path(), |p| p).display())
}

impl Payload {
    /// The files for this fleet, with this program as `wayhop`; symbols are stripped if a tool for that is installed here.
    pub(crate) fn new(fleet: &Fleet, binary: &Path) -> Result<Self, Error> {
        let folder = TempDir::with_prefix("wayhop-fleet-")
            .map_err(|e| Error::System(format!("cannot create a temporary folder: {e}; check $TMPDIR")))?;
        let item = |here: &Path, there: String| PushedFile::new(here, there, false, folder.path());
        let mut files = vec![item(&fleet.scenario, scenario_there(fleet))?];
        for name in &fleet.files {
            files.push(item(&fleet.folder().join(name), format!("files/{}", name.display()))?);
        }
        let is_wanted = fleet.hosts.iter().any(|h| h.wayhop.is_none());
        let program = || {
            let stripped = pack::stripped(binary, folder.path());
            PushedFile::new(stripped.as_deref().unwrap_or(binary), "wayhop".to_owned(), true, folder.path())
        };
        let binary = is_wanted.then(program).transpose()?;
        Ok(Self { files, binary, _folder: Arc::new(folder) })
    }

    fn of(&self, host: &Host) -> Vec<&PushedFile> {
        let binary = self.binary.iter().filter(|_| host.wayhop.is_none());
        binary.chain(&self.files).collect()
    }
}

pub(crate) fn push(cx: &Context<'_>, host: &Host, payload: &Payload) -> HostReport {
    let report = HostReport::with(host, give(cx, host, payload), |r, pushed| r.push = Some(pushed));
    let said = match &report.push {
        Some(p) if p.sent.is_empty() => "up to date".to_owned(),
        Some(p) => format!("received {}", p.sent.join(", ")),
        None => report.first_problem_or("").to_owned(),
    };
    cx.progress.done(host, report.ok, &said);
    report
}

fn give(cx: &Context<'_>, host: &Host, payload: &Payload) -> Result<PushResult, Trouble> {
    cx.progress.at(host, "comparing files", None);
    let items = payload.of(host);
    let mut script = Script::new(host);
    script.then(LOOK);
    for (i, item) in items.iter().enumerate() {
        script.then(&format!("have {} {}\n", key(i), quote(&item.there)));
    }
    let facts = script.ask(cx, host)?;
    let machine = facts.get("machine").map_or("", String::as_str);
    if host.wayhop.is_none() && machine != std::env::consts::ARCH {
        let what =
            format!("its processor is {machine:?}, but this program is for {}", std::env::consts::ARCH);
        return Err(Trouble::wrong(what, "install wayhop there and set its path with `wayhop`"));
    }
    let mut pushed = PushResult::default();
    for (i, item) in items.into_iter().enumerate() {
        let there = facts.get(&format!("digest_{}", key(i))).and_then(|d| d.split_whitespace().next());
        if there == Some(&item.digest) {
            pushed.same.push(item.there.clone());
        } else {
            let packed = item.packed.as_ref().filter(|_| facts.contains_key("gzip"));
            pushed.bytes += send(cx, host, item, packed)?;
            pushed.unpacked_bytes += item.bytes;
            pushed.sent.push(item.there.clone());
        }
        pushed.digests.insert(item.there.clone(), item.digest.clone());
    }
    Ok(pushed)
}

/// A key of facts: letters only.
fn key(mut i: usize) -> String {
    let mut key = String::new();
    loop {
        key.push(char::from(b'a' + (i % 26) as u8));
        i /= 26;
        if i == 0 {
            return key;
        }
    }
}

/// Sends a file or its compressed copy. Returns the number of bytes sent.
fn send(
    cx: &Context<'_>,
    host: &Host,
    item: &PushedFile,
    packed: Option<&(PathBuf, u64)>,
) -> Result<u64, Trouble> {
    let (here, bytes) = packed.map_or((&item.here, item.bytes), |(path, bytes)| (path, *bytes));
    let what = format!("sending {}", item.there);
    cx.progress.at(host, &what, Some((0, bytes)));
    let to = format!("{}/{}", host.directory, item.there);
    let how = if packed.is_some() { "gzip" } else { "plain" };
    let words = ["sh", "-c", TAKE, "sh", &to, item.mode, &item.digest, how].map(quote);
    let command = words.join(" ");
    let file = File::open(here).map_err(|e| {
        Trouble::wrong(format!("cannot read {}: {e}", here.display()), "check that it still exists")
    })?;
    let mut session = cx.ssh(host, &[], &[&command])?;
    session.send(file, &mut |sent| cx.progress.at(host, &what, Some((sent, bytes))))?;
    session.rest(64 * 1024)?;
    finish(session)?;
    Ok(bytes)
}
