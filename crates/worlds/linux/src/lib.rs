//! The part of a node that faces the kernel.
//!
//! * [`packet_socket`]: frames of the mesh interface. [`filter`]: which of them the kernel hands over. `ring`: where it puts
//!   them. [`syscalls`]: the calls that no safe crate offers.
//! * [`Tun`]: programs' packets. [`ip_sockets`], [`ArpSocket`], [`EchoSocket`]: IP packets, ARP and pings beside the kernel's
//!   stack.
//! * [`netlink`], `rules`: addresses, routes, rules, and news of neighbours. [`listing`]: what of these there is. [`host_news`]:
//!   what of these changed.
//! * [`nftables`]: tables of a gateway.
//! * [`ebpf`]: programs at the interface, where the kernel forwards.
//! * [`interface`]: what an interface is, and its settings.
//! * [`TcpConnections`]: what the kernel's TCP tells of programs' connections.
//! * [`priority`]: threads that are on time.
//! * [`wifi`]: what a wireless interface tells beside frames.
//! * [`probe`]: what this host can do, for `wayhop doctor`.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod arp_socket;
pub mod ebpf;
mod echo_socket;
mod error;
mod exchange;
pub mod filter;
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
mod source_route;
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
pub use tunnel_routes::Way;
