//! From a configuration to an application and its host.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;

use wayhop_core::{Application, ApplicationParameters as _, LinkReach, Purpose, Rng, stream};
use wayhop_document::Document;
use wayhop_linux::interface::{self, InterfaceFacts};
use wayhop_linux::listing::{Address, LinkInfo};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, Tun};

use super::config::{self, ForeignAgentConfig, HomeAgentConfig, HostConfig, MobileNodeConfig, TunnelConfig};
use super::memory::Memory;
use super::ports::{self, Port, PortNeeds, Settings};
use super::routes::Routes;
use crate::interfaces::settings::{LOOSE, WAY_BACK, is_way_back_strict, tun_settings};
use crate::kernel::random::random_seed;
use crate::log::{Level, Log};
use crate::undo::{Claims, DISABLE_IPV6, Undo};

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
    pub(super) rng: Rng,
    pub(super) ports: Vec<Port>,
    pub(super) tun: Option<Tun>,
    pub(super) routes: Routes,
    /// What a home agent keeps over restarts.
    pub(super) memory: Option<Memory>,
    /// The address that belongs to none of the links.
    pub(super) home: Ipv4Addr,
    pub(super) says: String,
    pub(super) user: String,
    pub(super) log: Log,
    /// Dropped last: it sets the host back.
    pub(super) undo: Option<Undo>,
}

/// A configuration that was checked.
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
    let toml = match load(role, &Document::new(None, text.to_owned()))? {
        RoleConfig::HomeAgent(c) => toml::to_string(&c),
        RoleConfig::ForeignAgent(c) => toml::to_string(&c),
        RoleConfig::Node(c) => toml::to_string(&c),
    };
    toml.map_err(|e| Error::Config(e.to_string()))
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

/// What of the host an application is made with.
struct Host {
    netlink: Netlink,
    links: Vec<LinkInfo>,
    addresses: Vec<Address>,
    rng: Rng,
}

impl Host {
    fn look() -> Result<Self, Error> {
        let mut netlink = Netlink::open().map_err(Error::system("open a netlink socket"))?;
        let links = netlink.links().map_err(Error::system("list the interfaces"))?;
        let addresses = netlink.addresses().map_err(Error::system("list the addresses"))?;
        let seed = random_seed().map_err(Error::system("get a random number"))?;
        let rng = stream(seed, Purpose::Authentication, 0);
        Ok(Self { netlink, links, addresses, rng })
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
}

/// Interfaces that are changed are one program's, and free of what an earlier one left that was killed.
fn claim<'a>(names: impl Iterator<Item = &'a str>, log: &Log) -> Result<Option<Undo>, Error> {
    let facts = |name: &str| -> Result<(String, InterfaceFacts), Error> {
        let facts = interface::facts(name).map_err(|e| {
            Error::Config(format!("interface {name}: {e}; `ip link` lists the interfaces of this host"))
        })?;
        Ok((name.to_owned(), facts))
    };
    let interfaces = names.map(facts).collect::<Result<Vec<_>, _>>()?;
    if interfaces.is_empty() {
        return Ok(None);
    }
    Undo::start(Claims::take(&interfaces, log)?, std::iter::empty(), log).map(Some)
}

/// The interface of the tunnels.
fn make_tun(name: &str, addr: Ipv4Addr, mtu: u16, forwards: bool) -> Result<Tun, Error> {
    let tun = Tun::make(name, mtu)?;
    Netlink::open()
        .and_then(|mut netlink| netlink.add_network_address(addr, 32, tun.index()))
        .map_err(Error::system(format!("give {name} its address")))?;
    for (key, value) in tun_settings(forwards) {
        let path = interface::ipv4_setting(name, key);
        fs::write(&path, value).map_err(Error::system(format!("write {}", path.display())))?;
    }
    let _ = fs::write(interface::ipv6_setting(name, DISABLE_IPV6), "1");
    Ok(tun)
}

fn home_agent(c: HomeAgentConfig) -> Result<AgentParts, Error> {
    let HomeAgentConfig {
        tunnel: TunnelConfig { tun, mtu },
        host: HostConfig { user, log, log_file },
        memory,
        agent,
    } = c;
    // It was checked.
    let (addr, _) =
        agent.home().unwrap_or((Ipv4Addr::UNSPECIFIED, wayhop_core::Prefix::host(Ipv4Addr::UNSPECIFIED)));
    let log = Log::open(log, log_file.as_deref(), &user)?;
    let mut undo = claim(std::iter::once(agent.interface.as_str()), &log)?;
    let host = Host::look()?;
    host.expect_address(&agent.interface, addr)?;
    let ports = agent.links().into_iter().map(|l| {
        let settings: Settings = if l.reach == LinkReach::Neighbours { &[("forwarding", "1")] } else { &[] };
        Port::open(&host.links, PortNeeds { link: l, by_routes: None, settings })
    });
    let ports = ports.collect::<Result<Vec<_>, _>>()?;
    if ports[0].mac().is_none() {
        let what = "is not an Ethernet interface: proxy ARP for mobile nodes is impossible";
        return Err(Error::Config(format!("{} {what}", agent.interface)));
    }
    agent.uplinks.iter().for_each(|name| warn_of_strictness(name, &log));
    if let Some(undo) = &mut undo {
        if is_way_back_strict(&agent.interface) {
            // A mobile node that comes home asks from there, while its packets go into the tunnel.
            undo.set(&agent.interface, WAY_BACK, LOOSE)?;
        }
        // Last: what mobile nodes' packets need to be forwarded into the tunnels.
        undo.set(&agent.interface, "forwarding", "1")?;
    }
    let tun = make_tun(&tun, addr, mtu, true)?;
    let path = memory.bindings_file.unwrap_or_else(|| Memory::usual(addr));
    Ok(AgentParts {
        application: agent.application(),
        rng: host.rng,
        routes: Routes::new(host.netlink, Some(tun.index()), Vec::new()),
        ports,
        tun: Some(tun),
        memory: Some(Memory::open(path, &user, &log)),
        home: addr,
        says: format!("home agent {addr} on {}", agent.interface),
        user,
        log,
        undo,
    })
}

fn foreign_agent(c: ForeignAgentConfig) -> Result<AgentParts, Error> {
    let ForeignAgentConfig { host: HostConfig { user, log, log_file }, agent } = c;
    let log = Log::open(log, log_file.as_deref(), &user)?;
    let host = Host::look()?;
    host.expect_address(&agent.uplink, agent.care_of)?;
    let ports = agent
        .links()
        .into_iter()
        .map(|l| Port::open(&host.links, PortNeeds { link: l, by_routes: None, settings: &[] }));
    let ports = ports.collect::<Result<Vec<_>, _>>()?;
    for l in &agent.links {
        let index = ports::find(&host.links, &l.interface)?.index;
        if ports::own_address(&host.addresses, index, Ipv4Addr::UNSPECIFIED).is_none() {
            return Err(Error::Config(format!(
                "{} has no IPv4 address; if it belongs to a mesh, start `wayhop node` first",
                l.interface
            )));
        }
        warn_of_strictness(&l.interface, &log);
    }
    Ok(AgentParts {
        application: agent.application(),
        rng: host.rng,
        routes: Routes::new(host.netlink, None, Vec::new()),
        ports,
        tun: None,
        memory: None,
        home: Ipv4Addr::UNSPECIFIED,
        says: format!("foreign agent, care-of address {} by {}", agent.care_of, agent.uplink),
        user,
        log,
        undo: None,
    })
}

fn node(c: MobileNodeConfig) -> Result<AgentParts, Error> {
    let MobileNodeConfig {
        tunnel: TunnelConfig { tun, mtu },
        host: HostConfig { user, log, log_file },
        agent,
    } = c;
    // It was checked.
    let (home, _) =
        agent.home().unwrap_or((Ipv4Addr::UNSPECIFIED, wayhop_core::Prefix::host(Ipv4Addr::UNSPECIFIED)));
    let log = Log::open(log, log_file.as_deref(), &user)?;
    let needs = agent.links();
    let on_link = needs.iter().filter(|l| l.reach == LinkReach::Neighbours).map(|l| l.interface.as_str());
    let mut undo = claim(on_link, &log)?;
    let mut host = Host::look()?;
    host.netlink.forget_source(home).map_err(Error::system("remove an earlier agent's rule"))?;
    refuse_address(&host, home)?;
    let mut ports = Vec::with_capacity(needs.len());
    for link in needs {
        let on_link = link.reach == LinkReach::Neighbours;
        // A mesh's TUN and a modem's interface come with programs of their own, which may begin later. A link has settings of which it is
        // written down now how to undo them.
        let is_there = |name: &str| host.links.iter().any(|l| l.name == name);
        let is_ready = is_there(&link.interface) && link.radio.as_deref().is_none_or(is_there);
        let by_routes = (link.reach == LinkReach::Routes).then_some(agent.home_agent);
        let needs = PortNeeds { link, by_routes, settings: if on_link { AWAY } else { &[] } };
        ports.push(if on_link || is_ready { Port::open(&host.links, needs)? } else { Port::waiting(needs) });
    }
    for port in &ports {
        match &mut undo {
            Some(undo) if port.is_on_link() => prepare(undo, port.name(), home)?,
            _ => warn_of_strictness(port.name(), &log),
        }
    }
    if let Some(undo) = &mut undo {
        undo.source(home)?;
    }
    let tun = make_tun(&tun, home, mtu, false)?;
    let on_link = (0..).zip(&ports).filter(|(_, p)| p.is_on_link());
    let links = on_link.map(|(link, port)| (link, port.index())).collect();
    Ok(AgentParts {
        application: agent.application(),
        rng: host.rng,
        routes: Routes::new(host.netlink, Some(tun.index()), links),
        ports,
        tun: Some(tun),
        memory: None,
        home,
        says: format!("mobile node {home}, home agent {}", agent.home_agent),
        user,
        log,
        undo,
    })
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
        log.tell(
            Level::Warning,
            format_args!(
                "{name} drops packets from mobile nodes (strict rp_filter); fix: sysctl -w \
                 net.ipv4.conf.{name}.rp_filter=2"
            ),
        );
    }
}

/// Away from home nobody may hear by ARP that the address is here (RFC 5944, section 4.6): only an address of the interface itself is
/// answered for.
const AWAY: Settings = &[("arp_ignore", "1")];

/// Settings of a link where the home address may be.
fn prepare(undo: &mut Undo, name: &str, home: Ipv4Addr) -> Result<(), Error> {
    undo.routes(name)?;
    undo.address(home, name)?;
    for (key, value) in AWAY {
        undo.set(name, key, value)?;
    }
    if is_way_back_strict(name) {
        undo.set(name, WAY_BACK, LOOSE)?;
    }
    Ok(())
}
