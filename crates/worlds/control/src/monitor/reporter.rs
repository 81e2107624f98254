//! The reporting node: the local log, and datagrams.

use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::Fix;

use super::log::LogFile;
use super::report::{Report, VERSION};
use crate::gps::Gps;
use crate::messages::Place;

/// Makes a node's reports.
#[derive(Debug)]
pub struct Reporter {
    node: String,
    log: Option<LogFile>,
    start_unix_s: Option<u64>,
    number: u64,
    not_logged: u64,
    trouble: Option<String>,
}

impl Reporter {
    /// For the node of this name; `log` gets every report.
    pub fn new(node: &str, log: Option<LogFile>) -> Self {
        Self { node: node.to_owned(), log, start_unix_s: None, number: 0, not_logged: 0, trouble: None }
    }

    /// Logs a report and gives the content of the datagram to send to the collector. The owner calls it at an interval (the
    /// testbed's was a second) and sends the datagram as any program's; what becomes of it changes nothing here.
    pub fn report(
        &mut self,
        time: SystemTime,
        counters: &BTreeMap<String, u64>,
        fix: Option<&Fix>,
        gps: Option<Gps>,
    ) -> Vec<u8> {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut report = Report {
            wayhop_report: VERSION,
            node: self.node.clone(),
            start_unix_s: *self.start_unix_s.get_or_insert(since.as_secs()),
            number: self.number,
            time_unix_s: since.as_secs_f64(),
            position: fix.copied().map(Place::from),
            gps,
            counters: counters.clone(),
            counters_left_out: 0,
            not_logged: self.not_logged,
        };
        self.number += 1;
        match self.log.as_mut().map(|log| log.append(&report.to_line())) {
            None => {}
            Some(Ok(())) => self.trouble = None,
            Some(Err(e)) => {
                self.not_logged += 1;
                self.trouble = Some(e.to_string());
            }
        }
        report.not_logged = self.not_logged;
        report.to_datagram()
    }

    /// Why the last report is not in the log.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }
}
