//! All kinds of traffic: the one place that lists them.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bursts::{OnOff, Pareto};
use super::cbr::Cbr;
use super::cbr_random::CbrRandom;
use super::ns2::Ns2File;
use super::ping::Ping;
use super::poisson::Poisson;
use super::trace::TrafficTrace;
use crate::traffic::kind::TrafficKind;
use crate::traffic::tcp::Tcp;

/// One flow, or a source of several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Traffic {
    /// UDP packets at a constant rate.
    Cbr(Cbr),
    /// UDP packets at exponentially distributed intervals.
    Poisson(Poisson),
    /// UDP packets in bursts, whose lengths are exponentially distributed.
    OnOff(OnOff),
    /// UDP packets in bursts, whose lengths follow Pareto's law.
    Pareto(Pareto),
    /// UDP packets at the times and of the sizes that a file gives.
    Trace(TrafficTrace),
    /// ICMP echo requests, which the destination answers.
    Ping(Ping),
    /// A TCP connection.
    Tcp(Box<Tcp>),
    /// Several CBR flows between nodes drawn at random, as ns-2's `cbrgen` makes them.
    CbrRandom(CbrRandom),
    /// A traffic file of ns-2 (`cbrgen`), plain or gzip. Needs a movement of kind `ns2`.
    Ns2(Ns2File),
}

impl Traffic {
    /// What there is to know of its kind.
    pub(crate) fn kind(&self) -> &dyn TrafficKind {
        match self {
            Self::Cbr(keys) => keys,
            Self::Poisson(keys) => keys,
            Self::OnOff(keys) => keys,
            Self::Pareto(keys) => keys,
            Self::Trace(keys) => keys,
            Self::Ping(keys) => keys,
            Self::Tcp(keys) => keys,
            Self::CbrRandom(keys) => keys,
            Self::Ns2(keys) => keys,
        }
    }

    /// The file that it comes from, if it comes from one.
    pub fn file(&self) -> Option<&Path> {
        self.kind().file()
    }
}
