//! A box at its telnet port: a line there, a line back.

use std::io::{self, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};

use super::driver::Device;
use super::error::{DeviceError, PATIENCE};
use super::line;
use super::rcdat::{BoxAnswer, BoxCommand, Rcdat};

/// A connection to a box.
#[derive(Debug)]
pub(super) struct Telnet {
    stream: BufReader<TcpStream>,
}

impl Telnet {
    pub(super) fn new(to: SocketAddr) -> Result<Self, DeviceError> {
        let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // Commands are small, and each waits for its answer.
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream) })
    }
}

impl Device for Telnet {
    fn ask(&mut self, command: BoxCommand) -> Result<BoxAnswer, DeviceError> {
        self.stream.get_mut().write_all(format!("{command}\r\n").as_bytes())?;
        let Some(text) = line::next(&mut self.stream)? else {
            return Err(DeviceError::Connection(io::ErrorKind::UnexpectedEof.into()));
        };
        Rcdat::answer(command, &text).ok_or(DeviceError::Nonsense(text))
    }
}
