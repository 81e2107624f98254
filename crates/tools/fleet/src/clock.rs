//! Offset of a host's clock, from requests and answers over one ssh connection.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::answer::MARK;
use crate::config::Host;
use crate::error::Trouble;
use crate::pool::Context;
use crate::report::Clock;

/// Number of requests. The fastest answer is used.
const ROUNDS: usize = 8;
/// Answers each line with the time. BusyBox's `date` has no nanoseconds, and prints `N`.
const SCRIPT: &str = "while read -r l; do echo \"wayhop-fleet:time $(date +%s%N)\"; done";
/// The longest answer, bytes.
const LONGEST: usize = 4096;

pub(crate) fn measure(cx: &Context<'_>, host: &Host) -> Result<Clock, Trouble> {
    let mut session = cx.ssh(host, &[], &[SCRIPT])?;
    let unreadable = || Trouble::wrong("cannot read its clock", "check that `date` works there");
    let mut best: Option<Clock> = None;
    for _ in 0..ROUNDS {
        let asked = now();
        session.say(b"\n");
        let answer = loop {
            match session.line(LONGEST)? {
                Some(line) if line.starts_with(MARK) => break line,
                Some(_) => {}
                None => {
                    session.end()?;
                    return Err(unreadable());
                }
            }
        };
        let clock = reckon(asked, now(), &answer).ok_or_else(|| {
            Trouble::wrong(format!("invalid time {answer:?}"), "check that `date +%s%N` works there")
        })?;
        if best.is_none_or(|b| clock.error_s < b.error_s) {
            best = Some(clock);
        }
    }
    session.end()?;
    best.ok_or_else(unreadable)
}

/// This machine's clock, since 1970.
pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The host read its clock at some time between request and answer.
fn reckon(asked: Duration, answered: Duration, answer: &str) -> Option<Clock> {
    let text = answer.strip_prefix(MARK)?.strip_prefix("time ")?.trim();
    let (digits, resolution_s) = match text.strip_suffix('N') {
        // Whole seconds: use the middle of the second.
        Some(seconds) => (format!("{seconds}500000000"), 0.5),
        None => (text.to_owned(), 0.0),
    };
    let there: u64 = digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))?;
    let middle = (asked + answered) / 2;
    let offset_ns = i128::from(there) - middle.as_nanos() as i128;
    let error_s = answered.checked_sub(asked)?.as_secs_f64() / 2.0 + resolution_s;
    Some(Clock { offset_s: offset_ns as f64 / 1e9, error_s })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_to_the_middle_and_its_error_is_half_of_the_way() {
        let s = Duration::from_secs(1_000_000_000);
        let c = reckon(s, s + Duration::from_millis(20), "wayhop-fleet:time 1000000002510000000").unwrap();
        assert!((c.offset_s - 2.5).abs() < 1e-9 && (c.error_s - 0.01).abs() < 1e-9, "{c:?}");
        // A clock without nanoseconds.
        let c = reckon(s, s, "wayhop-fleet:time 1000000002N").unwrap();
        assert!((c.offset_s - 2.5).abs() < 1e-9 && (c.error_s - 0.5).abs() < 1e-9, "{c:?}");
        for bad in [
            "time 1",
            "wayhop-fleet:time ",
            "wayhop-fleet:time x",
            "wayhop-fleet:time -5",
            "wayhop-fleet:time 99999999999999999999999",
        ] {
            assert_eq!(reckon(s, s, bad), None, "{bad}");
        }
    }
}
