//! The client, against something that is not a Wayhop node.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;

use wayhop_control::{Client, ClientError, Request};

/// What a client makes of a server that reads one line and says this.
fn told(answer: &'static [u8]) -> ClientError {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client");
        BufReader::new(&stream).read_line(&mut String::new()).expect("a request");
        // The client may be gone before all is written.
        let _ = (&stream).write_all(answer);
    });
    let outcome = Client::connect(&path).expect("a connection").ask(None, Request::Hello {});
    server.join().expect("no panic");
    outcome.expect_err("no answer")
}

#[test]
fn another_programs_socket_is_recognised() {
    for answer in
        [&b"220 mail ready\r\n"[..], b"[]\n", b"\xff\xff\n", b"{\"id\":\"x\"}\n", b"{\"error\":3}\n"]
    {
        let e = told(answer);
        assert!(matches!(e, ClientError::Foreign { .. }), "{e}");
        assert!(e.to_string().contains("is not a Wayhop control socket"), "{e}");
    }
}

#[test]
fn a_connection_that_ends_without_an_answer_is_said() {
    for answer in [&b""[..], b"{\"id\":1,\"ok\"", b"{\"id\":99,\"ok\":1}\n", b"{\"id\":1,\"event\":{}}\n"] {
        let e = told(answer);
        assert!(matches!(e, ClientError::Broken { .. }), "{e}");
        assert!(e.to_string().contains("wayhop ctl list"), "{e}");
    }
}

#[test]
fn an_error_of_a_later_version_is_still_an_error() {
    let e = told(
        b"{\"id\":1,\"error\":{\"code\":\"from-the-future\",\"message\":\"m\",\"remedy\":\"r\",\"new\":1}}\n",
    );
    assert!(matches!(&e, ClientError::Refused(r) if r.message == "m"), "{e}");
}
