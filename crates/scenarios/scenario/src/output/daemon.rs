//! What a scenario says to the daemon of one of its nodes, in a lab or on a host of its own: settings of a node's
//! configuration (docs/reference/node.md).

use std::net::Ipv4Addr;

use crate::file::Scenario;
use crate::resolve::Resolved;

/// The seed, the protocol and the limits, as `path.key=value` settings.
pub fn daemon_settings(scenario: &Scenario) -> Vec<String> {
    let protocol = &scenario.protocol;
    let name = match protocol.library_path(&scenario.document) {
        Some(path) => format!("protocol.library={}", toml::Value::from(path.to_string_lossy().into_owned())),
        None => format!("protocol.name={}", protocol.name),
    };
    let mut sets = vec![name, format!("protocol.profile={}", protocol.profile())];
    sets.extend(protocol.overrides.iter().map(|(k, v)| format!("protocol.{k}={v}")));
    sets.extend(scenario.limits.settings());
    sets.extend(scenario.security.settings(&scenario.document));
    sets
}

impl Resolved {
    /// The address of a node as an interface has it, with the length of the network's prefix: `10.0.0.3/24`. `None` if the
    /// nodes' addresses lie in no common network.
    pub fn interface_address(&self, node: usize) -> Option<String> {
        let len = self.prefix_len()?;
        self.addresses.get(node).map(|addr| format!("{addr}/{len}"))
    }

    /// Settings of a daemon for a node's IPv6 address and static routes, as `path.key=value`. `names` are those of its
    /// interfaces, as far as they are known.
    pub fn network_settings(&self, node: usize, names: &[&str]) -> Vec<String> {
        let mut sets = Vec::new();
        if let Some(plan) = &self.ipv6 {
            sets.push(format!("address6=\"{}/{}\"", plan.addresses[node], plan.prefix_len));
        }
        let of_node = self.routes.iter().filter(|(n, _)| n.index() == node);
        let routes: Vec<String> = of_node
            .map(|(_, r)| {
                let name = names.get(r.iface.index()).map(|name| toml::Value::from(*name));
                let by = name.map_or_else(String::new, |name| format!(", interface={name}"));
                format!("{{destination=\"{}\", via=\"{}\"{by}}}", r.destination, r.next_hop)
            })
            .collect();
        if !routes.is_empty() {
            sets.push(format!("routes=[{}]", routes.join(", ")));
        }
        sets
    }

    /// The length of the shortest prefix from 8 on, in whole bytes, that all addresses share and that makes none of
    /// them the network's or the broadcast address.
    pub fn prefix_len(&self) -> Option<u8> {
        prefix(&self.addresses)
    }
}

fn prefix(addresses: &[Ipv4Addr]) -> Option<u8> {
    let first = addresses.first()?.to_bits();
    [24_u8, 16, 8].into_iter().find(|len| {
        let hosts = u32::MAX >> len;
        addresses.iter().all(|a| {
            let bits = a.to_bits();
            bits & !hosts == first & !hosts && bits & hosts != 0 && bits & hosts != hosts
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_network_is_the_smallest_that_all_nodes_are_hosts_of() {
        let net = |last: &[[u8; 4]]| prefix(&last.iter().map(|o| Ipv4Addr::from(*o)).collect::<Vec<_>>());
        assert_eq!(net(&[[10, 0, 0, 1], [10, 0, 0, 254]]), Some(24));
        assert_eq!(net(&[[10, 0, 0, 1], [10, 0, 0, 255]]), Some(16));
        assert_eq!(net(&[[10, 0, 0, 1], [10, 9, 0, 1]]), Some(8));
        assert_eq!(net(&[[10, 0, 0, 1], [11, 0, 0, 1]]), None);
    }
}
