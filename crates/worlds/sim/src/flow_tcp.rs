//! The TCP of a flow's ends, and the flow's figures.

use wayhop_core::{Purpose, Time, stream};
use wayhop_trace::TcpSummary;
use wayhop_transport::tcp::{App, Counts, Endpoint, FlowEnd, HostTcp, TcpConfig};
use wayhop_transport::{FlowConfig, FlowKind};

use crate::hosted_streams::HostStreams;

/// Both ends: the client, then the server.
pub(crate) struct FlowTcp {
    config: TcpConfig,
    start: Time,
    pub(crate) hosts: [HostStreams; 2],
    /// Packets that each end has sent.
    packets: [u64; 2],
    /// Segments without data that arrived at the client.
    pub(crate) acks_received: u64,
    /// When everything had arrived, if it has.
    pub(crate) completed: Option<Time>,
}

impl FlowTcp {
    /// That of the flow with this index, if it is one of TCP.
    pub(crate) fn new(flow: u32, c: &FlowConfig, seed: u64) -> Option<Self> {
        let FlowKind::Tcp(config) = c.kind else { return None };
        // A stream of its own, so that the flow's other draws stay what they are.
        let mut rng = stream(seed, Purpose::Traffic, u64::from(flow) | 1 << 40);
        let ends = FlowEnd::draw(c, &config, &mut rng);
        Some(Self {
            config,
            start: c.start,
            hosts: ends.map(|end| HostStreams::new(HostTcp::of_flow(config, end))),
            packets: [0; 2],
            acks_received: 0,
            completed: None,
        })
    }

    /// An end sends a packet: its number in the flow.
    pub(crate) fn number(&mut self, end: usize) -> u32 {
        let number = self.packets.iter().sum::<u64>();
        self.packets[end] += 1;
        number as u32
    }

    /// An end was called.
    pub(crate) fn called(&mut self, now: Time) {
        if let App::Bulk { bytes: Some(n) } = self.config.app
            && self.completed.is_none()
            && self.delivered() == n
        {
            self.completed = Some(now);
        }
    }

    fn end(&self, end: usize) -> Option<&Endpoint> {
        self.hosts[end].tcp.endpoints().next()
    }

    /// Segments with data that the source has sent.
    pub(crate) fn sent(&self) -> u64 {
        self.end(0).map_or(0, |client| client.counts().segments)
    }

    /// Octets that arrived in order where the flow's data goes: at the server, and for requests their answers too.
    pub(crate) fn delivered(&self) -> u64 {
        let ends = if let App::Requests { .. } = self.config.app { 0..2 } else { 1..2 };
        ends.filter_map(|end| self.end(end)).map(Endpoint::delivered).sum()
    }

    pub(crate) fn summary(&self) -> TcpSummary {
        let [c, s] = [0, 1].map(|end| self.end(end).map_or_else(Counts::default, Endpoint::counts));
        TcpSummary {
            variant: self.config.variant.name().to_owned(),
            delivered_bytes: self.delivered(),
            retransmissions: c.retransmissions + s.retransmissions,
            timeouts: c.timeouts + s.timeouts,
            fast_retransmits: c.fast_retransmits + s.fast_retransmits,
            acks_sent: self.packets[1] - s.segments,
            acks_received: self.acks_received,
            notices: c.notices + s.notices,
            probes: c.probes + s.probes,
            completed_s: self.completed.map(|t| t.since(self.start).as_secs_f64()),
            answers: if let App::Requests { response_bytes, .. } = self.config.app {
                Some(self.end(0).map_or(0, Endpoint::delivered) / u64::from(response_bytes))
            } else {
                None
            },
        }
    }
}
