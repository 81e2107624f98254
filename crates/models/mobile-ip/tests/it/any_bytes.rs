//! Any input: nothing panics, and nothing changes without a key.

use std::net::{Ipv4Addr, SocketAddrV4};

use proptest::prelude::*;
use wayhop_core::{Application, LinkState, NetworkInput, Span};
use wayhop_mobile_ip::Replay;

use crate::common::*;

/// Messages of all kinds, with some octets changed that a key protects or that nobody signs, and others that are none.
fn octets() -> impl Strategy<Value = Vec<u8>> {
    let t = clock(1.0);
    let inner = packet(PEER, HOME);
    let flags = wayhop_wire::mobile_ip::AgentFlags::FOREIGN_AGENT;
    let visiting = visit(t, 60);
    // What follows the authenticator is for the foreign agent (RFC 3024, section 3.3): a home agent may believe the rest.
    let unprotected = signed_visit(&visiting).len() - signed(&visiting).len();
    let good = vec![
        (signed(&request(t, CELL, 60)), 0),
        (signed_visit(&visiting), unprotected),
        (advertisement(FA_MESH, 3, 1, flags, &[FA]), 0),
        (in_tunnel(HA, CELL, &inner), 0),
        (inner, 0),
    ];
    let changed = (
        proptest::sample::select(good),
        proptest::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..4),
    )
        .prop_filter_map(
            "two changes undo each other",
            |((good, unprotected), changes): ((Vec<u8>, usize), Vec<_>)| {
                let mut m = good.clone();
                for (at, by) in changes {
                    let i = at.index(m.len() - unprotected);
                    m[i] ^= by;
                }
                (m != good).then_some(m)
            },
        );
    prop_oneof![proptest::collection::vec(any::<u8>(), 0..120), changed]
}

fn feed<A: Application>(
    subject: &mut Subject<A>,
    now: Clock,
    (kind, link): (u8, u8),
    octets: &[u8],
) -> Result<(), TestCaseError> {
    let input = match kind {
        0 => icmp(link, FA_MESH, octets),
        1 => {
            let from = SocketAddrV4::new(MESH, 434);
            NetworkInput::Datagram { link, from, data: octets.into() }
        }
        2 => tunnelled(link, octets),
        3 => outbound(octets),
        4 => {
            let state = LinkState {
                is_up: octets.len().is_multiple_of(2),
                addr: Some(Ipv4Addr::new(10, 9, 0, link)),
                mac: None,
            };
            NetworkInput::Link { link, state }
        }
        5 => NetworkInput::Arp { link, message: octets.into() },
        6 => NetworkInput::Recall(octets.into()),
        _ => {
            wake(subject, now);
            return Ok(());
        }
    };
    give(subject, now, input);
    prop_assert!(subject.next().is_none_or(|next| next < now.at + Span::from_secs(300)));
    Ok(())
}

proptest! {
    #[test]
    fn no_engine_panics_or_believes_it(
        inputs in proptest::collection::vec((0..8_u8, 0..3_u8, octets(), 0..3_000_u64), 1..60)
    ) {
        let (mut ha, mut fa, mut mn) =
            (home_agent(Replay::Timestamps), foreign_agent(4), mobile_node(Replay::Timestamps));
        let mut now = clock(1.0);
        for (kind, link, octets, pause_ms) in inputs {
            let at = now.at + Span::from_millis(pause_ms);
            now = Clock { at, ntp: ntp(at) };
            feed(&mut ha, now, (kind, link), &octets)?;
            feed(&mut fa, now, (kind, link), &octets)?;
            feed(&mut mn, now, (kind, link), &octets)?;
            prop_assert_eq!((ha.bindings(HOME).count(), fa.visitors().count()), (0, 0));
            prop_assert!(fa.pending() <= 64 && mn.agents() <= 24);
        }
    }
}
