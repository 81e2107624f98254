//! Captures: frames go to a thread of their own, which writes them. It never keeps the packets waiting: what it has no
//! room for is dropped and counted.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use wayhop_trace::{Direction, EthernetFrame, put_ethernet_frame, put_ethernet_header};

use crate::config::Capture as Settings;
use crate::error::Error;

/// How long frames may wait in memory when few come.
const FLUSH_AFTER: Duration = Duration::from_millis(500);

struct Frame {
    time_ns: u64,
    direction: Direction,
    signal_dbm: f32,
    len: u32,
    bytes: Vec<u8>,
}

/// A capture under way.
pub(crate) struct Capture {
    queue: Option<SyncSender<Frame>>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
    snap: usize,
    file: std::path::PathBuf,
}

impl Capture {
    /// Begins one.
    pub(crate) fn begin(settings: &Settings, interface: &str) -> Result<Self, Error> {
        let cannot = |path: &Path| Error::system(format!("write the capture {}", path.display()));
        let file = File::create(&settings.file).map_err(cannot(&settings.file))?;
        let mut to = BufWriter::new(file);
        let mut head = Vec::new();
        put_ethernet_header(&mut head, interface, settings.snap_length_bytes);
        to.write_all(&head).and_then(|()| to.flush()).map_err(cannot(&settings.file))?;
        let (queue, frames) = sync_channel(settings.queue_frames as usize);
        let writer = std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || write(&frames, to))
            .map_err(Error::system("start a thread for the capture"))?;
        Ok(Self {
            queue: Some(queue),
            writer: Some(writer),
            snap: settings.snap_length_bytes as usize,
            file: settings.file.clone(),
        })
    }

    /// Takes a frame, if there is room for it.
    pub(crate) fn frame(&self, bytes: &[u8], direction: Direction, signal_dbm: f32) -> bool {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let frame = Frame {
            time_ns: now.as_nanos() as u64,
            direction,
            signal_dbm,
            len: bytes.len() as u32,
            bytes: bytes[..bytes.len().min(self.snap)].to_vec(),
        };
        self.queue.as_ref().is_some_and(|q| q.try_send(frame).is_ok())
    }

    /// Writes what waits, and says what went wrong with writing.
    pub(crate) fn end(mut self) -> Option<String> {
        self.queue = None;
        let e = self.writer.take()?.join().ok()?.err()?;
        Some(format!("the capture {} is not whole: {e}", self.file.display()))
    }
}

/// After an error (a full disk), frames are taken and forgotten: a node routes without a capture.
fn write(frames: &Receiver<Frame>, mut to: BufWriter<File>) -> std::io::Result<()> {
    let mut outcome = Ok(());
    let mut block = Vec::new();
    loop {
        let done = match frames.recv_timeout(FLUSH_AFTER) {
            Ok(f) => {
                block.clear();
                let frame = EthernetFrame {
                    time_ns: f.time_ns,
                    direction: f.direction,
                    bytes: &f.bytes,
                    original_len: f.len,
                    signal_dbm: f.signal_dbm,
                };
                put_ethernet_frame(&mut block, &frame);
                to.write_all(&block)
            }
            Err(RecvTimeoutError::Timeout) => to.flush(),
            Err(RecvTimeoutError::Disconnected) => return outcome.and(to.flush()),
        };
        outcome = outcome.and(done);
    }
}
