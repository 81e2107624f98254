//! Lines of the control socket, read and written.

use proptest::prelude::*;
use serde_json::{Map, Value};
use wayhop_control::{Envelope, EventKind, LinkState, NodeRef, Place, Request};

fn node() -> impl Strategy<Value = NodeRef> {
    prop_oneof![any::<u32>().prop_map(NodeRef::Number), "[a-z][a-z0-9.-]{0,20}".prop_map(NodeRef::Name)]
}

/// Numbers that go through text without a change.
fn quarters(most: i32) -> impl Strategy<Value = f64> {
    (-4 * most..=4 * most).prop_map(|q| f64::from(q) / 4.0)
}

fn request() -> impl Strategy<Value = Request> {
    let place = prop_oneof![
        (quarters(1_000_000), quarters(1_000_000), quarters(10_000)).prop_map(|(x, y, z)| Place::Local {
            x,
            y,
            z
        }),
        (quarters(90), quarters(180)).prop_map(|(latitude_deg, longitude_deg)| Place::Earth {
            latitude_deg,
            longitude_deg,
            heading_deg: 12.5,
            speed_m_per_s: 3.0
        }),
    ];
    let state = prop_oneof![
        Just(LinkState::Up),
        Just(LinkState::Down),
        Just(LinkState::Model),
        quarters(1).prop_map(|q| LinkState::Loss(q.abs()))
    ];
    prop_oneof![
        Just(Request::Hello {}),
        proptest::collection::vec("[a-z_]{1,20}", 0..4).prop_map(|tables| Request::Tables { tables }),
        proptest::collection::btree_map("[a-z_]{1,20}", any::<i64>(), 0..4).prop_map(|v| {
            let values: Map<String, Value> = v.into_iter().map(|(k, v)| (k, v.into())).collect();
            Request::SetParameters { values }
        }),
        proptest::option::of(any::<u32>()).prop_map(|d| Request::PurgeRoutes {
            destination: d.map(|d| std::net::Ipv4Addr::from_bits(d).into())
        }),
        place.prop_map(|place| Request::SetPosition { place }),
        (node(), node(), any::<bool>(), state).prop_map(|(a, b, one_way, state)| Request::SetLink {
            interface: None,
            a,
            b,
            one_way,
            state
        }),
        Just(Request::Subscribe { events: vec![EventKind::Drop, EventKind::Note] }),
        (proptest::option::of(0.001..1e9), any::<bool>())
            .prop_map(|(for_s, lose_tables)| Request::Down { for_s, lose_tables }),
        Just(Request::Up {}),
        Just(Request::Quit {}),
    ]
}

#[test]
fn a_long_text_in_the_place_of_an_object_is_not_quoted_back_whole() {
    // Found by fuzzing: a line that is one JSON string.
    let line = format!("\"{}\"", "S".repeat(10_000));
    let (id, e) = Envelope::parse(&line).expect_err("no object");
    assert_eq!(id, None);
    assert!(e.message.starts_with("not a JSON object") && e.message.chars().count() < 400, "{}", e.message);
}

proptest! {
    #[test]
    fn what_a_client_writes_a_server_reads(
        id in proptest::option::of(any::<u64>()), node in proptest::option::of(node()), request in request(),
    ) {
        let envelope = Envelope { id, node, request };
        let line = envelope.to_line();
        prop_assert!(!line.contains('\n'));
        let back = Envelope::parse(&line).expect("our own line");
        prop_assert_eq!(back, envelope);
    }

    #[test]
    fn any_line_is_read_or_refused_with_a_remedy(noise in ".{0,120}", cut in 0_usize..60) {
        let whole = "{\"wayhop\":1,\"id\":3,\"node\":\"a\",\"do\":\"set-link\",\"a\":0,\"b\":\"x\",\"state\":\"up\"}";
        for line in [noise.clone(), format!("{{\"wayhop\":1,{noise}}}"), format!("{}{noise}", &whole[..cut])] {
            if let Err((_, e)) = Envelope::parse(&line) {
                prop_assert!(!e.message.is_empty() && !e.remedy.is_empty());
                prop_assert!(e.message.chars().count() < 400, "it quotes at length: {}", e.message);
            }
        }
    }
}
