//! Turning a host into a node: each part sets itself up from its plan, in a safe order; then
//! unneeded privileges are dropped.

use wayhop_linux::Error;

use crate::config::plan::Plans;
use crate::config::settings::Settings;
use crate::control::socket::ControlSocket;
use crate::gateway::router::{Router, check_nft, uplink_index};
use crate::interfaces::set_up::{InterfaceSetup, look_at};
use crate::kernel::set_up::Kernel;
use crate::kernel::{addresses, privileges};
use crate::log::Log;
use crate::node::host::Host;
use crate::record::files::RecordFiles;
use crate::run::rooms::Rooms;
use crate::run::watch::HostWatch;
use crate::undo::{Claims, Undo};

/// Sets everything up, with this seed.
pub(crate) fn set_up(settings: &Settings, seed: u64) -> Result<(Rooms, HostWatch), Error> {
    let plan = Plans::of(settings, seed)?;
    let log = Log::open(plan.log.level, plan.log.file.as_deref(), &plan.user)?;
    let mut interfaces = InterfaceSetup::find(plan.interfaces)?;
    let claims = Claims::take(&interfaces.facts, &log)?;
    let mut kernel = Kernel::open(plan.kernel, interfaces.shortest_mtu())?;
    let mut host = Host::begin(plan.node, &interfaces.facts)?;
    interfaces.open_programs(&host, kernel.tun.index(), &log)?;
    let mut undo = Undo::start(claims, interfaces.program_places(), &log)?;
    interfaces.take(host.plane, &mut kernel.netlink, &mut undo, &log)?;
    kernel.prepare(interfaces.outside, &mut undo)?;
    let router = plan.gateway.map(|gateway| Router::open(gateway, &mut undo)).transpose()?;
    let mut interfaces = interfaces.attach(&mut host, &log)?;
    let watch = HostWatch::begin(&log)?;
    let files = RecordFiles::make(plan.record, &mut host)?;
    let socket = ControlSocket::open(plan.control, &mut undo, &log)?;
    undo.seal();
    privileges::give_up(&plan.user)?;
    // Only now: capabilities and `no_new_privs` are a thread's own, and new ones have those of the thread that makes them.
    let record = files.begin(&mut host, &log)?;
    let control = socket.serve()?;
    interfaces.begin_signals(&mut host, &log)?;
    Ok((Rooms { host, kernel, interfaces, router, record, control, log, undo }, watch))
}

impl Settings {
    /// Whether this host has what a node with these settings needs: all that can be seen without a change. A node that runs already, and
    /// may be told to take these settings, is no hindrance.
    ///
    /// # Errors
    /// What is missing or taken, and the remedy: as the node says it when it starts.
    pub fn check_host(&self) -> Result<(), Error> {
        let plan = Plans::of(self, 0)?;
        look_at(&plan.interfaces.names)?;
        if let Some(gateway) = &plan.gateway {
            uplink_index(&gateway.uplink)?;
            check_nft()?;
        }
        addresses::check(&plan.kernel, true)?;
        if nix::unistd::geteuid().is_root() {
            privileges::check_user(&plan.user)?;
        }
        Ok(())
    }
}
