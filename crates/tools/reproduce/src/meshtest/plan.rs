//! The experiments, and one run of each.

use super::levels::{FAR_S, Levels, SPEED_MPS, error_db};
use super::watch::{LinkSeries, ReceiverWatch};
use crate::{Plan, RunError, Runs};

pub(crate) const FILES: &[(&str, &str)] = &[
    ("walk-away-udp.toml", include_str!("../../../../../scenarios/meshtest/walk-away-udp.toml")),
    ("walk-away-tcp.toml", include_str!("../../../../../scenarios/meshtest/walk-away-tcp.toml")),
    ("drive-by-udp.toml", include_str!("../../../../../scenarios/meshtest/drive-by-udp.toml")),
    ("drive-by-tcp.toml", include_str!("../../../../../scenarios/meshtest/drive-by-tcp.toml")),
];

/// How long the radios stand together before a walk-away begins, seconds: to associate and to find each other.
const REST_S: usize = 10;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Motion {
    WalkAway,
    DriveBy,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Transport {
    Udp,
    Tcp,
}

wayhop_core::names!(Motion { WalkAway = "walk-away", DriveBy = "drive-by", });
wayhop_core::names!(Transport { Udp = "UDP", Tcp = "TCP", });

impl Transport {
    const fn headers(self) -> u32 {
        match self {
            Self::Udp => 28,
            Self::Tcp => 40,
        }
    }
}

impl Motion {
    pub(crate) const fn number(self) -> u64 {
        self as u64
    }
    /// How long the experiment lasts, seconds, as the paper counts them.
    pub(crate) const fn seconds(self) -> usize {
        match self {
            Self::WalkAway => FAR_S,
            Self::DriveBy => 2 * FAR_S,
        }
    }
    /// How much of a run is before that.
    pub(crate) const fn rest_s(self) -> usize {
        match self {
            Self::WalkAway => REST_S,
            Self::DriveBy => 0,
        }
    }
    /// How far away the sender is at a second of the experiment, metres; negative while it comes.
    pub(crate) fn place_m(self, second: f64) -> f64 {
        match self {
            Self::WalkAway => SPEED_MPS * second,
            Self::DriveBy => SPEED_MPS * (second - FAR_S as f64),
        }
    }
    /// The same in seconds of the walk, at each second of a run.
    fn seconds_away(self) -> impl Iterator<Item = usize> {
        (0..self.rest_s() + self.seconds()).map(move |s| match self {
            Self::WalkAway => s.saturating_sub(REST_S),
            Self::DriveBy => s.abs_diff(FAR_S),
        })
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Experiment {
    pub(crate) motion: Motion,
    pub(crate) transport: Transport,
}

impl Experiment {
    pub(crate) const ALL: [Self; 4] = [
        Self { motion: Motion::WalkAway, transport: Transport::Udp },
        Self { motion: Motion::WalkAway, transport: Transport::Tcp },
        Self { motion: Motion::DriveBy, transport: Transport::Udp },
        Self { motion: Motion::DriveBy, transport: Transport::Tcp },
    ];

    /// Its number in [`Experiment::ALL`] and [`FILES`].
    pub(crate) fn number(self) -> usize {
        2 * usize::from(self.motion == Motion::DriveBy) + usize::from(self.transport == Transport::Tcp)
    }

    pub(crate) fn in_words(self) -> String {
        format!("{}, {}", self.transport.name(), self.motion.name())
    }

    pub(crate) fn name(self) -> String {
        format!("{}-{}", self.motion.name(), self.transport.name().to_lowercase())
    }

    /// Its run with this seed; where `leave_dbm` is given, a station leaves its access point at that level.
    pub(crate) fn plan(self, levels: &Levels, seed: u64, leave_dbm: Option<i32>) -> Plan {
        let error_db = error_db(seed, self.motion.number());
        let mut sets = vec![levels.table(self.motion.seconds_away(), error_db)];
        let name = match leave_dbm {
            None => self.name(),
            Some(dbm) => {
                sets.push(format!("radio.leave_dbm={dbm}"));
                format!("{}-leave{dbm}", self.name())
            }
        };
        Plan::new(name, FILES[self.number()].0, sets)
    }

    pub(crate) fn run(
        self,
        runs: &Runs<'_>,
        levels: &Levels,
        seed: u64,
        leave_dbm: Option<i32>,
    ) -> Result<LinkSeries, RunError> {
        let scenario = runs.ready(&self.plan(levels, seed, leave_dbm), seed)?;
        let watch = ReceiverWatch::new(self.motion.rest_s(), self.motion.seconds(), self.transport.headers());
        runs.run(&scenario, watch).map(ReceiverWatch::seen)
    }
}

pub(crate) fn emulated(experiment: Experiment, seed: u64) -> String {
    format!("emulated-{}-{seed}", experiment.name())
}
