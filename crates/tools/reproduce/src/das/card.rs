//! Table 1: the cards' performance.

use wayhop_core::{NodeId, Time};
use wayhop_report::{Row, Section};
use wayhop_trace::{Direction, FrameEvent, HopEvent, HopKind, Observer};

use super::paper;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Card {
    Pcmcia,
    Isa,
}

wayhop_core::names!(Card { Pcmcia = "PCMCIA", Isa = "ISA", });

impl Card {
    /// In tables and names of files.
    pub(crate) fn column(self) -> String {
        self.name().to_lowercase()
    }
}

/// One end sends without pause, the other receives.
#[derive(Clone, Debug, Default)]
pub(crate) struct OneHop {
    payload_bytes: u64,
    /// When the first and the last packet were received.
    span: Option<(Time, Time)>,
    /// When the frame that is on the air began, and the time on the air of all, ms.
    began: Option<Time>,
    airtimes_ms: Vec<f64>,
}

const HEADERS: u64 = 28;

impl OneHop {
    /// UDP payload in Mb/s, between the first packet and the last.
    fn mbps(&self) -> Option<f64> {
        let (first, last) = self.span?;
        let seconds = last.since(first).as_secs_f64();
        (seconds > 0.0).then(|| self.payload_bytes as f64 * 8.0 / seconds / 1e6)
    }
    fn airtime_ms(&self) -> Option<f64> {
        wayhop_report::mean(&self.airtimes_ms)
    }
}

impl Observer for OneHop {
    fn wants_frames(&self) -> bool {
        true
    }
    fn hop(&mut self, e: &HopEvent) {
        if e.flow.is_some() && e.kind == HopKind::Deliver {
            // What the first packet brought was sent before the span begins.
            match &mut self.span {
                None => self.span = Some((e.time, e.time)),
                Some((_, last)) => {
                    *last = e.time;
                    self.payload_bytes += u64::from(e.bytes) - HEADERS;
                }
            }
        }
    }
    fn frame(&mut self, e: &FrameEvent<'_>) {
        let (sender, receiver) = (NodeId(0), NodeId(1));
        match e.direction {
            Direction::Tx if e.node == sender => self.began = Some(e.time),
            Direction::Rx if e.node == receiver => {
                // Hellos are shorter than both kinds of packet.
                if let Some(began) = self.began.take().filter(|_| e.original_len > 90) {
                    self.airtimes_ms.push(e.time.since(began).as_secs_f64() * 1e3);
                }
            }
            _ => {}
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Cards {
    /// With packets as long as the MTU, by the sender's and the receiver's card.
    pub(crate) mtu: [[Vec<OneHop>; 2]; 2],
    /// From each card with packets of 68 octets.
    pub(crate) short: [Vec<OneHop>; 2],
}

pub(crate) fn section(runs: &Cards) -> Section {
    let mut rows = Vec::new();
    for (i, card) in Card::ALL.into_iter().enumerate() {
        let printed = |column| paper::card(column, &card.column());
        let row = |quantity, column| Row::new("Table 1", card.name(), quantity, printed(column));
        let isa = Card::Isa as usize;
        rows.extend([
            row("max_send_mbps", "send_mbps").with(runs.mtu[i][isa].iter().map(OneHop::mbps)),
            row("max_received_mbps", "receive_mbps").with(runs.mtu[isa][i].iter().map(OneHop::mbps)),
            row("transmit_mtu_ms", "transmit_mtu_ms").with(runs.mtu[i][isa].iter().map(OneHop::airtime_ms)),
            row("transmit_rreq_ms", "transmit_rreq_ms")
                .with(runs.short[i].iter().map(OneHop::airtime_ms))
                .note("A packet of 68 bytes, like the testbed's route requests; those of RFC 3561 have 52 with UDP and IP \
                       headers."),
        ]);
    }
    Section::new(
        "Table 1: the cards",
        "Buffers and transfer times are Table 1's own: one buffer, 3.46 ms into the card and 2.057 ms out of it for \
         PCMCIA, ten, 0.96 ms and 0.955 ms for ISA, with 5 and 31 buffers for frames received. Compared are the values \
         that follow from them and the radio: the rate at which one card sends and the other, faster one receives, and \
         the airtime of a frame.",
    )
    .rows(rows)
}
