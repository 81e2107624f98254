//! Whether a host's GPS receiver knows where it is: its gpsd, asked through ssh.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use wayhop_control::gpsd::{GpsReport, Reader};

use crate::config::{Fleet, Host};
use crate::error::Trouble;
use crate::session::Session;

/// How long a receiver may take to say something; it does so once a second.
const PATIENCE: Duration = Duration::from_secs(10);
/// After the first position, GST and SKY of the same moment follow.
const REST: Duration = Duration::from_millis(1_200);
/// The longest line, octets; gpsd's own limit is about 10,000.
const LONGEST: usize = 64 * 1024;

/// What the receiver knows; none if it has no position.
pub(crate) fn look(
    fleet: &Fleet,
    host: &Host,
    gpsd: &str,
    stop: &AtomicBool,
) -> Result<Option<GpsReport>, Trouble> {
    let mut session = Session::start(fleet.ssh(host, &["-T", "-W", gpsd], &[]), stop, fleet.patience)?;
    session.say(b"?WATCH={\"enable\":true,\"json\":true};\n");
    let mut reader = Reader::default();
    let mut until = Instant::now() + PATIENCE.min(fleet.patience);
    let mut known = false;
    while Instant::now() < until {
        let Some(line) = session.line(LONGEST)? else {
            session.end().map_err(|e| of_forwarding(gpsd, e))?;
            return Err(Trouble::wrong(
                format!("nobody answers at {gpsd} there"),
                "start gpsd, or correct `gpsd`",
            ));
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

/// ssh fails in the same way when the host, and when the gpsd there does not answer.
fn of_forwarding(gpsd: &str, e: Trouble) -> Trouble {
    if e.what.contains("administratively prohibited") {
        return Trouble::wrong(
            "its sshd forwards no connections, so gpsd cannot be asked",
            "AllowTcpForwarding yes",
        );
    }
    if e.what.contains("open failed") || e.what.contains("stdio forwarding failed") {
        return Trouble::wrong(format!("nobody answers at {gpsd} there"), "start gpsd, or correct `gpsd`");
    }
    e
}
