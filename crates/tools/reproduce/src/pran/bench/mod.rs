//! The cost of forwarding: DSR in user space, AODV by the kernel's routes, and static routes of the
//! kernel, each on its own chain of three hosts, in one run (Saha and others 2004, section 6.1).
//!
//! * `chain`: three namespaces on one wire, with their forwarding and counters.
//! * `stream`: UDP packets from the first host to another, counted where they arrive.
//! * `tap`: when frames go to the middle host and come from it, as a host between them sees it.
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
mod way;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) use figures::{Measurements, PacketTimes, Throughput};
pub(crate) use way::Forwarder;

use chain::{Attempt, Chain, Detour};
use stream::Pace;
use wayhop_linux::Error;

/// What is measured, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Lengths of the IP packets on the wire, DSR's header included, octets.
    pub(crate) lengths: Vec<usize>,
    /// Packets a second that are offered, with packets of the first length.
    pub(crate) rates: Vec<u32>,
    /// How often everything is measured.
    pub(crate) rounds: usize,
    /// How long each stream of packets is counted.
    pub(crate) slice: Duration,
    /// Packets that are followed one by one through the middle, each round and way.
    pub(crate) followed: usize,
    /// How long nothing is sent after one that is followed: each of these, with as many packets.
    pub(crate) pauses: Vec<Duration>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            lengths: vec![128, 256, 512, 1024, 1400],
            rates: vec![2_000, 5_000, 10_000, 20_000, 40_000, 80_000, 160_000],
            rounds: 5,
            slice: Duration::from_millis(300),
            followed: 500,
            pauses: vec![Duration::from_micros(500), Duration::ZERO],
        }
    }
}

impl Plan {
    /// How many measurements it has.
    pub(crate) fn steps(&self) -> usize {
        self.rounds * Forwarder::ALL.len() * (2 * (self.lengths.len() + self.rates.len()) + self.pauses.len())
    }

    /// About how long a measurement takes, seconds.
    pub(crate) fn step_s(&self) -> f64 {
        self.slice.as_secs_f64() + stream::AROUND.as_secs_f64()
    }
}

/// Carries out a plan. Needs root. A raised `stop` ends it with what there is; `done` is told after each measurement how many
/// there are. Nothing stays behind, however it ends.
pub(crate) fn measure(plan: &Plan, stop: &AtomicBool, done: impl Fn(usize)) -> Result<Measurements, Error> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::System(
            "measuring forwarding uses network namespaces and packet sockets, which require root: sudo wayhop ...".into(),
        ));
    }
    let mut chains = Forwarder::ALL.into_iter().map(Chain::new).collect::<Result<Vec<_>, _>>()?;
    let mut measured = Measurements::default();
    let mut steps = 0;
    let load = chain::Load::begin();
    for round in 0..plan.rounds {
        for pause in &plan.pauses {
            for chain in &mut chains {
                if stop.load(Ordering::Relaxed) {
                    return Ok(measured);
                }
                let follow = || chain.follow(plan.followed, plan.lengths[0], *pause);
                measured.followed.extend(attempt(&mut measured.left_out, follow)?);
                steps += 1;
                done(steps);
            }
        }
        let lengths = plan.lengths.iter().map(|l| (*l, None));
        let rates = plan.rates.iter().map(|r| (plan.lengths[0], Some(*r)));
        for (length, offered_pps) in lengths.chain(rates) {
            for hops in [1, 2] {
                for chain in &mut chains {
                    if stop.load(Ordering::Relaxed) {
                        return Ok(measured);
                    }
                    let pace = offered_pps.map_or(Pace::AsManyAsArrive, Pace::PerSecond);
                    let way = chain.way;
                    let stream = || chain.stream(hops, length, pace, plan.slice);
                    let streamed = attempt(&mut measured.left_out, stream)?;
                    measured.throughput.extend(streamed.map(|s| Throughput {
                        round,
                        way,
                        hops,
                        length,
                        offered_pps,
                        input_pps: s.input_pps,
                        output_pps: s.output_pps,
                        processor_us: s.processor_us,
                        daemon_us: s.daemon_us,
                        user_us: s.user_us.filter(|_| hops == 2 && offered_pps.is_none()),
                    }));
                    steps += 1;
                    done(steps);
                }
            }
        }
    }
    measured.foreign_load_pct = load.foreign_pct(&chains);
    measured.complete = true;
    Ok(measured)
}

/// How often something is measured before it is left out.
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
            Err(Detour(how)) => last = how,
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
        let mut answers: Vec<Attempt<u8>> = vec![Ok(7), Err(Detour("first".into()))];
        let measured = attempt(&mut left_out, || Ok(answers.pop().unwrap()));
        assert_eq!((measured.unwrap(), left_out.len()), (Some(7), 0));

        let mut tries = 0;
        let measured: Option<u8> = attempt(&mut left_out, || {
            tries += 1;
            Ok(Err(Detour(format!("time {tries}"))))
        })
        .unwrap();
        assert_eq!((measured, tries), (None, ATTEMPTS));
        assert_eq!(left_out, ["time 3"]);

        let broken: Result<Option<u8>, _> = attempt(&mut left_out, || Err(Error::System("gone".into())));
        assert!(broken.is_err(), "what the system refuses is not tried again");
    }
}
