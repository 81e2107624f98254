//! The numbers of section 9, and of section 6.5.3, which are of TCP, too.

use wayhop_report::Row;

use super::bad_routes::WAYS;
use super::paper::{self, number};
use super::transfer::{Case, Connection};

/// Why a standard deviation may lack a value of ours.
const ONE_SEED: &str = "The paper's is over 5 transfers, ours over seeds; a single seed has none.";

pub(crate) type Of<'a> = dyn Fn(Case) -> &'a [Connection] + 'a;

pub(crate) fn rows(of: &Of<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in paper::TCP.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [name, _, megabytes, mean, sd] = cells[..] else { continue };
        let (case, note) = case_of(name, megabytes);
        let what = format!("{}, {megabytes} MB", name.replace('_', " "));
        let row =
            |quantity, printed: &str| Row::new("Section 9", &what, quantity, printed.parse::<f64>().ok());
        let values = || of(case).iter().map(|c| Some(c.mbps));
        rows.push(row("goodput_mbps", mean).with(values()).note(note));
        rows.push(row("goodput_sd_mbps", sd).with_deviation(values()).note(ONE_SEED));
    }
    let (field, lab) = (of(Case::Field { way: 0 }), of(Case::Lab { hops: 2 }));
    let share = field.iter().zip(lab).map(|(f, l)| (l.mbps > 0.0).then(|| 100.0 * f.mbps / l.mbps));
    let printed = number("two_hop_outdoor_of_lab_pct");
    let outdoors = Row::new("Section 9.2", "two hops", "outdoors_of_the_laboratory_pct", printed);
    rows.push(outdoors.with(share).note("Ours is computed per seed."));
    rows.extend(without_ours());
    let captured = |who, name| Row::new("Section 6.5.3", who, "goodput_mbps", number(name));
    rows.extend([
        captured("tcpdump keeps 200 octets of a packet", "goodput_capturing_200_octets_mbps")
            .with(of(Case::Lab { hops: 1 }).iter().map(|c| Some(c.mbps)))
            .note("\"Did not adversely affect\" what was 0.9 Mb/s; ours is the transfer over one hop in the laboratory."),
        captured("tcpdump keeps whole packets", "goodput_capturing_whole_packets_mbps")
            .note("Writing to disk delayed a real host; captures of a simulated host take no time."),
    ]);
    for (way, w) in WAYS.iter().enumerate() {
        let who = format!("two hops outdoors, {}", w.name);
        let runs = of(Case::Field { way });
        let row = |quantity| Row::new("Section 9.2", &who, quantity, None).note("The paper has none.");
        if way > 0 {
            rows.push(row("goodput_mbps").with(runs.iter().map(|c| Some(c.mbps))));
        }
        rows.push(row("timeouts").with(runs.iter().map(|c| Some(c.timeouts as f64))));
    }
    rows
}

/// The case of a line of the paper's table, and what is to say of its mean.
fn case_of(name: &str, megabytes: &str) -> (Case, &'static str) {
    match (name, megabytes) {
        ("one_hop_lab", _) => (
            Case::Lab { hops: 1 },
            "Processing times of the hosts and the cards' \"choice of MAC protocol parameters\" are not modelled beyond \
             Das's figures for PCMCIA cards.",
        ),
        ("two_hop_lab", _) => {
            (Case::Lab { hops: 2 }, "The paper: 0.50 to 0.55, and one transfer of 0.36 Mb/s.")
        }
        ("one_hop_outdoor", "5") => {
            (Case::Outdoor { megabytes: 5 }, "The paper: 0.80 without its one transfer of 0.46 Mb/s.")
        }
        ("one_hop_outdoor", _) => (
            Case::Outdoor { megabytes: 1 },
            "The link from A to B in abc.toml, which is good; the paper's was at the edge of its range.",
        ),
        _ => (
            Case::Field { way: 0 },
            "Nothing remembered. The result depends on how often the bad route works, which is our choice (abc.toml).",
        ),
    }
}

/// Numbers of section 9 that no run here can give.
fn without_ours() -> Vec<Row> {
    let slowest = "One transfer of five. Our slowest one depends on the number of seeds.";
    [
        (
            "Section 9.1",
            "one hop lab, without DSR",
            "goodput_without_dsr_mbps",
            "There is no run without a routing protocol.",
        ),
        (
            "Section 9.1",
            "base station to node",
            "goodput_from_base_station_mbps",
            "The paper prints 1.27 MB/s (155 KB/s). The transmission parameters of the base stations' cards are not \
             published.",
        ),
        ("Section 9.1", "one hop outdoor, 5 MB, the slowest", "outdoor_5_mb_outlier_mbps", slowest),
        (
            "Section 9.1",
            "one hop outdoor, 5 MB, without the slowest",
            "outdoor_5_mb_without_outlier_mbps",
            "The paper leaves out one of its five transfers; we leave out none.",
        ),
        ("Section 9.2", "two hop lab, 1 MB, the slowest", "two_hop_lab_outlier_mbps", slowest),
    ]
    .map(|(artefact, who, name, note)| Row::new(artefact, who, "goodput_mbps", number(name)).note(note))
    .to_vec()
}
