//! A box at its HTTP port: the command is the path, the answer is the body.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use super::driver::Device;
use super::error::{DeviceError, PATIENCE};
use super::rcdat::{BoxAnswer, BoxCommand, LONGEST, Rcdat};

/// The longest head of a response, octets.
const MAX_HEAD: u64 = 8 << 10;

/// A box that is asked with a connection for each command: its server knows no other way.
#[derive(Debug)]
pub(super) struct Http {
    at: SocketAddr,
}

impl Http {
    pub(super) fn new(at: SocketAddr) -> Self {
        Self { at }
    }

    fn fetch(&self, path: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&self.at, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.at)?;
        body(BufReader::new(stream))
    }
}

/// The body of a response. Some firmware sends nothing else.
fn body(stream: BufReader<TcpStream>) -> io::Result<String> {
    let mut stream = stream.take(MAX_HEAD);
    let mut first = String::new();
    stream.read_line(&mut first)?;
    if first.starts_with("HTTP/") {
        let mut line = String::from("-");
        while !line.trim().is_empty() {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        first.clear();
    }
    let mut rest = Vec::new();
    stream.take(LONGEST as u64).read_to_end(&mut rest)?;
    first.push_str(&String::from_utf8_lossy(&rest));
    Ok(first)
}

impl Device for Http {
    fn ask(&mut self, command: BoxCommand) -> Result<BoxAnswer, DeviceError> {
        let text = self.fetch(&command.to_string())?;
        Rcdat::answer(command, &text).ok_or_else(|| DeviceError::Nonsense(text.trim().to_owned()))
    }
}
