//! `wayhop bundle send`.

use std::io::{Read as _, stdin};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use wayhop_bundle_agent::file;
use wayhop_bundle_agent::messages::{Ask, Hello, SentBundle};

use super::args::{SendArgs, failure};
use crate::failure::{Failure, out, print_object, usage};

/// What `--json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Sent")]
pub(crate) struct SendReport {
    #[serde(flatten)]
    about: SentBundle,
    /// How long it lives, seconds.
    lifetime_s: f64,
    /// Whether it travels with custody transfer.
    custody: bool,
}

pub(super) fn send(a: &SendArgs) -> Result<(), Failure> {
    let mut client = a.at.connect()?;
    let hello: Hello = client.ask(&Ask::Hello {}, Vec::new()).map_err(failure)?;
    let payload = match (&a.text, &a.file) {
        (Some(text), _) => text.clone().into_bytes(),
        (None, Some(path)) => of_file(path, a.name.as_deref(), hello.largest)?,
        (None, None) => return Err(usage!("nothing to send: give --text or --file")),
    };
    let ask = Ask::Send {
        source: a.source.clone(),
        destination: a.destination.clone(),
        lifetime_s: Some(a.lifetime),
        custody: a.custody,
        report_to: a.report_to.clone(),
    };
    let sent: SentBundle = client.ask(&ask, payload).map_err(failure)?;
    if a.at.json {
        return print_object(&SendReport { about: sent, lifetime_s: a.lifetime, custody: a.custody });
    }
    out!("{}: {} bytes for {}", sent.bundle, sent.bytes, sent.destination)
}

/// The payload of a file. At most what fits into a bundle is read.
fn of_file(path: &Path, name: Option<&str>, largest: u64) -> Result<Vec<u8>, Failure> {
    let is_input = path == Path::new("-");
    let cannot = Failure::read(path);
    let mut octets = Vec::new();
    let read = if is_input {
        stdin().lock().take(largest + 1).read_to_end(&mut octets)
    } else {
        std::fs::File::open(path).map_err(&cannot)?.take(largest + 1).read_to_end(&mut octets)
    };
    read.map_err(cannot)?;
    if octets.len() as u64 > largest {
        return Err(usage!(
            "{} is larger than a bundle ({largest} bytes); split it, or raise the agents' largest_bytes",
            path.display()
        ));
    }
    let own = path.file_name().filter(|_| !is_input).map(|n| n.to_string_lossy().into_owned());
    let name = name.map(str::to_owned).or(own).unwrap_or_else(|| "stdin".to_owned());
    Ok(file::encode(&name, &octets))
}
