//! What the results hang on most: ARP of ns-2, and the chains of equation 1.

use wayhop_report::{Range, Row, Section};
use wayhop_topology::ChainThroughput;

use super::conditions::Conditions;
use super::paper;
use super::plan::{Mechanism, SPEEDS_MPS};
use super::transfer::Transfers;

/// In the names of rows.
pub(crate) const NONE: &str = "no ARP";
const NS2: &str = "ARP of ns-2";
/// The quantity of the expected throughput by the chains measured here.
pub(crate) const BY_OUR_CHAINS: &str = "expected_by_our_chains_kbps";

/// The section: throughput and what ELFN is worth with ARP and without, and what is expected by both sets of chains.
pub(crate) fn section(
    all: &[Conditions],
    with_arp: &Transfers,
    without_arp: &Transfers,
    chains: Option<&ChainThroughput>,
) -> Section {
    let mut rows = Vec::new();
    for speed in SPEEDS_MPS {
        for (arp, runs) in [(NS2, with_arp), (NONE, without_arp)] {
            let kbps = |c: &Conditions, m| Some(runs.of(c.pattern, speed, m)?.kbps);
            let row = |of: &str, quantity| {
                Row::new("Figures 4 to 53", &format!("{of}, {arp}, {speed} m/s"), quantity, None)
            };
            let note = "The paper has only figures, without numbers.";
            let reno = all.iter().map(|c| kbps(c, Mechanism::Reno));
            rows.push(row("Reno", "throughput_kbps").with(reno).note(note));
            let gains: Vec<Option<f64>> =
                all.iter().map(|c| Some(kbps(c, Mechanism::Elfn)? - kbps(c, Mechanism::Reno)?)).collect();
            if gains.iter().any(Option::is_some) {
                let gain = row(Mechanism::Elfn.title(), "gain_kbps").within(Range::All);
                rows.push(gain.with(gains).note("Relative to Reno, per pattern."));
            }
        }
    }
    let expected = |chains: Option<&ChainThroughput>| -> Vec<Option<f64>> {
        all.iter().map(|c| c.expected_kbps(chains?)).collect()
    };
    let row =
        |quantity| Row::new("Figure 3", "mean of the patterns", quantity, paper::mean_of("expected_kbps"));
    rows.push(row("expected_by_printed_chains_kbps").with(expected(paper::chains().as_ref())).note(format!(
        "Our patterns with the chain throughputs implied by the paper's expected throughputs. {}",
        paper::interval_in_words("expected_kbps")
    )));
    rows.push(row(BY_OUR_CHAINS).with(expected(chains)).note(
        "Our patterns with our chains. Ours carry less over a given number of hops, and our patterns have more of the short distances: the two cancel.",
    ));
    Section::new(
        "What these results depend on",
        "The ARP of ns-2, used by the profile ns2, holds a packet for a neighbour with unknown link address without \
         any time limit. The MAC never tries to send it, so no link counts as broken, no Route Error is sent, and TCP \
         keeps doubling its timeout. This causes most of Reno's loss at higher speeds and most of ELFN's gain: each \
         figure of the study is shown with --set radio.arp=none beside it. The sections below use ARP, like the \
         paper's simulator.\n\
         The expected throughput agrees with the paper's only if our own chains are put into equation 1; with the paper's it is higher.",
    )
    .rows(rows)
}
