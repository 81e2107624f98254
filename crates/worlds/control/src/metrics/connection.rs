//! One client: a request and an answer, then the connection closes.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, TcpStream};
use std::time::{Duration, Instant};

use super::snapshot::Snapshot;
use crate::is_for_later;

/// How long a client may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// The longest request, octets: what proxies and browsers send besides the first line is read and ignored.
const LONGEST_REQUEST: usize = 8 * 1024;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) from: IpAddr,
    pub(super) end: Instant,
    request: Vec<u8>,
    answer: Option<HttpAnswer>,
}

#[derive(Debug)]
struct HttpAnswer {
    octets: Vec<u8>,
    sent: usize,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, from: IpAddr, now: Instant) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self { stream, from, end: now + PATIENCE, request: Vec::new(), answer: None })
    }

    /// Whether its request is complete.
    pub(super) fn is_answered(&self) -> bool {
        self.answer.is_some()
    }

    /// Goes on as far as the socket lets it. Returns whether there is more to do: what goes wrong with one client is that client's.
    pub(super) fn go_on(&mut self, now: Instant, snapshot: &dyn Fn() -> Option<Snapshot>) -> bool {
        self.step(now, snapshot).is_err_and(|e| is_for_later(&e))
    }

    /// Ends well when the answer is out.
    fn step(&mut self, now: Instant, snapshot: &dyn Fn() -> Option<Snapshot>) -> io::Result<()> {
        if self.answer.is_none() {
            let octets = match self.hear(now)? {
                Some(request) => answer(&request, snapshot),
                None => response("400 Bad Request", "the request is too long or too slow\n", true),
            };
            self.answer = Some(HttpAnswer { octets, sent: 0 });
        }
        let Some(HttpAnswer { octets, sent }) = &mut self.answer else { return Ok(()) };
        while *sent < octets.len() {
            match self.stream.write(&octets[*sent..])? {
                0 => return Ok(()),
                n => *sent += n,
            }
        }
        Ok(())
    }

    /// Reads a request to the empty line: closing a socket with something unread in it would cut off the answer. None if it is too
    /// long, or late.
    fn hear(&mut self, now: Instant) -> io::Result<Option<Vec<u8>>> {
        let mut chunk = [0; 1024];
        while !has_head(&self.request) {
            if now >= self.end || self.request.len() > LONGEST_REQUEST {
                return Ok(None);
            }
            match self.stream.read(&mut chunk)? {
                0 => break,
                n => self.request.extend_from_slice(&chunk[..n]),
            }
        }
        Ok(Some(std::mem::take(&mut self.request)))
    }
}

fn answer(request: &[u8], snapshot: &dyn Fn() -> Option<Snapshot>) -> Vec<u8> {
    let first = request.split(|b| *b == b'\r' || *b == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let mut words = first.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split('?').next().unwrap_or_default();
    let with_body = method != "HEAD";
    match (method, path) {
        ("GET" | "HEAD", "/metrics") => {
            let text = snapshot().as_ref().map(Snapshot::to_text).unwrap_or_default();
            response("200 OK", &text, with_body)
        }
        ("GET" | "HEAD", _) => response("404 Not Found", "see /metrics\n", with_body),
        _ => response("405 Method Not Allowed", "only GET /metrics\n", with_body),
    }
}

fn has_head(request: &[u8]) -> bool {
    request.windows(4).any(|w| w == b"\r\n\r\n") || request.windows(2).any(|w| w == b"\n\n")
}

fn response(status: &str, body: &str, with_body: bool) -> Vec<u8> {
    let mut text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    if with_body {
        text.push_str(body);
    }
    text.into_bytes()
}
