//! The nodes' names for programs in them: a file mounted over `/etc/hosts`.

use std::fmt::{Display, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The text of the file: each node as `mesh-0`, `mesh-1`, ..., and by its own name if it has another.
/// With IPv6 addresses, each node has a line for either.
pub(crate) fn text(names: &[String], addresses: &[Ipv4Addr], addresses6: &[Ipv6Addr]) -> String {
    let mut out = "127.0.0.1 localhost\n".to_owned();
    lines(&mut out, names, addresses);
    lines(&mut out, names, addresses6);
    out
}

fn lines(out: &mut String, names: &[String], addresses: &[impl Display]) {
    for (i, (name, addr)) in names.iter().zip(addresses).enumerate() {
        let _ = write!(out, "{addr} mesh-{i}");
        // What is no host name would spoil the line.
        let is_host =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
        if is_host && name.parse::<u32>().is_err() && *name != format!("mesh-{i}") {
            let _ = write!(out, " {name}");
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_its_number_and_hosts_names_of_their_own_too() {
        let names = ["0", "gate-way", "bad name", "mesh-3"].map(str::to_owned);
        let addresses: Vec<Ipv4Addr> = (1..=4).map(|i| Ipv4Addr::new(10, 0, 0, i)).collect();
        assert_eq!(
            text(&names, &addresses, &["fd00:77::1".parse().unwrap()]),
            "127.0.0.1 localhost\n10.0.0.1 mesh-0\n10.0.0.2 mesh-1 gate-way\n10.0.0.3 mesh-2\n10.0.0.4 mesh-3\nfd00:77::1 mesh-0\n"
        );
    }
}
