//! Turning a host into a node: each part sets itself up from the settings, in a safe order; then
//! unneeded privileges are dropped.

use wayhop_linux::Error;

use crate::config::identity::about;
use crate::config::settings::Settings;
use crate::control::socket;
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
    let config = &settings.config;
    let log = Log::open(config.log, config.log_file.as_deref(), &config.user)?;
    let about = about(settings);
    let mut interfaces = InterfaceSetup::find(settings)?;
    let claims = Claims::take(&interfaces.facts, &log)?;
    let mut kernel = Kernel::open(settings, interfaces.shortest_mtu())?;
    let mut host = Host::begin(settings, (&about.name, seed), &interfaces.facts)?;
    interfaces.open_programs(&host, kernel.tun.index(), &log)?;
    let mut undo = Undo::start(claims, interfaces.program_places(), &log)?;
    interfaces.take(host.plane, &mut kernel.netlink, &mut undo, &log)?;
    kernel.prepare(interfaces.outside, &mut undo)?;
    let router = Router::open(settings, &mut undo)?;
    let mut interfaces = interfaces.attach(&mut host, &log)?;
    let watch = HostWatch::begin(&log)?;
    let files = RecordFiles::make(settings, about.clone(), seed, &mut host)?;
    let socket = socket::begin(settings, &mut undo, &log)?;
    undo.seal();
    privileges::give_up(&config.user)?;
    // Only now: capabilities and `no_new_privs` are a thread's own, and new ones have those of the thread that makes them.
    let record = files.begin(&mut host, &log)?;
    let control = socket.map(|socket| socket::serve(socket, about)).transpose()?;
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
        look_at(self.config.names())?;
        if let Some(uplink) = self.uplink() {
            uplink_index(uplink)?;
            check_nft()?;
        }
        addresses::check(self, true)?;
        if nix::unistd::geteuid().is_root() {
            privileges::check_user(&self.config.user)?;
        }
        Ok(())
    }
}
