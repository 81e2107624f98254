//! The receivers of each captured frame: the capture's file, and clients of the control socket.

use std::time::SystemTime;

use wayhop_control::{Call, Stream};
use wayhop_core::IfaceId;
use wayhop_trace::{Direction, EthernetFrame, FrameStream, InterfaceInfo, LinkKind};

use crate::record::capture::Capture;

/// The time of a frame that passes now, nanoseconds of the Unix epoch.
pub(crate) fn now_ns() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as u64
}

/// All captures under way.
pub(crate) struct Captures {
    pub(crate) file: Option<Capture>,
    live: Vec<FrameStream<Stream>>,
}

impl Captures {
    /// Into this file, so far.
    pub(crate) fn new(file: Option<Capture>) -> Self {
        Self { file, live: Vec::new() }
    }

    /// Whether nobody wants frames.
    pub(crate) fn is_empty(&self) -> bool {
        self.file.is_none() && self.live.is_empty()
    }

    /// Answers a request for a capture of these interfaces, in their order.
    pub(crate) fn begin<'a>(&mut self, call: Call, names: impl Iterator<Item = &'a str>) {
        let all: Vec<InterfaceInfo> =
            names.map(|name| InterfaceInfo { name: name.to_owned(), kind: LinkKind::Ethernet }).collect();
        let names = || all.iter().map(|i| i.name.as_str());
        let (only, snaplen) = match call.capture(names()) {
            Ok(wanted) => wanted,
            Err(e) => return call.answer(Err(e)),
        };
        let first = names().next().unwrap_or_default();
        let stream = call.stream("pcapng");
        // Without it, the client went away while it asked.
        self.live.extend(FrameStream::begin(stream, first, &all, only.as_deref(), snaplen));
    }

    /// Gives all a frame of this time, in two parts. Returns whether the file has room for it.
    pub(crate) fn frame(
        &mut self,
        time_ns: u64,
        iface: IfaceId,
        [head, body]: [&[u8]; 2],
        direction: Direction,
        signal_dbm: f32,
    ) -> bool {
        if self.is_empty() {
            return true;
        }
        if !self.live.is_empty() {
            let bytes = &[head, body].concat();
            let original_len = bytes.len() as u32;
            let frame = EthernetFrame { iface, time_ns, direction, bytes, original_len, signal_dbm };
            self.live.retain_mut(|stream| stream.ethernet(&frame).is_ok());
        }
        self.file.as_ref().is_none_or(|f| f.frame(time_ns, iface, [head, body], direction, signal_dbm))
    }
}
