//! The length of the streams in a run's TCP. Its packets do not show it: a retransmission is another packet with the
//! same bytes.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use wayhop_core::{NodeId, TcpConnection};
use wayhop_trace::{ConversationEnds, Error, HopEvent, Tables};

/// IP's number of TCP.
const TCP: u8 = 6;

#[derive(Default)]
pub(crate) struct SentByTcp {
    /// Octets of payload, those sent again included.
    octets: BTreeMap<ConversationEnds, u64>,
    /// Whose a scenario's connection is, by its flow and its sender.
    flows: FxHashMap<(u32, NodeId), ConversationEnds>,
}

/// The kernel's view of the connections between two ends.
#[derive(Copy, Clone, Default)]
struct TcpOctets {
    /// Of those that are over: octets sent, and of these again.
    earlier: [u64; 2],
    now: [u64; 2],
}

impl SentByTcp {
    pub(crate) fn add(&mut self, ends: ConversationEnds, packet: &HopEvent, payload: u32) {
        if ends.protocol != TCP {
            return;
        }
        *self.octets.entry(ends).or_default() += u64::from(payload);
        if let Some(tag) = packet.flow {
            self.flows.insert((tag.flow, packet.node), ends);
        }
    }

    /// Bytes of the streams in a table: `tcp` of a scenario's connections, `connections` of programs'.
    pub(crate) fn streams(&self, tables: &Tables<'_>) -> Result<BTreeMap<ConversationEnds, u64>, Error> {
        let mut told: BTreeMap<ConversationEnds, TcpOctets> = BTreeMap::new();
        tables.connections(&mut |e| {
            told.entry(ends(&e.connection)).or_default().look(&e.connection);
            Ok(())
        })?;
        let known = told.into_iter().map(|(ends, told)| {
            let [sent, again] = [0, 1].map(|i| told.earlier[i].saturating_add(told.now[i]));
            // What was sent behind the last look, only the packets tell.
            let all = self.octets.get(&ends).copied().unwrap_or_default().max(sent);
            (ends, all.saturating_sub(again))
        });
        let mut streams: BTreeMap<ConversationEnds, u64> = known.collect();
        tables.tcp(&mut |e| {
            if let Some(ends) = self.flows.get(&(e.flow, e.node)).filter(|_| e.bytes > 0) {
                let end = e.octet.saturating_add(e.bytes.into());
                let so_far = streams.entry(*ends).or_default();
                *so_far = end.max(*so_far);
            }
            Ok(())
        })?;
        Ok(streams)
    }
}

/// What a connection's local end sends, as packets have it.
fn ends(c: &TcpConnection) -> ConversationEnds {
    let e = &c.ends;
    ConversationEnds {
        source: e.local,
        destination: e.remote,
        protocol: TCP,
        ports: Some((e.local_port, e.remote_port)),
    }
}

impl TcpOctets {
    fn look(&mut self, c: &TcpConnection) {
        if c.sent < self.now[0] {
            // Counts only grow: this is a new connection between the same ends.
            self.earlier = [0, 1].map(|i| self.earlier[i].saturating_add(self.now[i]));
        }
        self.now = [c.sent, c.sent_again];
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use wayhop_core::{Addr, IfaceId, PacketId, Span, TcpEnds, Time};
    use wayhop_trace::{
        ConnectionEvent, HopKind, Identity, Manifest, Messages, NodeInfo, Outputs, PacketClass, Recorder,
        RunDir, RunStatus, Summary,
    };

    use super::*;

    const PORTS: (u16, u16) = (40_000, 5_201);

    fn address(node: u8) -> Addr {
        Ipv4Addr::new(10, 0, 0, node).into()
    }

    /// A segment of the client, at node 0.
    fn segment(ms: u64, octets: u32) -> (HopEvent, Identity) {
        let hop = HopEvent {
            iface: IfaceId::ANY,
            time: Time::from_nanos(ms * 1_000_000),
            packet: PacketId(ms),
            flow: None,
            node: NodeId(0),
            bytes: 40 + octets,
            source: address(1),
            destination: address(2),
            peer: Ipv4Addr::UNSPECIFIED.into(),
            signal_dbm: f32::NAN,
            kind: HopKind::Originate,
            class: PacketClass::Data,
            messages: Messages::NONE,
            ttl: 64,
            reason: None,
        };
        let ports = Some(PORTS);
        (hop, Identity { frame: ms, end_to_end: ms, protocol: TCP, ports, payload: octets, echo: None })
    }

    fn look(ms: u64, sent: u64, sent_again: u64) -> ConnectionEvent {
        let ends =
            TcpEnds { local: address(1), local_port: PORTS.0, remote: address(2), remote_port: PORTS.1 };
        let connection = TcpConnection {
            ends,
            state: "established",
            sent,
            sent_again,
            acked: 0,
            received: 0,
            retransmissions: 0,
            in_flight: 0,
            window: 10,
            threshold: None,
            segment: 1_000,
            srtt: None,
            deviation: None,
            rto: Span::from_millis(200),
        };
        ConnectionEvent { time: Time::from_nanos(ms * 1_000_000), node: NodeId(0), connection }
    }

    /// The octets of the flow that the import makes of these segments and looks, and the remarks about it.
    fn imported(segments: &[(u64, u32)], looks: &[ConnectionEvent]) -> (i64, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        let run = RunDir::create(dir.path(), &Manifest::new("", 7, vec![], 0), wayhop_protocols::CLASSIFIER)
            .unwrap();
        let outputs = Outputs { identities: true, connections: !looks.is_empty(), ..Outputs::default() };
        let node = |n: u8| NodeInfo::with_radio(format!("n{n}"), Ipv4Addr::new(10, 0, 0, n));
        let mut recorder = Recorder::start(run, &outputs, vec![node(1), node(2)]).unwrap();
        for (ms, octets) in segments {
            let (hop, identity) = segment(*ms, *octets);
            recorder.hop(&hop);
            recorder.identity(&hop, identity);
        }
        for e in looks {
            recorder.connection(e);
        }
        let mut summary = Summary { protocol: "dsr".to_owned(), simulated_s: 9.0, ..Summary::default() };
        recorder.finish(&mut summary, RunStatus::Complete).unwrap();
        let i = crate::run(&RunDir::open(dir.path(), wayhop_protocols::CLASSIFIER).unwrap()).unwrap();
        (i.flow()["bytes"].as_integer().unwrap(), i.remarks)
    }

    #[test]
    fn octets_that_were_sent_again_are_no_data() {
        // 1,000 + 1,000 + 500 bytes; the second 1,000 went twice, as the last look shows.
        let segments = [(1_000, 1_000), (1_100, 1_000), (1_200, 1_000), (1_300, 500)];
        let looks = [look(1_050, 1_000, 0), look(1_400, 3_500, 1_000)];
        let (octets, remarks) = imported(&segments, &looks);
        assert_eq!(octets, 2_500);
        assert!(!remarks.iter().any(|r| r.contains("retransmitted")), "{remarks:?}");
        // What left behind the last look is told by the packets.
        assert_eq!(imported(&[&segments[..], &[(1_500, 300)]].concat(), &looks).0, 2_800);
        // What a full queue lost before the node recorded it was sent, and then again.
        assert_eq!(imported(&segments[1..], &looks).0, 2_500);
    }

    #[test]
    fn connections_between_the_same_ends_add_up() {
        let looks = [look(1_050, 1_500, 500), look(2_050, 300, 100)];
        assert_eq!(imported(&[(1_000, 1_500), (2_000, 300)], &looks).0, 1_200);
    }

    #[test]
    fn a_run_without_the_table_says_that_it_does_not_tell() {
        let (octets, remarks) = imported(&[(1_000, 1_000), (1_100, 1_000)], &[]);
        assert_eq!(octets, 2_000);
        let said = "1 TCP flow may include retransmitted bytes";
        assert!(remarks.iter().any(|r| r.starts_with(said)), "{remarks:?}");
        // A lab takes no TCP flows: the remark that recommends one says so.
        let lab = remarks.iter().find(|r| r.contains("wayhop lab")).unwrap();
        assert!(lab.contains("without its 1 flow of kind tcp") && lab.contains("--set traffic=[]"), "{lab}");
    }
}
