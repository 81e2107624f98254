//! The kernel programs at an interface.

use std::io;

use wayhop_core::{DataPlane, Socket};
use wayhop_linux::ebpf::{AttachedProgram, ForwardingPrograms, IgnoringProgram, close_interface};
use wayhop_linux::{Error, Table};

use crate::config::plan::{InterfacesPlan, WayOut};
use crate::kernel::random::random_seed;
use crate::log::Log;
use crate::node::host::Host;

/// What stands at an interface, in this order.
pub(crate) struct InterfacePrograms {
    /// Keeps from a kernel that forwards what ignored transmitters send.
    pub(crate) ignoring: Option<IgnoringProgram>,
    /// Keeps the mesh's packets within the mesh, and tells which routes of the kernel are used.
    pub(crate) forwarding: Option<ForwardingPrograms>,
    /// Where the kernel does not forward: keeps what comes by the interface from its IP.
    pub(crate) closed: Option<AttachedProgram>,
}

impl InterfacePrograms {
    /// Those of a kernel that forwards, and may send on to the interfaces `ways` what is for an address outside.
    pub(crate) fn open(
        plan: &InterfacesPlan,
        host: &Host,
        (name, ifindex): (&str, u32),
        ways: &[u32],
        log: &Log,
    ) -> Result<Self, Error> {
        let known = plan.macfilter.cards.clone();
        let ignoring = (host.plane == DataPlane::Forwarding && !known.is_empty())
            .then(|| IgnoringProgram::open(ifindex, known))
            .transpose()
            .map_err(Error::system(format!("attach the macfilter to {name} (requires Linux 6.6)")))?;
        let forwarding = watch_forwarding(plan, host, (name, ifindex), ways, log)?;
        Ok(Self { ignoring, forwarding, closed: None })
    }

    /// Keeps what comes by an interface from the kernel's IP: who filters the TUN has filtered the mesh.
    pub(crate) fn close(&mut self, name: &str, ifindex: u32, log: &Log) {
        let closed = close_interface(ifindex);
        if let Err(e) = &closed {
            log.warning(format_args!(
                "cannot block plain IP on {name} ({e}; requires Linux 6.6): anyone in radio range can \
                     reach this host's services; filter {name} as well as the TUN interface"
            ));
        }
        self.closed = closed.ok();
    }

    /// Whether rules of the kernel say where packets go that come by the interface: to the ways `outside`, or, where no program stands,
    /// nowhere but into the mesh.
    pub(crate) fn need_rules(&self, plane: DataPlane, outside: Option<Table>) -> bool {
        plane == DataPlane::Forwarding && (outside.is_some() || self.forwarding.is_none())
    }

    pub(crate) fn are_in_place(&self) -> bool {
        self.ignoring.as_ref().is_none_or(|p| p.attached.is_in_place())
            && self.forwarding.as_ref().is_none_or(ForwardingPrograms::are_in_place)
            && self.closed.as_ref().is_none_or(AttachedProgram::is_in_place)
    }

    /// Has them stand at the interface of this name and number, the one first that ignores.
    ///
    /// # Errors
    /// What was not done, and why.
    pub(crate) fn move_to(&mut self, name: &str, ifindex: u32) -> Result<(), (String, io::Error)> {
        if let Some(program) = &mut self.ignoring {
            program.attached.move_to(ifindex).map_err(|e| (format!("attach the macfilter to {name}"), e))?;
        }
        if let Some(programs) = &mut self.forwarding {
            programs.move_to(ifindex).map_err(|e| (format!("attach eBPF programs to {name}"), e))?;
        }
        if let Some(program) = &mut self.closed {
            program.move_to(ifindex).map_err(|e| (format!("block plain IP on {name}"), e))?;
        }
        Ok(())
    }
}

/// Has programs in the kernel watch what passes an interface, where the kernel forwards. Without them, rules of the kernel keep the
/// mesh's packets within the mesh. And without a report of their use, routes end although they are used, and are looked for again.
fn watch_forwarding(
    plan: &InterfacesPlan,
    host: &Host,
    (name, ifindex): (&str, u32),
    ways: &[u32],
    log: &Log,
) -> Result<Option<ForwardingPrograms>, Error> {
    let port = host.sockets().find_map(|s| if let Socket::Udp(port) = s { Some(port) } else { None });
    let Some(port) = port.filter(|_| host.plane == DataPlane::Forwarding) else { return Ok(None) };
    let random = random_seed().map_err(Error::system("get a random number"))?;
    let own = (plan.addresses.own, plan.addresses.mesh);
    match ForwardingPrograms::open(ifindex, own, ways, port, random) {
        Ok(programs) => Ok(Some(programs)),
        Err(e) if matches!(plan.way_out, WayOut::None) => {
            log.warning(format_args!(
                "cannot attach eBPF programs to {name} ({e}; requires Linux 6.6): routes in use will \
                     expire and be rediscovered, and packets are confined to the mesh by slower rules"
            ));
            Ok(None)
        }
        Err(e) => Err(Error::System(format!(
            "cannot attach eBPF programs to {name} ({e}): a mesh with gateways needs Linux 6.6 here, or a \
             protocol that handles every packet itself"
        ))),
    }
}
