//! From a configuration to an application and its network layer.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use serde::Serialize;
use wayhop_core::{Application, ApplicationParameters as _, LinkNeeds, LinkReach};
use wayhop_document::Document;
use wayhop_linux::host_news::HostNews;
use wayhop_linux::interface;
use wayhop_linux::ip_sockets::RawSender;
use wayhop_linux::listing::{Address, LinkInfo};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, Tun};

use super::config::{self, ForeignAgentConfig, HomeAgentConfig, HostConfig, MobileNodeConfig, TunnelConfig};
use super::memory::Memory;
use super::network::{KernelNetwork, Warnings};
use super::ports::{self, Port, PortNeeds, Settings};
use super::routes::Routes;
use crate::interfaces::set_up::look_at;
use crate::interfaces::settings::{is_way_back_strict, tun_settings, write_settings};
use crate::log::Log;
use crate::undo::{Claims, DISABLE_IPV6, Undo, UndoChange};

/// What this host is to Mobile IP.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// It takes packets for mobile nodes that are away.
    HomeAgent,
    /// It is the other end of their tunnels.
    ForeignAgent,
    /// It moves.
    Node,
}

/// What is ready to run.
pub(super) struct AgentParts {
    pub(super) application: Box<dyn Application>,
    pub(super) network: KernelNetwork,
    pub(super) says: String,
    pub(super) user: String,
}

/// A configuration that was checked.
#[derive(Serialize)]
#[serde(untagged)]
enum RoleConfig {
    HomeAgent(HomeAgentConfig),
    ForeignAgent(ForeignAgentConfig),
    Node(MobileNodeConfig),
}

/// Checks a configuration, without a look at this host.
///
/// # Errors
/// What is wrong: file, line, key and remedy.
pub fn check(role: Role, path: &Path) -> Result<(), Error> {
    load(role, &config::open(path)?).map(drop)
}

/// Checks the text of a configuration, and returns it with all defaults.
///
/// # Errors
/// What is wrong: line, key and remedy.
pub fn complete(role: Role, text: &str) -> Result<String, Error> {
    let config = load(role, &Document::new(None, text.to_owned()))?;
    toml::to_string(&config).map_err(|e| Error::Config(e.to_string()))
}

fn load(role: Role, doc: &Document) -> Result<RoleConfig, Error> {
    match role {
        Role::HomeAgent => HomeAgentConfig::read(doc).map(RoleConfig::HomeAgent),
        Role::ForeignAgent => ForeignAgentConfig::read(doc).map(RoleConfig::ForeignAgent),
        Role::Node => MobileNodeConfig::read(doc).map(RoleConfig::Node),
    }
}

/// Sets everything up.
pub(super) fn set_up(role: Role, path: &Path) -> Result<AgentParts, Error> {
    match load(role, &config::open(path)?)? {
        RoleConfig::HomeAgent(c) => home_agent(c),
        RoleConfig::ForeignAgent(c) => foreign_agent(c),
        RoleConfig::Node(c) => node(c),
    }
}

/// The host on which an application is about to run.
struct Host {
    netlink: Netlink,
    links: Vec<LinkInfo>,
    addresses: Vec<Address>,
    user: String,
    log: Log,
    undo: Option<Undo>,
}

impl Host {
    /// Interfaces that are changed are one program's, and free of what an earlier one left that was killed.
    fn open(HostConfig { user, log, log_file }: HostConfig, changed: &[String]) -> Result<Self, Error> {
        let log = Log::open(log, log_file.as_deref(), &user)?;
        let undo = match &look_at(changed)?[..] {
            [] => None,
            all => Some(Undo::start(Claims::take(all, &log)?, std::iter::empty(), &log)?),
        };
        let mut netlink = Netlink::open().map_err(Error::system("open a netlink socket"))?;
        let links = netlink.links().map_err(Error::system("list the interfaces"))?;
        let addresses = netlink.addresses().map_err(Error::system("list the addresses"))?;
        Ok(Self { netlink, links, addresses, user, log, undo })
    }

    fn expect_address(&self, name: &str, addr: Ipv4Addr) -> Result<(), Error> {
        let index = ports::find(&self.links, name)?.index;
        if self.addresses.iter().any(|a| a.ifindex == index && a.addr == addr) {
            return Ok(());
        }
        Err(Error::Config(format!(
            "{name} does not have the address {addr}; add it: ip address add {addr}/... dev {name}"
        )))
    }

    /// Opens the application's links. Those to neighbours get these settings. A mobile node has a home agent.
    fn ports(
        &self,
        links: Vec<LinkNeeds>,
        settings: Settings,
        home_agent: Option<Ipv4Addr>,
    ) -> Result<Vec<Port>, Error> {
        let port = |link: LinkNeeds| {
            let on_link = link.reach == LinkReach::Neighbours;
            // At a mobile node, a mesh's TUN and a modem's interface come with programs of their own, which may begin later. A link has
            // settings, and how to undo them is written down now.
            let may_wait = home_agent.is_some() && !on_link;
            let is_there = link.interfaces().all(|name| self.links.iter().any(|l| l.name == *name));
            let by_routes = home_agent.filter(|_| link.reach == LinkReach::Routes);
            let needs = PortNeeds { link, by_routes, settings: if on_link { settings } else { &[] } };
            if is_there || !may_wait { Port::open(&self.links, needs) } else { Ok(Port::waiting(needs)) }
        };
        links.into_iter().map(port).collect()
    }

    /// The interface of the tunnels.
    fn make_tun(
        &mut self,
        TunnelConfig { tun: name, mtu }: &TunnelConfig,
        addr: Ipv4Addr,
        forwards: bool,
    ) -> Result<Tun, Error> {
        let tun = Tun::make(name, *mtu)?;
        let addressed = self.netlink.add_network_address(addr, 32, tun.index());
        addressed.map_err(Error::system(format!("give {name} its address")))?;
        write_settings(name, tun_settings(forwards))?;
        let _ = fs::write(interface::ipv6_setting(name, DISABLE_IPV6), "1");
        Ok(tun)
    }

    /// The application with its network layer. `home` is the address that belongs to none of the links.
    fn into_parts(
        self,
        application: Box<dyn Application>,
        ports: Vec<Port>,
        tun: Option<Tun>,
        memory: Option<Memory>,
        home: Ipv4Addr,
        says: String,
    ) -> Result<AgentParts, Error> {
        let network = KernelNetwork {
            routes: Routes::new(self.netlink, tun.as_ref().map(Tun::index)),
            ports,
            tun,
            memory,
            home,
            news: HostNews::open().map_err(Error::system("subscribe to changes of this host"))?,
            out: RawSender::open(None).map_err(Error::system("open a socket for tunnelled packets"))?,
            warnings: Warnings::new(),
            log: self.log,
            undo: self.undo,
        };
        Ok(AgentParts { application, network, says, user: self.user })
    }
}

fn home_agent(c: HomeAgentConfig) -> Result<AgentParts, Error> {
    let HomeAgentConfig { tunnel, host, memory, agent } = c;
    // It was checked.
    let addr = agent.own_address().unwrap_or(Ipv4Addr::UNSPECIFIED);
    let mut host = Host::open(host, std::slice::from_ref(&agent.interface))?;
    host.expect_address(&agent.interface, addr)?;
    // Mobile nodes' packets are forwarded into the tunnels.
    let ports = host.ports(agent.links(), &[("forwarding", "1")], None)?;
    if ports[0].mac().is_none() {
        let what = "is not an Ethernet interface: proxy ARP for mobile nodes is impossible";
        return Err(Error::Config(format!("{} {what}", agent.interface)));
    }
    agent.uplinks.iter().for_each(|name| warn_of_strictness(name, &host.log));
    if let Some(undo) = &mut host.undo {
        ports.iter().try_for_each(|port| port.prepare(undo))?;
    }
    let tun = host.make_tun(&tunnel, addr, true)?;
    let path = memory.bindings_file.unwrap_or_else(|| Memory::usual(addr));
    let memory = Memory::open(path, &host.user, &host.log);
    let says = format!("home agent {addr} on {}", agent.interface);
    host.into_parts(agent.application(None), ports, Some(tun), Some(memory), addr, says)
}

fn foreign_agent(c: ForeignAgentConfig) -> Result<AgentParts, Error> {
    let ForeignAgentConfig { host, agent } = c;
    let host = Host::open(host, &[])?;
    host.expect_address(&agent.uplink, agent.care_of)?;
    let ports = host.ports(agent.links(), &[], None)?;
    for l in &agent.links {
        let index = ports::find(&host.links, &l.interface)?.index;
        if ports::own_address(&host.addresses, index, Ipv4Addr::UNSPECIFIED).is_none() {
            return Err(Error::Config(format!(
                "{} has no IPv4 address; if it belongs to a mesh, start `wayhop node` first",
                l.interface
            )));
        }
        warn_of_strictness(&l.interface, &host.log);
    }
    let says = format!("foreign agent, care-of address {} by {}", agent.care_of, agent.uplink);
    host.into_parts(agent.application(None), ports, None, None, Ipv4Addr::UNSPECIFIED, says)
}

fn node(c: MobileNodeConfig) -> Result<AgentParts, Error> {
    let MobileNodeConfig { tunnel, host, agent } = c;
    // It was checked.
    let home = agent.home_address().unwrap_or(Ipv4Addr::UNSPECIFIED);
    let links = agent.links();
    let on_link = links.iter().filter(|l| l.reach == LinkReach::Neighbours);
    let on_link: Vec<_> = on_link.map(|l| l.interface.clone()).collect();
    let mut host = Host::open(host, &on_link)?;
    host.netlink.forget_source(home).map_err(Error::system("remove an earlier agent's rule"))?;
    refuse_address(&host, home)?;
    let ports = host.ports(links, AWAY, Some(agent.home_agent))?;
    for port in &ports {
        match &mut host.undo {
            Some(undo) if port.is_on_link() => {
                undo.note(port.name(), UndoChange::Routes)?;
                undo.note(port.name(), UndoChange::Address(home))?;
                port.prepare(undo)?;
            }
            _ => warn_of_strictness(port.name(), &host.log),
        }
    }
    if let Some(undo) = &mut host.undo {
        undo.note("", UndoChange::Source(home))?;
    }
    let tun = host.make_tun(&tunnel, home, false)?;
    let says = format!("mobile node {home}, home agent {}", agent.home_agent);
    host.into_parts(agent.application(None), ports, Some(tun), None, home, says)
}

/// The mobile node takes its home address to where it is: it must be nowhere else.
fn refuse_address(host: &Host, home: Ipv4Addr) -> Result<(), Error> {
    let Some(a) = host.addresses.iter().find(|a| a.addr == home) else { return Ok(()) };
    let name = host.links.iter().find(|l| l.index == a.ifindex).map_or("...", |l| l.name.as_str());
    Err(Error::Config(format!(
        "{name} has the home address, which the mobile node manages itself; remove it: ip address del \
         {home}/{} dev {name}",
        a.prefix_len
    )))
}

/// Packets of mobile nodes come from where no answers to their sources would go.
fn warn_of_strictness(name: &str, log: &Log) {
    if is_way_back_strict(name) {
        log.warning(format_args!(
            "{name} drops packets from mobile nodes (strict rp_filter); fix: sysctl -w \
                 net.ipv4.conf.{name}.rp_filter=2"
        ));
    }
}

/// Away from home nobody may hear by ARP that the address is here (RFC 5944, section 4.6): only an address of the interface itself is
/// answered for.
const AWAY: Settings = &[("arp_ignore", "1")];
