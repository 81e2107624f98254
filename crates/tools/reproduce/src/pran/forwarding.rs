//! Table 1 and Figure 3: the cost of forwarding a packet at user level, compared with the kernel's
//! forwarding.

use std::sync::atomic::AtomicBool;

use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Row, Section, Series, median};

use super::bench::{Forwarder, LENGTHS, Measurements, PacketTimes, RATES, ROUNDS, Throughput, measure};
use super::part::PartResults;
use crate::table::cell;

const TABLE_1: &str = include_str!("../../data/pran/processing.csv");
const CONFIGURATIONS: [&str; 4] = ["AODV on Linux", "DSR on Linux", "AODV on FreeBSD", "DSR on FreeBSD"];
const QUANTITIES: [&str; 4] = ["kernel_in_us", "user_us", "kernel_out_us", "total_us"];
/// Share of a stream that must arrive for it to count as carried.
const CARRIED: f64 = 0.99;

/// Measures. `done` is told how many seconds have passed.
pub(super) fn run(stop: &AtomicBool, done: impl Fn(usize)) -> Result<PartResults, String> {
    let measured = measure(stop, done).map_err(|e| e.to_string())?;
    let rounds = format!("{ROUNDS}, alternating between all variants; the figures are medians");
    let mut facts = vec![("Forwarding: rounds", rounds), ("Forwarding: machine", machine())];
    if measured.complete {
        let load = format!("other programs used {:.0} % of the processors", measured.foreign_load_pct);
        facts.push(("Forwarding: load", load));
    }
    facts.extend(measured.left_out.iter().map(|what| ("Forwarding: left out", what.clone())));
    let sections = vec![table_1(&measured), figure_3(&measured)];
    Ok(PartResults { sections, facts, complete: measured.complete })
}

fn machine() -> String {
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or("processor unknown");
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = read("/proc/sys/kernel/osrelease");
    format!("{count} x {}, Linux {}", model.trim_start_matches([' ', '\t', ':']), kernel.trim())
}

fn row_of(row: Row, values: impl IntoIterator<Item = f64>) -> Row {
    let values: Vec<f64> = values.into_iter().collect();
    let seeds = values.len();
    Row { ours: median(values), seeds, ..row }
}

fn table_1(measured: &Measurements) -> Section {
    // As in the paper: a packet alone.
    let of = |way: Forwarder| measured.followed.iter().filter(move |f| f.way == way && !f.pause.is_zero());
    let part = |way: Forwarder, i: usize| of(way).filter_map(move |f: &PacketTimes| Some(f.parts_us?[i]));
    let mut rows = Vec::new();
    for who in CONFIGURATIONS {
        for (i, quantity) in QUANTITIES.into_iter().enumerate() {
            let row = Row::new("Table 1", who, quantity, cell(TABLE_1, who, quantity));
            rows.push(match (who, quantity) {
                ("DSR on Linux", "total_us") => row_of(row, of(Forwarder::Dsr).map(|f| f.total_us)).note(
                    "From wire to wire. The hardware differs from the paper's 1.4 GHz Pentium M of 2003.",
                ),
                ("DSR on Linux", "kernel_in_us") => row_of(row, part(Forwarder::Dsr, i)).note(
                    "From the interface's interrupt to the sleeping process: mostly the time to wake it.",
                ),
                ("DSR on Linux", _) => row_of(row, part(Forwarder::Dsr, i)),
                ("AODV on Linux", "total_us") => row_of(row, of(Forwarder::Aodv).map(|f| f.total_us)).note(
                    "From wire to wire, through the kernel only.",
                ),
                ("AODV on Linux", "user_us") => row_of(row, of(Forwarder::Aodv).map(|_| 0.0)).note(
                    "Forwarded packets do not reach user level: the kernel forwards them by the routes that the node sets.",
                ),
                ("AODV on Linux", _) => {
                    row.note("The kernel's forwarding has no user-level part; all its time is in the total.")
                }
                _ => row.note("There is no FreeBSD version."),
            });
        }
    }
    rows.push(row_of(
        Row::new("Table 1", "kernel, static routes", "total_us", None),
        of(Forwarder::Kernel).map(|f| f.total_us),
    ));
    let at_full_rate = || streams(measured, Forwarder::Dsr, 2).filter(|t| t.offered_pps.is_none());
    if let Some(first) = at_full_rate().next() {
        let busy = at_full_rate().filter(|t| t.length == first.length).filter_map(|t| t.daemon_us);
        rows.push(
            row_of(Row::new("Table 1", "DSR, full rate", "processor_us", None), busy).note(
                "Processor time per packet of the middle host's process, user and system. It includes work that a real \
                 network card and the next host would do: on a virtual wire the sender's system call carries the frame \
                 into the next host's sockets.",
            ),
        );
    }
    rows.extend(user_rows(measured));
    Section::new(
        "Table 1: processing a packet that is forwarded",
        "Packets of 128 bytes are sent one by one, 0.5 ms apart, over two hops of virtual Ethernet, and each is \
         followed through the middle host. The total is the time from the wire into the host and out again, by the \
         kernel's timestamps at the other end of the host's cable. The part before user level is from the kernel's \
         timestamp at the frame's arrival until the process has it, user level from there to the system call that \
         sends, and the part after it is the rest. As in the paper, these are times of single packets on an otherwise \
         idle host; under load the process handles frames in batches, and each costs less.",
    )
    .rows(rows)
}

/// User level where it was measured: with single packets when other programs have no time to use the caches, and with batches,
/// in which the requirement is put.
fn user_rows(measured: &Measurements) -> impl Iterator<Item = Row> {
    let at_once = measured.followed.iter().filter(|f| f.way == Forwarder::Dsr && f.pause.is_zero());
    let at_once: Vec<f64> = at_once.filter_map(|f| Some(f.parts_us?[1])).collect();
    let batches = measured.throughput.iter().filter_map(|t| t.user_us).collect();
    let at_once_note = "Each packet is sent when the previous one has arrived. The process sleeps between them as above, but \
                        other processes have no time to fill the caches.";
    let batches_note =
        "From receiving a batch of frames to passing them on, divided by the number of frames.";
    [("DSR, one at a time, no pause", at_once, at_once_note), ("DSR, full rate", batches, batches_note)]
        .into_iter()
        .filter(|(_, values, _)| !values.is_empty())
        .map(|(who, values, note)| row_of(Row::new("Table 1", who, "user_us", None), values).note(note))
}

fn name(way: Forwarder, hops: usize) -> String {
    format!("{}, {hops} hop{}", way.name(), if hops == 1 { "" } else { "s" })
}

fn streams(
    measured: &Measurements,
    way: Forwarder,
    hops: usize,
) -> impl Iterator<Item = &Throughput> + Clone {
    measured.throughput.iter().filter(move |t| t.way == way && t.hops == hops)
}

/// Median of the highest rate without loss.
fn full_rate(measured: &Measurements, way: Forwarder, hops: usize, length: usize) -> Option<f64> {
    let at = streams(measured, way, hops).filter(|t| t.length == length && t.offered_pps.is_none());
    median(at.map(|t| t.output_pps))
}

/// Round by round, what one way shows at its highest rate as a share of what the kernel does over as many hops.
fn shares(
    measured: &Measurements,
    way: Forwarder,
    hops: usize,
    length: Option<usize>,
    of: impl Fn(&Throughput) -> f64,
) -> Vec<f64> {
    let at_full_rate = |way| streams(measured, way, hops).filter(|t| t.offered_pps.is_none());
    at_full_rate(way)
        .filter(|t| length.is_none_or(|l| t.length == l))
        .filter_map(|one| {
            // Either of the two may have been left out.
            let beside = |t: &&Throughput| t.round == one.round && t.length == one.length;
            Some(of(one) / of(at_full_rate(Forwarder::Kernel).find(beside)?))
        })
        .collect()
}

/// Packets a second of the clock, and packets a second of processor time.
fn by_clock(t: &Throughput) -> f64 {
    t.output_pps
}
fn by_processor(t: &Throughput) -> f64 {
    1e6 / t.processor_us
}

fn figure_3(measured: &Measurements) -> Section {
    let mut rows = Vec::new();
    for hops in [1, 2] {
        for way in Forwarder::ALL {
            let who = name(way, hops);
            for length in LENGTHS {
                let at = format!("{who}, {length} octets");
                let row = Row::new("Figure 3", &at, "max_output_pps", None);
                rows.push(row_of(
                    row,
                    streams(measured, way, hops)
                        .filter(|t| t.length == length && t.offered_pps.is_none())
                        .map(|t| t.output_pps),
                ));
                if way != Forwarder::Kernel {
                    rows.push(row_of(
                        Row::new("Figure 3", &at, "share_of_kernel", None),
                        shares(measured, way, hops, Some(length), by_clock),
                    ));
                }
            }
            if way != Forwarder::Kernel {
                let all = |quantity| Row::new("Figure 3", &format!("{who}, all lengths"), quantity, None);
                rows.push(row_of(all("share_of_kernel"), shares(measured, way, hops, None, by_clock)));
                rows.push(
                    row_of(
                        all("share_of_kernel_by_processor_time"),
                        shares(measured, way, hops, None, by_processor),
                    )
                    .note(
                        "Packets per second of processor time of all participating processes, relative to the kernel's; \
                         other programs on the machine affect it little.",
                    ),
                );
            }
            rows.push(carried(measured, way, hops));
        }
    }
    for way in Forwarder::ALL {
        let two_of_one = full_rate(measured, way, 2, LENGTHS[0])
            .zip(full_rate(measured, way, 1, LENGTHS[0]))
            .map(|(two, one)| two / one);
        let row = Row::new("Figure 3", &name(way, 2), "rate_of_one_hop", Some(0.5));
        rows.push(row_of(row, two_of_one).note(
            "The paper's two hops share a radio channel: \"about half\". Wires are not shared, but all hosts share the \
             processors.",
        ));
    }
    Section::new(
        "Figure 3: rates against the kernel's own forwarding",
        "UDP packets of the same length on the wire (IP packet, DSR's header included) on three chains of three hosts \
         at a time: the kernel with static routes, which is the paper's \"optimal\" yardstick, the kernel with AODV's \
         routes, and DSR in user space. The highest rate is the one without loss: a packet is sent for each that \
         arrives, with 256 in transit. Every stream over two hops is checked: the middle's daemon must have forwarded \
         at least as many packets as arrived and the middle's kernel none (DSR), or the other way round. A stream that \
         fails this check is measured again, up to three times, and then left out, as the head of the report says.\n\
         All hosts share the processors of one machine, and with DSR the ends also pass each packet through user space \
         (once out of the TUN interface, once into it), so the rate of DSR is that of five programs on these \
         processors. The paper was limited by an 802.11b channel, which hides the hosts' work; here nothing does.",
    )
    .rows(rows)
    .figures([figure(measured)])
}

/// The highest offered rate at which nearly all packets arrive.
fn carried(measured: &Measurements, way: Forwarder, hops: usize) -> Row {
    let rates = streams(measured, way, hops).filter_map(|t| t.offered_pps);
    let arrives = |rate: u32| {
        let at = streams(measured, way, hops).filter(|t| t.offered_pps == Some(rate));
        median(at.map(|t| t.output_pps / f64::from(rate))).is_some_and(|share| share >= CARRIED)
    };
    let highest = rates.filter(|r| arrives(*r)).max();
    row_of(Row::new("Figure 3", &name(way, hops), "carried_pps", None), highest.map(f64::from))
        .note("The highest offered rate at which at least 99 % of the packets were sent and arrived.")
}

fn figure(measured: &Measurements) -> Figure {
    let lengths = || Axis::new("packet length (octets)");
    let all = [1, 2].into_iter().flat_map(|hops| Forwarder::ALL.map(|way| (way, hops)));
    let rates = all.flat_map(|(way, hops)| LENGTHS.map(|l| (way, hops, l)));
    let highest =
        rates.filter_map(|(way, hops, l)| full_rate(measured, way, hops, l)).fold(1e3, f64::max) / 1e3;
    let mut rate = Plot::new(lengths(), Axis::new("output (1000 packets/s)").from_to(0.0, 1.05 * highest));
    let mut bandwidth = Plot::new(lengths(), Axis::new("output (Mb/s)"));
    for hops in [1, 2] {
        for (colour, way) in Forwarder::ALL.into_iter().enumerate() {
            let mark = if hops == 1 { Mark::Dot } else { Mark::Line };
            let point = |l: usize| Some((l as f64, full_rate(measured, way, hops, l)?));
            let points: Vec<(f64, f64)> = LENGTHS.into_iter().filter_map(point).collect();
            let series = |points| Series::new(&name(way, hops), mark, colour, points);
            rate = rate.with(series(points.iter().map(|(l, pps)| [*l, pps / 1e3]).collect()));
            let mbps = points.iter().map(|(octets, pps)| [*octets, octets * 8.0 * pps / 1e6]);
            bandwidth = bandwidth.with(series(mbps.collect()));
        }
    }
    Figure::new(
        "Figure 3",
        "Highest output rate without loss by packet length, in packets and in bits, and output by input rate with \
                  packets of 128 bytes. Medians.",
        vec![
            Panel::new("(a) packet rate by packet length", rate),
            Panel::new("(b) bandwidth by packet length", bandwidth),
            Panel::new("(c) output over input, 1 hop", by_rate(measured, 1)),
            Panel::new("(d) output over input, 2 hops", by_rate(measured, 2)),
        ],
    )
}

fn by_rate(measured: &Measurements, hops: usize) -> Plot {
    let mut plot = Plot::new(Axis::new("input (1000 packets/s)"), Axis::new("output (1000 packets/s)"));
    for (colour, way) in Forwarder::ALL.into_iter().enumerate() {
        let at = |rate: u32| streams(measured, way, hops).filter(move |t| t.offered_pps == Some(rate));
        let point = |rate| {
            let input = median(at(rate).map(|t| t.input_pps))?;
            Some([input / 1e3, median(at(rate).map(|t| t.output_pps))? / 1e3])
        };
        let mut points: Vec<[f64; 2]> = RATES.into_iter().filter_map(point).collect();
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        plot = plot.with(Series::new(&name(way, hops), Mark::Line, colour, points));
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_cells_are_as_printed_and_its_totals_are_sums() {
        assert_eq!(cell(TABLE_1, "DSR on Linux", "user_us"), Some(27.68));
        for who in CONFIGURATIONS {
            let [kernel_in, user, out, total] = QUANTITIES.map(|q| cell(TABLE_1, who, q).unwrap());
            assert!((kernel_in + user + out - total).abs() < 0.02, "{who}");
        }
    }

    fn stream(round: usize, way: Forwarder, offered_pps: Option<u32>, output_pps: f64) -> Throughput {
        let input_pps = offered_pps.map_or(output_pps, f64::from);
        Throughput {
            round,
            way,
            hops: 2,
            length: 128,
            offered_pps,
            input_pps,
            output_pps,
            processor_us: 10.0,
            daemon_us: None,
            user_us: None,
        }
    }

    #[test]
    fn a_share_is_taken_within_its_round_and_a_rate_is_carried_if_nearly_all_arrives() {
        let measured = Measurements {
            throughput: vec![
                // A slow round, one without disturbance, and one whose kernel was left out.
                stream(0, Forwarder::Kernel, None, 100.0),
                stream(0, Forwarder::Dsr, None, 50.0),
                stream(1, Forwarder::Dsr, None, 300.0),
                stream(2, Forwarder::Kernel, None, 400.0),
                stream(2, Forwarder::Dsr, None, 200.0),
                stream(0, Forwarder::Dsr, Some(1_000), 995.0),
                stream(0, Forwarder::Dsr, Some(2_000), 1_500.0),
            ],
            ..Measurements::default()
        };
        assert_eq!(shares(&measured, Forwarder::Dsr, 2, Some(128), by_clock), [0.5, 0.5]);
        assert_eq!(carried(&measured, Forwarder::Dsr, 2).ours, Some(1_000.0));
        assert_eq!(carried(&measured, Forwarder::Kernel, 2).ours, None);
    }

    #[test]
    fn what_was_not_measured_has_no_value_and_a_reason() {
        let section = table_1(&Measurements::default());
        let free_bsd = section.rows.iter().filter(|r| r.row.ends_with("FreeBSD"));
        assert_eq!(free_bsd.filter(|r| r.ours.is_none() && !r.note.is_empty()).count(), 8);
    }
}
