//! `wayhop decode`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write as _, stdin, stdout};
use std::path::PathBuf;

use wayhop_protocols::CLASSIFIER;
use wayhop_report::Document;
use wayhop_trace::Decoder;

use crate::failure::{Failure, harmless, output, say, usage};
use crate::scenario_args::is_standard_input;

#[derive(Debug, clap::Args)]
pub(crate) struct DecodeArgs {
    /// Capture (pcap or pcapng) of 802.11, Ethernet, Linux cooked (tcpdump -i any), loopback or raw IP frames, or - for standard
    /// input
    pub(crate) capture: PathBuf,
    /// Print one JSON object per line (the default)
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn decode(a: &DecodeArgs) -> Result<(), Failure> {
    let (name, input): (String, Box<dyn Read>) = if is_standard_input(&a.capture) {
        ("standard input".to_owned(), Box::new(stdin().lock()))
    } else {
        let name = a.capture.display().to_string();
        let file = File::open(&a.capture).map_err(Failure::read(&a.capture))?;
        (name, Box::new(file))
    };
    let mut decoder = Decoder::new(BufReader::new(input), CLASSIFIER).map_err(|e| usage!("{name}: {e}"))?;
    let mut out = BufWriter::new(stdout().lock());
    let live = is_standard_input(&a.capture);
    let mut messages = 0_u64;
    for message in decoder.by_ref() {
        messages += 1;
        match message {
            Ok(m) => match writeln!(out, "{}", Document::from(m)) {
                Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
                written => {
                    output(written)?;
                    // A live capture should show each message at once.
                    if live {
                        output(out.flush())?;
                    }
                }
            },
            Err(e) => {
                output(out.flush())?;
                return Err(Failure::Run(format!("{name}: {e}")));
            }
        }
    }
    output(out.flush())?;
    if let Some(what) = decoder.passed_over().undecoded() {
        return Err(Failure::Run(format!("{name}: {what}")));
    }
    if messages == 0 {
        let (frames, reasons) = (decoder.frames(), decoder.passed_over().reasons());
        say!("wayhop: {}: no routing messages in {frames} frames{reasons}", harmless(&name));
    }
    Ok(())
}
