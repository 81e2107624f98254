//! Connections: each with a task that reads and one that writes.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Sender, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use wayhop_bundle_node::Connection;

use crate::error::Error;
use crate::event::Event;

/// What the agent may have written that is not with the kernel yet, octets of a connection.
pub(crate) const ROOM: usize = 256 << 10;
/// Octets that are read at a time.
const READ: usize = 64 << 10;
/// How long a neighbour may take to answer a call.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most connections that others have opened.
const MAX_INCOMING: usize = 256;

/// Listens at this address and port.
pub(crate) async fn listen(at: Ipv4Addr, port: u16) -> Result<TcpListener, Error> {
    let listener = TcpListener::bind((at, port)).await;
    listener.map_err(Error::system(format!("cannot listen for TCPCL at {at}:{port}")))
}

/// Hands on the connections that come.
pub(crate) async fn accept(listener: TcpListener, events: Sender<Event>) {
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // Out of descriptors: others will go.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        if events.send(Event::Incoming(stream, from)).await.is_err() {
            return;
        }
    }
}

/// The connections that there are.
pub(crate) struct Connections {
    all: BTreeMap<Connection, OpenSocket>,
    places: Arc<Semaphore>,
    events: Sender<Event>,
}

struct OpenSocket {
    outbox: Option<UnboundedSender<Vec<u8>>>,
    reading: JoinHandle<()>,
    /// What was given to the task that writes, and is not written.
    waiting: usize,
}

impl Connections {
    pub(crate) fn new(events: Sender<Event>) -> Self {
        Self { all: BTreeMap::new(), places: Arc::new(Semaphore::new(MAX_INCOMING)), events }
    }

    /// Whether there is a place for one that came.
    pub(crate) fn has_place(&self) -> bool {
        self.places.available_permits() > 0
    }

    /// Calls a neighbour.
    pub(crate) fn call(&self, connection: Connection, to: SocketAddr) {
        let events = self.events.clone();
        tokio::spawn(async move {
            let event = match tokio::time::timeout(PATIENCE, TcpStream::connect(to)).await {
                Ok(Ok(stream)) => Event::Connected(connection, stream, to),
                _ => Event::Closed(connection),
            };
            // The agent may have ended meanwhile.
            let _ = events.send(event).await;
        });
    }

    /// Begins to read and to write.
    pub(crate) fn open(&mut self, connection: Connection, stream: TcpStream, is_incoming: bool) {
        // Small messages do not wait for each other.
        let _ = stream.set_nodelay(true);
        let place = is_incoming.then(|| Arc::clone(&self.places).try_acquire_owned().ok()).flatten();
        let (reader, writer) = stream.into_split();
        let (outbox, inbox) = unbounded_channel();
        tokio::spawn(write(connection, writer, inbox, self.events.clone()));
        let events = self.events.clone();
        let reading = tokio::spawn(async move {
            read(connection, reader, events).await;
            drop(place);
        });
        self.all.insert(connection, OpenSocket { outbox: Some(outbox), reading, waiting: 0 });
    }

    /// Has octets written. What is left of the room.
    pub(crate) fn write(&mut self, connection: Connection, octets: Vec<u8>) {
        if let Some(open) = self.all.get_mut(&connection)
            && let Some(outbox) = &open.outbox
        {
            open.waiting += octets.len();
            // It is gone if the connection broke, which the other task tells.
            let _ = outbox.send(octets);
        }
    }

    /// So many octets were written: the room now.
    pub(crate) fn written(&mut self, connection: Connection, octets: usize) -> usize {
        let Some(open) = self.all.get_mut(&connection) else { return 0 };
        open.waiting = open.waiting.saturating_sub(octets);
        ROOM.saturating_sub(open.waiting)
    }

    /// Closes a connection when all was written.
    pub(crate) fn close(&mut self, connection: Connection) {
        if let Some(mut open) = self.all.remove(&connection) {
            open.outbox = None;
            open.reading.abort();
        }
    }
}

async fn read(connection: Connection, mut reader: OwnedReadHalf, events: Sender<Event>) {
    let mut buffer = vec![0; READ];
    while let Ok(n @ 1..) = reader.read(&mut buffer).await {
        if events.send(Event::Octets(connection, buffer[..n].to_vec())).await.is_err() {
            return;
        }
    }
    let _ = events.send(Event::Closed(connection)).await;
}

async fn write(
    connection: Connection,
    mut writer: OwnedWriteHalf,
    mut inbox: UnboundedReceiver<Vec<u8>>,
    events: Sender<Event>,
) {
    while let Some(octets) = inbox.recv().await {
        if writer.write_all(&octets).await.is_err() {
            let _ = events.send(Event::Closed(connection)).await;
            return;
        }
        if events.send(Event::Written(connection, octets.len())).await.is_err() {
            return;
        }
    }
    let _ = writer.shutdown().await;
}
