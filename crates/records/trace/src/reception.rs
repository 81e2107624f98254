//! What became of a frame at a station: one row of the `receptions` table.

use wayhop_core::{FlowTag, IfaceId, NodeId, PacketId, Time};

/// What became of a frame at a node that should have received it.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ReceptionEvent {
    /// When its last bit left the sender.
    pub time: Time,
    /// When its first bit did.
    pub sent: Time,
    /// The node; `None` for an address that no node has.
    pub node: Option<NodeId>,
    /// Its interface.
    pub iface: IfaceId,
    /// The sender.
    pub sender: NodeId,
    /// `rts`, `cts`, `data`, `ack`, `broadcast`.
    pub frame: &'static str,
    /// The packet that it carries, or is exchanged for; `None` for address resolution.
    pub packet: Option<PacketId>,
    /// That packet's flow and number.
    pub flow: Option<FlowTag>,
    /// How often the packet or its RTS had been sent, including this time; 0 if unknown.
    pub attempt: u8,
    /// What became of it, from the set that `docs/reference/run-directory.md` lists.
    pub outcome: &'static str,
    /// Received power in dBm; NaN where there is none.
    pub signal_dbm: f32,
    /// The same without shadowing and fading.
    pub mean_signal_dbm: f32,
    /// What it needs.
    pub needed_dbm: f32,
    /// Whose frame was in its way.
    pub other: Option<NodeId>,
    /// What that frame was: as `frame`.
    pub other_frame: Option<&'static str>,
    /// The packet that one carried, or was exchanged for.
    pub other_packet: Option<PacketId>,
}

impl ReceptionEvent {
    /// What became of the frame, in words. `name` tells what a node is called.
    pub fn words(&self, name: impl Fn(NodeId) -> String) -> String {
        words(&Obstacle {
            outcome: self.outcome,
            signal_dbm: self.signal_dbm.into(),
            mean_signal_dbm: self.mean_signal_dbm.into(),
            needed_dbm: self.needed_dbm.into(),
            other: self.other.map(name),
            other_frame: self.other_frame,
            other_packet: self.other_packet.map(|p| p.0),
        })
    }
}

pub(crate) struct Obstacle<'a> {
    pub(crate) outcome: &'a str,
    pub(crate) signal_dbm: f64,
    pub(crate) mean_signal_dbm: f64,
    pub(crate) needed_dbm: f64,
    pub(crate) other: Option<String>,
    pub(crate) other_frame: Option<&'a str>,
    pub(crate) other_packet: Option<u64>,
}

pub(crate) fn words(o: &Obstacle<'_>) -> String {
    let frame = o.other_frame.map_or("another frame", frame_words);
    let packet = o.other_packet.map_or_else(String::new, |p| format!(" (packet {p})"));
    let of = o.other.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
    let (signal, mean, needed) = (o.signal_dbm, o.mean_signal_dbm, o.needed_dbm);
    match o.outcome {
        "duplicate" => "received again: the acknowledgement of the first time was lost".to_owned(),
        "refused" => "understood, but discarded: the node was in another exchange".to_owned(),
        "card_full" => "understood, but lost: the node's card had no free buffer".to_owned(),
        "collision" => format!("collision with {frame}{of}{packet}"),
        "receiving" => format!("the node was receiving {frame}{of}{packet}"),
        "sending" => format!("the node was sending {frame}{packet}"),
        "too_weak" => {
            let digits = digits(signal, needed);
            format!("too weak: {signal:.digits$} dBm, and {needed:.digits$} dBm are needed")
        }
        "faded" => {
            let digits = digits(signal, needed);
            format!(
                "faded: {signal:.digits$} dBm instead of {mean:.digits$} dBm, and {needed:.digits$} dBm are needed"
            )
        }
        "noise" => format!("bit errors: {signal:.2} dBm in noise"),
        "link" => "the link was overridden to be down or lossy".to_owned(),
        "node_down" => "the node was down".to_owned(),
        "cut_short" => "its sender went down in the middle of it".to_owned(),
        "no_station" => "no node has this address".to_owned(),
        "withheld" => "not sent: the medium was busy or reserved there".to_owned(),
        other => other.to_owned(),
    }
}

/// Decimals that distinguish two levels: two, or more if they are nearly equal.
fn digits(a: f64, b: f64) -> usize {
    (2..6).find(|&n| format!("{a:.n$}") != format!("{b:.n$}")).unwrap_or(2)
}

pub(crate) fn frame_words(frame: &str) -> &'static str {
    match frame {
        "rts" => "an RTS",
        "cts" => "a CTS",
        "ack" => "an ACK",
        "broadcast" => "a broadcast",
        "noise" => "a jammer's noise",
        _ => "a data frame",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_and_the_one_needed_are_told_apart() {
        let obstacle = |outcome, signal_dbm, needed_dbm| Obstacle {
            outcome,
            signal_dbm,
            mean_signal_dbm: -60.0,
            needed_dbm,
            other: None,
            other_frame: None,
            other_packet: None,
        };
        let of = |outcome, signal, needed| words(&obstacle(outcome, signal, needed));
        assert_eq!(of("too_weak", -71.26, -64.37), "too weak: -71.26 dBm, and -64.37 dBm are needed");
        assert_eq!(of("too_weak", -64.393, -64.374), "too weak: -64.39 dBm, and -64.37 dBm are needed");
        assert_eq!(
            of("faded", -64.3771, -64.3762),
            "faded: -64.377 dBm instead of -60.000 dBm, and -64.376 dBm are needed"
        );
        assert_eq!(of("too_weak", -64.4, -64.4), "too weak: -64.40 dBm, and -64.40 dBm are needed");
    }
}
