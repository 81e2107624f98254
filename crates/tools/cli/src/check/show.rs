//! Prints the result of a check.

use std::fmt::Write as _;
use std::process::ExitCode;

use wayhop_runs::estimate::{Estimate, packets};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_topology::{Hearing, pathless};

use super::{Check, json, table};
use crate::failure::{Failure, put, warn};

impl Check<'_> {
    /// Prints the check; nothing is written.
    pub(crate) fn show(&self) -> Result<ExitCode, Failure> {
        let estimate = self.estimate()?;
        let values = self.scenario.in_force(self.resolved)?;
        if self.json {
            put(json::object(self, &values, &estimate)?)?;
        } else if !self.quiet {
            warn(&self.warnings);
            put(table::table(self, &values) + &self.summary(&estimate))?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn estimate(&self) -> Result<Estimate, Failure> {
        if self.world != "sim" {
            return Ok(Estimate::of_real_time(self.resolved));
        }
        Ok(Estimate::of_simulation(self.resolved, self.writes, &*stop_on_signal()?)?)
    }

    /// The size of the run, and the estimated time and memory.
    fn summary(&self, e: &Estimate) -> String {
        let r = self.resolved;
        let mut text = String::from("\n");
        let mut line = |name: &str, what: &str| _ = writeln!(text, "{name:<10} {what}");
        let tcp = r.flows.iter().filter(|f| packets(f, r).is_none()).count();
        let packets: f64 = r.flows.iter().filter_map(|f| packets(f, r)).sum();
        let offered = match (r.flows.len(), tcp) {
            (0, _) => "nothing".to_owned(),
            (all, tcp) if all == tcp => format!("as much as {tcp} TCP connections can send"),
            (all, 0) => format!("{packets:.0} packets by {all} flows"),
            (all, tcp) => {
                format!(
                    "{packets:.0} packets by {} flows, and as much as {tcp} TCP connections can send",
                    all - tcp
                )
            }
        };
        line("nodes", &r.tracks.len().to_string());
        line("offered", &offered);
        let events = e.events.map_or_else(String::new, |n| format!(", about {} events", rounded(n as f64)));
        if let Some(why) = pathless(r, Hearing::Radios).unknown {
            line("paths", &format!("unknown whether each flow has one: {why}"));
        }
        line("simulated", &format!("{} s{events}", e.simulated_s));
        match (e.wall_s, e.wall_s_range) {
            (Some(s), Some([low, high])) => {
                line("time", &format!("about {} s ({} to {} s)", rounded(s), rounded(low), rounded(high)));
            }
            (Some(s), None) => line("time", &format!("{s} s, in real time")),
            (None, _) => {}
        }
        let megabytes = |bytes: u64| rounded(bytes as f64 / 1e6);
        match e.memory_bytes_range {
            Some([low, high]) if low == high => line("memory", &format!("about {} MB", megabytes(low))),
            Some([low, high]) => line("memory", &format!("{} to {} MB", megabytes(low), megabytes(high))),
            None => {}
        }
        if let Some(p) = &e.prefix {
            let share = match p.offered_share {
                Some(share) => format!(" and {:.0} % of the packets", 100.0 * share),
                None => String::new(),
            };
            let basis = if p.complete {
                "the whole run, simulated just now without writing anything".to_owned()
            } else {
                format!("the first {} s{share}, simulated in {:.2} s", rounded(p.simulated_s), p.wall_s)
            };
            line("based on", &basis);
        }
        text
    }
}

/// To two digits.
pub(crate) fn rounded(value: f64) -> String {
    if value <= 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let unit = 10f64.powf(value.log10().floor() - 1.0);
    let rounded = (value / unit).round() * unit;
    if unit >= 1.0 {
        format!("{rounded:.0}")
    } else {
        format!("{rounded:.*}", (-unit.log10()).round() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::rounded;

    #[test]
    fn figures_have_two_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.012_34, "0.012"),
            (1.26, "1.3"),
            (99.6, "100"),
            (123_456.0, "120000"),
            (12.0, "12"),
        ] {
            assert_eq!(rounded(value), text);
        }
    }
}
