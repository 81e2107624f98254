//! Streams and programs over the kernel's sockets, with two instances of an application: one
//! connects and counts, the other echoes.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use wayhop_application_host::{Figures, ProgramSocket, Settings, Watcher, run};
use wayhop_control::{Frames, SocketName, frame};
use wayhop_core::{
    Application, ApplicationCx, ApplicationRow, Ending, ProgramInput, ProgramMessage, STREAM_ROOM, StreamEnd,
    StreamId, StreamInput, TimerKey,
};

/// More than the host takes at once.
const BYTES: usize = 5 * STREAM_ROOM / 2;

/// The byte at a place: its pattern is longer than any power of two, so that a piece that is lost or repeated shows.
const fn byte(at: usize) -> u8 {
    (at % 251) as u8
}

/// Sends back what comes.
#[derive(Default)]
struct Echo {
    port: u16,
    accepted: u64,
    finished: u64,
}

impl Application for Echo {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.listen_stream(self.port);
    }
    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}
    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        match input {
            StreamInput::Accepted { port, .. } => {
                assert_eq!(port, self.port);
                self.accepted += 1;
            }
            StreamInput::Data { stream, data } => cx.write(stream, data.into_owned()),
            StreamInput::Closed { cause, .. } => self.finished += u64::from(cause == StreamEnd::Finished),
            _ => {}
        }
    }
    fn restart(&mut self) {}
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("accepted", self.accepted as f64);
        tell("finished", self.finished as f64);
    }
}

/// Connects, sends [`BYTES`] as there is room, and compares what comes back; a second stream goes where nobody listens.
struct Caller {
    to: [SocketAddr; 2],
    sent: usize,
    came: usize,
    unreachable: u64,
}

impl Caller {
    fn send(&mut self, cx: &mut ApplicationCx<'_>, stream: StreamId, room: usize) {
        let n = room.min(BYTES - self.sent);
        if n > 0 {
            cx.write(stream, (self.sent..self.sent + n).map(byte).collect());
            self.sent += n;
        }
    }
}

impl Application for Caller {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.connect(1, self.to[0]);
        cx.connect(2, self.to[1]);
    }
    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}
    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        match input {
            StreamInput::Connected { stream, to } => {
                assert_eq!((stream, to), (StreamId::Opened(1), self.to[0]));
                self.send(cx, stream, STREAM_ROOM);
            }
            StreamInput::Room { stream, bytes } => {
                assert!(bytes <= STREAM_ROOM, "{bytes}");
                self.send(cx, stream, bytes);
            }
            StreamInput::Data { stream, data } => {
                for b in data.iter() {
                    assert_eq!(*b, byte(self.came), "at {}", self.came);
                    self.came += 1;
                }
                if self.came == BYTES {
                    cx.row(ApplicationRow::new(json!({"row": "echo", "bytes": self.came})));
                    cx.close(stream);
                }
            }
            StreamInput::Closed { stream, cause } => {
                assert_eq!((stream, cause), (StreamId::Opened(2), StreamEnd::Unreachable));
                self.unreachable += 1;
            }
            StreamInput::Accepted { .. } => panic!("it does not listen"),
            StreamInput::Pattern { .. } => panic!("nobody sends the pattern"),
        }
    }
    fn restart(&mut self) {}
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("came", self.came as f64);
        tell("unreachable", self.unreachable as f64);
    }
}

/// Ends an application when its figures are so, or fails after half a minute.
struct Until<F>(Instant, F);

impl<F: FnMut(&Figures) -> bool> Until<F> {
    fn new(is_over: F) -> Self {
        Self(Instant::now() + Duration::from_secs(30), is_over)
    }
}

impl<F: FnMut(&Figures) -> bool> Watcher for Until<F> {
    fn wants_end(&mut self, figures: &Figures) -> bool {
        assert!(Instant::now() < self.0, "it takes too long: {figures:?}");
        (self.1)(figures)
    }
}

fn loopback() -> Settings {
    Settings { listen: Ipv4Addr::LOCALHOST.into(), ..Settings::default() }
}

/// Ports at which nobody listens now.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port"));
    listeners.map(|l| l.local_addr().expect("an address").port())
}

#[test]
fn bytes_of_a_stream_come_back_as_they_went_and_ends_have_their_causes() {
    let [port, nobody] = free_ports();
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record.jsonl");
    let server = thread::spawn(move || {
        let mut until = Until::new(|f| f.get("finished") == Some(&1.0));
        run(Box::new(Echo { port, ..Echo::default() }), &loopback(), None, &mut until)
    });
    // The other end is called once it listens.
    while TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
        thread::sleep(Duration::from_millis(5));
    }
    let to = [port, nobody].map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let caller = Caller { to, sent: 0, came: 0, unreachable: 0 };
    let settings = Settings { record: Some(record.clone()), ..loopback() };
    let mut until =
        Until::new(|f| f.get("came") == Some(&(BYTES as f64)) && f.get("unreachable") == Some(&1.0));
    run(Box::new(caller), &settings, None, &mut until).expect("the caller ends well");
    let figures = server.join().expect("no panic").expect("the server ends well");
    assert_eq!(figures.get("accepted"), Some(&1.0));
    let lines = std::fs::read_to_string(record).expect("a record");
    let rows: Vec<Value> = lines.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert!(rows.contains(&json!({"row": "echo", "bytes": BYTES})), "{lines}");
}

/// Answers each command with its own message; one that says `last` ends it.
#[derive(Default)]
struct Mirror {
    gone: u64,
    is_over: bool,
}

impl Application for Mirror {
    fn start(&mut self, _: &mut ApplicationCx<'_>) {}
    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}
    fn on_program(&mut self, cx: &mut ApplicationCx<'_>, input: ProgramInput) {
        match input {
            ProgramInput::Command { program, message } => {
                self.is_over |= message.head.contains_key("last");
                cx.answer(program, message);
            }
            ProgramInput::Gone(_) => self.gone += 1,
        }
    }
    fn end(&mut self, cx: &mut ApplicationCx<'_>, ending: Ending) {
        assert_eq!(ending, Ending::InOrder);
        cx.remark("over".to_owned());
    }
    fn restart(&mut self) {}
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        tell("gone", self.gone as f64);
        tell("over", f64::from(u8::from(self.is_over)));
    }
}

/// A program: writes, and reads a number of messages, or until the end.
struct Program(UnixStream, Frames);

impl Program {
    fn connect(name: &str) -> Self {
        let at = UnixAddr::from_abstract_name(name).expect("a name");
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            match UnixStream::connect_addr(&at) {
                Ok(stream) => return Self(stream, Frames::new(1 << 20)),
                Err(e) => assert!(Instant::now() < until, "{e}"),
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
    fn read(&mut self) -> Option<ProgramMessage> {
        let mut buffer = [0; 4_096];
        loop {
            if let Some(message) = self.1.next_frame().expect("a frame") {
                return Some(message);
            }
            match self.0.read(&mut buffer).expect("bytes") {
                0 => return None,
                n => self.1.push(&buffer[..n]),
            }
        }
    }
}

fn message(head: &Value, data: &[u8]) -> ProgramMessage {
    ProgramMessage { head: head.as_object().cloned().unwrap_or_else(Map::new), data: data.to_vec() }
}

#[test]
fn programs_get_their_answers_in_order_and_what_is_no_message_is_refused() {
    let name = format!("wayhop-test-programs-{}", std::process::id());
    let socket = ProgramSocket { name: SocketName::Abstract(name.clone()), is_open: false, largest: 1 << 20 };
    let settings = Settings { programs: Some(socket), ..loopback() };
    let host = thread::spawn(move || {
        let mut until = Until::new(|f| f.get("over") == Some(&1.0) && f.get("gone") == Some(&2.0));
        run(Box::new(Mirror::default()), &settings, None, &mut until)
    });
    let mut program = Program::connect(&name);
    // More than are taken without an answer, in one piece.
    let asked: Vec<ProgramMessage> =
        (0..40_usize).map(|n| message(&json!({"n": n}), &vec![n as u8; n * 1_000])).collect();
    let bytes: Vec<u8> = asked.iter().cloned().flat_map(frame).collect();
    let mut writer = program.0.try_clone().expect("another handle");
    let writing = thread::spawn(move || writer.write_all(&bytes).expect("it takes them"));
    for message in asked {
        assert_eq!(program.read(), Some(message));
    }
    writing.join().expect("no panic");
    let mut other = Program::connect(&name);
    other.0.write_all(b"[]\n").expect("it takes them");
    let refusal = other.read().expect("a refusal").head;
    assert!(
        refusal["error"]["message"].as_str().is_some_and(|m| m.contains("not a JSON object")),
        "{refusal:?}"
    );
    assert_eq!(other.read(), None);
    program.0.write_all(&frame(message(&json!({"last": true}), b""))).expect("it takes them");
    assert!(program.read().is_some());
    drop(program);
    let figures = host.join().expect("no panic").expect("it ends well");
    assert_eq!(figures.get("gone"), Some(&2.0));
}
