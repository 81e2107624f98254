//! Sends waiting frames, and records them in captures.

use std::io::ErrorKind;

use wayhop_core::{Frame, IfaceId, Payload, TxStatus};
use wayhop_linux::packet_socket::PacketSockets;
use wayhop_linux::syscalls::BATCH;
use wayhop_trace::Direction;

use crate::interfaces::mesh_interface::MeshInterfaces;
use crate::node::host::Host;
use crate::record::captures::{Captures, now_ns};
use crate::record::run_dir::RunRecord;

impl MeshInterfaces {
    /// Has the node's counters have what is counted elsewhere.
    pub(crate) fn count(&self, host: &mut Host) {
        host.around.counters.missed_frames += self.all.iter().map(|a| a.sockets.missed()).sum::<u64>();
        host.around.counters.auth = host.node.auth().map(wayhop_auth::Auth::counts);
        host.around.counters.lost_rows = host.around.run.as_ref().map_or(0, RunRecord::lost);
    }

    /// Sends what waits for the interfaces.
    pub(crate) fn push_all(&mut self, host: &mut Host, captures: &mut Captures) {
        // The node gives no frame of an interface that is down, such as an answer to what came just before: it waits.
        for (iface, a) in self.numbered().filter(|(_, a)| a.is_up) {
            push(host, iface, &mut a.sockets, captures);
        }
    }
}

/// Sends what waits for an interface. What the node hears of it comes after all of it.
fn push(host: &mut Host, iface: IfaceId, sockets: &mut PacketSockets, captures: &mut Captures) {
    let mut ended: Vec<(Frame, TxStatus)> = Vec::new();
    while host.node.queued(iface) > 0 {
        if let Some(t) = &mut host.timing {
            t.sending();
        }
        host.node.prepare(iface, BATCH);
        let headers: Vec<_> = host.frames(iface).take(BATCH).map(|(header, _)| header).collect();
        let frames = headers.iter().zip(host.frames(iface)).map(|(h, (_, f))| [&h[..], f.packet.bytes()]);
        // Before they leave: afterwards others may run first, and a receiver seem to be earlier than its sender.
        let begun_ns = now_ns();
        match sockets.send(frames) {
            Ok(n) => {
                if let Some(t) = &mut host.timing {
                    t.sent(n);
                }
                if !captures.is_empty() {
                    let taken = host.frames(iface).take(n).filter(|(_, f)| f.payload != Payload::Arp);
                    let mut note = |h: &[u8], f: &Frame| {
                        captures.frame(begun_ns, iface, [h, f.packet.bytes()], Direction::Tx, f32::NAN)
                    };
                    let lost = taken.filter(|(h, f)| !note(h, f)).count() as u64;
                    host.around.counters.capture_drops += lost;
                }
                ended.extend((0..n).filter_map(|_| host.sent(iface)));
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => break,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            // It has no room for it, or is down.
            Err(_) => ended.extend(host.refused(iface)),
        }
    }
    for (frame, status) in ended {
        host.finished(frame, status);
    }
}
