//! A node's knowledge of the world beyond the mesh.

use serde::{Deserialize, Serialize};

use crate::{Addr, Prefix};

/// Which addresses are the mesh's, and which of the others this node leads to: nothing at most nodes, something at a gateway.
///
/// Every node of a mesh with gateways has one from its configuration. It is no list of nodes: who has an address of the mesh, and
/// whether anybody does, a node learns from its protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Outside {
    /// The mesh's own addresses. No gateway answers for one of them.
    pub mesh: Prefix,
    /// What this node reaches outside of the mesh, over an interface that leads out.
    pub reaches: Vec<Prefix>,
}

impl Outside {
    /// Whether an address can only be one outside of the mesh.
    pub fn is_beyond(&self, a: impl Into<Addr>) -> bool {
        let a = a.into();
        a.is_usable() && a.is_v4() == self.mesh.addr.is_v4() && !self.mesh.contains(a)
    }
    /// Whether this node leads to an address.
    pub fn leads_to(&self, a: impl Into<Addr>) -> bool {
        let a = a.into();
        self.is_beyond(a) && self.reaches.iter().any(|p| p.contains(a))
    }
    /// The same while the interface that leads out is down.
    #[must_use]
    pub fn cut_off(&self) -> Self {
        Self { mesh: self.mesh, reaches: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn a_gateway_leads_to_what_it_reaches_and_never_into_the_mesh() {
        let a = |a, b, c, d| Addr::from(Ipv4Addr::new(a, b, c, d));
        let all = Prefix::around(Addr::UNSPECIFIED, 0);
        let gateway = Outside { mesh: Prefix::around(a(10, 1, 0, 0), 16), reaches: vec![all] };
        assert!(gateway.leads_to(a(192, 0, 2, 1)) && gateway.leads_to(a(10, 2, 0, 1)));
        for inside_or_nobody in [a(10, 1, 9, 9), Addr::BROADCAST, Addr::UNSPECIFIED, a(224, 0, 0, 1)] {
            assert!(!gateway.leads_to(inside_or_nobody) && !gateway.is_beyond(inside_or_nobody));
        }
        let v6: Addr = "2001:db8::1".parse().unwrap();
        assert!(!gateway.is_beyond(v6));
        let cut = gateway.cut_off();
        assert!(cut.is_beyond(a(192, 0, 2, 1)) && !cut.leads_to(a(192, 0, 2, 1)));
    }
}
