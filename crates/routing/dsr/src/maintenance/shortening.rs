//! Automatic route shortening (RFC 4728 sections 3.4.3, 4.4 and 8.1.5).

use wayhop_core::{Cx, Span};
use wayhop_wire::dsr::{AddrList, DsrOption, RouteReply};

use crate::cache::Provenance;
use crate::cache::path::Path;
use crate::engine::state::Engine;
use crate::forwarding::view::RouteView;

impl Engine {
    /// Looks at an overheard data packet whose receiver is somebody else: if this node comes later
    /// on its way, the node that chose the route gets a gratuitous reply with the shorter one.
    pub(crate) fn shorten(&mut self, cx: &mut Cx<'_>, way: &RouteView) {
        let me = cx.addr();
        let Some(ahead) = way.ahead().iter().position(|&a| a == me).filter(|&at| at > 0) else { return };
        // The skipped hops must be links of this network, and so must the ones that lead back.
        if way.nodes.first_external() {
            return;
        }
        let holdoff = Span::from_millis(self.params.grat_reply_holdoff_ms.into());
        if !self.grat.admit(way, cx.now(), holdoff) {
            return;
        }
        let mut shorter = Path::from_nodes(way.passed().iter().chain(&way.ahead()[ahead..]).copied());
        shorter.set_last_external(way.nodes.last_external());
        let back = Path::from_nodes([me].into_iter().chain(way.passed().iter().rev().copied()));
        let Some(to) = back.last() else { return };
        self.learn(cx, &back, Provenance::Asked);
        let option = DsrOption::RouteReply(RouteReply {
            last_hop_external: shorter.last_external(),
            addresses: AddrList::from(&shorter.nodes()[1..]),
        });
        if let Some(p) = self.control(cx, to, &[option]) {
            cx.note("gratuitous_reply", to, shorter.hops() as u64);
            self.send_by(cx, p, &back, 0, Span::ZERO);
        }
    }
}
