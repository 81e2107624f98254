//! Position of a host's GPS receiver, from its gpsd through ssh.

use std::time::{Duration, Instant};

use wayhop_control::gpsd::{GpsReport, Reader};

use crate::config::Host;
use crate::error::Trouble;
use crate::pool::Context;

/// How long to wait for a report; receivers send one per second.
const PATIENCE: Duration = Duration::from_secs(10);
/// After the first position, GST and SKY for the same time follow.
const REST: Duration = Duration::from_millis(1_200);
/// The longest line, bytes; gpsd's own limit is about 10,000.
const LONGEST: usize = 64 * 1024;

/// The position; `None` if the receiver has none.
pub(crate) fn look(cx: &Context<'_>, host: &Host, gpsd: &str) -> Result<Option<GpsReport>, Trouble> {
    let mut session = cx.ssh(host, &["-W", gpsd], &[])?;
    session.say(b"?WATCH={\"enable\":true,\"json\":true};\n");
    let mut reader = Reader::default();
    let mut until = Instant::now() + PATIENCE.min(cx.fleet.patience);
    let mut known = false;
    while Instant::now() < until {
        let Some(line) = session.line(LONGEST)? else {
            session.end().map_err(|e| of_forwarding(gpsd, e))?;
            return Err(no_answer(gpsd));
        };
        reader.take(&line, Instant::now());
        if !known && reader.latest().is_some() {
            known = true;
            until = until.min(Instant::now() + REST);
        }
        if reader.latest().is_some_and(|r| r.quality.satellites.is_some() && r.quality.accuracy_m.is_some()) {
            break;
        }
    }
    Ok(reader.latest())
}

fn no_answer(gpsd: &str) -> Trouble {
    Trouble::wrong(format!("gpsd does not answer at {gpsd} there"), "start gpsd, or correct `gpsd`")
}

/// Distinguishes a failing gpsd from a failing host, for which ssh exits alike.
fn of_forwarding(gpsd: &str, e: Trouble) -> Trouble {
    if e.what.contains("administratively prohibited") {
        return Trouble::wrong(
            "its sshd does not forward connections, so gpsd cannot be queried",
            "set AllowTcpForwarding yes in its sshd_config",
        );
    }
    if e.what.contains("open failed") || e.what.contains("stdio forwarding failed") {
        return no_answer(gpsd);
    }
    e
}
