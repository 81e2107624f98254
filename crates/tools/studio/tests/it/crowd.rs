//! Clients that block connections, and an honest page beside them.

use std::io::{ErrorKind, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::asking::Answer;
use crate::editor::Editor;

/// More than the server has places.
const CROWD: usize = 200;
/// Far more than an answer takes on a busy machine, and less than the 10 s after which connections are closed anyway.
const SOON: Duration = Duration::from_secs(9);

/// A scenario with its editor, and as many connections to it as a crowd has.
fn crowded() -> (Editor, Vec<TcpStream>) {
    let editor = Editor::of(None, Path::new("/nowhere"));
    let connect = |_| TcpStream::connect(editor.server.at).expect("a place in the queue");
    let crowd = (0..CROWD).map(connect).collect();
    (editor, crowd)
}

/// The head of a request of the page's own.
fn head(editor: &Editor, request: &str) -> String {
    let (at, cookie) = (editor.server.at, &editor.cookie);
    format!(
        "{request} HTTP/1.1\r\nHost: {at}\r\nOrigin: http://{at}\r\nContent-Type: application/json\r\n{cookie}\r\n"
    )
}

/// What the page loads first: three answers, the last of which reads something.
fn load(editor: &Editor) -> Answer {
    for file in ["/", "/studio.js"] {
        assert_eq!(editor.get(file).status, 200, "{file}");
    }
    editor.get("/api/editor")
}

fn is_soon(editor: &Editor) {
    let begin = Instant::now();
    assert_eq!(load(editor).status, 200);
    let took = begin.elapsed();
    assert!(took < SOON, "an honest page waited {took:?}");
}

#[test]
fn clients_that_do_not_read_do_not_keep_an_honest_page_waiting() {
    let (editor, mut crowd) = crowded();
    // More answers than the kernel's buffers hold.
    let asked = head(&editor, "GET /studio.js") + "\r\n";
    for stream in &mut crowd {
        // One that was closed meanwhile to make room has said enough.
        let _ = stream.write_all(asked.repeat(60).as_bytes());
    }
    is_soon(&editor);
    is_soon(&editor);
}

#[test]
fn bodies_that_come_byte_by_byte_do_not_keep_an_honest_page_waiting() {
    let (editor, mut crowd) = crowded();
    let asked = head(&editor, "POST /api/editor/change") + "Content-Length: 1000000\r\n\r\n";
    let ends = Arc::new(AtomicBool::new(false));
    let trickle = thread::spawn({
        let ends = Arc::clone(&ends);
        move || {
            for stream in &mut crowd {
                let _ = stream.write_all(asked.as_bytes());
            }
            while !ends.load(Ordering::Relaxed) {
                for stream in &mut crowd {
                    let _ = stream.write_all(b" ");
                }
                thread::sleep(Duration::from_millis(50));
            }
        }
    });
    thread::sleep(Duration::from_millis(300));
    is_soon(&editor);
    is_soon(&editor);
    ends.store(true, Ordering::Relaxed);
    trickle.join().expect("it trickled");
}

#[test]
fn clients_that_say_nothing_do_not_keep_an_honest_page_waiting() {
    let (editor, crowd) = crowded();
    is_soon(&editor);
    drop(crowd);
}

#[test]
fn a_body_that_stops_coming_is_closed_though_there_are_places_left() {
    let editor = Editor::of(None, Path::new("/nowhere"));
    let mut stream = TcpStream::connect(editor.server.at).expect("a connection");
    let asked = head(&editor, "POST /api/editor/change") + "Content-Length: 1000000\r\n\r\n{";
    stream.write_all(asked.as_bytes()).expect("it takes the head");
    stream.set_read_timeout(Some(Duration::from_secs(40))).expect("a timeout");
    let read = std::io::Read::read(&mut stream, &mut [0; 1]);
    let is_closed = match &read {
        Ok(read) => *read == 0,
        Err(e) => e.kind() == ErrorKind::ConnectionReset,
    };
    assert!(is_closed, "{read:?}");
}
