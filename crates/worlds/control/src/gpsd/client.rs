//! Reading positions from a running gpsd.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::reader::{GpsReport, Reader};

/// How long to wait before connecting again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// A gpsd that says nothing for so long is taken for gone: it reports once a second.
const SILENCE: Duration = Duration::from_secs(15);
/// The longest line, octets; gpsd's own limit is about 10,000.
const LONGEST_LINE: u64 = 64 * 1024;

/// Listens to a gpsd in a thread of its own, and connects again when it goes away. Dropped, it ends.
#[derive(Debug)]
pub struct Client {
    shared: Arc<GpsdFixes>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct GpsdFixes(Mutex<ClientState>);

#[derive(Debug, Default)]
struct ClientState {
    latest: Option<GpsReport>,
    trouble: Option<String>,
    connection: Option<TcpStream>,
    stopping: bool,
}

impl GpsdFixes {
    fn lock(&self) -> MutexGuard<'_, ClientState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Client {
    /// Begins to listen to the gpsd at `address`, such as `localhost:2947`. It need not run yet.
    pub fn start(address: &str) -> io::Result<Self> {
        let shared = Arc::new(GpsdFixes::default());
        let (stop, stopped) = channel();
        let thread = {
            let (shared, address) = (Arc::clone(&shared), address.to_owned());
            std::thread::Builder::new()
                .name("wh-gps".to_owned())
                .spawn(move || keep_listening(&address, &shared, &stopped))?
        };
        Ok(Self { shared, stop: Some(stop), thread: Some(thread) })
    }

    /// The last position; none before the first, and while the receiver knows none or gpsd is away.
    pub fn latest(&self) -> Option<GpsReport> {
        self.shared.lock().latest
    }

    /// Why there is no connection, while there is none.
    pub fn trouble(&self) -> Option<String> {
        self.shared.lock().trouble.clone()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Out of the wait between two connections, and out of one.
        drop(self.stop.take());
        let connection = {
            let mut state = self.shared.lock();
            state.stopping = true;
            state.connection.take()
        };
        if let Some(c) = connection {
            let _ = c.shutdown(std::net::Shutdown::Both);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn keep_listening(address: &str, shared: &GpsdFixes, stopped: &Receiver<()>) {
    let mut wait = RETRY.0;
    loop {
        let began = Instant::now();
        let outcome = listen(address, shared);
        {
            let mut state = shared.lock();
            if state.stopping {
                return;
            }
            state.latest = None;
            state.connection = None;
            let what = outcome.err().map_or_else(|| "connection closed".to_owned(), |e| e.to_string());
            state.trouble = Some(format!("gpsd at {address}: {what}"));
        }
        wait = if began.elapsed() > RETRY.1 { RETRY.0 } else { (wait * 2).min(RETRY.1) };
        if stopped.recv_timeout(wait / 2) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

fn listen(address: &str, shared: &GpsdFixes) -> io::Result<()> {
    let none = Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address"));
    let connect = |a| TcpStream::connect_timeout(&a, Duration::from_secs(5));
    let mut stream = address.to_socket_addrs()?.fold(none, |done, a| done.or_else(|_| connect(a)))?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    {
        let mut state = shared.lock();
        if state.stopping {
            return Ok(());
        }
        state.connection = Some(stream.try_clone()?);
        state.trouble = None;
    }
    stream.write_all(b"?WATCH={\"enable\":true,\"json\":true};\n")?;
    let mut lines = BufReader::new(stream);
    let mut reader = Reader::default();
    loop {
        let mut line = Vec::new();
        let n = (&mut lines).take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if n == 0 {
            return Ok(());
        }
        if n as u64 == LONGEST_LINE && line.last() != Some(&b'\n') {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a line is too long"));
        }
        if reader.take(&String::from_utf8_lossy(&line), Instant::now()) {
            shared.lock().latest = reader.latest();
        }
    }
}
