//! EventKind tests of several protocols say of a [`Net`].

use wayhop_core::{
    Addr, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, RxMeta, Span, Time, TimerKey,
    TxReport,
};

use crate::net::Net;

/// So many seconds after the start.
pub fn secs(s: f64) -> Time {
    Time::from_secs_f64(s)
}

/// So many milliseconds.
pub fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// A station that acknowledges frames and does nothing else.
#[derive(Copy, Clone, Debug)]
pub struct Mute;

impl Protocol for Mute {
    fn data_plane(&self) -> DataPlane {
        DataPlane::PerPacket
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }
    fn start(&mut self, _: &mut Cx<'_>) {}
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        cx.drop(p, DropReason::Policy);
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        cx.drop(p, DropReason::Policy);
    }
    fn on_tx_status(&mut self, _: &mut Cx<'_>, _: TxReport) {}
    fn on_timer(&mut self, _: &mut Cx<'_>, _: TimerKey) {}
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}

/// One node, 0, among mute stations 1 to 9, all in its range; a second has passed.
pub fn among_mutes(engine: impl Fn() -> Box<dyn Protocol>) -> Net {
    let mut net = Net::new(10, |id| if id.0 == 0 { engine() } else { Box::new(Mute) });
    (1..10).for_each(|n| net.up(0, n));
    net.run_until(secs(1.0));
    net
}

/// A column of the row of a destination in a node's table `routes`.
pub fn route(net: &Net, node: usize, to: impl Into<Addr>, column: &str) -> Option<String> {
    let to: Addr = to.into();
    net.inspect(node).cell("routes", "destination", &to.to_string(), column).map(str::to_owned)
}

/// A node's own sequence number, as its table `node` shows it.
///
/// # Panics
/// If it shows none.
pub fn own_seq(net: &Net, node: usize) -> u32 {
    let t = net.inspect(node);
    let row = t.table("node").next().expect("a row for the node");
    row.iter().find(|(c, _)| *c == "seq").expect("a number").1.parse().expect("a number")
}

/// How many packets a node holds.
pub fn held(net: &Net, node: usize) -> usize {
    net.inspect(node).held.len()
}
