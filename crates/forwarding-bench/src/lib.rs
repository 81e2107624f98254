//! What forwarding costs: DSR in user space and AODV by the kernel's routes beside static routes of the kernel, each on a
//! chain of three hosts of its own, in one run (Saha and others 2004, section 6.1).
//!
//! * `chain`: three namespaces on one wire, with what forwards between them, and its counters.
//! * `stream`: UDP packets from the first host to another, counted where they arrive.
//! * `tap`: when frames go to the middle host and come from it, as a host between them sees it.
//!
//! All that takes part goes before other programs of the machine (nice -20), so that they disturb it little.
//! The three chains exist at the same time and are measured in turns, so that a busy moment of the machine hits all. Every
//! figure is taken with a proof of where the packets went: a stream over two hops whose packets the middle's daemon (DSR) or
//! the middle's kernel (the others) did not forward is an error, not a figure.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod chain;
mod stream;
mod tap;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chain::Chain;
use stream::Pace;
use wayhop_linux::Error;

/// What forwards.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The kernel, by static routes.
    Kernel,
    /// The kernel, by the routes of `wayhop node` with AODV.
    Aodv,
    /// `wayhop node` with DSR.
    Dsr,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Kernel, Self::Aodv, Self::Dsr];

    /// The protocol of its daemons.
    pub(crate) fn protocol(self) -> Option<&'static str> {
        match self {
            Self::Kernel => None,
            Self::Aodv => Some("aodv"),
            Self::Dsr => Some("dsr"),
        }
    }
}

/// What is measured, and for how long.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Lengths of the IP packets on the wire, DSR's header included, octets.
    pub lengths: Vec<usize>,
    /// Packets a second that are offered, with packets of the first length.
    pub rates: Vec<u32>,
    /// How often everything is measured.
    pub rounds: usize,
    /// How long each stream of packets is counted.
    pub slice: Duration,
    /// Packets that are followed one by one through the middle, each round and way.
    pub followed: usize,
    /// How long nothing is sent after one that is followed: each of these, with as many packets.
    pub pauses: Vec<Duration>,
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
    pub fn steps(&self) -> usize {
        self.rounds * Way::ALL.len() * (2 * (self.lengths.len() + self.rates.len()) + self.pauses.len())
    }

    /// About how long a measurement takes, seconds.
    pub fn step_s(&self) -> f64 {
        self.slice.as_secs_f64() + stream::AROUND.as_secs_f64()
    }
}

/// One stream of packets.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Throughput {
    /// What forwarded.
    pub way: Way,
    /// Over how many hops: 1 or 2.
    pub hops: usize,
    /// Length of the IP packets on the wire, octets.
    pub length: usize,
    /// Packets a second that were to be sent; `None` for as many as arrive, without loss.
    pub offered_pps: Option<u32>,
    /// Packets a second that were sent.
    pub input_pps: f64,
    /// Packets a second that arrived.
    pub output_pps: f64,
    /// Processor time of all that takes part for each packet that arrived, microseconds: sender and receiver, in whose system
    /// calls the kernel forwards, and the daemons.
    pub processor_us: f64,
    /// Processor time of the middle's daemon for each packet that it forwarded, user and system, microseconds.
    pub daemon_us: Option<f64>,
    /// With DSR over two hops and no rate offered: the time in the middle's process for each packet, from its receipt to its
    /// handing over, microseconds; the median over batches.
    pub user_us: Option<f64>,
}

/// Packets that were followed through the middle, one at a time. Medians, microseconds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Followed {
    /// What forwarded.
    pub way: Way,
    /// How long nothing was sent after each.
    pub pause: Duration,
    /// From the wire to the wire.
    pub total_us: f64,
    /// The parts in user space, if it goes through there: from the interface to the process, in the process, and from the
    /// process to the interface.
    pub parts_us: Option<[f64; 3]>,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Streams.
    pub throughput: Vec<Throughput>,
    /// Single packets.
    pub followed: Vec<Followed>,
    /// Whether all of the plan was carried out.
    pub complete: bool,
    /// The share of the machine's processors that others used meanwhile, percent.
    pub foreign_load_pct: f64,
}

/// Carries out a plan. Needs root. A raised `stop` ends it with what there is; `done` is told after each measurement how many
/// there are. Nothing stays behind, however it ends.
pub fn measure(plan: &Plan, stop: &AtomicBool, done: impl Fn(usize)) -> Result<Measured, Error> {
    if !nix::unistd::geteuid().is_root() {
        return Err(Error::System(
            "forwarding is measured with network namespaces and packet sockets, which need root: sudo wayhop ...".into(),
        ));
    }
    let mut chains = Way::ALL.into_iter().map(Chain::new).collect::<Result<Vec<_>, _>>()?;
    let mut measured = Measured::default();
    let mut steps = 0;
    let load = chain::Load::begin();
    for _ in 0..plan.rounds {
        for pause in &plan.pauses {
            for chain in &mut chains {
                if stop.load(Ordering::Relaxed) {
                    return Ok(measured);
                }
                measured.followed.push(chain.follow(plan.followed, plan.lengths[0], *pause)?);
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
                    let streamed = chain.stream(hops, length, pace, plan.slice)?;
                    measured.throughput.push(Throughput {
                        way: chain.way,
                        hops,
                        length,
                        offered_pps,
                        input_pps: streamed.input_pps,
                        output_pps: streamed.output_pps,
                        processor_us: streamed.processor_us,
                        daemon_us: streamed.daemon_us,
                        user_us: streamed.user_us.filter(|_| hops == 2 && offered_pps.is_none()),
                    });
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
