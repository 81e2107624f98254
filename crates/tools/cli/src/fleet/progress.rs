//! Progress of the hosts: a bar for each on a terminal; otherwise a line when a host is done.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, stderr};
use std::sync::{Mutex, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use wayhop_fleet::{Host, Progress};

use crate::failure::{harmless, say};

pub(super) enum ProgressDisplay {
    Nothing,
    Lines,
    Bars { all: MultiProgress, bars: Mutex<BTreeMap<String, ProgressBar>> },
}

impl ProgressDisplay {
    pub(super) fn new(quiet: bool) -> Self {
        if quiet {
            Self::Nothing
        } else if stderr().is_terminal() {
            let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            Self::Bars { all, bars: Mutex::new(BTreeMap::new()) }
        } else {
            Self::Lines
        }
    }

    /// Leaves the terminal as it was.
    pub(super) fn end(&self) {
        if let Self::Bars { all, .. } = self {
            let _ = all.clear();
        }
    }
}

impl Progress for ProgressDisplay {
    fn at(&self, host: &Host, what: &str, octets: Option<(u64, u64)>) {
        let Self::Bars { all, bars } = self else { return };
        let mut bars = bars.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = bars.entry(host.name.clone()).or_insert_with(|| {
            let bar = all.add(ProgressBar::no_length());
            let style = ProgressStyle::with_template("{prefix:16} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.set_prefix(host.name.clone());
            bar
        });
        let part = octets.map_or_else(String::new, |(n, of)| format!(", {} of {} kB", n / 1000, of / 1000));
        bar.set_message(harmless(&format!("{what}{part}")));
    }

    fn done(&self, host: &Host, well: bool, what: &str) {
        // The report lists the problems.
        let line = harmless(&format!("{}: {}", host.name, if well { what } else { "failed" }));
        match self {
            Self::Nothing => {}
            Self::Lines => say!("{line}"),
            Self::Bars { all, bars } => {
                let mut bars = bars.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(bar) = bars.remove(&host.name) {
                    bar.finish_and_clear();
                    all.remove(&bar);
                }
                let _ = all.println(line);
            }
        }
    }

    fn notice(&self, what: &str) {
        say!("{what}");
    }
}
