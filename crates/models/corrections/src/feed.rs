//! Where programs that have a receiver get the corrections: a TCP server that sends RTCM 3, to which gpsd connects (`tcp://`).

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// More programs are hardly meant.
const MOST: usize = 8;

/// The server, and who is there.
#[derive(Debug)]
pub(crate) struct Feed {
    listener: TcpListener,
    clients: Vec<TcpStream>,
}

impl Feed {
    pub(crate) fn bind(at: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, clients: Vec::new() })
    }

    /// Lets in who wants to, and lets go who went. Returns how many are there.
    pub(crate) fn look(&mut self) -> usize {
        while let Ok((client, _)) = self.listener.accept() {
            if self.clients.len() < MOST && client.set_nonblocking(true).is_ok() {
                let _ = client.set_nodelay(true);
                self.clients.push(client);
            }
        }
        // gpsd writes corrections to all of its devices, and so also back to where they come from.
        let mut octets = [0; 4096];
        self.clients.retain_mut(|client| {
            loop {
                match client.read(&mut octets) {
                    Ok(0) => return false,
                    Ok(_) => {}
                    Err(e) => return e.kind() == io::ErrorKind::WouldBlock,
                }
            }
        });
        self.clients.len()
    }

    /// Sends bytes to all clients. A client that does not take them at once has stopped reading,
    /// and is disconnected: half a frame is useless.
    pub(crate) fn give(&mut self, octets: &[u8]) {
        self.clients.retain_mut(|client| client.write(octets).is_ok_and(|n| n == octets.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_get_it_and_who_does_not_read_is_let_go() {
        let mut feed = Feed::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let at = feed.listener.local_addr().unwrap();
        let (mut one, idle) = (TcpStream::connect(at).unwrap(), TcpStream::connect(at).unwrap());
        while feed.look() < 2 {}
        one.write_all(b"what it gives back").unwrap();
        feed.give(b"corrections");
        let mut got = [0; 11];
        one.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"corrections");
        drop(one);
        while feed.look() > 1 {}
        while !feed.clients.is_empty() {
            feed.give(&[0; 4096]);
        }
        drop(idle);
    }
}
