//! Small kernel programs at the mesh interface (eBPF). Where the node itself forwards (DSR), one that keeps
//! all packets from the kernel's IP ([`close_interface`]). Where the kernel forwards (AODV), two
//! ([`ForwardingPrograms`]), and before them, in a node with a macfilter, [`IgnoringProgram`].
//!
//! The kernel would forward what comes from the mesh to any network that this host has a route to:
//! to its wire, its VPN, the Internet. One program drops packets from the interface to addresses
//! outside the mesh that the kernel would forward; packets to this host, and broadcasts, pass. The
//! kernel's rules (`ip rule`) could do the same, but cost every packet two searches through all
//! rules: for the route to its destination, and for the route back to its source.
//!
//! The other one drops messages of the routing protocol that are not the node's own: anyone who
//! could send them from a port of this host, or have it forward them, could impersonate the node.
//!
//! Both programs note which pairs of source and destination pass, so that AODV learns of the use of
//! its routes. A known pair costs one table lookup. This process removes the pairs ten times a
//! second; the next packet of a pair adds it again.
//!
//! Programs, table and their places at the interface (`tcx`, Linux 6.6) end with the file descriptors that hold them.
//!
//! * `program`: the programs.
//! * `table`: the pairs. `ignoring`: ignored transmitters. `shared`: shared memory.
//! * `bpf`: instructions, and the system calls.

mod bpf;
mod ignoring;
mod program;
mod shared;
mod table;

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd as _, BorrowedFd};

use self::bpf::AttachPoint;
pub use self::bpf::AttachedProgram;
pub use self::ignoring::IgnoringProgram;
use self::program::ProgramSpec;
pub use self::table::ForwardedPair;
use self::table::Table;
use crate::prefix::Prefix;

/// The programs at work.
pub struct ForwardingPrograms {
    table: Table,
    mark: u32,
    incoming: AttachedProgram,
    outgoing: AttachedProgram,
}

impl ForwardingPrograms {
    /// Sets the programs at an interface of a node with the address `own`. By the interfaces of the numbers `ways_on` the kernel may send on what
    /// is for addresses outside of the mesh. `port` is the routing protocol's, whose packets do
    /// not count as use, and leave with the mark ([`ForwardingPrograms::mark`]) only; `random` keeps others from choosing which
    /// pairs share a place in the table, and decides the mark.
    pub fn open(
        ifindex: u32,
        (own, mesh): (Ipv4Addr, Prefix),
        ways_on: &[u32],
        port: u16,
        random: u64,
    ) -> io::Result<Self> {
        let table = Table::new()?;
        // Not 0, which packets without a mark have.
        let mark = (random >> 32) as u32 | 1;
        let facts = ProgramSpec { own, mesh, ways_on, port, mark, map: table.map(), factor: random | 1 };
        let incoming = AttachedProgram::open(&program::incoming(&facts), ifindex, AttachPoint::In)?;
        let outgoing = AttachedProgram::open(&program::outgoing(&facts), ifindex, AttachPoint::Out)?;
        Ok(Self { table, mark, incoming, outgoing })
    }

    /// Sets them at another interface, as [`AttachedProgram::move_to`].
    pub fn move_to(&mut self, ifindex: u32) -> io::Result<()> {
        self.incoming.move_to(ifindex)?;
        self.outgoing.move_to(ifindex)
    }

    /// Whether both are at their places.
    pub fn are_in_place(&self) -> bool {
        self.incoming.is_in_place() && self.outgoing.is_in_place()
    }

    /// The mark that a socket gives messages of the routing protocol, so that they may leave (`SO_MARK`).
    pub fn mark(&self) -> u32 {
        self.mark
    }

    /// What keeps the mesh's packets within the mesh, also when another process holds it.
    pub fn place(&self) -> BorrowedFd<'_> {
        self.incoming.place.as_fd()
    }

    /// Takes out what has passed since the last look.
    pub fn take(&self) -> impl Iterator<Item = ForwardedPair> + '_ {
        self.table.take()
    }
}

/// Keeps what comes by an interface from the kernel's IP, versions 4 and 6, and from its ARP: the node has it from its packet
/// sockets, answers ARP itself, and hands on what it delivers by its TUN. It needs Linux 6.6.
pub fn close_interface(ifindex: u32) -> io::Result<AttachedProgram> {
    AttachedProgram::open(&program::closed(), ifindex, AttachPoint::In)
}

#[cfg(test)]
mod tests;
