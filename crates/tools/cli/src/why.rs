//! `wayhop why`.

mod filter;

use std::collections::BTreeMap;
use std::path::PathBuf;

use wayhop_report::columns;
use wayhop_topology::RunPaths;
use wayhop_trace::{
    FlowSummary, LostPacket, PacketQuery, PartialRecord, PathBetween, RunDir, Summary, lost, stories,
};

use crate::failure::{Failure, print, print_object, usage};
use crate::recover;
use crate::scenario_args::whole;

pub(crate) const EXAMPLES: &str = "\
Runs recorded with --receptions also show what happened to each frame at its receivers.

Examples:
  wayhop run scenarios/first.toml --receptions --out runs/first
  wayhop why runs/first                          all lost packets
  wayhop why runs/first 2741                     the packet with this number in the table packets
  wayhop why runs/first --flow 3 --seq 17 --json
  wayhop why runs/walk --from 40 --until 60 --node relay-3
  wayhop why runs/walk --cause NO_ROUTE --address 10.0.0.3";

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    /// Run directory
    run: PathBuf,
    /// Number of the packet in the run. Default: all lost packets
    #[arg(conflicts_with_all = ["flow", "seq"], value_parser = whole(0..=u64::MAX))]
    packet: Option<u64>,
    /// Flow of the packet, by its id in the summary; without --seq, all lost packets of this flow
    #[arg(long, value_name = "N", value_parser = whole(0..=u32::MAX))]
    flow: Option<u32>,
    /// Number of the packet in the flow, from 0
    #[arg(long, value_name = "M", requires = "flow", value_parser = whole(0..=u64::MAX))]
    seq: Option<u64>,
    #[command(flatten)]
    filter: filter::FilterArgs,
    /// Print one JSON object per packet
    #[arg(long)]
    json: bool,
}

pub(crate) fn why(a: &WhyArgs) -> Result<(), Failure> {
    let run = recover::open(&a.run)?;
    let wanted = match (a.packet, a.flow, a.seq) {
        (Some(packet), ..) => PacketQuery::Packet(packet),
        (None, Some(flow), Some(seq)) => PacketQuery::OfFlow { flow, seq },
        _ => return list(a, &run),
    };
    let mut told = stories(&run, wanted).map_err(Failure::trace)?;
    if told.is_empty() {
        let what = match wanted {
            PacketQuery::Packet(packet) => format!("no packet {packet}"),
            PacketQuery::OfFlow { flow, seq } => format!("no packet {seq} of flow {flow}"),
        };
        let record = run.manifest().map_err(Failure::trace)?.record.filter(PartialRecord::lacks_packets);
        if let Some(record) = record {
            return Err(usage!(
                "{}: the run recorded {what}, and not all packets: {}; run it again with other settings of these keys",
                a.run.display(),
                record.phrases().join("; ")
            ));
        }
        return Err(usage!(
            "{}: the run has {what}; list all packets with `wayhop export csv RUN packets`, or lost ones with `wayhop why \
             RUN`",
            a.run.display()
        ));
    }
    let paths = RunPaths::of_run(&run);
    for story in &mut told {
        paths.tell_story(story);
        if a.json {
            print_object(story)?;
        } else {
            print(&story.text())?;
        }
    }
    if !a.json && told.iter().any(|s| !s.has_receptions) {
        print(receptions_hint(&run))?;
    }
    Ok(())
}

fn list(a: &WhyArgs, run: &RunDir) -> Result<(), Failure> {
    let summary = run.summary().map_err(Failure::trace)?;
    let flows = summary.flows.len();
    let mut all = lost(run, a.flow).map_err(Failure::trace)?;
    let lost = all.len();
    a.filter.apply(run, &mut all)?;
    if !all.is_empty() {
        RunPaths::of_run(run).tell_lost(&mut all);
    }
    // A node of a real mesh records packets of flows without knowing how many flows there are.
    if let Some(flow) = a.flow.filter(|f| lost == 0 && *f as usize >= flows) {
        return Err(usage!("{}: the run has no flow {flow}; {}", a.run.display(), has(flows)));
    }
    if a.json {
        all.iter().try_for_each(print_object)?;
    } else if all.is_empty() && lost > 0 && a.filter.is_given() {
        print(&format!("none of the {lost} lost packets match the options\n"))?;
    } else if all.is_empty() {
        print(&none_lost(&summary, a.flow))?;
    } else {
        print(&groups(&all))?;
        let head = ["at", "outcome", "path", "outcomes of its frames", "flow", "seq", "packet", "time s"];
        let rows: Vec<Vec<String>> =
            std::iter::once(head.map(str::to_owned).to_vec()).chain(all.iter().map(row)).collect();
        print(&columns(&rows, 4))?;
        if all.iter().any(|p| p.causes.is_none()) {
            print(receptions_hint(run))?;
        }
    }
    Ok(())
}

/// Number of packets per reason, and for how many of them a path existed when they were sent.
fn groups(all: &[LostPacket]) -> String {
    let mut of_reason: BTreeMap<&str, Vec<&LostPacket>> = BTreeMap::new();
    for p in all {
        of_reason.entry(p.reason.as_deref().unwrap_or("held at the end")).or_default().push(p);
    }
    let mut groups: Vec<_> = of_reason.into_iter().collect();
    groups.sort_by_key(|(_, packets)| std::cmp::Reverse(packets.len()));
    if groups.len() > 1 {
        groups.push(("all", all.iter().collect()));
    }
    let count = |packets: &[&LostPacket], of: fn(&PathBetween) -> Option<bool>, wanted: bool| {
        packets.iter().filter_map(|p| p.path.as_ref()).filter(|p| of(p) == Some(wanted)).count().to_string()
    };
    let mut rows = vec![
        ["outcome", "packets", "no path when sent", "no path at all", "unknown"].map(str::to_owned).to_vec(),
    ];
    for (reason, packets) in groups {
        let unknown = packets.iter().filter(|p| p.path.as_ref().is_none_or(|p| p.existed.is_none())).count();
        rows.push(vec![
            reason.to_owned(),
            packets.len().to_string(),
            count(&packets, |p| p.when_sent, false),
            count(&packets, |p| p.existed, false),
            unknown.to_string(),
        ]);
    }
    let unknown = all.iter().find_map(|p| p.path.as_ref()?.unknown.as_ref());
    let why = unknown.map_or_else(String::new, |why| format!("unknown whether a path existed: {why}\n"));
    format!("{}{why}\n", columns(&rows, 1))
}

fn has(flows: usize) -> String {
    match flows {
        0 => "it has no flows".to_owned(),
        1 => "it has flow 0 only".to_owned(),
        n => format!("it has flows 0 to {}", n - 1),
    }
}

/// Why no packet is listed.
fn none_lost(summary: &Summary, flow: Option<u32>) -> String {
    let of = flow.and_then(|f| summary.flows.get(f as usize));
    let (sent, delivered) = match of {
        Some(f) => (f.sent.unwrap_or(0), f.received.unwrap_or(0)),
        None => (summary.totals.sent, summary.totals.received),
    };
    let is_unknown = match of {
        Some(f) => !f.knows_both_ends(),
        None => summary.kernel_forwards || !summary.flows.iter().all(FlowSummary::knows_both_ends),
    };
    let who = flow.map_or_else(|| "the run".to_owned(), |f| format!("flow {f}"));
    match sent.saturating_sub(delivered) {
        _ if is_unknown => {
            let is_of_one = summary.world == "field" && !summary.kernel_forwards;
            let merge = if is_of_one { "; combine the runs of all nodes with `wayhop merge`" } else { "" };
            format!("{who} recorded no losses, but packets lost elsewhere are not known here{merge}\n")
        }
        _ if sent == 0 => format!("{who} sent no packets\n"),
        // As in a lab, where the packets between nodes are not observed.
        n if summary.totals.dropped.is_none() && n > 0 => {
            format!(
                "{n} of {sent} packets of {who} did not arrive, but this run does not record where they were lost\n"
            )
        }
        _ => format!("no lost packets in {who}\n"),
    }
}

/// Real radios do not report the fate of their frames.
fn receptions_hint(run: &RunDir) -> &'static str {
    if run.summary().is_ok_and(|s| s.is_of_hosts()) {
        return "";
    }
    "outcomes of frames at their receivers were not recorded; run again with --receptions\n"
}

fn row(p: &LostPacket) -> Vec<String> {
    let or_none = |v: Option<String>| v.unwrap_or_else(|| "-".to_owned());
    vec![
        or_none(p.node_name.clone()),
        p.reason.clone().unwrap_or_else(|| p.outcome.clone()),
        p.path.as_ref().map_or("-", PathBetween::word).to_owned(),
        p.causes_text(),
        p.flow.to_string(),
        p.seq.to_string(),
        or_none(p.packet.map(|n| n.to_string())),
        or_none(p.time_s.map(|t| format!("{t:.6}"))),
    ]
}
