//! `wayhop diff`.

use std::fmt::Write as _;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wayhop_core::{NodeId, Position};
use wayhop_protocols::CLASSIFIER;
use wayhop_report::Document;
use wayhop_trace::CaptureError;
use wayhop_trace::diff::{
    Burst, DiffError, Difference, Places, Sender, Sightings, bursts, difference, windows,
};

use crate::failure::{Failure, put, usage, warn};
use crate::recover;
use crate::scenario_args::{self, number};

pub(crate) const EXAMPLES: &str = "\
Example:
  wayhop run scenarios/chain.toml --captures --out runs/chain
  wayhop diff runs/chain/captures/left.pcapng runs/chain/captures/1.pcapng --positions runs/chain";

#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// Capture of the sending node (pcap or pcapng)
    sent: PathBuf,
    /// Capture of the receiving node
    heard: PathBuf,
    /// MAC (02:00:00:00:00:01) or IP address of the sender, if its capture does not mark outgoing frames
    #[arg(long, value_name = "ADDRESS")]
    sender: Option<String>,
    /// Length of the windows in which losses are counted, in seconds
    #[arg(long, value_name = "S", value_parser = scenario_args::seconds, default_value = "5", allow_negative_numbers = true)]
    window: f64,
    /// Share of all losses above which a window belongs to a burst, 0 to 100 %
    #[arg(long, value_name = "PERCENT", value_parser = percentage, default_value = "1", allow_negative_numbers = true)]
    threshold: f64,
    /// Run directory of both nodes, for their positions; the captures must have the nodes' names, as in a run
    #[arg(long, value_name = "RUN")]
    positions: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn percentage(text: &str) -> Result<f64, String> {
    number(text, 0.0..=100.0, "give a number from 0 to 100")
}

pub(crate) fn diff(a: &DiffArgs) -> Result<(), Failure> {
    let sender = a.sender.as_deref().map_or(Ok(Sender::Marked), sender)?;
    if is_same_file(&a.sent, &a.heard) {
        let name = a.sent.display();
        return Err(usage!("{name} is given twice; give the receiver's capture as the second argument"));
    }
    let sent = Sightings::sent(open(&a.sent)?, sender, CLASSIFIER).map_err(failure(&a.sent))?;
    let heard = Sightings::heard(open(&a.heard)?, CLASSIFIER).map_err(failure(&a.heard))?;
    for (path, sightings) in [(&a.sent, &sent), (&a.heard, &heard)] {
        warn(&sightings.remark().map(|r| format!("{}: {r}", path.display())));
    }
    let ends = a.positions.as_deref().map(|run| LinkEnds::new(run, a)).transpose()?;
    let d = difference(&sent, &heard);
    if d.sent.is_empty() {
        // The address is wrong, or this is not the sender's capture.
        let file = a.sent.display();
        return Err(match &a.sender {
            Some(s) => usage!("{file} contains no frames sent by {s}; give the address of a sender"),
            None => usage!("{file} contains no frames sent to a receiver; give the sender's capture"),
        });
    }
    let width_ns = (a.window * 1e9) as u64;
    let share = a.threshold / 100.0;
    let list = bursts(&d, width_ns, share);
    let text = if a.json {
        format!("{}\n", as_json(a, &d, &list, width_ns, ends.as_ref()))
    } else {
        as_text(a, &d, &list, ends.as_ref())
    };
    put(text)
}

struct LinkEnds {
    places: Places,
    sender: NodeId,
    receiver: NodeId,
}

impl LinkEnds {
    fn new(run: &Path, a: &DiffArgs) -> Result<Self, Failure> {
        let dir = recover::open(run)?;
        let places = Places::of_run(&dir).map_err(Failure::trace)?;
        let node = |capture: &Path| {
            let name = capture.file_stem().unwrap_or_default().to_string_lossy();
            places.find(&name).ok_or_else(|| {
                usage!("{}: the run in {} has no node `{name}`; name the captures after their nodes, as a run does",
                    capture.display(),
                    run.display())
            })
        };
        let (sender, receiver) = (node(&a.sent)?, node(&a.heard)?);
        Ok(Self { places, sender, receiver })
    }

    /// Sender and receiver at the middle of a burst.
    fn of(&self, b: &Burst) -> [Option<Position>; 2] {
        [self.sender, self.receiver].map(|n| self.places.at(n, b.centre_ns))
    }
}

fn as_json(a: &DiffArgs, d: &Difference, list: &[Burst], width_ns: u64, ends: Option<&LinkEnds>) -> Document {
    let after = |ns: u64| seconds(ns - d.begins_ns());
    let place = |p: Option<Position>| p.map_or(Value::Null, |p| json!({ "x_m": p.x, "y_m": p.y }));
    let burst = |b: &Burst| {
        let mut v = json!({
            "from_s": after(b.from_ns), "to_s": after(b.to_ns), "sent": b.sent, "lost": b.lost,
        });
        if let Some(ends) = ends {
            let [sender, receiver] = ends.of(b);
            v["sender"] = place(sender);
            v["receiver"] = place(receiver);
        }
        v
    };
    let window = |w: wayhop_trace::diff::Window| json!({ "from_s": after(w.start_ns), "sent": w.sent, "lost": w.lost });
    json!({
        "sent": d.sent.len(),
        "received": d.sent.len() - d.lost(),
        "lost": d.lost(),
        "begins_s": seconds(d.begins_ns()),
        "clock_offset_s": d.clock_offset_ns as f64 * 1e-9,
        "window_s": a.window,
        "threshold_share": a.threshold / 100.0,
        "windows": windows(d, width_ns).into_iter().map(window).collect::<Vec<_>>(),
        "bursts": list.iter().map(burst).collect::<Vec<_>>(),
    })
    .into()
}

fn as_text(a: &DiffArgs, d: &Difference, list: &[Burst], ends: Option<&LinkEnds>) -> String {
    let (sent, lost) = (d.sent.len(), d.lost());
    let mut out = format!("sent {sent}, received {}, lost {lost} ({})\n", sent - lost, percent(lost, sent));
    let _ = writeln!(
        out,
        "receiver's clock ahead by {:.6} s; times below count from the first packet, sent at {:.6} s",
        d.clock_offset_ns as f64 * 1e-9,
        seconds(d.begins_ns()),
    );
    let in_bursts: usize = list.iter().map(|b| b.lost).sum();
    let _ = writeln!(
        out,
        "{} bursts (windows of {} s with more than {} % of the losses) hold {} of the losses",
        list.len(),
        a.window,
        a.threshold,
        percent(in_bursts, lost),
    );
    if list.is_empty() {
        return out;
    }
    let _ = write!(out, "\n{:>10} {:>10} {:>8} {:>8} {:>8}", "from", "to", "sent", "lost", "loss");
    if ends.is_some() {
        let _ = write!(out, "  {:>17}  {:>17}", "sender at (m)", "receiver at (m)");
    }
    out.push('\n');
    for b in list {
        let after = |ns: u64| seconds(ns - d.begins_ns());
        let loss = percent(b.lost, b.sent);
        let (from, to) = (after(b.from_ns), after(b.to_ns));
        let _ = write!(out, "{from:>10.3} {to:>10.3} {:>8} {:>8} {loss:>8}", b.sent, b.lost);
        for p in ends.into_iter().flat_map(|e| e.of(b)) {
            let place = p.map_or_else(|| "-".to_owned(), |p| format!("{:.1}, {:.1}", p.x, p.y));
            let _ = write!(out, "  {place:>17}");
        }
        out.push('\n');
    }
    out
}

fn seconds(ns: u64) -> f64 {
    ns as f64 * 1e-9
}

fn percent(part: usize, of: usize) -> String {
    if of == 0 { "-".to_owned() } else { format!("{:.2} %", part as f64 / of as f64 * 100.0) }
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    File::open(path).map(BufReader::new).map_err(Failure::read(path))
}

/// A file that is not a capture, or says too little, is a usage error; a truncated one is not.
fn failure(path: &Path) -> impl FnOnce(DiffError) -> Failure {
    let name = path.display().to_string();
    move |e| match e {
        DiffError::Capture(CaptureError::Io(e)) => Failure::Run(format!("cannot read {name}: {e}")),
        DiffError::LinkTypes(what) => Failure::Run(format!("{name}: {what}")),
        e => usage!("{name}: {e}"),
    }
}

fn sender(text: &str) -> Result<Sender, Failure> {
    if let Ok(ip) = text.parse() {
        return Ok(Sender::Ip(ip));
    }
    text.parse()
        .map(Sender::Mac)
        .map_err(|_| usage!("--sender {text}: give a MAC address (02:00:00:00:00:01) or an IPv4 address"))
}
