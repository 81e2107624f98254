//! A module in an interpreter: calls reach its handlers, and their effects come back.
#![cfg(unix)]

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use serde_json::Map;
use wayhop_core::{
    Cx, Effect, HeldPackets, Interface, PacketMeta, Pool, Protocol, Purpose, Rng, RxMeta, Time, stream,
};

struct Host {
    rng: Rng,
    pool: Pool,
    next_id: u64,
}

impl Host {
    fn call(
        &mut self,
        engine: &mut dyn Protocol,
        f: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>),
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        let own = Ipv4Addr::new(10, 0, 0, 1);
        let (rng, pool, id) = (&mut self.rng, &mut self.pool, &mut self.next_id);
        f(engine, &mut Cx::new(Time::ZERO, own, Interface::default(), rng, pool, id, &mut effects));
        effects
    }
}

/// An IPv4 packet from 10.0.0.1 to 10.0.0.2, of protocol 200.
const PACKET: [u8; 24] =
    [0x45, 0, 0, 24, 0, 0, 0, 0, 64, 200, 0x66, 0x0b, 10, 0, 0, 1, 10, 0, 0, 2, b'd', b'a', b't', b'a'];

#[test]
fn flooding_sends_a_packet_once() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/python/flooding.py");
    let description = wayhop_foreign::load(&module).unwrap();
    assert_eq!((description.name, description.host.header_room), ("flooding", 4));
    let parameters = (description.read)(Map::new()).unwrap();
    assert_eq!(parameters.values()["hops"], 16);
    let mut engine = Arc::clone(&parameters).engine();
    let mut host = Host { rng: stream(1, Purpose::Protocol, 0), pool: Pool::new(), next_id: 0 };
    let started = host.call(&mut *engine, |e, cx| e.start(cx));
    assert!(matches!(started[..], [Effect::Open(_)]), "{started:?}");
    let data = host.pool.packet(&PACKET, PacketMeta::default());
    let mut sent = host.call(&mut *engine, |e, cx| e.on_outbound(cx, data));
    let Some(Effect::Send(packet, spec)) = sent.pop() else { panic!("{sent:?}") };
    assert!(sent.is_empty() && spec.delay.as_nanos() < 10_000_000, "{spec:?}");
    assert_eq!((packet.len(), packet.bytes()[9]), (28, 253));
    assert_eq!(packet.bytes()[20..22], [200, 16]);
    let rx = RxMeta::from(Ipv4Addr::new(10, 0, 0, 2), true);
    let heard = host.call(&mut *engine, |e, cx| e.on_frame(cx, packet, &rx));
    assert!(matches!(heard[..], [Effect::Drop(..)]), "{heard:?}");
    let mut held = HeldPackets::default();
    engine.inspect(Time::ZERO, &mut held);
    assert!(held.0.is_empty(), "{held:?}");
}
