//! What a session of any convergence layer keeps to.

use wayhop_core::{Span, Time};
use wayhop_dtn::cl::{Event, Session};
use wayhop_dtn::{Refusal, TransferEvent};

/// A session answers what comes; it hands on no more octets than came, and does not answer without an end.
pub(crate) fn feed<'a>(session: &mut dyn Session, pieces: impl Iterator<Item = &'a [u8]>) {
    let (mut now, mut came, mut handed) = (Time::ZERO, 0, 0);
    for piece in pieces {
        now += Span::from_millis(100);
        came += piece.len();
        session.receive(now, piece);
        handed += settle(session, now);
        assert!(handed <= came, "{handed} octets of bundles out of {came}");
    }
    for _ in 0..20 {
        let Some(at) = session.next_timer() else { break };
        now = now.max(at);
        session.timer(now);
        settle(session, now);
    }
    session.lost(now);
    settle(session, now);
}

/// The octets of bundles that it hands on.
fn settle(session: &mut dyn Session, now: Time) -> usize {
    let mut handed = 0;
    while let Some(event) = session.event() {
        match event {
            Event::Transfer(TransferEvent::Received { transfer, bundle }) => {
                handed += bundle.len();
                // Some bundles of a block are refused.
                match bundle.len() % 3 {
                    0 => session.refuse(now, transfer, Refusal::NotAcceptable),
                    _ => session.accept(now, transfer),
                }
            }
            Event::Transfer(TransferEvent::Part(octets)) => handed += octets.len(),
            _ => {}
        }
    }
    let mut sent = 0;
    while let Some(octets) = session.transmit(now, 4_096) {
        sent += 1;
        assert!(!octets.is_empty() && sent < 10_000, "it sends without an end");
    }
    handed
}
