//! Streams that follow an answer: captures.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use wayhop_control::{ClientError, ErrorCode, Event, EventKind, Request, Stream, limits};

use crate::common::TestServer;

/// A server whose owner answers every request for a capture with a stream, which comes here.
fn streaming() -> (TestServer, Receiver<Stream>) {
    let (to, streams) = channel();
    let run = TestServer::with(move |call| match call.request {
        Request::Capture { .. } => match call.capture(["eth1", "radio"].into_iter()) {
            Ok(_) => drop(to.send(call.stream("pcapng"))),
            Err(e) => call.answer(Err(e)),
        },
        _ => call.answer(Ok(Value::Null)),
    });
    (run, streams)
}

/// Room for what has none now comes when the reader reads.
fn write_all(stream: &mut Stream, octets: &[u8]) {
    while let Err(e) = stream.write_all(octets) {
        assert_eq!(e.kind(), ErrorKind::WouldBlock);
        std::thread::yield_now();
    }
}

#[test]
fn bytes_follow_the_answer_until_the_owner_ends_them_and_requests_wait() {
    let (run, streams) = streaming();
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    // An event in the middle would be no pcapng.
    raw.write_all(b"{\"wayhop\":1,\"id\":1,\"do\":\"subscribe\",\"events\":[\"position\"]}\n")
        .expect("a write");
    raw.write_all(b"{\"wayhop\":1,\"id\":2,\"do\":\"capture\"}\n").expect("a write");
    let mut reader = BufReader::new(raw.try_clone().expect("a copy"));
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        serde_json::from_str::<Value>(&line).expect("JSON")
    };
    assert_eq!(line(), json!({"id": 1, "ok": {"events": ["position"]}}));
    assert_eq!(line(), json!({"id": 2, "ok": {"stream": "pcapng"}}));
    raw.write_all(b"{\"wayhop\":1,\"id\":3,\"do\":\"hello\"}\nnonsense\n").expect("a write");
    let mut stream = streams.recv().expect("a stream");
    let sent: Vec<u8> = (0..1_000_000_u32).map(|i| (i % 251) as u8).collect();
    let owner = std::thread::spawn({
        let sent = sent.clone();
        move || sent.chunks(1500).for_each(|part| write_all(&mut stream, part))
    });
    let mut got = Vec::new();
    reader.read_to_end(&mut got).expect("all of it");
    owner.join().expect("it ends");
    assert!(got == sent, "{} octets of {}", got.len(), sent.len());
    assert!(!run.server.wants(EventKind::Position), "the subscription ended");
    run.server.publish(&Event::Lost { count: 1 });
}

#[test]
fn a_reader_that_does_not_read_costs_no_more_than_the_bound_and_gets_what_was_taken() {
    let (run, streams) = streaming();
    let mut reader = run.client().capture(None, None, None).expect("a stream");
    let mut stream = streams.recv().expect("a stream");
    let part = [7_u8; 1500];
    let (mut taken, mut refused) = (0, 0);
    // Four times what is kept for it, beside which the socket and one write hold some.
    for _ in 0..4 * limits::MAX_STREAM_BYTES / part.len() {
        match stream.write_all(&part) {
            Ok(()) => taken += part.len(),
            Err(e) => {
                assert_eq!(e.kind(), ErrorKind::WouldBlock);
                refused += 1;
            }
        }
    }
    assert!(refused > 0, "the test sends more than fits");
    assert!(taken < 2 * limits::MAX_STREAM_BYTES, "{taken} octets were taken");
    drop(stream);
    let mut got = Vec::new();
    reader.read_to_end(&mut got).expect("all of it");
    assert_eq!(got.len(), taken);
}

#[test]
fn the_owner_hears_that_the_reader_has_gone() {
    let (run, streams) = streaming();
    drop(run.client().capture(None, Some("radio".to_owned()), Some(64)).expect("a stream"));
    let mut stream = streams.recv().expect("a stream");
    let gone = loop {
        match stream.write_all(b"octets") {
            Ok(()) => std::thread::yield_now(),
            Err(e) => break e.kind(),
        }
    };
    assert_eq!(gone, ErrorKind::BrokenPipe);
}

#[test]
fn an_interface_that_is_not_there_is_refused_with_those_that_are() {
    let (run, _streams) = streaming();
    match run.client().capture(None, Some("eth2".to_owned()), None) {
        Err(ClientError::Refused(e)) => {
            assert_eq!(e.code, ErrorCode::UnknownKey);
            assert_eq!(e.to_string(), "the node has no interface \"eth2\"; its interfaces are eth1, radio");
        }
        other => panic!("{other:?}"),
    }
    // An owner that knows of no streams.
    let run = TestServer::with(|call| call.answer(Ok(json!({}))));
    assert!(matches!(run.client().capture(None, None, None), Err(ClientError::Foreign { .. })));
    for keys in ["\"snap_length_bytes\":-1", "\"snap_length_bytes\":4294967296", "\"interface\":1", "\"x\":1"]
    {
        let mut raw = UnixStream::connect(&run.path).expect("a connection");
        writeln!(raw, "{{\"wayhop\":1,\"do\":\"capture\",{keys}}}").expect("a write");
        let mut line = String::new();
        BufReader::new(raw).read_line(&mut line).expect("a line");
        assert!(line.contains("bad-request"), "{line}");
    }
}
