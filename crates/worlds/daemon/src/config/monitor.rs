//! The monitor's settings: reports of the node's counters and position.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_control::monitor::PORT;

/// Reports of the node's counters and position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// Address of the node that runs `wayhop collect`, with `:PORT` if not 9465. Without it,
    /// reports go into the log only.
    pub collector: Option<String>,
    /// Seconds between two reports, 0.1 to 3600.
    #[serde(default = "interval_s")]
    pub interval_s: f64,
    /// A file for every report, one JSON object per line. The node's `user` must be able to write
    /// to its folder, which is created for that user if it is missing.
    pub log: Option<PathBuf>,
    /// The maximum size of the log, bytes; then it is renamed to FILE.1, and so on.
    #[serde(default = "log_max_bytes")]
    pub log_max_bytes: u64,
    /// How many renamed logs are kept.
    #[serde(default = "log_keep")]
    pub log_keep: u32,
}

fn interval_s() -> f64 {
    1.0
}
fn log_max_bytes() -> u64 {
    16 << 20
}
fn log_keep() -> u32 {
    3
}

impl Monitor {
    /// What is wrong with it: the key, the fault, the remedy.
    pub(crate) fn check(&self) -> Result<(), (&'static str, String, &'static str)> {
        if !(0.1..=3600.0).contains(&self.interval_s) {
            let wrong = format!("{} s is not a valid report interval", self.interval_s);
            return Err(("interval_s", wrong, "give 0.1 to 3600"));
        }
        if self.log_max_bytes < 4096 {
            let wrong = format!("{} bytes are too few for a report", self.log_max_bytes);
            return Err(("log_max_bytes", wrong, "give at least 4096"));
        }
        match &self.collector {
            Some(text) if address(text).is_none() => {
                Err(("collector", format!("{text:?} is not an IPv4 address"), "give one such as 10.0.0.9"))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn collector(&self) -> Option<SocketAddr> {
        self.collector.as_deref().and_then(address)
    }
}

fn address(text: &str) -> Option<SocketAddr> {
    let alone = text.parse::<Ipv4Addr>().map(|a| SocketAddrV4::new(a, PORT));
    alone.or_else(|_| text.parse()).ok().map(SocketAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_an_address_with_the_port_of_collectors_or_another() {
        let at = |text: &str| address(text).map(|a| a.to_string());
        assert_eq!(at("10.0.0.9").as_deref(), Some("10.0.0.9:9465"));
        assert_eq!(at("10.0.0.9:5000").as_deref(), Some("10.0.0.9:5000"));
        assert_eq!(at("mesh-1"), None);
    }
}
