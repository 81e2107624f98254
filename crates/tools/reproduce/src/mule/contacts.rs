//! The section on the MULE's contacts.

use wayhop_report::{Distribution, Figure, Row, Section, cdf};

use super::passes::MuleRun;

/// The convergence layer and the channel of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// As scenarios have it.
    layer: &'static str,
    /// Whether there is Rician fading, a draw for each frame; otherwise each pass of a station is the same.
    fades: bool,
}

impl Condition {
    pub(crate) const ALL: [Self; 4] = [
        Self { layer: "udpcl", fades: false },
        Self { layer: "ltp", fades: false },
        Self { layer: "udpcl", fades: true },
        Self { layer: "ltp", fades: true },
    ];

    pub(crate) fn name(self) -> String {
        format!("{}, {} channel", self.layer.to_uppercase(), if self.fades { "fading" } else { "steady" })
    }

    pub(crate) fn sets(self) -> Vec<String> {
        let fading = self.fades.then(|| "radio.fading=rician".to_owned());
        [format!("dtn.convergence={}", self.layer)].into_iter().chain(fading).collect()
    }
}

const ARTEFACT: &str = "Section II";

pub(crate) fn section(found: &[Vec<MuleRun>]) -> Section {
    let rows = Condition::ALL.iter().zip(found).flat_map(|(c, runs)| rows(&c.name(), runs)).collect();
    let octets = |(c, runs): (&Condition, &Vec<MuleRun>)| {
        (c.name(), runs.iter().flat_map(|r| r.kbytes.iter().copied()).collect::<Distribution>())
    };
    let all = Condition::ALL.iter().zip(found).map(octets);
    let drawn: Vec<_> = all.filter(|(_, d)| d.count() > 0).collect();
    let figure = Figure::of(
        "Bytes per pass",
        "Cumulative distribution of the bytes carried per pass of the MULE at a station, both directions together, all \
         runs.",
        cdf("kB", "passes", &drawn),
    );
    Section::new(
        "What a contact carries",
        "The paper reports of its data MULE experiments that \"while the same amount of data was available for \
         transfer at each hand-off opportunity, the amount of actual data transferred often varied\", and leaves the \
         reason open. It gives no numbers. Here each source produces more than a pass carries, so there is always \
         something to send.\n\
         On a steady channel the passes of a station differ only in the time of the first beacon and in the last, \
         truncated bundle. With Rician fading (K 6 dB, drawn per frame) contacts start late, break and resume, and \
         UDPCL loses bundles unnoticed, while LTP retransmits them. The variation is between passes of the same \
         station, relative to their mean, since the path past a station is always the same.",
    )
    .rows(rows)
    .figures((!drawn.is_empty()).then_some(figure))
}

fn rows(who: &str, runs: &[MuleRun]) -> Vec<Row> {
    let row = |quantity: &str, value: &dyn Fn(&MuleRun) -> Option<f64>| {
        Row::new(ARTEFACT, who, quantity, None).with(runs.iter().map(value))
    };
    vec![
        row("pass_kbytes", &|r| wayhop_report::mean(&r.kbytes)),
        row("variation_pct", &|r| r.variation_pct),
        row("contacts_per_pass", &|r| r.contacts),
        row("delivery_pct", &|r| r.delivery_pct),
        row("delay_mean_s", &|r| r.delay_s),
        row("delay_p95_s", &|r| r.delay_p95_s),
    ]
}
