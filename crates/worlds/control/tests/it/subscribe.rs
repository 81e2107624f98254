//! Events to subscribers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};
use wayhop_control::{Event, EventKind, NodeRef, limits};

use crate::common::TestServer;

fn note(node: u32, value: u64) -> Event {
    let about = std::net::Ipv4Addr::new(10, 0, 0, 9).into();
    Event::Note { time_s: 1.5, node, what: "route_found".to_owned(), about, value }
}

fn drop_at(node: u32) -> Event {
    let reason = wayhop_core::DropReason::NoRoute.name().to_owned();
    Event::Drop { time_s: 2.0, node, reason, source: None, destination: None, bytes: 84 }
}

#[test]
fn a_subscriber_gets_the_kinds_and_the_node_that_it_asked_for_in_order() {
    let run = TestServer::with(drop);
    let mut client = run.client();
    client.subscribe(Some(NodeRef::Number(1)), vec![EventKind::Note]).expect("a subscription");
    assert!(run.server.wants(EventKind::Note) && !run.server.wants(EventKind::Drop));
    for e in [note(0, 1), note(1, 2), drop_at(1), note(1, 3)] {
        run.server.publish(&e);
    }
    assert_eq!(client.event().expect("an event"), Some(note(1, 2)));
    assert_eq!(client.event().expect("an event"), Some(note(1, 3)));
}

#[test]
fn what_the_run_itself_had_no_room_for_is_told_to_all_subscribers() {
    let run = TestServer::with(drop);
    let mut clients = [run.client(), run.client()];
    clients[0].subscribe(None, vec![EventKind::Packet]).expect("a subscription");
    clients[1].subscribe(Some(NodeRef::Number(1)), vec![EventKind::Note]).expect("a subscription");
    run.server.publish(&Event::Lost { count: 3 });
    for client in &mut clients {
        assert_eq!(client.event().expect("an event"), Some(Event::Lost { count: 3 }));
    }
}

#[test]
fn an_event_line_carries_the_id_of_the_subscription() {
    let run = TestServer::with(drop);
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    raw.write_all(b"{\"wayhop\":1,\"id\":5,\"do\":\"subscribe\",\"events\":[\"drop\"]}\n").expect("a write");
    let mut lines =
        BufReader::new(raw).lines().map(|l| serde_json::from_str::<Value>(&l.expect("text")).expect("JSON"));
    assert_eq!(lines.next(), Some(json!({"id": 5, "ok": {"events": ["drop"]}})));
    run.server.publish(&drop_at(2));
    let event = json!({"kind": "drop", "time_s": 2.0, "node": 2, "reason": "NO_ROUTE", "bytes": 84});
    assert_eq!(lines.next(), Some(json!({"id": 5, "event": event})));
}

#[test]
fn a_subscriber_that_does_not_read_loses_events_and_is_told_how_many() {
    let run = TestServer::with(drop);
    let mut client = run.client();
    client.subscribe(None, vec![]).expect("a subscription");
    // More than its queue and its socket hold together.
    let sent = 40 * limits::MAX_EVENTS as u64;
    for value in 0..sent {
        run.server.publish(&note(0, value));
    }
    let (mut got, mut lost, mut last) = (0, 0, None);
    while got + lost < sent {
        match client.event().expect("an event").expect("the server is there") {
            Event::Note { value, .. } => {
                assert!(last.is_none_or(|l| l < value), "in order");
                (got, last) = (got + 1, Some(value));
            }
            Event::Lost { count } => {
                lost += count;
                // The gap in the numbers is as long as was told.
                last = Some(last.map_or(count - 1, |l: u64| l + count));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(got + lost, sent);
    assert!(lost > 0, "the test sends more than fits");
}

#[test]
fn the_end_of_the_server_ends_the_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sock");
    let server = wayhop_control::Server::bind(&path, crate::common::about(), wayhop_control::Access::Owner)
        .expect("a socket");
    let mut client = wayhop_control::Client::connect(&path).expect("a connection");
    client.subscribe(None, vec![]).expect("a subscription");
    drop(server);
    assert_eq!(client.event().expect("an end in good order"), None);
}

#[test]
fn nobody_is_told_after_unsubscribing_or_going_away() {
    let run = TestServer::with(drop);
    let mut client = run.client();
    client.subscribe(None, vec![]).expect("a subscription");
    client.ask(None, wayhop_control::Request::Unsubscribe {}).expect("an answer");
    assert!(!run.server.wants(EventKind::Note));
    client.subscribe(None, vec![]).expect("a subscription");
    drop(client);
    while run.server.wants(EventKind::Note) {
        std::thread::yield_now();
    }
}
