//! The run directory of a node, in the format of the other worlds (docs/reference/run-directory.md): what one node saw.

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_control::About;
use wayhop_core::{Addr, DropReason, NodeId, Packet, Time, TraceNote};
use wayhop_linux::Error;
use wayhop_trace::{
    Counter, HopEvent, HopKind, Manifest, NodeInfo, NoteEvent, Outputs, PacketClass, Recorder, RunDir,
    RunStatus, Summary, classify,
};
use wayhop_wire::ipv4;

use crate::config::Settings;
use crate::control::NODE;
use crate::counters::Counters;
use crate::host::Host;
use crate::monitor::give_to;

/// A run directory to which the node writes.
pub(crate) struct Run {
    recorder: Recorder,
}

fn wrong(e: &wayhop_trace::Error) -> Error {
    Error::System(format!("cannot write the run directory: {e}"))
}

/// Makes the directory, and gives it to the node's user.
pub(crate) fn make(path: &Path, settings: &Settings, seed: u64) -> Result<RunDir, Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let command = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let dir = RunDir::create(path, &Manifest::new(settings.to_toml()?, seed, command, now))
        .map_err(|e| wrong(&e))?;
    let captures = path.join("captures");
    let give = || {
        fs::create_dir_all(&captures)?;
        give_to(path, &settings.config.user)?;
        for entry in fs::read_dir(path)? {
            give_to(&entry?.path(), &settings.config.user)?;
        }
        Ok(())
    };
    give().map_err(Error::system(format!("give {} to {}", path.display(), settings.config.user)))?;
    Ok(dir)
}

impl Run {
    /// Begins to write, on a thread. What a slow disk has no time for is left out, and counted (`lost_rows`).
    pub(crate) fn begin(dir: RunDir, about: &About) -> Result<Self, Error> {
        let node = NodeInfo { name: about.name.clone(), addr: about.nodes[0].address };
        let recorder =
            Recorder::start(dir, &Outputs::default(), vec![node]).map_err(|e| wrong(&e))?.never_waiting();
        Ok(Self { recorder })
    }

    /// Something became of a packet.
    pub(crate) fn hop(
        &mut self,
        time: Time,
        kind: HopKind,
        p: &Packet,
        (peer, signal_dbm): (Addr, f32),
        reason: Option<DropReason>,
    ) {
        let (class, messages) = classify(p.bytes());
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return };
        self.recorder.hop(&HopEvent {
            time,
            packet: p.meta.id,
            flow: None,
            node: NodeId(NODE),
            bytes: p.len() as u32,
            source: ip.src(),
            destination: ip.dst(),
            peer,
            signal_dbm,
            kind,
            class: class.unwrap_or(PacketClass::Data),
            messages,
            ttl: ip.ttl(),
            reason,
        });
    }

    /// The protocol remarked something.
    pub(crate) fn note(&mut self, time: Time, note: TraceNote) {
        self.recorder.note(&NoteEvent { time, node: NodeId(NODE), note });
    }

    /// Rows that the disk had no time for.
    pub(crate) fn lost(&self) -> u64 {
        self.recorder.lost_records()
    }

    /// Writes the rest. The summary gets the hash of what was recorded.
    pub(crate) fn end(mut self, summary: &mut Summary, counters: &Counters) -> Result<(), Error> {
        for (name, value) in counters.named() {
            self.recorder.counter(&Counter { node: NodeId(NODE), layer: "host", name, value });
        }
        summary.trace_hash = self.recorder.hash().hex();
        self.recorder.finish(summary, RunStatus::Complete).map_err(|e| wrong(&e))
    }
}

impl Host {
    /// Something became of a packet: for the run directory, if there is one.
    pub(crate) fn hop(&mut self, kind: HopKind, p: &Packet, peer: (Addr, f32), reason: Option<DropReason>) {
        let now = self.now();
        if let Some(run) = &mut self.run {
            run.hop(now, kind, p, peer, reason);
        }
    }
}

/// In the place of a peer, and of a signal.
pub(crate) const NOBODY: (Addr, f32) = (Addr::UNSPECIFIED, f32::NAN);
