//! The summary as a short text for a terminal.

use std::collections::BTreeSet;

use unicode_width::UnicodeWidthStr as _;

use crate::{FlowSummary, LatencyMs, NodeEnergy, NodeOutages, PartialRecord, Summary};

/// Rows of the table of flows; the rest is counted.
const MAX_FLOWS: usize = 20;
/// Nodes that are named with their outages; the rest is counted.
const MAX_OUTAGES: usize = 4;

/// The summary for people: flows, totals, drops by reason, routing overhead and speed. Plain text, at most some 100 columns
/// wide, that needs no colour.
pub fn human_table(s: &Summary) -> String {
    let mut out = String::new();
    // A name comes from a file, and a terminal obeys control characters.
    let name = s.scenario.replace(char::is_control, " ");
    line(&mut out, &format!("{name}  {}  {}  seed {}", s.protocol, s.world, s.seed));
    out.push('\n');
    if !s.flows.is_empty() {
        flows(&mut out, &s.flows);
        out.push('\n');
        if s.flows.iter().any(|f| f.topology.is_some()) {
            geometry(&mut out, &s.flows);
            out.push('\n');
        }
    }
    let t = &s.totals;
    label(&mut out, "delivered", &delivered(s));
    let mut hops = t.hops_mean.map(|h| format!("; {h:.2} hops on average"));
    for (name, times) in [("latency", t.latency_ms), ("round trip", t.round_trip_ms)] {
        let Some(l) = times else { continue };
        let [p50, p95, p99, max, mean] = [l.p50, l.p95, l.p99, l.max, l.mean].map(decimals);
        let hops = hops.take().unwrap_or_default();
        let words = format!("p50 {p50}, p95 {p95}, p99 {p99}, max {max}, mean {mean} ms{hops}");
        label(&mut out, name, &words);
    }
    let dropped: u64 = t.drops.values().sum();
    if dropped > 0 {
        label(&mut out, "dropped", &format!("{} packets: {}", grouped(dropped), counts(&t.drops)));
    }
    if let Some(held) = t.held.filter(|n| *n > 0) {
        let packets = if held == 1 { "packet" } else { "packets" };
        label(&mut out, "held", &format!("{} {packets} still in transit at the end", grouped(held)));
    }
    let per_packet = t
        .normalised_routing_load
        .map_or_else(String::new, |load| format!(", {load:.2} per packet delivered"));
    label(
        &mut out,
        "routing",
        &format!("{} transmissions, {}{per_packet}", grouped(t.routing_packets), octets(t.routing_bytes)),
    );
    if t.by_type.values().any(|n| *n > 0) {
        label(&mut out, "", &counts(&t.by_type));
    }
    bundles(&mut out, s);
    applications(&mut out, s);
    programs(&mut out, s);
    for a in &s.attacks {
        label(&mut out, "attack", &format!("{} by {}", a.kind, attackers(&a.nodes)));
    }
    if !s.outages.is_empty() {
        label(&mut out, "down", &outages(&s.outages));
    }
    energy(&mut out, &s.energy);
    circumstances(&mut out, s);
    for (i, phrase) in s.record.iter().flat_map(PartialRecord::phrases).enumerate() {
        label(&mut out, if i == 0 { "record" } else { "" }, &phrase);
    }
    match s.cut_off_s {
        Some(at) => label(&mut out, "cut off", &format!("at {} s: still running, or killed", decimals(at))),
        None => label(&mut out, "trace hash", &s.trace_hash),
    }
    out
}

fn delivered(s: &Summary) -> String {
    let t = &s.totals;
    let (sent, received) = (grouped(t.sent), grouped(t.received));
    let Some(ratio) = t.delivery_ratio else {
        return if s.record.as_ref().is_some_and(|r| r.summary_of_rows && r.lacks("packets")) {
            "unknown: the run was killed, and has no table packets (output.tables)".to_owned()
        } else if s.kernel_forwards || s.flows.iter().any(|f| f.sent.or(f.received).is_none()) {
            "unknown: the hosts' kernels forwarded the packets".to_owned()
        } else if t.sent + t.received == 0 {
            "nothing was sent".to_owned()
        } else {
            format!(
                "{sent} packets sent and {received} received by this node; merge the runs of all nodes for the delivery \
                 ratio"
            )
        };
    };
    let share = format!("{:.2} %", ratio * 100.0);
    let rate = t.goodput_bps.map_or_else(dash, bits_per_second);
    format!("{received} of {sent} packets ({share}), {rate}")
}

fn bundles(out: &mut String, s: &Summary) {
    let Some(b) = &s.bundles else { return };
    let share = b.delivery_ratio.map_or_else(dash, |r| format!("{:.2} %", r * 100.0));
    let words = format!(
        "{} of {} delivered ({share}), {} between agents, {}",
        grouped(b.delivered),
        grouped(b.originated),
        grouped(b.forwarded),
        octets(b.forwarded_bytes)
    );
    label(out, "bundles", &words);
    if let Some(d) = b.delay_s {
        let [p50, p95, max, mean] = [d.p50, d.p95, d.max, d.mean].map(decimals);
        label(out, "", &format!("delay p50 {p50}, p95 {p95}, max {max}, mean {mean} s"));
    }
    if b.custody_taken > 0 {
        let (taken, passed) = (grouped(b.custody_taken), grouped(b.custody_released));
        label(out, "", &format!("custody taken {taken} times, passed on {passed} times"));
    }
    if !b.dropped.is_empty() {
        label(out, "", &format!("copies given up: {}", counts(&b.dropped)));
    }
    if let Some(c) = &b.contacts {
        let sd = c.bytes_sd.map_or_else(dash, |sd| octets(sd.round() as u64));
        let mean = octets(c.bytes_mean.round() as u64);
        let words = format!(
            "{} contacts of {} s on average, {mean} each (deviation {sd})",
            grouped(c.count),
            decimals(c.length_s)
        );
        label(out, "", &words);
    }
}

/// A line for each application: the sums of its counts over all nodes, and between which values the figures with a unit are.
fn applications(out: &mut String, s: &Summary) {
    let names: BTreeSet<&str> = s.applications.iter().map(|a| a.application.as_str()).collect();
    for name in names {
        let own: Vec<_> = s.applications.iter().filter(|a| a.application == name).collect();
        let figures: BTreeSet<&String> = own.iter().flat_map(|a| a.figures.keys()).collect();
        let words = figures.into_iter().map(|figure| {
            let values: Vec<f64> = own.iter().filter_map(|a| a.figures.get(figure).copied()).collect();
            if figure.ends_with("_ms") {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                format!("{figure} {} to {}", decimals(least), decimals(most))
            } else {
                format!("{figure} {}", grouped(values.iter().sum::<f64>().round() as u64))
            }
        });
        let words: Vec<String> = words.collect();
        label(out, name, &format!("{} nodes: {}", own.len(), words.join(", ")));
    }
}

fn programs(out: &mut String, s: &Summary) {
    // Where all flows are conversations of programs, the totals have said it.
    let is_told = !s.flows.is_empty() && s.flows.iter().all(FlowSummary::is_of_programs);
    if let Some(p) = s.programs.as_ref().filter(|p| p.sent > 0 && !is_told) {
        let drops =
            if p.drops.is_empty() { String::new() } else { format!("; dropped: {}", counts(&p.drops)) };
        let words = format!("{} of {} packets delivered{drops}", grouped(p.delivered), grouped(p.sent));
        label(out, "programs", &words);
    }
    if let Some(n) = s.programs.as_ref().map(|p| p.without_flow).filter(|n| *n > 0) {
        let words =
            "packets of programs are not in any flow (only for neighbours, or beyond 100,000 conversations)";
        label(out, "left out", &format!("{} {words}", grouped(n)));
    }
    for failure in s.program_exits.iter().filter_map(crate::ProgramExit::failure) {
        label(out, "failed", &failure.replace(char::is_control, " "));
    }
}

fn flows(out: &mut String, flows: &[FlowSummary]) {
    let header = [
        "flow", "kind", "from", "to", "sent", "received", "%", "goodput", "p50 ms", "p95 ms", "max ms",
        "hops",
    ];
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(flows.iter().take(MAX_FLOWS).map(|f| {
        let ms = |v: fn(LatencyMs) -> f64| f.latency_ms.map_or_else(dash, |l| decimals(v(l)));
        [
            f.id.to_string(),
            f.kind.clone(),
            f.from_text(),
            f.to_text(),
            f.sent.map_or_else(dash, grouped),
            f.received.map_or_else(dash, grouped),
            f.delivery_ratio.map_or_else(dash, |r| format!("{:.1}", r * 100.0)),
            f.goodput_bps.map_or_else(dash, bits_per_second),
            ms(|l| l.p50),
            ms(|l| l.p95),
            ms(|l| l.max),
            f.hops_mean.map_or_else(dash, |h| format!("{h:.2}")),
        ]
    }));
    table(out, &rows, 1);
    if let Some(more) = flows.len().checked_sub(MAX_FLOWS).filter(|n| *n > 0) {
        line(out, &format!("... and {more} more"));
    }
}

/// A node as the scenario calls it. A name comes from a file, and a terminal obeys control characters.
fn node(name: Option<&str>, number: u32) -> String {
    name.map_or_else(|| number.to_string(), |name| name.replace(char::is_control, " "))
}

fn attackers(nodes: &[u32]) -> String {
    let named: Vec<String> = nodes.iter().take(MAX_OUTAGES).map(u32::to_string).collect();
    let more = nodes.len() - named.len();
    let word = if nodes.len() == 1 { "node" } else { "nodes" };
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{word} {}{rest}", named.join(", "))
}

/// Which nodes were down, and how long: the longest first.
fn outages(nodes: &[NodeOutages]) -> String {
    let mut by_length: Vec<&NodeOutages> = nodes.iter().collect();
    by_length.sort_by(|a, b| b.down_s.total_cmp(&a.down_s));
    let one = |n: &&NodeOutages| {
        let times = if n.outages == 1 { String::new() } else { format!(" in {} outages", n.outages) };
        format!("node {} {} s{times}", node(n.name.as_deref(), n.node), decimals(n.down_s))
    };
    let mut words: Vec<String> = by_length.iter().take(MAX_OUTAGES).map(one).collect();
    if let Some(more) = nodes.len().checked_sub(MAX_OUTAGES).filter(|n| *n > 0) {
        let rest: f64 = by_length[MAX_OUTAGES..].iter().map(|n| n.down_s).sum();
        words.push(format!("{more} more nodes {} s", decimals(rest)));
    }
    words.join(", ")
}

/// What all nodes with batteries used together, and which of them ran empty.
fn energy(out: &mut String, nodes: &[NodeEnergy]) {
    if nodes.is_empty() {
        return;
    }
    let sum = |of: fn(&NodeEnergy) -> f64| decimals(nodes.iter().map(of).sum());
    let words = format!(
        "{} of {} J used: sending {}, receiving {}, idle {}, asleep {}",
        sum(|n| n.used_j),
        sum(|n| n.initial_j),
        sum(|n| n.tx_j),
        sum(|n| n.rx_j),
        sum(|n| n.idle_j),
        sum(|n| n.sleep_j),
    );
    label(out, "energy", &words);
    let empty = batteries(nodes);
    if !empty.is_empty() {
        label(out, "", &empty);
    }
}

/// Which batteries ran empty, and when: the first one first.
fn batteries(nodes: &[NodeEnergy]) -> String {
    let mut empty: Vec<(f64, u32)> = nodes.iter().filter_map(|n| Some((n.empty_s?, n.node))).collect();
    empty.sort_by(|a, b| a.0.total_cmp(&b.0));
    let one = |(at, node): &(f64, u32)| format!("node {node} empty at {} s", decimals(*at));
    let mut words: Vec<String> = empty.iter().take(MAX_OUTAGES).map(one).collect();
    if let Some(more) = empty.len().checked_sub(MAX_OUTAGES).filter(|n| *n > 0) {
        words.push(format!("{more} more nodes"));
    }
    words.join(", ")
}

fn geometry(out: &mut String, flows: &[FlowSummary]) {
    let header = [
        "flow",
        "path changes",
        "hop changes",
        "partitions",
        "1 hop %",
        "2",
        "3",
        "4",
        "5",
        ">5",
        "none",
        "expected",
    ];
    let mut rows = vec![header.map(str::to_owned)];
    for f in flows.iter().take(MAX_FLOWS) {
        let Some(t) = &f.topology else { continue };
        let percent = |share: f64| t.unreachable_share.map_or_else(dash, |_| format!("{:.1}", share * 100.0));
        let share = |k: usize| t.hop_share.get(k).copied().unwrap_or(0.0);
        rows.push([
            f.id.to_string(),
            t.path_changes.to_string(),
            t.hop_changes.to_string(),
            t.partitions.to_string(),
            percent(share(0)),
            percent(share(1)),
            percent(share(2)),
            percent(share(3)),
            percent(share(4)),
            percent(t.hop_share.iter().skip(5).fold(0.0, |sum, s| sum + s)),
            percent(t.unreachable_share.unwrap_or(0.0)),
            t.expected_bps.map_or_else(dash, bits_per_second),
        ]);
    }
    table(out, &rows, header.len());
}

/// Columns two blanks apart, numbers to the right; the column `word` holds words and stands to the left.
fn table<const N: usize>(out: &mut String, rows: &[[String; N]], word: usize) {
    let widths: [usize; N] = std::array::from_fn(|c| rows.iter().map(|r| r[c].width()).max().unwrap_or(0));
    for row in rows {
        let mut text = String::new();
        for (c, cell) in row.iter().enumerate() {
            let fill = " ".repeat(widths[c] - cell.width());
            if c > 0 {
                text.push_str("  ");
            }
            if c == word { text += &(cell.clone() + &fill) } else { text += &(fill + cell) }
        }
        line(out, &text);
    }
}

fn circumstances(out: &mut String, s: &Summary) {
    if let Some(l) = &s.lateness_us {
        label(
            out,
            "lateness",
            &format!("p50 {:.0} us, p99 {:.0} us, max {:.0} us: {}", l.p50, l.p99, l.max, l.verdict),
        );
    }
    if let Some(n) = s.capture_drops.filter(|n| *n > 0) {
        label(out, "captures", &format!("{} frames are missing: the disk was too slow", grouped(n)));
    }
    if s.kernel_forwards {
        label(out, "forwarding", "by the hosts' kernels; only packets that waited for a route were recorded");
    }
    // Of real hosts nothing is simulated.
    if !s.is_of_hosts() {
        label(out, "speed", &speed(s));
    }
}

fn speed(s: &Summary) -> String {
    let took = if s.wall_s < 0.1 {
        format!("{} ms", decimals(s.wall_s * 1e3))
    } else {
        format!("{} s", decimals(s.wall_s))
    };
    let times = format!("{} s simulated in {took}", decimals(s.simulated_s));
    if s.wall_s <= 0.0 {
        return times;
    }
    let (faster, rate) = (decimals(s.simulated_s / s.wall_s), s.events as f64 / s.wall_s * 1e-6);
    format!("{times} ({faster}x), {} events, {rate:.2} million a second", grouped(s.events))
}

fn label(out: &mut String, name: &str, text: &str) {
    line(out, &format!("{name:<11}{text}"));
}

fn line(out: &mut String, text: &str) {
    out.push_str(text.trim_end());
    out.push('\n');
}

/// `NAME 12, NAME 3`, the largest first.
fn counts(map: &std::collections::BTreeMap<String, u64>) -> String {
    let mut all: Vec<_> = map.iter().filter(|(_, n)| **n > 0).collect();
    all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
    all.into_iter().map(|(name, n)| format!("{name} {}", grouped(*n))).collect::<Vec<_>>().join(", ")
}

/// Three significant digits or so, without an exponent.
fn decimals(v: f64) -> String {
    match v.abs() {
        a if a >= 100.0 => format!("{v:.0}"),
        a if a >= 10.0 => format!("{v:.1}"),
        _ => format!("{v:.2}"),
    }
}

/// Where there is no figure.
fn dash() -> String {
    "-".to_owned()
}

/// 1234567 as `1,234,567`.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, d) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(d);
    }
    out
}

fn bits_per_second(v: f64) -> String {
    scaled(v, ["b/s", "kb/s", "Mb/s"])
}

fn octets(n: u64) -> String {
    scaled(n as f64, ["B", "kB", "MB"])
}

fn scaled(v: f64, [unit, thousands, millions]: [&str; 3]) -> String {
    match v {
        v if v >= 1e6 => format!("{:.2} {millions}", v * 1e-6),
        v if v >= 1e3 => format!("{:.1} {thousands}", v * 1e-3),
        v => format!("{v:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Totals;

    fn summary(flows: usize) -> Summary {
        let latency = LatencyMs { mean: 9.3, p50: 6.25, p95: 31.4, p99: 120.0, max: 1203.7 };
        let flow = |id: usize| FlowSummary {
            id: id as u32,
            kind: "cbr".to_owned(),
            src: 12,
            dst: 3,
            sent: Some(3_600),
            received: Some(if id == 1 { 0 } else { 3_591 }),
            dropped: Some(if id == 1 { 3_600 } else { 9 }),
            held: Some(0),
            delivery_ratio: Some(if id == 1 { 0.0 } else { 0.9975 }),
            goodput_bps: Some(2043.0),
            latency_ms: (id != 1).then_some(latency),
            hops_mean: (id != 1).then_some(2.65),
            ..FlowSummary::default()
        };
        let mut totals = Totals {
            sent: 63_827,
            received: 63_603,
            dropped: Some(199),
            held: Some(25),
            delivery_ratio: Some(0.9965),
            goodput_bps: Some(36_200.0),
            latency_ms: Some(LatencyMs { mean: 37.3, p50: 5.5, p95: 71.8, p99: 338.0, max: 3_900.0 }),
            hops_mean: Some(2.66),
            routing_packets: 31_635,
            routing_bytes: 1_972_508,
            by_type: [("rreq".to_owned(), 21_000), ("rrep".to_owned(), 9_000)].into(),
            drops: [("NO_ROUTE".to_owned(), 12), ("MAC_RETRIES".to_owned(), 187)].into(),
            ..Totals::default()
        };
        totals.set_loads();
        Summary {
            scenario: "broch-50".to_owned(),
            protocol: "dsr".to_owned(),
            world: "sim".to_owned(),
            seed: 1,
            simulated_s: 900.0,
            wall_s: 2.1,
            events: 9_300_000,
            trace_hash: "00ff".to_owned(),
            flows: (0..flows).map(flow).collect(),
            totals,
            ..Summary::default()
        }
    }

    #[test]
    fn bundles_have_their_lines() {
        let bundles = crate::BundleSummary {
            originated: 1_000,
            delivered: 900,
            delivery_ratio: Some(0.9),
            delay_s: Some(crate::DelayS { mean: 12.0, p50: 10.0, p95: 40.0, max: 99.0 }),
            forwarded: 4_000,
            forwarded_bytes: 4_000_000,
            dropped: [("expired".to_owned(), 3)].into(),
            ..crate::BundleSummary::default()
        };
        let text = human_table(&Summary { bundles: Some(bundles), ..summary(0) });
        assert!(text.contains("bundles    900 of 1,000 delivered (90.00 %), 4,000 between agents"), "{text}");
        assert!(text.contains("delay p50 10.0, p95 40.0, max 99.0, mean 12.0 s"), "{text}");
        assert!(text.contains("copies given up: expired 3"), "{text}");
        assert!(!human_table(&summary(0)).contains("bundles"));
    }

    #[test]
    fn applications_have_a_line_with_their_sums() {
        let one = |node, answered, ms| {
            let mut a = crate::ApplicationSummary::new(node, "request");
            a.add("answered", answered);
            a.add("response_mean_ms", ms);
            a
        };
        let applications = vec![one(0, 1_200.0, 4.0), one(1, 34.0, 12.5)];
        let text = human_table(&Summary { applications, ..summary(0) });
        assert!(text.contains("request    2 nodes: answered 1,234, response_mean_ms 4.00 to 12.5"), "{text}");
    }

    #[test]
    fn the_table_says_what_a_user_wants_to_know() {
        let expected = "\
broch-50  dsr  sim  seed 1

flow  kind  from  to   sent  received     %   goodput  p50 ms  p95 ms  max ms  hops
   0  cbr     12   3  3,600     3,591  99.8  2.0 kb/s    6.25    31.4    1204  2.65
   1  cbr     12   3  3,600         0   0.0  2.0 kb/s       -       -       -     -

delivered  63,603 of 63,827 packets (99.65 %), 36.2 kb/s
latency    p50 5.50, p95 71.8, p99 338, max 3900, mean 37.3 ms; 2.66 hops on average
dropped    199 packets: MAC_RETRIES 187, NO_ROUTE 12
held       25 packets still in transit at the end
routing    31,635 transmissions, 1.97 MB, 0.50 per packet delivered
           rreq 21,000, rrep 9,000
speed      900 s simulated in 2.10 s (429x), 9,300,000 events, 4.43 million a second
trace hash 00ff
";
        assert_eq!(human_table(&summary(2)), expected);
    }

    #[test]
    fn packets_of_programs_have_a_line_of_their_own() {
        let line = |sent, drops: &[(&str, u64)]| {
            let drops = drops.iter().map(|(why, n)| ((*why).to_owned(), *n)).collect();
            let programs = Some(crate::Programs { sent, delivered: 7_990, drops, without_flow: 0 });
            let text = human_table(&Summary { programs, ..summary(0) });
            text.lines().find(|l| l.starts_with("programs")).map(str::to_owned)
        };
        assert_eq!(line(8_001, &[]).as_deref(), Some("programs   7,990 of 8,001 packets delivered"));
        assert!(line(8_001, &[("NO_ROUTE", 11)]).is_some_and(|l| l.ends_with("; dropped: NO_ROUTE 11")));
        assert_eq!(line(0, &[]), None);
    }

    #[test]
    fn conversations_of_programs_show_their_ports_and_take_the_place_of_that_line() {
        let mut s = summary(3);
        for f in &mut s.flows {
            (f.protocol, f.src_port, f.dst_port) = (Some(6), Some(41_000), Some(5_201));
        }
        s.flows[1].dst_address = Some("192.0.2.7".to_owned());
        (s.flows[2].protocol, s.flows[2].dst, s.flows[2].dst_address) =
            (Some(58), u32::MAX, Some("2001:db8::1".to_owned()));
        s.programs = Some(crate::Programs { sent: 9, without_flow: 2, ..crate::Programs::default() });
        let text = human_table(&s);
        assert!(text.contains(" 12:41000 ") && text.contains(" 3:5201 "), "{text}");
        assert!(text.contains("192.0.2.7:5201 via 3"), "{text}");
        assert!(text.contains("  2001:db8::1"), "an echo has no ports: {text}");
        assert!(!text.contains("\nprograms "), "{text}");
        assert!(text.contains("\nleft out   2 packets of programs are not in any flow"), "{text}");
    }

    #[test]
    fn a_long_list_of_flows_is_cut() {
        let text = human_table(&summary(25));
        assert!(text.contains("\n... and 5 more\n"));
        assert!(text.lines().count() < 35);
        assert!(!human_table(&summary(20)).contains("more"));
    }

    #[test]
    fn wide_characters_do_not_break_the_columns() {
        let mut s = summary(2);
        s.flows[0].kind = "音声".to_owned();
        let text = human_table(&s);
        let rows = text.lines().filter(|l| l.contains("kb/s  "));
        let widths: Vec<usize> = rows.map(unicode_width::UnicodeWidthStr::width).collect();
        assert_eq!(widths.len(), 2);
        assert_eq!(widths[0], widths[1], "{text}");
    }

    #[test]
    fn an_empty_run_has_a_table_too() {
        let mut s = Summary::default();
        s.totals.sum_flows(&[]);
        let text = human_table(&s);
        assert!(text.contains("delivered  nothing was sent\n"), "{text}");
        assert!(!text.contains("latency"), "{text}");
    }

    #[test]
    fn control_characters_of_a_name_do_not_reach_the_terminal() {
        let s = Summary { scenario: "a\u{1b}[31m\nb".to_owned(), ..Summary::default() };
        assert!(human_table(&s).starts_with("a [31m b  "));
    }
}
