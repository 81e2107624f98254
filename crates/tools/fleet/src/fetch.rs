//! `fetch`: what a host recorded comes here; what came before an interruption is not fetched again.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::config::Host;
use crate::digest;
use crate::error::{Error, Trouble, harmless};
use crate::listing::{self, RemoteFile};
use crate::pool::Context;
use crate::programs::ANY_RUNS;
use crate::quote::quote;
use crate::report::{FetchResult, HostReport};
use crate::script::{Script, finish};
use crate::session::Session;
use crate::start::IS_RUNNING;

/// What a listing may say, octets.
const LONGEST_LISTING: usize = 32 << 20;

/// Digests of long files take a while: a sign of life keeps the connection from being given up.
const LIST: &str = r#"
if is_running; then say runs node; exit 0; fi
if running_program; then say runs "program $program"; exit 0; fi
cd -- "$dir/runs/$run" 2>/dev/null || { say there no; exit 0; }
say there yes
( while sleep 2 >/dev/null 2>&1; do echo .; done ) &
beat=$!
root find . -type f -printf 'size %s %p\n' && root find . -type f -exec sha256sum -- {} +
status=$?
kill "$beat"
exit "$status"
"#;

/// Sends parts of files one after the other: octets from `$1` on, `$2` of them, of the file `$3`.
const SEND: &str = r#"
cd -- "$dir/runs/$run" || exit 1
get() { root tail -c "+$1" -- "$3" | head -c "$2"; }
"#;

/// Where records go.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The run's name.
    pub run: String,
    /// The folder here, with a run directory for each host.
    pub folder: PathBuf,
}

impl Destination {
    /// A host's run directory here.
    pub fn of(&self, host: &Host) -> PathBuf {
        self.folder.join(&host.name)
    }
}

/// Fetches a host's record.
pub fn fetch(cx: &Context<'_>, host: &Host, to: &Destination) -> HostReport {
    let mut done = FetchResult { directory: to.of(host).display().to_string(), ..FetchResult::default() };
    let mut report = HostReport::of(host);
    if let Err(trouble) = try_fetch(cx, host, to, &mut done) {
        report.note(&trouble);
    }
    let said = report.problems.first().cloned().unwrap_or_else(|| format!("is here: {}", done.directory));
    cx.progress.done(host, report.ok, &said);
    report.fetch = Some(done);
    report
}

fn try_fetch(cx: &Context<'_>, host: &Host, to: &Destination, done: &mut FetchResult) -> Result<(), Trouble> {
    cx.progress.at(host, "lists its files", None);
    let mut script = Script::new(host);
    script.var("run", &to.run).then(IS_RUNNING).then(ANY_RUNS).then(LIST);
    let said = script.run(cx.fleet, host, cx.stop, LONGEST_LISTING)?;
    let said = String::from_utf8_lossy(&said);
    let facts = crate::answer::parse(&said);
    if let Some(what) = facts.get("runs") {
        return Err(Trouble::wrong(format!("its {} still runs", harmless(what)), "wayhop fleet stop"));
    }
    if facts.get("there").is_none_or(|v| v != "yes") {
        return Err(Trouble::wrong(
            format!("it has no run {}", to.run),
            "see --run, and the folder `runs` there",
        ));
    }
    let (files, strange) = listing::parse(&said, &host.name);
    done.files = files.len() as u64;
    done.bytes = files.iter().fold(0, |sum, f| sum.saturating_add(f.bytes));
    if files.is_empty() {
        return Err(Trouble::wrong(format!("run {} has no record there", to.run), "see its log there"));
    }
    if done.bytes > cx.fleet.fetch_limit {
        let what = format!("its record has {} MiB", done.bytes >> 20);
        return Err(Trouble::wrong(what, "raise `fetch_limit_mib`, if there is room for it"));
    }
    let mut wanted = Vec::new();
    for file in &files {
        if let Some(at) = missing_from(to, file).map_err(|e| here(&e))? {
            wanted.push((file, at));
        }
    }
    if !wanted.is_empty() {
        bring(cx, host, to, &wanted, done)?;
    }
    if strange > 0 {
        let what = format!("{strange} files of other hosts, or of strange names, stayed there");
        return Err(Trouble::wrong(what, "see what the run's folder there has"));
    }
    done.complete = true;
    Ok(())
}

/// The error of this machine's disk.
fn here(e: &Error) -> Trouble {
    Trouble::wrong(e.to_string(), "see whether there is room here, and try again")
}

fn cannot(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.display().to_string();
    move |e| Error::System(format!("cannot write {path}: {e}"))
}

fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// From which octet on a file is missing here; none if it is here and right.
fn missing_from(to: &Destination, file: &RemoteFile) -> Result<Option<u64>, Error> {
    let path = to.folder.join(&file.path);
    if fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() == file.bytes)
        && digest::of_file(&path).is_ok_and(|d| d == file.digest)
    {
        return Ok(None);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(cannot(folder))?;
    }
    let part = part(&path);
    Ok(Some(match fs::metadata(&part) {
        Ok(m) if m.len() <= file.bytes => m.len(),
        Ok(_) => {
            fs::remove_file(&part).map_err(cannot(&part))?;
            0
        }
        Err(_) => 0,
    }))
}

fn bring(
    cx: &Context<'_>,
    host: &Host,
    to: &Destination,
    wanted: &[(&RemoteFile, u64)],
    done: &mut FetchResult,
) -> Result<(), Trouble> {
    let mut script = Script::new(host);
    script.var("run", &to.run).then(SEND);
    for (file, at) in wanted.iter().filter(|(f, at)| f.bytes > *at) {
        // tail counts octets from 1.
        script.then(&format!("get {} {} {}\n", at + 1, file.bytes - at, quote(&file.path)));
    }
    let total: u64 = wanted.iter().map(|(f, at)| f.bytes - at).sum();
    let mut stream = Stream { session: script.begin(cx.fleet, host, cx.stop)?, left: Vec::new() };
    for (file, at) in wanted {
        let path = to.folder.join(&file.path);
        let part = part(&path);
        let mut out =
            OpenOptions::new().append(true).create(true).open(&part).map_err(|e| here(&cannot(&part)(e)))?;
        let mut left = file.bytes - at;
        while left > 0 {
            let octets = stream.take(left)?;
            out.write_all(&octets).map_err(|e| here(&cannot(&part)(e)))?;
            left -= octets.len() as u64;
            done.brought_bytes += octets.len() as u64;
            cx.progress.at(host, "sends its record", Some((done.brought_bytes, total)));
        }
        settle(&out, &part, &path, file)?;
    }
    stream.session.rest(0)?;
    finish(stream.session)
}

/// A file has come: it is right, and takes its place, or it is not.
fn settle(out: &File, part: &Path, path: &Path, file: &RemoteFile) -> Result<(), Trouble> {
    out.sync_all().map_err(|e| here(&cannot(part)(e)))?;
    let is_right = digest::of_file(part).is_ok_and(|d| d == file.digest);
    if !is_right {
        fs::remove_file(part).map_err(|e| here(&cannot(part)(e)))?;
        let what = format!("{} is not what its digest says", file.path);
        return Err(Trouble::wrong(what, "it changed on the way, or there: fetch again"));
    }
    fs::rename(part, path).map_err(|e| here(&cannot(path)(e)))
}

/// Octets in portions.
struct Stream<'a> {
    session: Session<'a>,
    left: Vec<u8>,
}

impl Stream<'_> {
    /// Some octets, at most so many.
    fn take(&mut self, most: u64) -> Result<Vec<u8>, Trouble> {
        if self.left.is_empty() {
            self.left = self.session.hear()?;
        }
        if self.left.is_empty() {
            self.session.end()?;
            return Err(Trouble::new(
                crate::error::Kind::Lost,
                "the connection ended in the middle of a file",
                "fetch again: it goes on where it stopped",
            ));
        }
        let n = self.left.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        let rest = self.left.split_off(n);
        Ok(std::mem::replace(&mut self.left, rest))
    }
}
