//! Garbage at the socket, clients that do not read, too many of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;

use serde_json::Value;
use wayhop_control::{Client, Request, limits};

use crate::common::TestServer;

fn still_answers(run: &TestServer) {
    run.client().ask(None, Request::Counters {}).expect("the server is well");
}

#[test]
fn every_line_of_garbage_is_answered_with_an_error_and_the_next_request_is_served() {
    let run = TestServer::with(|call| call.answer(Ok("fine".into())));
    let garbage: [&[u8]; 14] = [
        b"hello",
        b"{",
        b"[]",
        b"null",
        b"{}",
        b"{\"wayhop\":1}",
        b"{\"wayhop\":1,\"do\":\"explode\"}",
        b"{\"wayhop\":1,\"do\":\"quit\",\"extra\":1}",
        b"{\"wayhop\":1,\"id\":-1,\"do\":\"hello\"}",
        b"{\"wayhop\":1,\"node\":[],\"do\":\"hello\"}",
        b"{\"wayhop\":1,\"do\":\"set-position\",\"place\":{\"latitude_deg\":91,\"longitude_deg\":0}}",
        b"{\"wayhop\":1,\"do\":\"set-link\",\"a\":0,\"b\":1,\"state\":{\"loss\":2}}",
        b"\xff\xfe\x00",
        b"{\"wayhop\":1,\"do\":\"purge-routes\",\"destination\":\"everywhere\"}",
    ];
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    let mut lines = BufReader::new(raw.try_clone().expect("a copy")).lines();
    for line in garbage {
        raw.write_all(line).and_then(|()| raw.write_all(b"\n")).expect("a write");
        let answer: Value =
            serde_json::from_str(&lines.next().expect("a line").expect("text")).expect("JSON");
        let text = String::from_utf8_lossy(line);
        assert!(answer["error"]["remedy"].as_str().is_some_and(|r| !r.is_empty()), "{text}: {answer}");
    }
    raw.write_all(b"\n  \n{\"wayhop\":1,\"id\":3,\"do\":\"counters\"}\n").expect("a write");
    assert_eq!(lines.next().expect("a line").expect("text"), r#"{"id":3,"ok":"fine"}"#);
}

#[test]
fn deeply_nested_json_is_refused() {
    let run = TestServer::with(|call| call.answer(Ok(Value::Null)));
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    let deep = format!("{{\"wayhop\":1,\"do\":{}\n", "[".repeat(60_000));
    raw.write_all(deep.as_bytes()).expect("a write");
    let mut answer = String::new();
    BufReader::new(raw).read_line(&mut answer).expect("an answer");
    assert!(answer.contains("bad-request"), "{answer}");
    still_answers(&run);
}

#[test]
fn a_line_without_end_is_cut_off_with_an_error() {
    let run = TestServer::with(|call| call.answer(Ok(Value::Null)));
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    let chunk = vec![b'x'; 64 * 1024];
    // It is closed at some time; until then it takes what it takes.
    let mut sent = 0;
    while raw.write_all(&chunk).is_ok() {
        sent += chunk.len();
        assert!(sent < 64 * 1024 * 1024, "it reads for ever");
    }
    let mut answer = Vec::new();
    let _ = raw.read_to_end(&mut answer);
    assert!(String::from_utf8_lossy(&answer).contains("longer than 65536 bytes"));
    still_answers(&run);
}

#[test]
fn a_new_client_takes_the_place_of_the_one_that_was_idle_longest() {
    let run = TestServer::with(|call| call.answer(Ok(Value::Null)));
    let mut idle: Vec<UnixStream> =
        (0..2).map(|_| UnixStream::connect(&run.path).expect("a connection")).collect();
    let mut clients: Vec<Client> = (2..limits::MAX_CLIENTS).map(|_| run.client()).collect();
    for c in &mut clients {
        c.ask(None, Request::Hello {}).expect("all of them are served");
    }
    // The second of the idle ones asks for something; so the first goes.
    idle[1].write_all(b"{\"wayhop\":1,\"do\":\"hello\"}\n").expect("a request");
    let mut line = String::new();
    BufReader::new(&idle[1]).read_line(&mut line).expect("an answer");
    still_answers(&run);
    line.clear();
    BufReader::new(&idle[0]).read_to_string(&mut line).expect("a line, and the end");
    assert!(line.contains("\"busy\"") && line.contains("a new one needs the place"), "{line}");
    for c in &mut clients {
        c.ask(None, Request::Counters {}).expect("still served");
    }
}

#[test]
fn subscribers_leave_places_for_commands_and_stay() {
    let run = TestServer::with(|call| call.answer(Ok(Value::Null)));
    let subscribe = || Request::Subscribe { events: vec![] };
    let mut fed: Vec<Client> = (0..limits::MAX_FED).map(|_| run.client()).collect();
    for c in &mut fed {
        c.ask(None, subscribe()).expect("a subscription");
    }
    let refused = run.client().ask(None, subscribe()).expect_err("one too many").to_string();
    assert!(refused.contains("24 clients are already following events or captures"), "{refused}");
    let idle: Vec<UnixStream> =
        (0..2 * limits::MAX_CLIENTS).map(|_| UnixStream::connect(&run.path).expect("a connection")).collect();
    still_answers(&run);
    for c in &mut fed {
        c.ask(None, Request::Hello {}).expect("still there");
    }
    drop(idle);
}

#[test]
fn a_client_that_sends_and_never_reads_blocks_nobody_and_is_not_read_for_ever() {
    let run = TestServer::with(|call| call.answer(Ok("x".repeat(100_000).into())));
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    raw.set_nonblocking(true).expect("a socket");
    let request = b"{\"wayhop\":1,\"do\":\"counters\"}\n".repeat(100);
    let mut sent: usize = 0;
    // The socket's own buffers fill when the server stops reading; a server that took everything would fill memory.
    let mut refusals = 0;
    while refusals < 1000 {
        if let Ok(n) = raw.write(&request) {
            (sent, refusals) = (sent + n, 0);
        } else {
            refusals += 1;
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
        assert!(sent < 64 * 1024 * 1024, "it takes requests without end");
    }
    still_answers(&run);
}
