//! `wayhop bundle receive`.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use wayhop_bundle_agent::messages::{Ask, DeliveryHeader};
use wayhop_bundle_agent::{Delivery, file};
use wayhop_runs::interruption::stop_on_signal;

use super::args::{ReceiveArgs, failure};
use crate::failure::{Failure, harmless, out, print_object, say};

/// How often Ctrl-C is looked for.
const LOOK: Duration = Duration::from_millis(200);

/// A line of `--json`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Received")]
pub(crate) struct ReceivedBundle {
    #[serde(flatten)]
    about: DeliveryHeader,
    /// Its payload, octets.
    bytes: u64,
    /// The text, if the payload is one, and no file.
    text: Option<String>,
    /// Where the file was written, if it is one.
    file: Option<PathBuf>,
    /// The file's digest, which is that of what was sent.
    sha256: Option<String>,
}

pub(super) fn receive(a: &ReceiveArgs) -> Result<ExitCode, Failure> {
    let stop = stop_on_signal()?;
    let mut client = a.at.connect()?;
    let register = Ask::Register { endpoint: a.endpoint.clone(), got: 0 };
    let endpoint: String = client.ask(&register, Vec::new()).map_err(failure)?;
    let patience = a.timeout.map(Duration::from_secs_f64);
    let (mut count, mut since) = (0, Instant::now());
    while a.count.is_none_or(|most| count < most) {
        if stop.load(Ordering::Relaxed) {
            return Ok(if a.count.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS });
        }
        let Some(delivery) = client.delivery(Some(LOOK)).map_err(failure)? else {
            if patience.is_some_and(|p| since.elapsed() >= p) {
                break;
            }
            continue;
        };
        let number = delivery.about.number;
        show(a, delivery)?;
        // Only now: what was not shown comes again.
        let confirm = Ask::Confirm { endpoint: endpoint.clone(), number };
        let () = client.ask(&confirm, Vec::new()).map_err(failure)?;
        (count, since) = (count + 1, Instant::now());
    }
    match a.count.filter(|wanted| count < *wanted) {
        Some(wanted) => {
            Err(Failure::Run(format!("timeout: {count} of {wanted} bundles arrived for {endpoint}")))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

fn show(a: &ReceiveArgs, delivery: Delivery) -> Result<(), Failure> {
    let Delivery { about, payload } = delivery;
    let mut received =
        ReceivedBundle { bytes: payload.len() as u64, about, text: None, file: None, sha256: None };
    match file::decode(&payload) {
        Some(Ok((head, octets))) => {
            let path = write(&a.folder, &head.name, octets)?;
            (received.file, received.sha256) = (Some(path), Some(head.sha256));
        }
        Some(Err(why)) => {
            say!("wayhop: ignoring {}: {}", received.about.bundle, harmless(&why.to_string()));
        }
        None => received.text = String::from_utf8(payload).ok(),
    }
    if a.at.json { print_object(&received) } else { out!("{}", words(&received)) }
}

fn words(r: &ReceivedBundle) -> String {
    let from = harmless(&r.about.source);
    match (&r.file, &r.text) {
        (Some(path), _) => format!("{from}: {} ({} bytes)", path.display(), r.bytes),
        (None, Some(text)) => format!("{from}: {}", harmless(text)),
        (None, None) => format!("{from}: {} bytes that are not text", r.bytes),
    }
}

/// Writes a file under its name, or one with a number where there is one already.
fn write(folder: &Path, name: &str, octets: &[u8]) -> Result<PathBuf, Failure> {
    std::fs::create_dir_all(folder).map_err(Failure::write(folder))?;
    for number in 1..10_000 {
        let name = if number == 1 { name.to_owned() } else { format!("{name}.{number}") };
        let path = folder.join(name);
        match File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(octets).and_then(|()| file.sync_all()).map_err(Failure::write(&path))?;
                return Ok(path);
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(Failure::write(&path)(e)),
        }
    }
    Err(Failure::Run(format!(
        "{} has thousands of files named {name}; move them elsewhere",
        folder.display()
    )))
}
