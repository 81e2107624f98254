//! One capture per node, for any number of nodes.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use wayhop_core::NodeId;

use super::pcapng::{put_frame, put_header};
use crate::{Error, FrameEvent, LinkKind, NodeInfo, RunDir};

/// A node's frames are appended to its file when there are this many octets of them.
const NODE_BYTES: usize = 64 << 10;
/// All frames are appended when there are this many octets in all.
const ALL_BYTES: usize = 32 << 20;

/// The captures of a run. Frames wait in memory and are appended by the block, so at most one file is open at any time.
pub(crate) struct Captures {
    /// By number; none for a node without a capture.
    nodes: Vec<Option<NodeFile>>,
    waiting: usize,
}

struct NodeFile {
    path: PathBuf,
    /// What each interface's frames are.
    kinds: Vec<LinkKind>,
    /// Whole blocks.
    waiting: Vec<u8>,
    /// Octets in the file.
    written: u64,
}

impl Captures {
    /// Captures of the nodes in `only`; of all if there is none.
    pub(crate) fn create(
        dir: &RunDir,
        snaplen: u32,
        nodes: &[NodeInfo],
        only: Option<&[NodeId]>,
    ) -> Result<Self, Error> {
        dir.make_captures_dir()?;
        let only: Option<BTreeSet<usize>> = only.map(|ids| ids.iter().map(|id| id.index()).collect());
        let mut paths = BTreeSet::new();
        let mut files = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            if only.as_ref().is_some_and(|o| !o.contains(&i)) {
                files.push(None);
                continue;
            }
            let path = dir.capture_path(&node.name);
            if !paths.insert(path.clone()) {
                let what =
                    format!("two nodes would write this capture; rename one of them (here `{}`)", node.name);
                return Err(Error::invalid(&path, what));
            }
            let mut waiting = Vec::new();
            put_header(&mut waiting, node, snaplen);
            let kinds = node.interfaces.iter().map(|i| i.kind).collect();
            files.push(Some(NodeFile { path, kinds, waiting, written: 0 }));
        }
        let waiting = files.iter().flatten().map(|f| f.waiting.len()).sum();
        Ok(Self { nodes: files, waiting })
    }

    /// Adds a frame; frames of nodes without a capture are ignored.
    pub(crate) fn write(&mut self, f: &FrameEvent<'_>) -> Result<(), Error> {
        let Some(Some(node)) = self.nodes.get_mut(f.node.index()) else { return Ok(()) };
        let before = node.waiting.len();
        let kind = node.kinds.get(f.iface.index()).copied().unwrap_or(LinkKind::Ieee80211);
        put_frame(&mut node.waiting, f, kind);
        self.waiting += node.waiting.len() - before;
        if node.waiting.len() >= NODE_BYTES {
            self.waiting -= node.waiting.len();
            node.append()?;
        }
        if self.waiting >= ALL_BYTES {
            self.append_all()?;
        }
        Ok(())
    }

    /// Appends what waits, also after an error, and tells the first one.
    pub(crate) fn append_all(&mut self) -> Result<(), Error> {
        self.waiting = 0;
        self.nodes.iter_mut().flatten().map(NodeFile::append).fold(Ok(()), Result::and)
    }
}

impl NodeFile {
    /// Appends what waits: all of it or, if that fails, nothing.
    fn append(&mut self) -> Result<(), Error> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let open = || match self.written {
            0 => File::create(&self.path),
            _ => OpenOptions::new().append(true).open(&self.path),
        };
        let outcome = open().map_err(Error::io(&self.path, "create")).and_then(|mut file| {
            file.write_all(&self.waiting).map_err(|e| {
                // Whole blocks stay readable; a file that cannot be cut (a device) stays as it is.
                let _ = file.set_len(self.written);
                Error::io(&self.path, "write")(e)
            })
        });
        if outcome.is_ok() {
            self.written += self.waiting.len() as u64;
        }
        self.waiting.clear();
        outcome
    }
}
