//! Asking and answering.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};

use serde_json::{Value, json};
use wayhop_control::{About, Access, Client, ClientError, ControlError, ErrorCode, NodeRef, Request, Server};

use crate::common::{TestServer, about};

#[test]
fn a_request_comes_to_the_owner_and_the_answer_goes_back() {
    let run = TestServer::with(|call| {
        let (request, node) = (call.request.clone(), call.node);
        call.answer(Ok(json!({"request": request, "node": node})));
    });
    let mut client = run.client();
    let request = Request::Tables { tables: vec!["routes".to_owned()] };
    let by_number = client.ask(Some(NodeRef::Number(1)), request.clone()).expect("an answer");
    assert_eq!(by_number, json!({"request": {"do": "tables", "tables": ["routes"]}, "node": 1}));
    for name in ["mid", "mesh-1", "10.0.0.2"] {
        let by_name = client.ask(Some(NodeRef::Name(name.to_owned())), request.clone()).expect("an answer");
        assert_eq!(by_name, by_number, "{name}");
    }
    assert_eq!(client.ask(None, Request::Counters {}).expect("an answer")["node"], Value::Null);
}

#[test]
fn hello_is_answered_although_the_owner_is_busy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sock");
    let server = Server::bind(&path, about(), Access::Owner).expect("a socket");
    let mut client = Client::connect(&path).expect("a connection");
    let said: About = client.ask_for(None, Request::Hello {}).expect("an answer");
    assert_eq!(&said, server.about());
    assert_eq!((said.messages, said.pid), (1, std::process::id()));
}

#[test]
fn the_wire_format_is_the_documented_one() {
    let run = TestServer::with(|call| match call.request {
        Request::Quit {} => call.answer(Ok(Value::Null)),
        _ => call.answer(Err(ControlError::unsupported("no", "do not"))),
    });
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    let mut lines = BufReader::new(raw.try_clone().expect("a copy")).lines();
    let mut say = |line: &str| {
        raw.write_all(line.as_bytes()).expect("a write");
        let answer = lines.next().expect("a line").expect("text");
        serde_json::from_str::<Value>(&answer).expect("JSON")
    };
    assert_eq!(say("{\"wayhop\":1,\"id\":7,\"do\":\"quit\"}\n"), json!({"id": 7, "ok": null}));
    assert_eq!(
        say("{\"do\":\"links\",\"id\":8,\"wayhop\":1}\n"),
        json!({"id": 8, "error": {"code": "unsupported", "message": "no", "remedy": "do not"}})
    );
    let wrong = say("{\"wayhop\":2,\"id\":9,\"do\":\"quit\"}\n");
    assert_eq!((&wrong["id"], &wrong["error"]["code"]), (&json!(9), &json!("version")));
}

#[test]
fn a_call_that_is_dropped_is_answered_with_an_error() {
    let run = TestServer::with(drop);
    match run.client().ask(None, Request::Counters {}) {
        Err(ClientError::Refused(e)) => assert_eq!(e.code, ErrorCode::Unanswered),
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_find_their_requests_in_any_order() {
    let mut first = None;
    let run = TestServer::with(move |call| {
        if call.request == (Request::Counters {}) {
            first = Some(call);
            return;
        }
        call.answer(Ok("second".into()));
        if let Some(first) = first.take() {
            first.answer(Ok("first".into()));
        }
    });
    let mut raw = UnixStream::connect(&run.path).expect("a connection");
    raw.write_all(
        b"{\"wayhop\":1,\"id\":1,\"do\":\"counters\"}\n{\"wayhop\":1,\"id\":2,\"do\":\"parameters\"}\n",
    )
    .expect("a write");
    raw.shutdown(std::net::Shutdown::Write).expect("no more");
    let answers: Vec<String> = BufReader::new(raw).lines().map(|l| l.expect("text")).collect();
    assert_eq!(answers, [r#"{"id":2,"ok":"second"}"#, r#"{"id":1,"ok":"first"}"#]);
}

#[test]
fn an_unknown_node_is_named_with_those_that_there_are() {
    let run = TestServer::with(|call| call.answer(Ok(Value::Null)));
    match run.client().ask(Some(NodeRef::Number(3)), Request::Counters {}) {
        Err(ClientError::Refused(e)) => {
            assert_eq!(e.code, ErrorCode::UnknownNode);
            assert_eq!(e.to_string(), "there is no node 3; the nodes are left, mid, right");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_socket_is_its_owners_alone_or_its_groups() {
    for (access, mode, folders) in [(Access::Owner, 0o600, 0o700), (Access::Group, 0o660, 0o750)] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("sub").join("a.sock");
        let server = Server::bind(&path, about(), access).expect("a socket");
        let found = std::fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(found & 0o777, mode);
        let folder_mode =
            std::fs::metadata(folder.path().join("sub")).expect("a folder").permissions().mode();
        assert_eq!(folder_mode & 0o777, folders);
        drop(server);
        assert!(!path.exists(), "it is removed at the end");
        assert_eq!(std::fs::read_dir(folder.path().join("sub")).expect("a folder").count(), 0);
    }
}

#[test]
fn a_socket_that_a_dead_server_left_is_taken_over_and_a_live_one_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sock");
    drop(UnixListener::bind(&path).expect("a socket that is left behind"));
    assert!(path.exists());
    let server = Server::bind(&path, about(), Access::Owner).expect("it replaces the stale one");
    let taken = Server::bind(&path, about(), Access::Owner).expect_err("the live one does not");
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
    Client::connect(&path)
        .and_then(|mut c| c.ask(None, Request::Hello {}))
        .expect("the first one still answers");
    drop(server);
}

#[test]
fn a_file_that_is_no_socket_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("notes.sock");
    std::fs::write(&path, "precious").expect("a file");
    Server::bind(&path, about(), Access::Owner).expect_err("it is in the way");
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), "precious");
}

#[test]
fn a_folder_that_anybody_may_change_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for (mode, fine) in [(0o777, false), (0o1777, true), (0o755, true)] {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).expect("a mode");
        let bound = Server::bind(&folder.path().join("a.sock"), about(), Access::Owner);
        assert_eq!(bound.is_ok(), fine, "{mode:o}");
    }
}

#[test]
fn a_server_that_was_replaced_leaves_the_new_socket_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sock");
    let old = Server::bind(&path, about(), Access::Owner).expect("a socket");
    std::fs::remove_file(&path).expect("somebody removes it");
    let _new = Server::bind(&path, about(), Access::Owner).expect("another socket");
    drop(old);
    Client::connect(&path).expect("the new one is there");
}

#[test]
fn nobody_there_is_an_error_with_a_remedy() {
    let e = Client::connect(std::path::Path::new("/nonexistent/a.sock")).expect_err("nobody");
    assert!(matches!(e, ClientError::Unreachable { .. }));
    assert!(e.to_string().contains("wayhop ctl list"), "{e}");
}
