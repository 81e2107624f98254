//! What is run.

use serde::{Deserialize, Serialize};

use crate::{Plan, Ready, RunError, Runs};

/// The mean speeds of the paper, m/s.
pub(crate) const SPEEDS_MPS: [u32; 4] = [2, 10, 20, 30];
/// The speed that the patterns are drawn for, m/s; at others the same moves take less time.
pub(crate) const BASE_MPS: u32 = 2;
/// How long a pattern takes at that speed, seconds.
const BASE_S: f64 = 1_800.0;
pub(crate) const MAX_HOPS: usize = 8;
pub(crate) const CHAIN_SEEDS: u64 = 5;

/// What the sender does about routes that break.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mechanism {
    /// Nothing: TCP Reno.
    Reno,
    /// Explicit link failure notification; the window stays.
    Elfn,
    /// The same; the window is halved.
    ElfnHalf,
    /// No second doubling of the timeout (Dyer and Boppana).
    FixedRto,
    /// Freeze until the route is back (Chandran et al.).
    TcpF,
    /// A window of a quarter of a segment a hop, and one at least (Fu et al.).
    WindowByHops,
    /// Segments spread over time (ElRakabawy et al.).
    Pacing,
    /// Back-off reverted by ICMP (RFC 6069).
    Rfc6069,
}

wayhop_core::names!(Mechanism {
    Reno = "reno",
    Elfn = "elfn",
    ElfnHalf = "elfn-half",
    FixedRto = "fixed-rto",
    TcpF = "tcp-f",
    WindowByHops = "window-by-hops",
    Pacing = "pacing",
    Rfc6069 = "rfc-6069",
});

impl Mechanism {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Reno => "Reno",
            Self::Elfn => "ELFN, window kept",
            Self::ElfnHalf => "ELFN, window halved",
            Self::FixedRto => "fixed RTO",
            Self::TcpF => "TCP-F",
            Self::WindowByHops => "window by hops",
            Self::Pacing => "pacing",
            Self::Rfc6069 => "RFC 6069",
        }
    }

    /// Whether the routing protocol tells it of lost routes.
    pub(crate) const fn is_told(self) -> bool {
        matches!(self, Self::Elfn | Self::ElfnHalf | Self::TcpF | Self::Rfc6069)
    }

    const fn setting(self) -> Option<&'static str> {
        match self {
            Self::Reno => None,
            Self::Elfn => Some("traffic.0.route_failure=elfn"),
            Self::ElfnHalf => Some("traffic.0.route_failure=elfn-half"),
            Self::FixedRto => Some("traffic.0.fixed_rto=true"),
            Self::TcpF => Some("traffic.0.route_failure=tcp-f"),
            Self::WindowByHops => Some("traffic.0.window_per_hop=0.25"),
            Self::Pacing => Some("traffic.0.pacing_bps=2e6"),
            Self::Rfc6069 => Some("traffic.0.route_failure=rfc6069"),
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Job {
    Chain {
        hops: usize,
        seed: u64,
    },
    Pattern {
        pattern: u64,
        speed_mps: u32,
        mechanism: Mechanism,
    },
    /// The same where nodes know each other's link addresses without ARP.
    WithoutArp {
        pattern: u64,
        speed_mps: u32,
        mechanism: Mechanism,
    },
}

/// How long a pattern takes at this speed, seconds.
pub(crate) fn duration_s(speed_mps: u32) -> f64 {
    BASE_S * f64::from(BASE_MPS) / f64::from(speed_mps)
}

pub(crate) fn chains() -> Vec<Job> {
    let of_seed = |seed| (1..=MAX_HOPS).map(move |hops| Job::Chain { hops, seed });
    (1..=CHAIN_SEEDS).flat_map(of_seed).collect()
}

/// These patterns at all speeds, pattern by pattern, so that what there is after an interruption is of whole patterns.
pub(crate) fn transfers(patterns: &[u64], mechanisms: &[Mechanism]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for &pattern in patterns {
        for &mechanism in mechanisms {
            jobs.extend(SPEEDS_MPS.map(|speed_mps| Job::Pattern { pattern, speed_mps, mechanism }));
        }
    }
    jobs
}

pub(crate) fn without_arp(patterns: &[u64], mechanisms: &[Mechanism]) -> Vec<Job> {
    let job = |job| match job {
        Job::Pattern { pattern, speed_mps, mechanism } => Job::WithoutArp { pattern, speed_mps, mechanism },
        other => other,
    };
    transfers(patterns, mechanisms).into_iter().map(job).collect()
}

impl Job {
    pub(crate) fn resolve(self, runs: &Runs<'_>) -> Result<Ready, RunError> {
        let (plan, seed) = self.plan();
        runs.ready(&plan, seed)
    }

    pub(crate) fn plan(self) -> (Plan, u64) {
        match self {
            Self::Chain { hops, seed } => {
                let sets = vec![format!("nodes.count={}", hops + 1), format!("traffic.0.dst={hops}")];
                (Plan::new(format!("chain-{hops}-hops"), "chain.toml", sets), seed)
            }
            Self::Pattern { pattern, speed_mps, mechanism } => {
                let mut sets = vec![
                    format!("duration_s={}", duration_s(speed_mps)),
                    format!("movement.speed_factor={}", speed_mps / BASE_MPS),
                ];
                sets.extend(mechanism.setting().map(str::to_owned));
                let name = format!("{}-{speed_mps}-mps", mechanism.name());
                (Plan::new(name, "pattern.toml", sets), pattern)
            }
            Self::WithoutArp { pattern, speed_mps, mechanism } => {
                let (mut plan, seed) = Self::Pattern { pattern, speed_mps, mechanism }.plan();
                plan.name.push_str("-no-arp");
                plan.sets.push("radio.arp=none".to_owned());
                (plan, seed)
            }
        }
    }
}
