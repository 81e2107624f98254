//! The cost of forwarding: DSR in user space, AODV by the kernel's routes, and static routes of the
//! kernel, each on its own chain of three hosts, in one run (Saha and others 2004, section 6.1).
//!
//! All participating processes have priority over other programs (nice -20), to reduce disturbance. The three
//! chains exist at the same time and are measured in turns, so that a busy moment of the machine hits all.
//! Every stream over two hops is checked: its packets must have been forwarded by the middle's daemon (DSR)
//! or the middle's kernel (the others). Otherwise it is measured again, and left out after some attempts.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]
#![allow(clippy::disallowed_methods, reason = "measures real hosts in real time")]

mod chain;
mod figures;
mod stream;
mod tap;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) use figures::{Forwarder, Measurements, PacketTimes, Throughput};

use chain::{Attempt, Chain};
use wayhop_linux::Error;

/// Lengths of the IP packets on the wire, DSR's header included, octets.
pub(crate) const LENGTHS: [usize; 5] = [128, 256, 512, 1024, 1400];
/// Packets a second that are offered, with packets of the first length.
pub(crate) const RATES: [u32; 7] = [2_000, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000];
/// How often everything is measured.
pub(crate) const ROUNDS: usize = 5;
/// How long each stream of packets is counted.
const SLICE: Duration = Duration::from_millis(300);
/// Packets that are followed one by one through the middle, each round and way.
const FOLLOWED: usize = 500;
/// How long nothing is sent after one that is followed: each of these, with as many packets.
const PAUSES: [Duration; 2] = [Duration::from_micros(500), Duration::ZERO];
/// How many measurements there are.
const STEPS: usize = ROUNDS * Forwarder::ALL.len() * (2 * (LENGTHS.len() + RATES.len()) + PAUSES.len());

/// About how long this number of measurements takes, seconds.
fn duration_s(steps: usize) -> usize {
    (steps as f64 * (SLICE + stream::AROUND).as_secs_f64()) as usize
}

/// How long all measurements take, seconds.
pub(crate) fn seconds() -> usize {
    duration_s(STEPS)
}

/// Measures everything. Needs root. A raised `stop` ends it with what there is; `done` is told after each measurement how
/// many of [`seconds`] have passed. Nothing stays behind, however it ends.
pub(crate) fn measure(stop: &AtomicBool, done: impl Fn(usize)) -> Result<Measurements, Error> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::System(
            "measuring forwarding uses network namespaces and packet sockets, which require root: sudo wayhop ...".into(),
        ));
    }
    let mut chains = Forwarder::ALL.into_iter().map(Chain::new).collect::<Result<Vec<_>, _>>()?;
    let mut measured = Measurements::default();
    let mut steps = 0;
    let load = chain::Load::begin();
    for round in 0..ROUNDS {
        for pause in PAUSES {
            for chain in &mut chains {
                if stop.load(Ordering::Relaxed) {
                    return Ok(measured);
                }
                let follow = || chain.follow(FOLLOWED, LENGTHS[0], pause);
                measured.followed.extend(attempt(&mut measured.left_out, follow)?);
                steps += 1;
                done(duration_s(steps));
            }
        }
        let lengths = LENGTHS.map(|l| (l, None));
        let rates = RATES.map(|r| (LENGTHS[0], Some(r)));
        for (length, offered_pps) in lengths.into_iter().chain(rates) {
            for hops in [1, 2] {
                for chain in &mut chains {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(measured);
                    }
                    let stream = || chain.stream(round, hops, length, offered_pps, SLICE);
                    measured.throughput.extend(attempt(&mut measured.left_out, stream)?);
                    steps += 1;
                    done(duration_s(steps));
                }
            }
        }
    }
    measured.foreign_load_pct = load.foreign_pct(&chains);
    measured.complete = true;
    Ok(measured)
}

const ATTEMPTS: usize = 3;

/// Measures until packets go the way that is measured. A route may come to its end in the middle of a stream, and packets go
/// to the daemon until there is a new one: no fault of what is measured, and no figure of it.
fn attempt<T>(
    left_out: &mut Vec<String>,
    mut measure: impl FnMut() -> Result<Attempt<T>, Error>,
) -> Result<Option<T>, Error> {
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        match measure()? {
            Ok(figures) => return Ok(Some(figures)),
            Err(how) => last = how,
        }
    }
    left_out.push(last);
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_that_strays_is_repeated_and_at_last_left_out() {
        let mut left_out = Vec::new();
        let mut answers: Vec<Attempt<u8>> = vec![Ok(7), Err("first".into())];
        let measured = attempt(&mut left_out, || Ok(answers.pop().unwrap()));
        assert_eq!((measured.unwrap(), left_out.len()), (Some(7), 0));

        let mut tries = 0;
        let measured: Option<u8> = attempt(&mut left_out, || {
            tries += 1;
            Ok(Err(format!("time {tries}")))
        })
        .unwrap();
        assert_eq!((measured, tries), (None, ATTEMPTS));
        assert_eq!(left_out, ["time 3"]);

        let broken: Result<Option<u8>, _> = attempt(&mut left_out, || Err(Error::System("gone".into())));
        assert!(broken.is_err(), "what the system refuses is not tried again");
    }
}
