//! The endpoint for Prometheus.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use wayhop_control::answer::NodeCounters;
use wayhop_control::metrics::{Endpoint, MAX_CLIENTS, Snapshot};

use crate::common::about;

fn snapshot() -> Snapshot {
    let counters = |pairs: &[(&str, u64)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    let node = |node, name: &str, c| NodeCounters { node, name: name.to_owned(), counters: c };
    Snapshot {
        about: about(),
        counters: vec![
            node(0, "left", counters(&[("forwarded", 3), ("drop.NO_ROUTE", 1)])),
            node(1, "a\"b\\c\nd", counters(&[("forwarded", u64::MAX)])),
        ],
        gauges: BTreeMap::from([("latitude-deg".to_owned(), vec![("left".to_owned(), 40.5)])]),
    }
}

fn request(e: &Endpoint, text: &[u8]) -> String {
    let mut stream = TcpStream::connect(e.address()).expect("a connection");
    stream.write_all(text).expect("a write");
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn the_text_is_prometheus_exposition_format() {
    // Written by hand from the format's description: HELP and TYPE before each metric's lines, labels escaped.
    let expected = "\
# HELP wayhop_info Version of Wayhop.
# TYPE wayhop_info gauge
wayhop_info{version=\"VERSION\",name=\"chain\",world=\"emulation\",protocol=\"dsr\"} 1
# HELP wayhop_drop_no_route_total Since the start of the node.
# TYPE wayhop_drop_no_route_total counter
wayhop_drop_no_route_total{node=\"left\"} 1
# HELP wayhop_forwarded_total Since the start of the node.
# TYPE wayhop_forwarded_total counter
wayhop_forwarded_total{node=\"a\\\"b\\\\c\\nd\"} 18446744073709551615
wayhop_forwarded_total{node=\"left\"} 3
# HELP wayhop_latitude_deg As it is now.
# TYPE wayhop_latitude_deg gauge
wayhop_latitude_deg{node=\"left\"} 40.5
";
    assert_eq!(snapshot().to_text(), expected.replace("VERSION", wayhop_core::version::full()));
}

#[test]
fn it_is_served_at_its_path_to_readers_only() {
    let e = Endpoint::bind("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    let nothing = request(&e, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(nothing.starts_with("HTTP/1.1 200 OK\r\n"), "before the first snapshot, too: {nothing}");
    e.set(snapshot());
    let answer = request(&e, b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    assert_eq!(body, snapshot().to_text());
    let head_only = request(&e, b"HEAD /metrics HTTP/1.1\r\n\r\n");
    assert!(
        head_only.ends_with("\r\n\r\n") && head_only.contains(&format!("Content-Length: {}", body.len()))
    );
    assert!(request(&e, b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    assert!(request(&e, b"POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405"));
}

#[test]
fn garbage_and_endless_requests_leave_it_serving() {
    let e = Endpoint::bind("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    e.set(snapshot());
    request(&e, &[0xff; 100]);
    request(&e, b"");
    let mut endless = TcpStream::connect(e.address()).expect("a connection");
    let chunk = [b'x'; 4096];
    let mut sent = 0;
    while endless.write_all(&chunk).is_ok() {
        sent += chunk.len();
        assert!(sent < 64 * 1024 * 1024, "it reads without end");
    }
    assert!(request(&e, b"GET /metrics HTTP/1.1\r\n\r\n").contains("wayhop_info"));
}

#[test]
fn a_hundred_idle_clients_make_room_for_one_that_asks() {
    let e = Endpoint::bind("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    e.set(snapshot());
    let idle: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(e.address()).expect("a connection")).collect();
    assert!(request(&e, b"GET /metrics HTTP/1.1\r\n\r\n").contains("wayhop_info"));
    // The oldest were not waited for, and so were not told that they are late.
    let evicted = idle.len() + 1 - MAX_CLIENTS;
    for (i, mut stream) in idle.into_iter().take(evicted).enumerate() {
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert_eq!(answer, "", "client {i}");
    }
}

#[test]
fn an_address_with_many_clients_gives_way_before_one_with_few() {
    let e = Endpoint::bind("127.0.0.1:0".parse().expect("an address")).expect("a socket");
    e.set(snapshot());
    let from = |last: u8| {
        let s = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
        s.bind(&std::net::SocketAddr::from(([127, 0, 0, last], 0)).into()).expect("an address");
        s.connect(&e.address().into()).expect("a connection");
        TcpStream::from(s)
    };
    // It is slow, and was there first.
    let mut slow = from(2);
    slow.write_all(b"GET /metrics").expect("half a request");
    // Fewer than the kernel keeps waiting (128): further ones would have to try again a second later.
    let idle: Vec<TcpStream> = (0..3 * MAX_CLIENTS).map(|_| from(1)).collect();
    assert!(request(&e, b"GET /metrics HTTP/1.1\r\n\r\n").contains("wayhop_info"));
    slow.write_all(b" HTTP/1.1\r\n\r\n").expect("the other half");
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("an answer");
    assert!(answer.contains("wayhop_info"), "{answer}");
    drop(idle);
}
