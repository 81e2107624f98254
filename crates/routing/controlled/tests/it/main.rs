//! Nodes whose routes a controller sets, on scripted links.

use proptest::prelude::*;
use wayhop_controlled::{DESCRIPTION, Engine, MAX_ROUTES, PORT, Params};
use wayhop_core::{BROADCAST, Command, DropReason, NodeId, Refused, Route};
use wayhop_testkit::{Net, addr, secs};
use wayhop_wire::datagram;

fn line(n: usize) -> Net {
    let mut net = Net::new(n, |_| Box::new(Engine::new(Params::default())));
    net.line();
    net
}

/// Routes of a node, as (destination, next hop).
fn set(net: &mut Net, node: usize, routes: &[(usize, usize)]) -> Result<(), Refused> {
    let routes = routes.iter().map(|&(to, by)| Route::to_host(addr(to), addr(by), 1)).collect();
    net.command(node, &Command::SetRoutes { routes })
}

#[test]
fn packets_follow_the_routes_that_were_set_and_no_others() {
    let mut net = line(3);
    net.send_at(secs(1.0), 0, 2, 1);
    net.run_until(secs(2.0));
    assert_eq!(net.drops(), [(NodeId(0), DropReason::NoRoute)]);
    set(&mut net, 0, &[(2, 1), (1, 1)]).expect("routes");
    set(&mut net, 1, &[(2, 2)]).expect("routes");
    net.send_at(secs(3.0), 0, 2, 2);
    net.run_until(secs(4.0));
    assert_eq!(net.delivered(2).len(), 1);
    // The next set replaces the one before as a whole.
    set(&mut net, 0, &[(1, 1)]).expect("routes");
    assert_eq!((net.route(0, addr(2)), net.routes(0).len()), (None, 1));
    net.command(0, &Command::PurgeRoutes { destination: None }).expect("it can");
    assert!(net.routes(0).is_empty());
    net.assert_conserved();
}

#[test]
fn a_broken_link_ends_its_packets_and_its_route_stays() {
    let mut net = line(3);
    set(&mut net, 0, &[(2, 1)]).expect("routes");
    net.down(0, 1);
    net.send_at(secs(1.0), 0, 2, 1);
    net.run_until(secs(3.0));
    assert!(net.drops().contains(&(NodeId(0), DropReason::MacRetries)));
    assert!(net.route(0, addr(2)).is_some(), "the controller decides");
    net.assert_conserved();
}

#[test]
fn a_loop_ends_at_the_source_or_with_the_time_to_live() {
    let mut net = line(4);
    set(&mut net, 0, &[(3, 1)]).expect("routes");
    set(&mut net, 1, &[(3, 0)]).expect("routes");
    net.send_at(secs(1.0), 0, 3, 1);
    net.run_until(secs(5.0));
    assert_eq!(net.drops(), [(NodeId(0), DropReason::Loop)]);
    set(&mut net, 1, &[(3, 2)]).expect("routes");
    set(&mut net, 2, &[(3, 1)]).expect("routes");
    net.send_at(secs(6.0), 0, 3, 2);
    net.run_until(secs(9.0));
    assert_eq!(net.drops()[1..].iter().map(|d| d.1).collect::<Vec<_>>(), [DropReason::TtlExpired]);
    net.assert_conserved();
}

#[test]
fn hellos_come_every_second_and_stop_on_command() {
    let mut net = line(2);
    net.run_until(secs(10.0));
    let sent = |net: &Net| net.sent_by(0).count();
    // A tenth early at most: 9 to 11 in ten seconds, after a first wait of up to one.
    assert!((9..=12).contains(&sent(&net)), "{}", sent(&net));
    net.command(0, &Command::SetParameters { json: r#"{"hello_interval_ms":0}"#.into() }).expect("valid");
    let before = sent(&net);
    net.run_until(secs(20.0));
    assert_eq!(sent(&net), before);
    net.command(0, &Command::SetParameters { json: r#"{"hello_interval_ms":500}"#.into() }).expect("valid");
    net.run_until(secs(30.0));
    assert!((19..=23).contains(&(sent(&net) - before)), "{}", sent(&net) - before);
    net.assert_conserved();
}

#[test]
fn too_many_routes_and_invalid_parameters_are_refused_and_change_nothing() {
    let mut net = line(2);
    set(&mut net, 0, &[(1, 1)]).expect("routes");
    let routes = vec![Route::to_host(addr(1), addr(1), 1); MAX_ROUTES + 1];
    let refused = net.command(0, &Command::SetRoutes { routes }).expect_err("too many").to_string();
    assert!(refused.contains("at most 4096"), "{refused}");
    for (json, part) in [
        (r#"{"hello_interval_ms":5}"#, "hello_interval_ms is 5"),
        (r#"{"hello_interval_ms":-1}"#, "hello_interval_ms cannot be -1"),
        (r#"{"hello":1}"#, "not parameters of controlled"),
    ] {
        let refused = net.command(0, &Command::SetParameters { json: json.into() }).expect_err(part);
        assert!(refused.to_string().contains(part), "{refused}");
    }
    assert_eq!(net.routes(0).len(), 1);
}

proptest! {
    /// Whatever arrives at the port is a Hello or ends as malformed, and is counted as what it is.
    #[test]
    fn any_datagram_is_a_hello_or_malformed(payload in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut net = Net::new(1, |_| Box::new(Engine::new(Params { hello_interval_ms: 0 })));
        net.run_until(secs(0.1));
        let packet = datagram(addr(7), BROADCAST, PORT, 1, &payload);
        net.inject(0, addr(7), true, &packet);
        net.run_until(secs(0.2));
        let is_malformed = net.drops().contains(&(NodeId(0), DropReason::Malformed));
        prop_assert_eq!(is_malformed, !payload.is_empty());
        let d = wayhop_core::Datagram {
            source: addr(7).into(),
            destination: BROADCAST.into(),
            payload: &payload,
            complete_len: payload.len(),
        };
        prop_assert_eq!((DESCRIPTION.messages.classify)(&d).class.is_some(), payload.is_empty());
        prop_assert_eq!((DESCRIPTION.messages.decode)(&d)[0].malformed.is_none(), payload.is_empty());
    }
}
