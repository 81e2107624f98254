//! Packets that a protocol has no use for are not brought to it.

use super::*;

/// Has a use for packets of DSR, and keeps when it heard one.
#[derive(Default)]
struct Listener(Vec<Time>);

impl Protocol for Listener {
    fn data_plane(&self) -> DataPlane {
        DataPlane::PerPacket
    }
    fn interests(&self) -> Interests {
        Interests { overhear: true, ..Interests::default() }
    }
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        cx.consume(p);
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        cx.consume(p);
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, _: &[u8], _: Addr, _: &RxMeta) {
        self.0.push(cx.now());
    }
    fn wants_overheard(&self, packet: &[u8]) -> bool {
        ipv4::Packet::new_checked(packet).is_ok_and(|ip| ip.protocol() == ipv4::protocol::DSR)
    }
    fn on_tx_status(&mut self, _: &mut Cx<'_>, _: TxReport) {}
    fn on_timer(&mut self, _: &mut Cx<'_>, _: TimerKey) {}
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}

#[test]
fn what_it_does_not_want_moves_its_clock_all_the_same() {
    let engine = Engine::new(Listener::default(), stream(1, Purpose::Host, 0));
    let mut node = Node::new(ME, engine, Arc::new(IfaceConfig::default()));
    let mut w = RecordingWorld::default();
    let at = |s| Time::ZERO + Span::from_secs(s);
    let (udp, dsr) = (ipv4::protocol::UDP, ipv4::protocol::DSR);
    for (s, protocol) in [(1, dsr), (3, udp), (2, dsr), (4, udp), (5, dsr)] {
        let mut packet = [0; ipv4::HEADER_LEN];
        ipv4::Repr::new(FAR, ME, protocol, 0).emit(&mut packet);
        node.overhear(&mut w, at(s), &packet, FAR.into(), RxMeta::from(NEXT, false));
    }
    assert_eq!(node.protocol(0).0, [at(1), at(3), at(5)]);
}
