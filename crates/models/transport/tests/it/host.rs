//! A host of one source: it makes packets of what the source sends, and counts them.

use std::net::Ipv4Addr;

use wayhop_core::{
    Application as _, ApplicationCx, ApplicationEffect, ApplicationInput, FlowTag, Packet, PacketId,
    PacketMeta, Pool, Purpose, Rng, Time, TimerKey, stream,
};
use wayhop_transport::{Departures, FlowConfig, Source, datagram, echo_request};

/// The address of the source.
pub(crate) const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The address of the destination.
pub(crate) const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// The number of the flow.
pub(crate) const FLOW: u32 = 3;

pub(crate) struct Host {
    pub(crate) config: FlowConfig,
    pub(crate) departures: Departures,
    pub(crate) source: Source,
    rng: Rng,
    timer: Option<(Time, TimerKey)>,
    pool: Pool,
}

impl Host {
    /// The source has begun at time 0.
    pub(crate) fn new(config: FlowConfig, seed: u64) -> Self {
        let mut host = Self {
            source: Source::new(config.clone(), B.into()),
            config,
            departures: Departures::default(),
            rng: stream(seed, Purpose::Traffic, 0),
            timer: None,
            pool: Pool::new(),
        };
        assert!(host.call(Time::ZERO, ApplicationInput::Start).is_none());
        host
    }

    /// When the next packet is due.
    pub(crate) fn due(&self) -> Option<Time> {
        self.timer.map(|(at, _)| at)
    }
    /// The packet that is due.
    pub(crate) fn send(&mut self) -> Packet {
        self.send_at(self.due().expect("a packet is due"))
    }
    /// The same from a host that is late.
    pub(crate) fn send_at(&mut self, now: Time) -> Packet {
        let (_, key) = self.timer.take().expect("a packet is due");
        self.call(now, ApplicationInput::Timer(key)).expect("a packet")
    }

    /// Calls the source. The packet that it sends has its number as its identification.
    pub(crate) fn call(&mut self, now: Time, input: ApplicationInput<'_>) -> Option<Packet> {
        let (mut effects, mut packet) = (Vec::new(), None);
        self.source.on_input(&mut ApplicationCx::new(now, A.into(), &mut self.rng, &mut effects), input);
        let seq = self.departures.packets() as u32;
        let (id, flow) = (PacketId(seq.into()), Some(FlowTag { flow: FLOW, seq }));
        let meta = PacketMeta { id, flow, born: now };
        for effect in effects {
            match effect {
                ApplicationEffect::SetTimer(key, at) => self.timer = Some((at, key)),
                ApplicationEffect::Listen(port) => assert_eq!(port, self.config.src_port),
                ApplicationEffect::Send(d) => {
                    packet = Some(datagram(&d, A.into(), seq as u16, meta, &mut self.pool));
                }
                ApplicationEffect::EchoRequest(r) => {
                    packet = Some(echo_request(&r, A.into(), seq as u16, meta, &mut self.pool));
                }
                other => panic!("a source does not ask for {other:?}"),
            }
        }
        if packet.is_some() {
            self.departures.count(now);
        }
        packet
    }
}
