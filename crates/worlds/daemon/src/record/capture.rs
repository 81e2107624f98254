//! Captures, written by a separate thread. It never delays packets: frames beyond its queue are
//! dropped and counted.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wayhop_core::IfaceId;
use wayhop_linux::Error;
use wayhop_trace::{Direction, EthernetFrame, put_ethernet_frame, put_ethernet_headers};

use crate::config::node_config::Capture as Settings;

/// How long frames may wait in memory, however many come.
const FLUSH_AFTER: Duration = Duration::from_millis(500);
/// How much waits to be written together, octets; more than the longest frame.
const ROOM: usize = 256 << 10;

struct Frame {
    time_ns: u64,
    iface: IfaceId,
    direction: Direction,
    signal_dbm: f32,
    len: u32,
    bytes: Vec<u8>,
}

/// A capture that nothing is written to yet. Its file is made with the rights that the node starts with.
pub(crate) struct CaptureFile {
    to: Blocks,
    settings: Settings,
    path: PathBuf,
}

/// A capture under way.
pub(crate) struct Capture {
    queue: Option<SyncSender<Frame>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    /// Frames that could not be written.
    lost: Arc<AtomicU64>,
    snap: usize,
    file: PathBuf,
}

impl CaptureFile {
    /// Makes the file.
    pub(crate) fn create<'a>(
        settings: &Settings,
        path: PathBuf,
        interfaces: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let cannot = |path: &Path| Error::system(format!("write the capture {}", path.display()));
        let file = File::create(&path).map_err(cannot(&path))?;
        let mut to = Blocks { file, waiting: Vec::new() };
        put_ethernet_headers(&mut to.waiting, interfaces, settings.snap_length_bytes);
        to.flush().map_err(cannot(&path))?;
        Ok(Self { to, settings: settings.clone(), path })
    }

    /// Begins to write, on a thread.
    pub(crate) fn begin(self) -> Result<Capture, Error> {
        let Self { to, settings, path } = self;
        let (queue, frames) = sync_channel(settings.queue_frames as usize);
        let lost = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&lost);
        let writer = std::thread::Builder::new()
            .name("capture".into())
            .spawn(move || write(&frames, to, &count))
            .map_err(Error::system("start a thread for the capture"))?;
        Ok(Capture {
            queue: Some(queue),
            writer: Some(writer),
            lost,
            snap: settings.snap_length_bytes as usize,
            file: path,
        })
    }
}

impl Capture {
    /// Frames that were taken and could not be written, since the last look.
    pub(crate) fn take_lost(&self) -> u64 {
        self.lost.swap(0, Ordering::Relaxed)
    }

    /// Takes a frame, given in two parts with the nanoseconds since 1970, if there is room for it.
    pub(crate) fn frame(
        &self,
        time_ns: u64,
        iface: IfaceId,
        [head, body]: [&[u8]; 2],
        direction: Direction,
        signal_dbm: f32,
    ) -> bool {
        let mut bytes = [head, body].concat();
        bytes.truncate(self.snap);
        let len = (head.len() + body.len()) as u32;
        let frame = Frame { time_ns, iface, direction, signal_dbm, len, bytes };
        self.queue.as_ref().is_some_and(|q| q.try_send(frame).is_ok())
    }

    /// Writes what waits, and says what went wrong with writing.
    pub(crate) fn end(mut self) -> Option<String> {
        self.queue = None;
        let e = self.writer.take()?.join().ok()?.err()?;
        Some(format!("the capture {} is incomplete: {e}", self.file.display()))
    }
}

/// While there is an error (a full disk), frames are taken, forgotten and counted: a node routes without a capture.
fn write(frames: &Receiver<Frame>, mut to: Blocks, lost: &AtomicU64) -> io::Result<()> {
    let mut outcome = Ok(());
    let mut block = Vec::new();
    let mut flushed = Instant::now();
    loop {
        match frames.recv_timeout(FLUSH_AFTER.saturating_sub(flushed.elapsed())) {
            Ok(Frame { time_ns, iface, direction, signal_dbm, len: original_len, bytes }) => {
                block.clear();
                let bytes = &bytes;
                let frame = EthernetFrame { iface, time_ns, direction, bytes, original_len, signal_dbm };
                put_ethernet_frame(&mut block, &frame);
                if let Err(e) = to.put(&block) {
                    lost.fetch_add(1, Ordering::Relaxed);
                    outcome = outcome.and(Err(e));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return outcome.and(to.flush()),
        }
        if flushed.elapsed() >= FLUSH_AFTER {
            outcome = outcome.and(to.flush());
            flushed = Instant::now();
        }
    }
}

/// A file of blocks. A block that a full disk truncated is completed when there is room again, so
/// that every block in the file is complete.
struct Blocks {
    file: File,
    waiting: Vec<u8>,
}

impl Blocks {
    /// Puts a block behind the others, or refuses it.
    fn put(&mut self, block: &[u8]) -> io::Result<()> {
        if self.waiting.len() + block.len() > ROOM {
            self.flush()?;
        }
        self.waiting.extend_from_slice(block);
        Ok(())
    }

    /// Writes what waits, as far as the system takes it.
    fn flush(&mut self) -> io::Result<()> {
        let mut written = 0;
        let outcome = loop {
            match self.file.write(&self.waiting[written..]) {
                _ if written == self.waiting.len() => break Ok(()),
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => written += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => break Err(e),
            }
        };
        self.waiting.drain(..written);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_reach_the_file_while_others_keep_coming() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("live.pcapng");
        let settings = Settings { file: None, snap_length_bytes: 256, queue_frames: 100 };
        let file = CaptureFile::create(&settings, path.clone(), ["eth1"]).unwrap();
        let begin = std::fs::metadata(&path).unwrap().len();
        let capture = file.begin().unwrap();
        let limit = Instant::now() + Duration::from_secs(60);
        // Sooner after each other than what makes a pause, and too few to fill the room in a minute.
        while std::fs::metadata(&path).unwrap().len() == begin {
            assert!(Instant::now() < limit, "they only wait");
            assert!(capture.frame(0, IfaceId(0), [&[0; 14], &[0; 46]], Direction::Tx, f32::NAN));
            std::thread::sleep(FLUSH_AFTER / 10);
        }
        assert_eq!(capture.end(), None);
    }
}
