//! Reports in the folder of the runs, written by `wayhop report`, `wayhop compare --html` and `wayhop reproduce`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::error::Error;

/// Reports that are listed, and entries of folders that are looked at for them.
const MOST_LISTED: usize = 500;
const MOST_LOOKED_AT: usize = 20_000;
/// A larger one is no report. One with a replay has some 20 MB.
const MOST_OCTETS: u64 = 64 << 20;
/// A report brings its own script and style, and loads nothing. It has no origin, so no cookie and no question to the server.
const POLICY: &str = "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; style-src 'unsafe-inline'; \
    script-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A report: its name, a path within the folder, and where it is.
pub(crate) type ReportPath = (String, PathBuf);

fn is_report(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "html") && fs::symlink_metadata(path).is_ok_and(|m| m.is_file())
}

fn entries(folder: &Path, left: &mut usize) -> Vec<PathBuf> {
    let found: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().take(*left).map(|e| e.path()).collect();
    *left -= found.len();
    found
}

/// Those in the folder and in the folders in it, by name. Links are not followed.
pub(crate) fn list(folder: &Path) -> Vec<ReportPath> {
    let mut left = MOST_LOOKED_AT;
    let mut found = Vec::new();
    for path in entries(folder, &mut left) {
        if fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) {
            found.extend(entries(&path, &mut left).into_iter().filter(|p| is_report(p)));
        } else if is_report(&path) {
            found.push(path);
        }
    }
    let name = |path: PathBuf| Some((path.strip_prefix(folder).ok()?.to_str()?.to_owned(), path));
    let mut named: Vec<ReportPath> = found.into_iter().filter_map(name).collect();
    named.sort_unstable();
    named.truncate(MOST_LISTED);
    named
}

pub(crate) fn told(all: &[ReportPath]) -> Value {
    let of = |(name, path): &ReportPath| {
        let about = fs::metadata(path).ok();
        let written = about.as_ref().and_then(|m| m.modified().ok()?.duration_since(UNIX_EPOCH).ok());
        json!({
            "name": name,
            "title": title(path),
            "octets": about.as_ref().map(fs::Metadata::len),
            "written_unix_s": written.map(|t| t.as_secs()),
        })
    };
    json!({"reports": all.iter().map(of).collect::<Vec<_>>()})
}

/// What the document calls itself, in its first 2 KiB.
fn title(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let mut head = Vec::new();
    fs::File::open(path).ok()?.take(2048).read_to_end(&mut head).ok()?;
    let text = String::from_utf8_lossy(&head);
    let (_, rest) = text.split_once("<title>")?;
    let (title, _) = rest.split_once("</title>")?;
    Some(title.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
}

pub(crate) fn document(all: &[ReportPath], name: &str) -> Result<Response, Error> {
    let (_, path) = all.iter().find(|(n, _)| n == name).ok_or_else(|| {
        Error::not_found(format!("there is no report {name} here; choose one from the list"))
    })?;
    let failed = |e: std::io::Error| Error::unreadable(format!("{}: {e}", path.display()));
    let octets = fs::metadata(path).map_err(failed)?.len();
    if octets > MOST_OCTETS {
        return Err(Error::unreadable(format!(
            "{}: {octets} bytes are too many; open the file directly in a browser",
            path.display()
        )));
    }
    let mut response = fs::read(path).map_err(failed)?.into_response();
    for (name, value) in
        [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)]
    {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}
