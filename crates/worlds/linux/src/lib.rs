//! The interface to the Linux kernel.
//!
//! * [`packet_socket`]: frames of the mesh interface. [`filter`]: which of them the kernel passes
//!   on. `ring`: their memory. [`syscalls`]: the calls that no safe crate offers.
//! * [`Tun`]: programs' packets. [`ip_sockets`], [`ArpSocket`], [`EchoSocket`]: IP packets, ARP and
//!   pings outside the kernel's stack.
//! * [`netlink`], `rules`: addresses, routes, rules, and news of neighbours. [`listing`]: their
//!   current state. [`host_news`]: their changes.
//! * [`nftables`]: tables of a gateway.
//! * [`ebpf`]: programs at the interface, where the kernel forwards.
//! * [`interface`]: interfaces and their settings.
//! * [`TcpConnections`]: the state of programs' connections in the kernel's TCP.
//! * [`priority`]: threads that are on time. [`heap`]: memory in large pages.
//! * [`wifi`]: what a wireless interface reports besides frames.
//! * [`probe`]: this host's capabilities, for `wayhop doctor`.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod arp_socket;
pub mod ebpf;
mod echo_socket;
mod error;
mod exchange;
pub mod filter;
pub mod heap;
pub mod host_news;
pub mod interface;
pub mod ip_sockets;
pub mod listing;
pub mod netlink;
pub mod nftables;
pub mod packet_socket;
mod prefix;
pub mod priority;
pub mod probe;
mod ring;
mod routing_table;
mod rules;
pub mod syscalls;
mod tcp_connections;
mod tun;
mod tunnel_routes;
pub mod wifi;

pub use arp_socket::ArpSocket;
pub use echo_socket::EchoSocket;
pub use error::Error;
pub use prefix::Prefix;
pub use routing_table::Table;
pub use tcp_connections::TcpConnections;
pub use tun::Tun;
pub use tunnel_routes::TunnelRoute;

#[cfg(test)]
mod tests {
    /// Whether tests may make network namespaces; without root they are skipped, in CI they fail.
    #[expect(clippy::print_stderr, reason = "who runs the tests is told what was left out")]
    pub(crate) fn is_root() -> bool {
        let is_root = nix::unistd::geteuid().is_root();
        assert!(is_root || std::env::var_os("CI").is_none(), "this test needs root in CI");
        if !is_root {
            eprintln!("skipped: needs root");
        }
        is_root
    }
}
