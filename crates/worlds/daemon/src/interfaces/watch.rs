//! Checks that the interfaces still work as the node set them up.

use wayhop_linux::listing::LinkInfo;
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, interface};

use crate::interfaces::mesh_interface::MeshInterfaces;
use crate::interfaces::settings::interface_settings;
use crate::kernel::repairs::HostRepairs;
use crate::node::host::Host;
use crate::undo::DISABLE_IPV6;

/// What the interfaces were part of at the look before, with their numbers.
pub(crate) type PartOf = Vec<(u32, Option<u32>)>;

impl MeshInterfaces {
    /// How they work.
    pub(crate) fn check_links(
        &self,
        links: &[LinkInfo],
        part_of: &mut PartOf,
        netlink: &mut Netlink,
        (repairs, host): (&mut HostRepairs, &mut Host),
    ) -> Result<(), Error> {
        let own: Vec<&LinkInfo> = links.iter().filter(|l| self.has(l.index)).collect();
        let before = std::mem::replace(part_of, own.iter().map(|l| (l.index, l.part_of)).collect());
        for l in own {
            let was = before.iter().find(|(index, _)| *index == l.index);
            if was.is_some_and(|(_, was)| *was != l.part_of) {
                let whole = links.iter().find(|w| Some(w.index) == l.part_of);
                let now = whole.map_or("no bridge or bond", |w| &w.name);
                return Err(Error::System(format!(
                    "{} now belongs to {now}, which takes its packets, so the node exits",
                    l.name
                )));
            }
            if !l.has_arp {
                let what = format!("ARP on {}", l.name);
                repairs.tried(host, &what, "enabled again", netlink.set_arp_on(l.index))?;
            }
        }
        Ok(())
    }

    /// The programs at them, and the rules.
    pub(crate) fn check_programs(
        &mut self,
        netlink: &mut Netlink,
        repairs: &mut HostRepairs,
        host: &mut Host,
    ) -> Result<(), Error> {
        let mesh = self.addresses.mesh;
        for own in self.all.iter_mut().filter(|a| !a.is_gone) {
            let name = &own.name;
            if !own.programs.are_in_place() {
                let outcome = own.programs.move_to(name, own.facts.index).map_err(|(_, e)| e);
                let what = format!("the eBPF programs on {name}");
                repairs.tried(host, &what, "restored", outcome)?;
            }
            if !own.programs.need_rules(host.plane, self.outside) {
                continue;
            }
            let listed = netlink.is_confined(name);
            if !listed.map_err(Error::system("list the rules of this host"))? {
                let what = format!("the rules of {name}");
                let outcome = netlink.confine(name, mesh, self.outside);
                repairs.tried(host, &what, "restored", outcome)?;
            }
        }
        Ok(())
    }

    pub(crate) fn check_settings(&self, repairs: &mut HostRepairs, host: &mut Host) -> Result<(), Error> {
        for own in self.present() {
            let name = &own.name;
            for (key, value) in interface_settings(name, host.plane) {
                repairs.keep(host, &interface::ipv4_setting(name, key), (key, name), value)?;
            }
            if self.addresses.own6.is_some() {
                let path = interface::ipv6_setting(name, DISABLE_IPV6);
                repairs.keep(host, &path, (DISABLE_IPV6, name), "1")?;
            }
        }
        Ok(())
    }
}
