//! A capture that is read while it is written.

use std::io::{self, Write};

use wayhop_core::IfaceId;

use super::pcapng::{
    EthernetFrame, capture_name, put_ethernet_frame, put_frame, put_interface_of, put_section, put_statistics,
};
use crate::{FrameEvent, InterfaceInfo, LinkKind};

/// A pcapng stream of the frames of some interfaces.
///
/// What it is written to takes whole blocks and never blocks: it refuses with [`io::ErrorKind::WouldBlock`] what it has no room
/// for. Frames that were refused are counted, and an Interface Statistics Block (`isb_ifdrop`) reports them before the
/// next frame that there is room for, and at the end, when the stream is dropped.
#[derive(Debug)]
pub struct FrameStream<W: Write> {
    to: W,
    /// By the node's interfaces; none for those that are left out.
    interfaces: Vec<Option<Interface>>,
    snaplen: usize,
    /// Blocks on their way, for reuse.
    blocks: Vec<u8>,
    /// Of the last frame, nanoseconds since 1970.
    time_ns: u64,
}

#[derive(Copy, Clone, Debug)]
struct Interface {
    /// In the stream.
    number: u8,
    kind: LinkKind,
    frames: u64,
    dropped: u64,
    /// How many of those dropped the reader knows of.
    told: u64,
}

impl<W: Write> FrameStream<W> {
    /// Begins a stream of all interfaces of a node, or of the one of this name. The interface of a node that has no other is
    /// called `node` in it. Each frame is cut to `snaplen` octets.
    ///
    /// # Errors
    /// If not even the first blocks are taken.
    pub fn begin(
        mut to: W,
        node: &str,
        interfaces: &[InterfaceInfo],
        only: Option<&str>,
        snaplen: u32,
    ) -> io::Result<Self> {
        let mut blocks = Vec::new();
        put_section(&mut blocks);
        let mut next = 0;
        let mut number = |i: &InterfaceInfo| {
            if only.is_some_and(|name| name != i.name) {
                return None;
            }
            put_interface_of(&mut blocks, capture_name(node, interfaces, i), i.kind, snaplen);
            next += 1;
            Some(Interface { number: next - 1, kind: i.kind, frames: 0, dropped: 0, told: 0 })
        };
        let interfaces = interfaces.iter().map(&mut number).collect();
        to.write_all(&blocks)?;
        Ok(Self { to, interfaces, snaplen: snaplen as usize, blocks, time_ns: 0 })
    }

    /// A frame of a simulated interface. An error means that there is no reader any more.
    pub fn frame(&mut self, f: &FrameEvent<'_>) -> io::Result<()> {
        let bytes = &f.bytes[..f.bytes.len().min(self.snaplen)];
        let original_len = f.original_len.max(f.bytes.len() as u32);
        self.put(f.iface, f.time.as_nanos(), |to, number, kind| {
            put_frame(to, &FrameEvent { iface: number, bytes, original_len, ..*f }, kind);
        })
    }

    /// A frame of a host's interface. An error means that there is no reader any more.
    pub fn ethernet(&mut self, f: &EthernetFrame<'_>) -> io::Result<()> {
        let bytes = &f.bytes[..f.bytes.len().min(self.snaplen)];
        let original_len = f.original_len.max(f.bytes.len() as u32);
        self.put(f.iface, f.time_ns, |to, number, _| {
            put_ethernet_frame(to, &EthernetFrame { iface: number, bytes, original_len, ..*f });
        })
    }

    fn put(
        &mut self,
        iface: IfaceId,
        time_ns: u64,
        block: impl FnOnce(&mut Vec<u8>, IfaceId, LinkKind),
    ) -> io::Result<()> {
        let Some(Some(i)) = self.interfaces.get_mut(iface.index()) else { return Ok(()) };
        self.time_ns = time_ns;
        self.blocks.clear();
        if i.told < i.dropped {
            put_statistics(&mut self.blocks, i.number.into(), time_ns, i.frames, i.dropped);
        }
        block(&mut self.blocks, IfaceId(i.number), i.kind);
        i.frames += 1;
        match self.to.write_all(&self.blocks) {
            Ok(()) => i.told = i.dropped,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => i.dropped += 1,
            Err(e) => return Err(e),
        }
        Ok(())
    }
}

impl<W: Write> Drop for FrameStream<W> {
    fn drop(&mut self) {
        self.blocks.clear();
        for i in self.interfaces.iter().flatten() {
            put_statistics(&mut self.blocks, i.number.into(), self.time_ns, i.frames, i.dropped);
        }
        // The reader may have gone, or have no room for it.
        let _ = self.to.write_all(&self.blocks);
    }
}
