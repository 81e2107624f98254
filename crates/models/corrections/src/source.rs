//! Where the reference station's frames come from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long to wait before connecting again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// How long to wait for a connection.
const PATIENCE: Duration = Duration::from_secs(5);
/// A station that is silent for this long may be gone: the connection is closed and made again.
const SILENCE: Duration = Duration::from_secs(60);
/// Pieces that wait to be sent.
const WAITING: usize = 16;

/// Where the reference station's frames come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A gpsd that has the station's receiver: host and port.
    Gpsd(String),
    /// A server that sends them, such as `str2str -out tcpsvr://:PORT`: host and port.
    Tcp(String),
    /// A file: a recording, a pipe, or a serial line that is set up already.
    File(PathBuf),
    /// Standard input.
    Stdin,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gpsd(at) => write!(f, "gpsd://{at}"),
            Self::Tcp(at) => write!(f, "tcp://{at}"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let has_port = |at: &str| {
            at.rsplit_once(':')
                .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|p| p > 0))
        };
        match text.split_once("://") {
            Some(("gpsd", at)) if has_port(at) => Ok(Self::Gpsd(at.to_owned())),
            Some(("tcp", at)) if has_port(at) => Ok(Self::Tcp(at.to_owned())),
            Some(("gpsd" | "tcp", _)) => {
                Err(format!("{text} has no host and port; give an address such as gpsd://localhost:2947"))
            }
            Some((kind, _)) => Err(format!(
                "unknown scheme {kind}://; give gpsd://HOST:PORT, tcp://HOST:PORT, a file, or - for \
                 standard input"
            )),
            None if text == "-" => Ok(Self::Stdin),
            None if text.is_empty() => {
                Err("give gpsd://HOST:PORT, tcp://HOST:PORT, a file, or - for standard input".to_owned())
            }
            None => Ok(Self::File(text.into())),
        }
    }
}

/// What comes from there.
#[derive(Debug)]
pub(crate) enum SourceEvent {
    Octets(Vec<u8>),
    /// It is there, or there again.
    Connected,
    /// It is not there, for this reason; it is tried again.
    Trouble(String),
    /// There is no more.
    End,
}

impl Source {
    /// Whether it is a recording, which has to be played as slowly as it was made.
    pub(crate) fn is_recording(&self) -> bool {
        matches!(self, Self::File(path) if path.metadata().is_ok_and(|m| m.is_file()))
    }

    /// Begins to read, in a thread of its own, which ends when nobody listens any more.
    pub(crate) fn begin(&self) -> io::Result<Receiver<SourceEvent>> {
        let (tell, heard) = sync_channel(WAITING);
        let source = self.clone();
        let file = match self {
            Self::File(path) => Some(File::open(path)?),
            _ => None,
        };
        thread::Builder::new().name("wh-corrections".to_owned()).spawn(move || {
            match (source, file) {
                (Self::Gpsd(at), _) => keep_reading(&at, b"?WATCH={\"enable\":true,\"raw\":2};\n", &tell),
                (Self::Tcp(at), _) => keep_reading(&at, b"", &tell),
                (_, Some(file)) => drop(pass_on(file, &tell)),
                (_, None) => drop(pass_on(io::stdin(), &tell)),
            }
            let _ = tell.send(SourceEvent::End);
        })?;
        Ok(heard)
    }
}

/// Reads to the end. Returns why it ended early, and whether anybody listens.
fn pass_on(mut from: impl Read, tell: &SyncSender<SourceEvent>) -> (io::Result<()>, bool) {
    let mut octets = vec![0; 8192];
    loop {
        match from.read(&mut octets) {
            Ok(0) => return (Ok(()), true),
            Ok(n) if tell.send(SourceEvent::Octets(octets[..n].to_vec())).is_err() => return (Ok(()), false),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return (Err(e), true),
        }
    }
}

fn keep_reading(at: &str, hello: &[u8], tell: &SyncSender<SourceEvent>) {
    let mut wait = RETRY.0;
    loop {
        let ended = match connect(at, hello) {
            Ok(stream) => {
                if tell.send(SourceEvent::Connected).is_err() {
                    return;
                }
                wait = RETRY.0;
                let (ended, wanted) = pass_on(stream, tell);
                if !wanted {
                    return;
                }
                ended
            }
            Err(e) => Err(e),
        };
        let why = match ended {
            Ok(()) => "connection closed".to_owned(),
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                "it is silent".to_owned()
            }
            Err(e) => e.to_string(),
        };
        if tell.send(SourceEvent::Trouble(format!("{at}: {why}"))).is_err() {
            return;
        }
        thread::sleep(wait);
        wait = (wait * 2).min(RETRY.1);
    }
}

fn connect(at: &str, hello: &[u8]) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in at.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(mut stream) => {
                stream.set_read_timeout(Some(SILENCE))?;
                stream.write_all(hello)?;
                return Ok(stream);
            }
            Err(e) => last = e,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn sources_are_told_apart() {
        let read = |text: &str| text.parse::<Source>();
        assert_eq!(read("gpsd://localhost:2947"), Ok(Source::Gpsd("localhost:2947".to_owned())));
        assert_eq!(read("tcp://[::1]:3000"), Ok(Source::Tcp("[::1]:3000".to_owned())));
        assert_eq!(read("/dev/ttyUSB0"), Ok(Source::File("/dev/ttyUSB0".into())));
        assert_eq!(read("-"), Ok(Source::Stdin));
        for wrong in ["", "gpsd://localhost", "tcp://:1", "tcp://a:0", "tcp://a:99999", "ntrip://a:1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_server_that_goes_and_comes_back_is_read_on() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let heard = Source::Tcp(server.local_addr().unwrap().to_string()).begin().unwrap();
        let mut seen = Vec::new();
        for said in [b"one", b"two"] {
            server.accept().unwrap().0.write_all(said).unwrap();
            loop {
                match heard.recv().unwrap() {
                    SourceEvent::Octets(o) => seen.extend(o),
                    SourceEvent::Trouble(_) => break,
                    SourceEvent::Connected => {}
                    SourceEvent::End => panic!("a server may come back"),
                }
            }
        }
        assert_eq!(seen, b"onetwo");
    }
}
