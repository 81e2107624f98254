//! Counters for Prometheus: the text format 0.0.4 over HTTP, read-only, at `/metrics`.
//!
//! The server is as small as the task: one thread, one connection at a time, the first line of the request and nothing else
//! of it. A client has two seconds for everything, so that one who dawdles delays the others and costs nothing.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::about::About;
use crate::answer::NodeCounters;

/// How long a client may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest request, octets: what proxies and browsers send besides the first line is read and ignored.
const LONGEST_REQUEST: usize = 8 * 1024;

/// What there is to tell.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Who tells it.
    pub about: About,
    /// Counters by node: they become `wayhop_NAME_total{node="..."}`.
    pub counters: Vec<NodeCounters>,
    /// Values that go up and down, by name, with the node: they become `wayhop_NAME{node="..."}`.
    pub gauges: BTreeMap<String, Vec<(String, f64)>>,
}

impl Snapshot {
    /// The text format.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let a = &self.about;
        line(&mut text, "wayhop_info", "gauge", "Which wayhop this is.");
        let labels =
            [("version", &a.wayhop), ("name", &a.name), ("world", &a.world), ("protocol", &a.protocol)];
        let labels: Vec<String> = labels.iter().map(|(k, v)| format!("{k}=\"{}\"", quoted(v))).collect();
        let _ = writeln!(text, "wayhop_info{{{}}} 1", labels.join(","));
        // One metric after the other, as the format asks; a name that two counters share after cleaning is one metric.
        let mut by_name: BTreeMap<String, Vec<(&str, u64)>> = BTreeMap::new();
        for n in &self.counters {
            for (counter, value) in &n.counters {
                by_name.entry(clean(counter)).or_default().push((&n.name, *value));
            }
        }
        for (name, rows) in by_name {
            let metric = format!("wayhop_{name}_total");
            line(&mut text, &metric, "counter", "Since the start of the node.");
            let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
            for (node, value) in rows {
                let sum = sums.entry(node).or_default();
                *sum = sum.saturating_add(value);
            }
            for (node, value) in sums {
                let _ = writeln!(text, "{metric}{{node=\"{}\"}} {value}", quoted(node));
            }
        }
        for (name, rows) in &self.gauges {
            let metric = format!("wayhop_{}", clean(name));
            line(&mut text, &metric, "gauge", "As it is now.");
            for (node, value) in rows {
                let _ = writeln!(text, "{metric}{{node=\"{}\"}} {value}", quoted(node));
            }
        }
        text
    }
}

fn line(text: &mut String, metric: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {metric} {help}\n# TYPE {metric} {kind}");
}

/// A name of letters, digits and underscores.
fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect()
}

/// A label's value: backslash, quote and end of line are escaped.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// The HTTP endpoint. Dropped, it closes.
#[derive(Debug)]
pub struct Endpoint {
    address: SocketAddr,
    snapshot: Arc<Mutex<Option<Snapshot>>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Endpoint {
    /// Listens at this address, such as 127.0.0.1:9464.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::serve(TcpListener::bind(address)?)
    }

    /// Serves a socket that is bound already, perhaps in another network namespace.
    pub fn serve(listener: TcpListener) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let snapshot: Arc<Mutex<Option<Snapshot>>> = Arc::default();
        let stopping = Arc::new(AtomicBool::new(false));
        let thread = {
            let (snapshot, stopping) = (Arc::clone(&snapshot), Arc::clone(&stopping));
            std::thread::Builder::new().name("wh-metrics".to_owned()).spawn(move || {
                while !stopping.load(Ordering::Relaxed) {
                    match listener.accept() {
                        // What goes wrong with one client is that client's.
                        Ok((stream, _)) => drop(answer(stream, &snapshot)),
                        // Too many open files, for one: no use in trying at once.
                        Err(_) => std::thread::sleep(Duration::from_millis(100)),
                    }
                }
            })?
        };
        Ok(Self { address, snapshot, stopping, thread: Some(thread) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it tells from now on.
    pub fn set(&self, snapshot: Snapshot) {
        *self.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot);
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Wakes the thread out of its wait. It fails only where nobody could connect either.
        let mut here = self.address;
        if here.ip().is_unspecified() {
            here.set_ip(if here.is_ipv4() {
                std::net::Ipv4Addr::LOCALHOST.into()
            } else {
                std::net::Ipv6Addr::LOCALHOST.into()
            });
        }
        let woken = TcpStream::connect_timeout(&here, Duration::from_millis(500)).is_ok();
        if let Some(thread) = self.thread.take()
            && woken
        {
            let _ = thread.join();
        }
    }
}

fn answer(mut stream: TcpStream, snapshot: &Mutex<Option<Snapshot>>) -> io::Result<()> {
    let end = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = Vec::new();
    let mut chunk = [0; 1024];
    // To the empty line: closing a socket with something unread in it would cut off the answer.
    while !has_head(&request) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || request.len() > LONGEST_REQUEST {
            return respond(&mut stream, "400 Bad Request", "give a short request in time\n", true);
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk)? {
            0 => break,
            n => request.extend_from_slice(&chunk[..n]),
        }
    }
    let first = request.split(|b| *b == b'\r' || *b == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let with_body = method != "HEAD";
    match (method, path) {
        ("GET" | "HEAD", "/metrics") => {
            let text = snapshot
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_ref()
                .map(Snapshot::to_text)
                .unwrap_or_default();
            respond(&mut stream, "200 OK", &text, with_body)
        }
        ("GET" | "HEAD", _) => respond(&mut stream, "404 Not Found", "see /metrics\n", with_body),
        _ => respond(&mut stream, "405 Method Not Allowed", "only GET /metrics\n", with_body),
    }
}

fn has_head(request: &[u8]) -> bool {
    request.windows(4).any(|w| w == b"\r\n\r\n") || request.windows(2).any(|w| w == b"\n\n")
}

fn respond(stream: &mut TcpStream, status: &str, body: &str, with_body: bool) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if with_body {
        stream.write_all(body.as_bytes())?;
    }
    stream.flush()
}
