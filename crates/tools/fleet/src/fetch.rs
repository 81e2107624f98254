//! `fetch`: copies the records of a host here, and resumes after an interruption.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::config::Host;
use crate::error::{Trouble, TroubleKind, harmless};
use crate::listing::{self, RemoteFile};
use crate::pool::Context;
use crate::programs::ANY_RUNS;
use crate::quote::quote;
use crate::report::{FetchResult, HostReport};
use crate::script::{Script, finish};
use crate::start::IS_RUNNING;

const LONGEST_LISTING: usize = 32 << 20;

/// Digests of long files take a while; output every 2 s keeps the connection alive.
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

/// Sends parts of files one after the other: `$2` bytes from byte `$1` of the file `$3`.
const SEND: &str = r#"
cd -- "$dir/runs/$run" || exit 1
get() { root tail -c "+$1" -- "$3" | head -c "$2"; }
"#;

#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub(crate) run: String,
    /// The folder here, with a run directory for each host.
    pub(crate) folder: PathBuf,
}

impl Destination {
    /// A host's run directory here.
    pub(crate) fn of(&self, host: &Host) -> PathBuf {
        self.folder.join(&host.name)
    }
}

pub(crate) fn fetch(cx: &Context<'_>, host: &Host, to: &Destination) -> HostReport {
    let mut done = FetchResult { directory: to.of(host).display().to_string(), ..FetchResult::default() };
    let mut report = HostReport::of(host);
    if let Err(trouble) = try_fetch(cx, host, to, &mut done) {
        report.note(&trouble);
    }
    cx.progress.done(host, report.ok, report.first_problem_or(&format!("fetched to {}", done.directory)));
    report.fetch = Some(done);
    report
}

fn try_fetch(cx: &Context<'_>, host: &Host, to: &Destination, done: &mut FetchResult) -> Result<(), Trouble> {
    cx.progress.at(host, "listing files", None);
    let mut script = Script::new(host);
    script.var("run", &to.run).then(IS_RUNNING).then(ANY_RUNS).then(LIST);
    let said = script.run(cx, host, LONGEST_LISTING)?;
    let said = String::from_utf8_lossy(&said);
    let facts = crate::answer::parse(&said);
    if let Some(what) = facts.get("runs") {
        let what = format!("its {} is still running", harmless(what));
        return Err(Trouble::wrong(what, "stop it with: wayhop fleet stop"));
    }
    if facts.get("there").is_none_or(|v| v != "yes") {
        return Err(Trouble::wrong(format!("no run {}", to.run), "check --run and the folder `runs` there"));
    }
    let (files, strange) = listing::parse(&said, &host.name);
    done.files = files.len() as u64;
    done.bytes = files.iter().fold(0, |sum, f| sum.saturating_add(f.bytes));
    if files.is_empty() {
        return Err(Trouble::wrong(format!("run {} has no records there", to.run), "check its log there"));
    }
    if done.bytes > cx.fleet.fetch_limit {
        let what = format!("its records take {} MiB", done.bytes >> 20);
        return Err(Trouble::wrong(what, "raise `fetch_limit_mib` if there is enough space here"));
    }
    let mut wanted = Vec::new();
    for file in &files {
        if let Some(at) = missing_from(to, file)? {
            wanted.push((file, at));
        }
    }
    if !wanted.is_empty() {
        bring(cx, host, to, &wanted, done)?;
    }
    if strange > 0 {
        let what = format!("{strange} files of other hosts or with unexpected names were not fetched");
        return Err(Trouble::wrong(what, "check the run's folder there"));
    }
    done.complete = true;
    Ok(())
}

/// An error of this machine's disk.
fn cannot(path: &Path) -> impl FnOnce(std::io::Error) -> Trouble {
    let path = path.display().to_string();
    move |e| Trouble::wrong(format!("cannot write {path}: {e}"), "check the disk space here, and try again")
}

fn part(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// The first byte of a file that is missing here; `None` if the file is complete.
fn missing_from(to: &Destination, file: &RemoteFile) -> Result<Option<u64>, Trouble> {
    let path = to.folder.join(&file.path);
    if fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() == file.bytes)
        && listing::digest_of(&path).is_ok_and(|d| d == file.digest)
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
        // tail counts bytes from 1.
        script.then(&format!("get {} {} {}\n", at + 1, file.bytes - at, quote(&file.path)));
    }
    let total: u64 = wanted.iter().map(|(f, at)| f.bytes - at).sum();
    let mut session = script.begin(cx, host)?;
    for (file, at) in wanted {
        let path = to.folder.join(&file.path);
        let part = part(&path);
        let mut out = OpenOptions::new().append(true).create(true).open(&part).map_err(cannot(&part))?;
        let mut left = file.bytes - at;
        while left > 0 {
            let octets = session.take(left)?;
            if octets.is_empty() {
                session.end()?;
                let what = "the connection ended in the middle of a file";
                return Err(Trouble::new(TroubleKind::Lost, what, "fetch again to resume"));
            }
            out.write_all(&octets).map_err(cannot(&part))?;
            left -= octets.len() as u64;
            done.brought_bytes += octets.len() as u64;
            cx.progress.at(host, "fetching records", Some((done.brought_bytes, total)));
        }
        settle(&out, &part, &path, file)?;
    }
    session.rest(0)?;
    finish(session)
}

/// Checks a received file, and moves it into place.
fn settle(out: &File, part: &Path, path: &Path, file: &RemoteFile) -> Result<(), Trouble> {
    out.sync_all().map_err(cannot(part))?;
    let is_right = listing::digest_of(part).is_ok_and(|d| d == file.digest);
    if !is_right {
        fs::remove_file(part).map_err(cannot(part))?;
        let what = format!("{} does not match its digest", file.path);
        return Err(Trouble::wrong(what, "it changed during the transfer; fetch again"));
    }
    fs::rename(part, path).map_err(cannot(path))
}
