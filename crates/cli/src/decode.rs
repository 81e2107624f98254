//! `wayhop decode`.

use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _, stdout};
use std::process::ExitCode;

use wayhop_trace::Decoder;

use crate::args::DecodeArgs;
use crate::failure::{Failure, output};

pub(crate) fn decode(a: &DecodeArgs) -> Result<ExitCode, Failure> {
    let name = a.capture.display();
    let file = File::open(&a.capture).map_err(|e| Failure::Usage(format!("cannot read {name}: {e}")))?;
    let decoder = Decoder::new(BufReader::new(file)).map_err(|e| Failure::Usage(format!("{name}: {e}")))?;
    let mut out = BufWriter::new(stdout().lock());
    for message in decoder {
        match message {
            Ok(m) => match writeln!(out, "{m}") {
                Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
                written => output(written)?,
            },
            Err(e) => {
                output(out.flush())?;
                return Err(Failure::Run(format!("{name}: {e}")));
            }
        }
    }
    output(out.flush())?;
    Ok(ExitCode::SUCCESS)
}
