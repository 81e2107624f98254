//! Observed traffic as a scenario's flows: at a constant rate where the rate was constant, otherwise with times and
//! sizes from a file.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};
use wayhop_core::Addr;
use wayhop_trace::ConversationEnds;

use crate::{ImportedScenario, counted};

/// The longest payload of a scenario's datagrams.
const LONGEST: u32 = 65_507;
/// Fewer packets do not define a rate.
const LEAST_FOR_A_RATE: usize = 5;
/// The largest deviation of an interval from the mean at a constant rate, as a share.
const STEADY: f64 = 0.25;
const MOST_FLOWS: usize = 10_000;

/// A packet at its source.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Departure {
    /// Seconds from the run's begin.
    pub(crate) at_s: f64,
    /// Bytes after the transport header.
    pub(crate) payload: u32,
}

#[derive(Debug, Default)]
pub(crate) struct SentTraffic {
    /// By flow, in order of time.
    pub(crate) packets: BTreeMap<ConversationEnds, Vec<Departure>>,
    /// The number of bytes in TCP's streams, if known: without retransmissions.
    pub(crate) streams: BTreeMap<ConversationEnds, u64>,
}

/// What is left out or unknown: how many, and the remark in the singular and in the plural.
#[derive(Default)]
struct Remarks(BTreeMap<(&'static str, &'static str), usize>);

impl Remarks {
    fn add(&mut self, what: (&'static str, &'static str), count: usize) {
        *self.0.entry(what).or_default() += count;
    }
}

const OF_OTHERS: (&str, &str) =
    ("packet from or to another host is left out", "packets from or to other hosts are left out");
const OF_FURTHER_FLOWS: (&str, &str) =
    ("packet of an additional flow is left out", "packets of additional flows are left out");
const OF_OTHER_KINDS: (&str, &str) = (
    "packet that is neither UDP nor TCP nor a ping is left out",
    "packets that are neither UDP nor TCP nor pings are left out",
);
const MAY_BE_SENT_AGAIN: (&str, &str) = (
    "TCP flow may include retransmitted bytes, because the run has no table about them; `wayhop import pcapng` gets the exact size from captures",
    "TCP flows may include retransmitted bytes, because the run has no table about them; `wayhop import pcapng` gets the exact sizes from captures",
);

/// Adds the flows to a scenario. `node` is the number of the node with an address; the inner `None` means all nodes.
#[allow(clippy::option_option, reason = "none, one or all")]
pub(crate) fn add(
    imported: &mut ImportedScenario,
    seen: &SentTraffic,
    node: &dyn Fn(Addr) -> Option<Option<usize>>,
) {
    let mut flows = Vec::new();
    let mut remarks = Remarks::default();
    let mut order: Vec<(&ConversationEnds, &Vec<Departure>)> =
        seen.packets.iter().filter(|(_, s)| !s.is_empty()).collect();
    order.sort_by(|a, b| a.1[0].at_s.total_cmp(&b.1[0].at_s).then(a.0.cmp(b.0)));
    for (ends, sent) in order {
        let (Some(Some(src)), Some(dst)) = (node(ends.source), node(ends.destination)) else {
            remarks.add(OF_OTHERS, sent.len());
            continue;
        };
        if flows.len() >= MOST_FLOWS {
            remarks.add(OF_FURTHER_FLOWS, sent.len());
            continue;
        }
        let mut flow = Table::new();
        flow.insert("src".into(), Value::Integer(src as i64));
        let to = dst.map_or(Value::from("all"), |dst| Value::Integer(dst as i64));
        flow.insert("dst".into(), to);
        flow.insert("start_s".into(), float(sent[0].at_s));
        match ends.protocol {
            1 | 58 if is_answer(ends, sent, seen) => continue,
            1 | 58 if ends.ports.is_some() && dst.is_some() => pings(&mut flow, sent),
            6 if dst.is_some() => {
                if !connection(&mut flow, sent, seen.streams.get(ends), &mut remarks) {
                    continue;
                }
            }
            17 => datagrams(imported, &mut flow, sent, flows.len()),
            _ => {
                remarks.add(OF_OTHER_KINDS, sent.len());
                continue;
            }
        }
        if ends.source.v6().is_some() {
            flow.insert("ip".into(), Value::Integer(6));
        }
        flows.push(Value::from(flow));
    }
    if !flows.is_empty() {
        imported.table.insert("traffic".into(), Value::Array(flows));
    }
    imported.remarks.extend(remarks.0.into_iter().map(|((one, several), n)| counted(n, one, several)));
}

/// A number to the nanosecond.
fn float(v: f64) -> Value {
    Value::Float((v * 1e9).round() / 1e9)
}

fn pings(flow: &mut Table, sent: &[Departure]) {
    flow.insert("kind".into(), "ping".into());
    flow.insert("payload_bytes".into(), Value::Integer(i64::from(sent[0].payload.min(LONGEST))));
    flow.insert("interval_s".into(), float(interval_s(sent).unwrap_or(1.0)));
    flow.insert("max_packets".into(), Value::Integer(sent.len() as i64));
}

/// TCP in one direction, whose stream has this number of bytes if it is known. `false` if it only acknowledges: the
/// simulated end does that by itself.
fn connection(flow: &mut Table, sent: &[Departure], stream: Option<&u64>, remarks: &mut Remarks) -> bool {
    let octets = stream.copied().unwrap_or_else(|| sent.iter().map(|s| u64::from(s.payload)).sum());
    if octets == 0 {
        return false;
    }
    if stream.is_none() {
        remarks.add(MAY_BE_SENT_AGAIN, 1);
    }
    flow.insert("kind".into(), "tcp".into());
    flow.insert("bytes".into(), Value::Integer(octets.min(i64::MAX as u64) as i64));
    true
}

/// Whether an echo answers one that was sent the other way before.
fn is_answer(ends: &ConversationEnds, sent: &[Departure], seen: &SentTraffic) -> bool {
    let asked = ConversationEnds { source: ends.destination, destination: ends.source, ..*ends };
    seen.packets.get(&asked).is_some_and(|asked| asked.first().is_some_and(|a| a.at_s <= sent[0].at_s))
        && ends.source != ends.destination
}

/// Mean interval between packets, seconds; `None` with fewer than two packets.
fn interval_s(sent: &[Departure]) -> Option<f64> {
    let passed_s = sent[sent.len() - 1].at_s - sent[0].at_s;
    (sent.len() > 1 && passed_s > 0.0).then(|| passed_s / (sent.len() - 1) as f64)
}

/// At a constant rate, or from a file.
fn datagrams(imported: &mut ImportedScenario, flow: &mut Table, sent: &[Departure], number: usize) {
    let size = |s: &Departure| s.payload.clamp(1, LONGEST);
    let mean_s = interval_s(sent).filter(|_| sent.len() >= LEAST_FOR_A_RATE);
    let is_steady = |mean_s: f64| {
        let even = |pair: &[Departure]| (pair[1].at_s - pair[0].at_s - mean_s).abs() <= STEADY * mean_s;
        sent.windows(2).all(even) && sent.iter().all(|s| size(s) == size(&sent[0]))
    };
    if let Some(mean_s) = mean_s.filter(|m| is_steady(*m)) {
        flow.insert("kind".into(), "cbr".into());
        flow.insert("payload_bytes".into(), Value::Integer(i64::from(size(&sent[0]))));
        flow.insert("rate_pps".into(), Value::Float(1.0 / mean_s));
        flow.insert("max_packets".into(), Value::Integer(sent.len() as i64));
        return;
    }
    let mut text = "time_s,octets\n".to_owned();
    for s in sent {
        let _ = writeln!(text, "{:.9},{}", (s.at_s - sent[0].at_s).max(0.0), size(s));
    }
    let name = format!(".flow-{number}.csv");
    flow.insert("kind".into(), "trace".into());
    flow.insert("path".into(), name.clone().into());
    imported.files.push((name, text));
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn ends(from: u8, to: u8, protocol: u8) -> ConversationEnds {
        let a = |n| Addr::from(Ipv4Addr::new(10, 0, 0, n));
        ConversationEnds { source: a(from), destination: a(to), protocol, ports: Some((7, 7)) }
    }

    fn sent(times: &[f64], payload: u32) -> Vec<Departure> {
        times.iter().map(|at_s| Departure { at_s: *at_s, payload }).collect()
    }

    #[test]
    fn each_kind_of_traffic_becomes_its_own_kind_of_flow() {
        let mut seen = SentTraffic::default();
        seen.packets.insert(ends(1, 2, 17), sent(&[1.0, 1.24, 1.5, 1.76, 2.0], 64));
        seen.packets.insert(ends(2, 1, 17), sent(&[2.0, 2.1, 5.0, 5.1, 9.0], 100));
        seen.packets.insert(ends(1, 3, 6), sent(&[3.0, 3.1], 1_000));
        seen.packets.insert(ends(3, 1, 6), sent(&[3.05, 3.15], 0));
        seen.packets.insert(ends(2, 3, 1), sent(&[4.0, 5.0, 6.0], 56));
        seen.packets.insert(ends(3, 2, 1), sent(&[4.01, 5.01, 6.01], 56));
        seen.packets.insert(ends(1, 9, 17), sent(&[1.0], 5));
        let mut i = ImportedScenario::default();
        let node = |a: Addr| {
            let n = usize::from(a.v4()?.octets()[3]);
            (n <= 3).then(|| Some(n - 1))
        };
        add(&mut i, &seen, &node);
        let flows = i.table["traffic"].as_array().unwrap();
        let kinds: Vec<_> =
            flows.iter().map(|f| (f["kind"].as_str().unwrap(), f["src"].as_integer().unwrap())).collect();
        assert_eq!(kinds, [("cbr", 0), ("trace", 1), ("tcp", 0), ("ping", 1)]);
        assert_eq!(flows[0]["rate_pps"].as_float(), Some(4.0));
        assert_eq!(flows[2]["bytes"].as_integer(), Some(2_000));
        assert_eq!(flows[3]["interval_s"].as_float(), Some(1.0));
        assert_eq!(i.files.len(), 1);
        assert_eq!(i.files[0].1.lines().nth(2), Some("0.100000000,100"));
        // The second of the TCP flow's two segments may be the first one again.
        let [again, other] = &i.remarks[..] else { panic!("{:?}", i.remarks) };
        assert!(again.starts_with("1 TCP flow may include retransmitted bytes"), "{again}");
        assert_eq!(other, "1 packet from or to another host is left out");
    }

    #[test]
    fn a_connection_has_the_octets_of_its_stream() {
        let mut seen = SentTraffic::default();
        for (from, to, octets) in [(1, 2, 1_000), (2, 1, 0)] {
            seen.packets.insert(ends(from, to, 6), sent(&[1.0, 2.0], 1_000));
            seen.streams.insert(ends(from, to, 6), octets);
        }
        let mut i = ImportedScenario::default();
        add(&mut i, &seen, &|a| Some(Some(usize::from(a.v4()?.octets()[3]) - 1)));
        let flow = i.flow();
        assert_eq!(flow["bytes"].as_integer(), Some(1_000));
        assert_eq!(i.remarks, [""; 0]);
    }
}
