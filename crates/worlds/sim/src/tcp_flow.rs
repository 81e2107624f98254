//! A TCP flow: its connection's state machine, and its host's state.

use wayhop_core::{Addr, NodeId, Packet, Pool, Purpose, Rng, Time, stream};
use wayhop_trace::TcpSummary;
use wayhop_transport::tcp::{App, Connection, End, Io, Note, TcpConfig, stream as octets};
use wayhop_transport::{FlowConfig, FlowKind};
use wayhop_wire::{ip, tcp};

/// One flow's connection, and what the host keeps for it.
pub(crate) struct TcpFlow {
    connection: Connection,
    config: TcpConfig,
    start: Time,
    /// The node of each end.
    pub(crate) nodes: [u32; 2],
    /// When the event of each end's deadline comes up; later ones put themselves off.
    queued: [Option<Time>; 2],
    /// Packets that each end has made.
    made: [u64; 2],
    pub(crate) acks_received: u64,
    /// Octets delivered to each end that were not those of the stream: a defect.
    wrong: u64,
    completed: Option<Time>,
}

/// Lists for reuse.
#[derive(Default)]
pub(crate) struct Spare {
    pub(crate) packets: Vec<Vec<Packet>>,
    pub(crate) notes: Vec<Note>,
}

impl TcpFlow {
    pub(crate) fn new(
        flow: u32,
        c: &FlowConfig,
        ends: impl Fn(&FlowConfig, NodeId) -> Addr,
        seed: u64,
    ) -> Option<Self> {
        let FlowKind::Tcp(config) = c.kind else { return None };
        // A stream of its own, so that the flow's other draws stay what they are.
        let mut rng = stream(seed, Purpose::Traffic, u64::from(flow) | 1 << 40);
        let ends = (ends(c, c.src), ends(c, c.dst));
        Some(Self {
            connection: Connection::new(flow, c, config, ends, &mut rng),
            config,
            start: c.start,
            nodes: [c.src.0, c.dst.0],
            queued: [None; 2],
            made: [0; 2],
            acks_received: 0,
            wrong: 0,
            completed: None,
        })
    }

    /// The end that a node is.
    pub(crate) fn end_at(&self, node: u32) -> Option<End> {
        End::BOTH.into_iter().find(|e| self.nodes[*e as usize] == node)
    }
    /// Segments with data that the source has sent.
    pub(crate) fn sent(&self) -> u64 {
        self.connection.end(End::Client).counts().segments
    }
    /// Octets that arrived in order where the flow's data goes: at the server, and for requests their answers too.
    pub(crate) fn delivered(&self) -> u64 {
        match self.config.app {
            App::Requests { .. } => End::BOTH.iter().map(|e| self.connection.end(*e).delivered()).sum(),
            _ => self.connection.end(End::Server).delivered(),
        }
    }
    /// When everything had arrived, if it has.
    pub(crate) fn completed(&self) -> Option<Time> {
        self.completed
    }

    pub(crate) fn summary(&self) -> TcpSummary {
        let [client, server] = End::BOTH.map(|e| self.connection.end(e));
        let (c, s) = (client.counts(), server.counts());
        debug_assert_eq!(self.wrong, 0, "a connection delivers the octets that were sent");
        TcpSummary {
            variant: self.config.variant.name().to_owned(),
            delivered_bytes: self.delivered(),
            retransmissions: c.retransmissions + s.retransmissions,
            timeouts: c.timeouts + s.timeouts,
            fast_retransmits: c.fast_retransmits + s.fast_retransmits,
            acks_sent: self.made[1] - s.segments,
            acks_received: self.acks_received,
            notices: c.notices + s.notices,
            probes: c.probes + s.probes,
            completed_s: self.completed.map(|t| t.since(self.start).as_secs_f64()),
            answers: matches!(self.config.app, App::Requests { .. })
                .then(|| self.connection.messages(End::Client)),
        }
    }

    /// Calls the connection with what it needs.
    #[allow(clippy::too_many_arguments, reason = "the parts of a host that a connection uses")]
    pub(crate) fn call<R>(
        &mut self,
        now: Time,
        end: End,
        pool: &mut Pool,
        next_id: &mut u64,
        ip_id: &mut u16,
        rng: &mut Rng,
        out: &mut Vec<Packet>,
        notes: &mut Vec<Note>,
        f: impl FnOnce(&mut Connection, &mut Io<'_>) -> R,
    ) -> R {
        let mut at = self.connection.end(end).delivered();
        let wrong = &mut self.wrong;
        let mut check = |got: &[u8]| {
            if cfg!(debug_assertions) {
                let differ = got.iter().enumerate().filter(|(i, o)| **o != octets::octet_at(at + *i as u64));
                *wrong += differ.count() as u64;
            }
            at += got.len() as u64;
        };
        let mut io = Io { now, pool, next_id, ip_id, rng, out, notes, deliver: &mut check };
        let before = io.out.len();
        let answer = f(&mut self.connection, &mut io);
        self.made[end as usize] += (out.len() - before) as u64;
        if let App::Bulk { bytes: Some(n) } = self.config.app
            && self.completed.is_none()
            && self.connection.end(End::Server).delivered() == n
        {
            self.completed = Some(now);
        }
        answer
    }

    /// The node lost all that it knew of its end.
    pub(crate) fn lose(&mut self, end: End) {
        self.connection.lose(end);
    }

    /// The time, `now` at the earliest, for which an event of this end is to be queued, if it needs a new one.
    pub(crate) fn next_event(&mut self, end: End, now: Time) -> Option<Time> {
        let due = self.connection.deadline(end)?.max(now);
        let queued = &mut self.queued[end as usize];
        if queued.is_some_and(|q| q <= due) {
            return None;
        }
        *queued = Some(due);
        Some(due)
    }

    /// The same for an end that stood still until `now`.
    pub(crate) fn next_event_from(&mut self, end: End, now: Time) -> Option<Time> {
        self.queued[end as usize] = None;
        self.next_event(end, now)
    }

    /// An event of this end came up at `now`: whether its deadline has come.
    pub(crate) fn is_due(&mut self, end: End, now: Time) -> bool {
        let queued = &mut self.queued[end as usize];
        if *queued != Some(now) {
            // The deadline was moved forward and has another event.
            return false;
        }
        *queued = None;
        self.connection.deadline(end).is_some_and(|due| due <= now)
    }

    /// Whether the packet carries data or the end of the stream; `None` if it is no segment.
    pub(crate) fn carries_data(packet: &[u8]) -> Option<bool> {
        let ip = ip::Packet::new_checked(packet).ok()?;
        let segment = tcp::Packet::new_checked(ip.payload).ok()?;
        Some(!segment.payload().is_empty() || segment.flags().contains(tcp::Flags::FIN))
    }
}
