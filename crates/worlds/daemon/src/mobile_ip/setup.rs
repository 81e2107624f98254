//! From a configuration to an engine and what it stands on.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use wayhop_core::{Purpose, Rng, Span, Time, stream};
use wayhop_document::Document;
use wayhop_linux::interface::{self, InterfaceFacts};
use wayhop_linux::listing::{Address, Link};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{Error, Prefix, Tun};
use wayhop_mobile_ip::{
    ALL_ROUTERS, AgentAdvertisement, Association, Clock, Engine, ForeignAgent, ForeignConfig, ForeignLink,
    HomeAgent, HomeConfig, LinkKind, MESH_AGENTS, MobileAccount, MobileConfig, MobileLink, MobileNode,
    ntp_from_unix,
};

use super::config::{self, ForeignAgentConfig, HomeAgentConfig, MobileNodeConfig, OwnLinkKind};
use super::memory::Memory;
use super::ports::{self, ADVERTISEMENTS, Port, PortNeeds, SOLICITATIONS};
use super::routes::{Mobile, Routes};
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

/// The clocks.
pub(super) struct Clocks(Instant);

impl Clocks {
    pub(super) fn now(&self) -> Clock {
        let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock {
            at: Time::from_nanos(self.0.elapsed().as_nanos() as u64),
            ntp: ntp_from_unix(day.as_secs(), day.subsec_nanos()),
        }
    }
}

/// What is ready to run.
pub(super) struct AgentParts {
    pub(super) clocks: Clocks,
    pub(super) engine: Box<dyn Engine>,
    pub(super) ports: Vec<Port>,
    pub(super) tun: Option<Tun>,
    pub(super) routes: Routes,
    /// What a home agent knows when it is started anew.
    pub(super) memory: Option<Memory>,
    /// The address that is none of a link's own.
    pub(super) home: Ipv4Addr,
    pub(super) says: String,
    pub(super) user: String,
    pub(super) log: Log,
    /// Dropped last: it sets the host back.
    pub(super) undo: Option<Undo>,
}

/// A configuration that was checked.
enum RoleConfig {
    HomeAgent(Box<(HomeAgentConfig, Ipv4Addr, Prefix, Keys)>),
    ForeignAgent(Box<(ForeignAgentConfig, Keys)>),
    Node(Box<(MobileNodeConfig, Ipv4Addr, Prefix, Association, Keys)>),
}

/// Keys shared with others: with the first and the second list of the configuration, or with the only one.
type Keys = [Vec<(Ipv4Addr, Association)>; 2];

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
        RoleConfig::HomeAgent(c) => toml::to_string(&c.0),
        RoleConfig::ForeignAgent(c) => toml::to_string(&c.0),
        RoleConfig::Node(c) => toml::to_string(&c.0),
    };
    toml.map_err(|e| Error::Config(e.to_string()))
}

fn load(role: Role, doc: &Document) -> Result<RoleConfig, Error> {
    match role {
        Role::HomeAgent => load_home_agent(doc),
        Role::ForeignAgent => load_foreign_agent(doc),
        Role::Node => load_node(doc),
    }
}

fn load_home_agent(doc: &Document) -> Result<RoleConfig, Error> {
    let c: HomeAgentConfig = config::read(doc)?;
    let (addr, net) = config::with_prefix(doc, "address", &c.address)?;
    let uplinks = c.uplinks.iter().enumerate().map(|(i, n)| (format!("uplinks[{i}]"), n.as_str()));
    let names: Vec<_> = [("interface".to_owned(), c.interface.as_str())].into_iter().chain(uplinks).collect();
    config::interfaces(doc, &names, Some(&c.tun))?;
    config::numbers(doc, Some(c.advertise_every_ms), c.lifetime_s, Some(c.mtu))?;
    let keys = [
        config::peers(doc, "mobiles", &c.mobiles)?,
        config::peers(doc, "foreign_agents", &c.foreign_agents)?,
    ];
    if let Some(i) = c.mobiles.iter().position(|m| !net.has_host(m.address) || m.address == addr) {
        let what = format!(
            "{} is no address of a mobile node in {}/{}",
            c.mobiles[i].address,
            net.network(),
            net.len()
        );
        return Err(config::wrong(
            doc,
            &format!("mobiles[{i}].address"),
            what,
            "give one of the home network",
        ));
    }
    Ok(RoleConfig::HomeAgent(Box::new((c, addr, net, keys))))
}

fn load_foreign_agent(doc: &Document) -> Result<RoleConfig, Error> {
    let c: ForeignAgentConfig = config::read(doc)?;
    let links = named(c.links.iter().map(|l| (l.interface.as_str(), l.radio.as_deref())));
    let names: Vec<_> = [("uplink".to_owned(), c.uplink.as_str())].into_iter().chain(links).collect();
    for (i, l) in c.links.iter().enumerate() {
        config::only_of_a_mesh(doc, i, l.mesh, l.radio.as_deref())?;
    }
    config::interfaces(doc, &names, None)?;
    config::host(doc, "care_of", c.care_of)?;
    config::numbers(doc, Some(c.advertise_every_ms), c.lifetime_s, None)?;
    if c.links.is_empty() {
        return Err(config::wrong(doc, "links", "there is none", "name the link that mobile nodes visit"));
    }
    let keys =
        [config::peers(doc, "mobiles", &c.mobiles)?, config::peers(doc, "home_agents", &c.home_agents)?];
    Ok(RoleConfig::ForeignAgent(Box::new((c, keys))))
}

fn load_node(doc: &Document) -> Result<RoleConfig, Error> {
    let c: MobileNodeConfig = config::read(doc)?;
    let (home, net) = config::with_prefix(doc, "home", &c.home)?;
    for (key, addr) in [("home_agent", c.home_agent), ("router", c.router.unwrap_or(c.home_agent))] {
        if !net.has_host(addr) || addr == home {
            let what = format!("{addr} is no other host's address in {}/{}", net.network(), net.len());
            return Err(config::wrong(doc, key, what, "give one of the home network"));
        }
    }
    let links = named(c.links.iter().map(|l| (l.interface.as_str(), l.radio.as_deref())));
    config::interfaces(doc, &links.collect::<Vec<_>>(), Some(&c.tun))?;
    config::numbers(doc, None, c.lifetime_s, Some(c.mtu))?;
    if c.links.is_empty() {
        return Err(config::wrong(doc, "links", "there is none", "name the links, the best one first"));
    }
    for (i, l) in c.links.iter().enumerate() {
        config::asked(doc, i, l)?;
    }
    let own = config::association(doc, "", (c.spi, &c.key, c.replay))?;
    let keys = [config::peers(doc, "foreign_agents", &c.foreign_agents)?, Vec::new()];
    Ok(RoleConfig::Node(Box::new((c, home, net, own, keys))))
}

/// The interfaces of links with their radios, and the keys that name them.
fn named<'a>(
    links: impl Iterator<Item = (&'a str, Option<&'a str>)>,
) -> impl Iterator<Item = (String, &'a str)> {
    links.enumerate().flat_map(|(i, (interface, radio))| {
        let own = (format!("links[{i}].interface"), interface);
        [Some(own), radio.map(|r| (format!("links[{i}].radio"), r))].into_iter().flatten()
    })
}

/// Sets everything up.
pub(super) fn set_up(role: Role, path: &Path) -> Result<AgentParts, Error> {
    match load(role, &config::open(path)?)? {
        RoleConfig::HomeAgent(c) => home_agent(*c),
        RoleConfig::ForeignAgent(c) => foreign_agent(*c),
        RoleConfig::Node(c) => node(*c),
    }
}

/// What of the host an engine is made with.
struct Host {
    clocks: Clocks,
    netlink: Netlink,
    links: Vec<Link>,
    addresses: Vec<Address>,
    rng: Rng,
}

impl Host {
    fn look() -> Result<Self, Error> {
        let mut netlink = Netlink::open().map_err(Error::system("talk to the kernel about routes"))?;
        let links = netlink.links().map_err(Error::system("list the interfaces"))?;
        let addresses = netlink.addresses().map_err(Error::system("list the addresses"))?;
        let seed = random_seed().map_err(Error::system("draw a number"))?;
        let rng = stream(seed, Purpose::Authentication, 0);
        Ok(Self { clocks: Clocks(Instant::now()), netlink, links, addresses, rng })
    }

    fn expect_address(&self, name: &str, addr: Ipv4Addr) -> Result<(), Error> {
        let index = ports::find(&self.links, name)?.index;
        if self.addresses.iter().any(|a| a.ifindex == index && a.addr == addr) {
            return Ok(());
        }
        Err(Error::Config(format!(
            "{name} does not have the address {addr}; give it to it: ip address add {addr}/... dev {name}"
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

fn home_agent(
    (c, addr, net, [mobiles, foreign_agents]): (HomeAgentConfig, Ipv4Addr, Prefix, Keys),
) -> Result<AgentParts, Error> {
    let log = Log::open(c.log, c.log_file.as_deref(), &c.user)?;
    let mut undo = claim(std::iter::once(c.interface.as_str()), &log)?;
    let host = Host::look()?;
    host.expect_address(&c.interface, addr)?;
    let uplink = PortNeeds { icmp_types: SOLICITATIONS, ..PortNeeds::default() };
    let home_link = PortNeeds {
        groups: &[ALL_ROUTERS],
        arp: true,
        on_link: true,
        settings: &[("forwarding", "1")],
        ..uplink.clone()
    };
    let uplinks = c.uplinks.iter().map(|name| (name, uplink.clone()));
    let all = [(&c.interface, home_link)].into_iter().chain(uplinks);
    let ports = all.map(|(name, w)| Port::open(&host.links, name, w)).collect::<Result<Vec<_>, _>>()?;
    let Some(mac) = ports[0].mac() else {
        let what =
            "has no Ethernet addresses: there is no ARP by which packets for mobile nodes could be taken";
        return Err(Error::Config(format!("{} {what}", c.interface)));
    };
    c.uplinks.iter().for_each(|name| warn_of_strictness(name, &log));
    if let Some(undo) = &mut undo {
        if is_way_back_strict(&c.interface) {
            // A mobile node that comes home asks from there, while its packets go into the tunnel.
            undo.set(&c.interface, WAY_BACK, LOOSE)?;
        }
        // Last: what mobile nodes' packets need to be forwarded into the tunnels.
        undo.set(&c.interface, "forwarding", "1")?;
    }
    let tun = make_tun(&c.tun, addr, c.mtu, true)?;
    let home_link = AgentAdvertisement {
        prefix_len: net.len(),
        ..advertising((0, addr, false), c.advertise_every_ms, c.lifetime_s)
    };
    let account = |(home, association)| MobileAccount { home, association };
    let mobiles = mobiles.into_iter().map(account).collect();
    let path = c.bindings_file.clone().unwrap_or_else(|| Memory::usual(addr));
    let memory = Memory::open(path, &c.user, &log);
    let config = HomeConfig { home_link, mac, mobiles, foreign_agents, known: memory.known() };
    let engine = HomeAgent::new(config, host.clocks.now(), host.rng);
    Ok(AgentParts {
        clocks: host.clocks,
        engine: Box::new(engine),
        routes: Routes::new(host.netlink, Some(tun.index()), None),
        ports,
        tun: Some(tun),
        memory: Some(memory),
        home: addr,
        says: format!("home agent {addr} on {}", c.interface),
        user: c.user,
        log,
        undo,
    })
}

/// How an agent advertises itself on a link.
fn advertising(
    (link, addr, is_mesh): (u8, Ipv4Addr, bool),
    every_ms: u64,
    registration_lifetime_s: u16,
) -> AgentAdvertisement {
    // Three times the pause (RFC 5944, section 2.3), in whole seconds.
    let lifetime_s = (every_ms * 3).div_ceil(1_000).clamp(1, 9_000) as u16;
    AgentAdvertisement {
        link,
        addr,
        prefix_len: 32,
        is_mesh,
        every: Span::from_millis(every_ms),
        lifetime_s,
        registration_lifetime_s,
    }
}

fn foreign_agent((c, [mobiles, home_agents]): (ForeignAgentConfig, Keys)) -> Result<AgentParts, Error> {
    let log = Log::open(c.log, c.log_file.as_deref(), &c.user)?;
    let host = Host::look()?;
    host.expect_address(&c.uplink, c.care_of)?;
    let (mut links, mut ports) = (Vec::new(), Vec::new());
    for (i, l) in (0..).zip(&c.links) {
        let wanted = PortNeeds {
            icmp_types: SOLICITATIONS,
            groups: if l.mesh { &[MESH_AGENTS] } else { &[ALL_ROUTERS] },
            on_link: !l.mesh,
            radio: l.radio.clone(),
            ..PortNeeds::default()
        };
        let port = Port::open(&host.links, &l.interface, wanted)?;
        let index = ports::find(&host.links, &l.interface)?.index;
        let addr = ports::own_address(&host.addresses, index, Ipv4Addr::UNSPECIFIED).ok_or_else(|| {
            Error::Config(format!(
                "{} has no IPv4 address; of a mesh, start `wayhop node` first",
                l.interface
            ))
        })?;
        links.push(ForeignLink(advertising((i, addr, l.mesh), c.advertise_every_ms, c.lifetime_s)));
        ports.push(port);
        warn_of_strictness(&l.interface, &log);
    }
    let uplink = PortNeeds { icmp_types: SOLICITATIONS, ..PortNeeds::default() };
    ports.push(Port::open(&host.links, &c.uplink, uplink)?);
    let config = ForeignConfig {
        care_of: c.care_of,
        links,
        mobiles,
        home_agents,
        max_visitors: c.max_visitors.into(),
    };
    Ok(AgentParts {
        engine: Box::new(ForeignAgent::new(config, host.clocks.now())),
        clocks: host.clocks,
        routes: Routes::new(host.netlink, None, None),
        ports,
        tun: None,
        memory: None,
        home: Ipv4Addr::UNSPECIFIED,
        says: format!("foreign agent, care-of address {} by {}", c.care_of, c.uplink),
        user: c.user,
        log,
        undo: None,
    })
}

fn node(
    (c, home, net, association, [agents, _]): (MobileNodeConfig, Ipv4Addr, Prefix, Association, Keys),
) -> Result<AgentParts, Error> {
    let log = Log::open(c.log, c.log_file.as_deref(), &c.user)?;
    let of_kind = |kind| c.links.iter().filter(move |l| l.kind == kind).map(|l| l.interface.as_str());
    let mut undo = claim(of_kind(OwnLinkKind::Link), &log)?;
    let mut host = Host::look()?;
    host.netlink.forget_source(home).map_err(Error::system("remove an earlier program's rule"))?;
    refuse_address(&host, home)?;
    let wanted = |l: &config::OwnLink| {
        let on_link = l.kind == OwnLinkKind::Link;
        let wanted = PortNeeds {
            icmp_types: ADVERTISEMENTS,
            groups: &[],
            arp: true,
            on_link,
            by_routes: (l.kind == OwnLinkKind::CoLocated).then_some(c.home_agent),
            radio: l.radio.clone(),
            settings: if on_link { AWAY } else { &[] },
        };
        // A mesh's TUN and a modem's interface come with programs of their own, which may begin later. A link has settings of which it is
        // written down now how to undo them.
        let is_there = |name: &str| host.links.iter().any(|l| l.name == name);
        if on_link || is_there(&l.interface) && l.radio.as_deref().is_none_or(is_there) {
            Port::open(&host.links, &l.interface, wanted)
        } else {
            Ok(Port::waiting(&l.interface, wanted))
        }
    };
    let all = c.links.iter().map(wanted);
    let ports = all.collect::<Result<Vec<_>, _>>()?;
    for l in &c.links {
        match &mut undo {
            Some(undo) if l.kind == OwnLinkKind::Link => prepare(undo, &l.interface, home)?,
            _ => warn_of_strictness(&l.interface, &log),
        }
    }
    if let Some(undo) = &mut undo {
        undo.source(home)?;
    }
    let tun = make_tun(&c.tun, home, c.mtu, false)?;
    let link = |(i, l): (u8, &config::OwnLink)| MobileLink {
        link: i,
        kind: match l.kind {
            OwnLinkKind::Link => LinkKind::Link,
            OwnLinkKind::Mesh => LinkKind::Mesh,
            OwnLinkKind::CoLocated => LinkKind::CoLocated,
        },
        ask: l.agents.clone(),
    };
    let links: Vec<MobileLink> = (0..).zip(&c.links).map(link).collect();
    let indices = links.iter().filter(|l| l.kind == LinkKind::Link);
    let routes = Mobile {
        home,
        net,
        router: c.router.unwrap_or(c.home_agent),
        links: indices.map(|l| (l.link, ports[usize::from(l.link)].index())).collect(),
    };
    let config = MobileConfig {
        home,
        home_agent: c.home_agent,
        association,
        agents,
        only_known_agents: c.only_known_agents,
        links,
        lifetime_s: c.lifetime_s,
        reverse_tunnel: c.reverse_tunnel,
    };
    Ok(AgentParts {
        clocks: host.clocks,
        engine: Box::new(MobileNode::new(config, host.rng)),
        routes: Routes::new(host.netlink, Some(tun.index()), Some(routes)),
        ports,
        tun: Some(tun),
        memory: None,
        home,
        says: format!("mobile node {home}, home agent {}", c.home_agent),
        user: c.user,
        log,
        undo,
    })
}

/// The mobile node takes its home address to where it is: it must be nowhere else.
fn refuse_address(host: &Host, home: Ipv4Addr) -> Result<(), Error> {
    let Some(a) = host.addresses.iter().find(|a| a.addr == home) else { return Ok(()) };
    let name = host.links.iter().find(|l| l.index == a.ifindex).map_or("...", |l| l.name.as_str());
    Err(Error::Config(format!(
        "{name} has the home address: the mobile node gives it to the link where it is; take it away: ip address del {home}/{} dev {name}",
        a.prefix_len
    )))
}

/// Packets of mobile nodes come from where no answers to their sources would go.
fn warn_of_strictness(name: &str, log: &Log) {
    if is_way_back_strict(name) {
        log.tell(
            Level::Warning,
            format_args!(
                "{name} takes packets only from where it would send answers (rp_filter), and loses those of mobile nodes: sysctl -w net.ipv4.conf.{name}.rp_filter=2"
            ),
        );
    }
}

/// Away from home nobody may hear by ARP that the address is here (RFC 5944, section 4.6): only an address of the interface itself is
/// answered for.
const AWAY: &[(&str, &str)] = &[("arp_ignore", "1")];

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
