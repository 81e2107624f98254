//! Making a host a node: checks, settings, sockets, and then no more privileges than needed.

use std::fs;
use std::io::Read as _;
use std::net::Ipv4Addr;
use std::sync::Arc;

use nix::ifaddrs::getifaddrs;
use socket2::Socket;
use wayhop_auth::Auth;
use wayhop_core::{Addr, Configured, DataPlane, IfaceId, Purpose, stream};

use wayhop_control::{About, Access, Bound, NodeAbout, Server};
use wayhop_linux::ebpf::{ClosedInterface, ForwardingPrograms, IgnoringProgram};
use wayhop_linux::host_news::HostNews;
use wayhop_linux::interface::{self, InterfaceFacts};
use wayhop_linux::netlink::{NeighbourNews, Netlink};
use wayhop_linux::packet_socket::{ETHERTYPE_IPV6, PacketSockets, Silence};
use wayhop_linux::{Error, Prefix, Tun, filter, wifi};
use wayhop_scenario::after_reboot;
use wayhop_trace::RunDir;

use crate::config::settings::Settings;
use crate::control::desk::Desk;
use crate::gateway::probe::Probe;
use crate::gateway::router;
use crate::interfaces::attached::{self, Attached};
use crate::interfaces::macfilter::MacFilter;
use crate::interfaces::settings::{LOOSE, WAY_BACK, interface_settings, tun_settings};
use crate::interfaces::signals::{Signals, Source};
use crate::ipv6::tun6;
use crate::kernel::mtu;
use crate::kernel::overlap;
use crate::kernel::privileges;
use crate::log::{Level, Log};
use crate::node::host::Host;
use crate::node::number::NODE;
use crate::node::power::Power;
use crate::node::timing::Timing;
use crate::record::capture::{Capture, CaptureFile};
use crate::record::captures::Captures;
use crate::record::inputs;
use crate::record::program_flows::ProgramFlows;
use crate::record::run_dir::{self, Run};
use crate::record::station::Station;
use crate::undo::{Claims, DISABLE_IPV6, Undo};

/// A node that is ready to run.
pub(crate) struct Ready {
    pub(crate) host: Host,
    pub(crate) tun: Tun,
    /// Its name now: somebody may rename it.
    pub(crate) tun_name: String,
    /// How long packets may be, as the protocol knows it, octets.
    pub(crate) told_mtu: usize,
    /// The interfaces, in the order of their numbers in the node.
    pub(crate) attached: Vec<Attached>,
    pub(crate) netlink: Netlink,
    pub(crate) news: HostNews,
    /// Where the kernel forwards: neighbours that it does not find.
    pub(crate) missing: Option<NeighbourNews>,
    pub(crate) log: Log,
    pub(crate) captures: Captures,
    pub(crate) control: Option<(Server, Desk)>,
    pub(crate) station: Station,
    /// Whether a gateway's uplink leads somewhere.
    pub(crate) probe: Option<Probe>,
    /// Whom the node ignores.
    pub(crate) macfilter: MacFilter,
    /// With which power neighbours are received.
    pub(crate) signals: Vec<Signals>,
    pub(crate) seed: u64,
    /// Dropped last: it sets the host back.
    pub(crate) undo: Undo,
}

impl Ready {
    /// Ends what programs see of the node, and sets the host back.
    ///
    /// # Errors
    /// If the host is not as before.
    pub(crate) fn end(self) -> Result<(), Error> {
        let Self { tun, control, mut undo, attached, .. } = self;
        drop((tun, control));
        let outcome = undo.finish();
        // Until now, what comes from the mesh stays within it.
        drop(attached);
        outcome
    }
}

/// Which frames a node takes from the interface: the protocol's, and all of IPv6 if it has an address of it.
pub(crate) fn frames_of(host: &Host) -> Vec<socket2::SockFilter> {
    let of_ipv6 = host.node.addr6().map(|_| filter::ethertype(ETHERTYPE_IPV6));
    filter::any_of(of_ipv6.into_iter().chain(host.sockets().filter_map(|socket| match socket {
        wayhop_core::Socket::Udp(port) => Some(filter::udp_port(port)),
        wayhop_core::Socket::Ip(number) => Some(filter::ip_protocol(number)),
        // It says where packets are sent, and not what they are.
        wayhop_core::Socket::Group(_) => None,
    })))
}

/// Opens the sockets at an interface; the programs there let pass what they send.
pub(crate) fn open_sockets(
    host: &Host,
    facts: &InterfaceFacts,
    programs: Option<&ForwardingPrograms>,
) -> Result<PacketSockets, Error> {
    let (overhear, mark) = (host.interests.overhear, programs.map(ForwardingPrograms::mark));
    let sockets = PacketSockets::open(facts.index, facts.mtu, frames_of(host), overhear, mark)?;
    if host.node.addr6().is_some() {
        sockets.hear_groups(facts.index)?;
    }
    Ok(sockets)
}

/// Keeps the kernel from answering packets of the protocol with errors.
fn silence(host: &Host, interface: &str) -> Result<Vec<Socket>, Error> {
    let silences = host.sockets().filter_map(|socket| match socket {
        wayhop_core::Socket::Udp(port) => Some(Silence::Port(port)),
        wayhop_core::Socket::Ip(number) => Some(Silence::Protocol(number)),
        wayhop_core::Socket::Group(_) => None,
    });
    silences.map(|s| s.open(interface)).collect()
}

/// Sets everything up.
pub(crate) fn set_up(settings: &Settings) -> Result<Ready, Error> {
    let config = &settings.config;
    let log = Log::open(config.log, config.log_file.as_deref(), &config.user)?;
    let interfaces = look_at(settings)?;
    let claims = Claims::take(&interfaces, &log)?;
    check_addresses(settings, false)?;
    let seed = match config.seed {
        Some(seed) => seed,
        None => random_seed().map_err(Error::system("draw a seed"))?,
    };
    let about = about(settings);
    let shortest = interfaces.iter().map(|(_, facts)| facts.mtu).min().unwrap_or(0);
    let configured = mtu::of_protocol(settings, shortest);
    let mut host = make_host(settings, &configured, &interfaces, seed, &about.name)?;
    let mut netlink = Netlink::open().map_err(Error::system("talk to the kernel about routes"))?;
    let tun = Tun::make(&config.tun, mtu::of_tun(settings, shortest))?;
    let ways = ways_on(settings, &interfaces, &tun)?;
    let programs = interfaces
        .iter()
        .map(|(name, facts)| Programs::open(settings, &host, (name, facts.index), &ways, &log))
        .collect::<Result<Vec<_>, _>>()?;
    let mut undo = Undo::start(
        claims,
        programs.iter().filter_map(|p| p.forwarding.as_ref()).map(ForwardingPrograms::place),
        &log,
    )?;
    for ((name, facts), programs) in interfaces.iter().zip(&programs) {
        take_interface(
            settings,
            &host,
            (name, facts.index),
            programs.forwarding.is_some(),
            &mut netlink,
            &mut undo,
            &log,
        )?;
    }
    undo.set("all", "send_redirects", "0")?;
    prepare_tun(settings, &tun, shortest, &mut netlink)?;
    router::lead_all(settings, tun.index(), &mut netlink)?;
    router::open(settings, &mut undo)?;
    let probe = router::probe(settings, random_seed().map_err(Error::system("draw a number"))?)?;
    let attached = attach(&mut host, interfaces, programs, &log)?;
    let news = HostNews::open().map_err(Error::system("hear of changes of this host"))?;
    let missing = (host.plane == DataPlane::Forwarding)
        .then(NeighbourNews::open)
        .transpose()
        .map_err(Error::system("hear of neighbours that are not there"))?;
    let files = Files::make(settings, &mut host, seed, &about, &mut undo, &log)?;
    undo.seal();
    privileges::give_up(&config.user)?;
    // Only now: capabilities and `no_new_privs` are a thread's own, and new ones have those of the thread that makes them.
    let (capture, control) = files.begin(settings, &mut host, &about)?;
    let station = Station::begin(settings, about, &log)?;
    let signals = signals(&config.signal, &attached, &log)?;
    host.signals = signals.iter().map(|_| Arc::default()).collect();
    Ok(Ready {
        attached,
        captures: Captures::new(capture),
        control,
        station,
        probe,
        macfilter: MacFilter::new(settings.ignores.clone()),
        signals,
        host,
        tun,
        tun_name: config.tun.clone(),
        told_mtu: shortest,
        netlink,
        news,
        missing,
        log,
        seed,
        undo,
    })
}

/// The interfaces of these names.
fn look_at(settings: &Settings) -> Result<Vec<(String, InterfaceFacts)>, Error> {
    let one = |name: &str| {
        let facts = interface::facts(name).map_err(|e| {
            let text = format!("interface {name}: {e}; `ip link` lists the interfaces of this host");
            // One that is not there is a wrong name.
            if e.raw_os_error() == Some(nix::libc::ENODEV) {
                Error::Config(text)
            } else {
                Error::System(text)
            }
        })?;
        Ok((name.to_owned(), facts))
    };
    settings.config.names().map(one).collect()
}

impl Settings {
    /// Whether this host has what a node with these settings needs: all that can be seen without a change. A node that runs already, and
    /// may be told to take these settings, is no hindrance.
    ///
    /// # Errors
    /// What is missing or taken, and the remedy: as the node says it when it starts.
    pub fn check_host(&self) -> Result<(), Error> {
        look_at(self)?;
        if self.edge.as_ref().and_then(|e| e.uplink.as_deref()).is_some() {
            uplink_index(self)?;
            router::check_nft()?;
        }
        check_addresses(self, true)?;
        if nix::unistd::geteuid().is_root() {
            privileges::check_user(&self.config.user)?;
        }
        Ok(())
    }
}

/// Opens the sockets at all interfaces.
fn attach(
    host: &mut Host,
    interfaces: Vec<(String, InterfaceFacts)>,
    programs: Vec<Programs>,
    log: &Log,
) -> Result<Vec<Attached>, Error> {
    let mut attached = Vec::with_capacity(interfaces.len());
    for (iface, ((name, facts), programs)) in (0..).map(IfaceId).zip(interfaces.into_iter().zip(programs)) {
        let Programs { ignoring, forwarding: ebpf } = programs;
        let silence = silence(host, &name)?;
        let sockets = open_sockets(host, &facts, ebpf.as_ref())?;
        let closed = if host.plane == DataPlane::PerPacket { close(&name, facts.index, log) } else { None };
        watch_tx_status(host, iface, &sockets, facts.index, log);
        attached.push(Attached {
            name,
            facts,
            sockets,
            ignoring,
            ebpf,
            closed,
            silence,
            is_up: true,
            is_gone: false,
            trouble: None,
        });
    }
    Ok(attached)
}

/// Where signals come from: the driver's table of stations of each interface that has one, or one monitor interface.
fn signals(source: &str, attached: &[Attached], log: &Log) -> Result<Vec<Signals>, Error> {
    let mut sources = Vec::new();
    for a in attached {
        match crate::config::settings::source(source, &a.name).flatten() {
            // Without wireless hardware there is no table of stations.
            Some(Source::Stations(_)) if !a.facts.wireless => {}
            Some(Source::Monitor(_)) if !sources.is_empty() => {}
            Some(source) => sources.push(source),
            None => {}
        }
    }
    let begin = |s| Signals::begin(s, log).map_err(Error::system("start a thread for signals"));
    sources.into_iter().map(begin).collect()
}

/// The node, with its protocol begun.
fn make_host(
    settings: &Settings,
    configured: &Configured,
    interfaces: &[(String, InterfaceFacts)],
    seed: u64,
    name: &str,
) -> Result<Host, Error> {
    let config = &settings.config;
    let rng = stream(seed, Purpose::Protocol, settings.address.to_bits().into());
    let mesh = Prefix::around(settings.address, settings.prefix_len);
    let metric = |i: usize| config.interface_metrics.get(i).copied();
    let ports = interfaces.iter().enumerate();
    let mut ports = ports.map(|(i, (name, facts))| attached::port(name, facts, metric(i)));
    let Some(first) = ports.next() else { return Err(Error::Config("no interface".to_owned())) };
    let mut host = Host::new(configured.engine(), settings.address, mesh, first, rng);
    ports.for_each(|p| host.add(p));
    host.limit(settings.limits());
    if let Some(keys) = &settings.keys {
        // Not the configuration's seed: an index must never come twice (RFC 8967, section 4.1).
        let seed = random_seed().map_err(Error::system("draw a number"))?;
        let rng = stream(seed, Purpose::Authentication, 0);
        host.node.set_auth(Auth::for_protocol(keys, configured.description(), settings.address, rng));
    }
    host.parameters = configured.values().into();
    let after_reboot = after_reboot(configured, &config.protocol);
    host.timing = config.timing.then(Timing::default);
    let addr6 = settings.address6.map(|(addr, _)| Addr::from(addr));
    let own = addr6.into_iter().chain([settings.address.into()]).collect();
    let flows = ProgramFlows::new(own, host.plane == DataPlane::Forwarding);
    host.around.run = config.run.as_ref().map(|_| Run::waiting(flows));
    host.around.inputs = config
        .inputs
        .as_ref()
        .map(|_| inputs::waiting((configured, &after_reboot), seed, name, settings, interfaces));
    host.power = Power::new(&settings.outages, after_reboot, seed);
    if let Some(v6) = settings.address6 {
        host.set_ipv6(v6, &settings.routes);
    }
    host.node.set_static_routes(settings.routes.clone());
    if let Some(edge) = &settings.edge {
        host.around.edge = Some(edge.clone());
        // The host's own network stack sends on what the node delivers for the outside.
        host.node.set_edge(wayhop_node::Edge { outside: edge.outside.clone(), routes: Vec::new() });
    }
    // Filters and eBPF need to know which sockets the protocol opens; what it sends waits in the queue.
    host.start();
    Ok(host)
}

/// What stands at an interface where the kernel forwards, in this order.
struct Programs {
    ignoring: Option<IgnoringProgram>,
    forwarding: Option<ForwardingPrograms>,
}

impl Programs {
    fn open(
        settings: &Settings,
        host: &Host,
        (name, ifindex): (&str, u32),
        ways: &[u32],
        log: &Log,
    ) -> Result<Self, Error> {
        let known = settings.cards.clone();
        let ignoring = (host.plane == DataPlane::Forwarding && !known.is_empty())
            .then(|| IgnoringProgram::open(ifindex, known))
            .transpose()
            .map_err(Error::system(format!(
                "ignore what comes by {name}: a macfilter needs Linux 6.6; the kernel's answer"
            )))?;
        Ok(Self { ignoring, forwarding: watch_forwarding(settings, host, (name, ifindex), ways, log)? })
    }
}

/// Has programs in the kernel watch what passes an interface, where the kernel forwards.
fn watch_forwarding(
    settings: &Settings,
    host: &Host,
    (name, ifindex): (&str, u32),
    ways: &[u32],
    log: &Log,
) -> Result<Option<ForwardingPrograms>, Error> {
    let port =
        host.sockets().find_map(|s| if let wayhop_core::Socket::Udp(port) = s { Some(port) } else { None });
    let Some(port) = port.filter(|_| host.plane == DataPlane::Forwarding) else { return Ok(None) };
    let random = random_seed().map_err(Error::system("draw a number"))?;
    let mesh = Prefix::around(settings.address, settings.prefix_len);
    let opened = ForwardingPrograms::open(ifindex, (settings.address, mesh), ways, port, random);
    match opened {
        Err(e) if settings.edge.is_some() => Err(Error::System(format!(
            "what passes {name} cannot be watched ({e}): a mesh with gateways needs Linux 6.6 here, or a protocol whose packets all pass the node"
        ))),
        opened => Ok(ebpf(name, opened, log)),
    }
}

/// The interfaces by which the kernel may send on what comes from the mesh and is for an address outside: a gateway's uplink;
/// at other nodes those in the mesh, and the TUN, by which the node hears of it if there is no route.
fn ways_on(
    settings: &Settings,
    interfaces: &[(String, InterfaceFacts)],
    tun: &Tun,
) -> Result<Vec<u32>, Error> {
    let Some(edge) = &settings.edge else { return Ok(Vec::new()) };
    if edge.uplink.is_none() {
        return Ok(interfaces.iter().map(|(_, facts)| facts.index).chain([tun.index()]).collect());
    }
    uplink_index(settings).map(|index| vec![index])
}

/// The kernel's number of the uplink's interface.
fn uplink_index(settings: &Settings) -> Result<u32, Error> {
    let uplink = router::uplink(settings).unwrap_or_default();
    let found = interface::facts(uplink).map_err(|e| {
        Error::Config(format!(
            "gateway.uplink: interface {uplink}: {e}; `ip link` lists the interfaces of this host"
        ))
    })?;
    Ok(found.index)
}

/// Gives an interface the node's address and the settings of a mesh, free of what an earlier node left.
fn take_interface(
    settings: &Settings,
    host: &Host,
    (name, ifindex): (&str, u32),
    is_watched: bool,
    netlink: &mut Netlink,
    undo: &mut Undo,
    log: &Log,
) -> Result<(), Error> {
    // What an earlier life left, if even its undoing was killed.
    let old = netlink.remove_all(ifindex).map_err(Error::system("remove an earlier node's routes"))?;
    if old > 0 {
        log.tell(Level::Warning, format_args!("removed {old} routes of an earlier node"));
    }
    netlink.free(name).map_err(Error::system("remove an earlier node's rules"))?;
    undo.routes(name)?;
    if host.plane == DataPlane::Forwarding && !is_watched {
        undo.rules(name)?;
        netlink
            .confine(name, Prefix::around(settings.address, settings.prefix_len))
            .map_err(Error::system("confine what comes by the interface to the mesh"))?;
    }
    // One that somebody else gave it stays at the end.
    if !has_address(name, settings.address)? {
        undo.address(settings.address, name)?;
        netlink
            .add_address(settings.address, ifindex)
            .map_err(Error::system(format!("give {name} the node's address")))?;
    }
    // The host may become strict later.
    undo.remember(name, WAY_BACK, LOOSE)?;
    for (key, value) in interface_settings(name, host.plane) {
        undo.set(name, key, value)?;
    }
    if settings.address6.is_some() {
        // It would answer neighbour discovery, and forward, beside the node.
        undo.disable_ipv6(name)?;
    }
    Ok(())
}

/// Makes the TUN the interface by which programs of this host reach the mesh. It gets the node's address after the mesh's
/// interfaces: of interfaces with one address the kernel finds the last, and a program that joins a group by the node's address means
/// the TUN.
fn prepare_tun(settings: &Settings, tun: &Tun, shortest: usize, netlink: &mut Netlink) -> Result<(), Error> {
    let name = &settings.config.tun;
    netlink
        .add_network_address(settings.address, settings.prefix_len, tun.index())
        .map_err(Error::system(format!("give {name} the node's address")))?;
    for (key, value) in tun_settings(router::uplink(settings).is_some()) {
        let path = interface::ipv4_setting(name, key);
        fs::write(&path, value).map_err(Error::system(format!("write {}", path.display())))?;
    }
    if settings.address6.is_some() {
        let mtu = usize::from(mtu::of_tun(settings, shortest));
        tun6::prepare(tun, name, settings, mtu, netlink)?;
    } else {
        // The mesh carries IPv4; a kernel without IPv6 has no such file.
        let _ = fs::write(interface::ipv6_setting(name, DISABLE_IPV6), "1");
    }
    Ok(())
}

/// What serves the node's files: the capture, and the control socket.
type Served = (Option<Capture>, Option<(Server, Desk)>);

/// Files that the node makes while it has the right to; threads serve them when it has given that up.
struct Files {
    run: Option<RunDir>,
    capture: Option<CaptureFile>,
    /// With its name.
    control: Option<(String, Bound)>,
}

impl Files {
    fn make(
        settings: &Settings,
        host: &mut Host,
        seed: u64,
        about: &About,
        undo: &mut Undo,
        log: &Log,
    ) -> Result<Self, Error> {
        let config = &settings.config;
        let run = config.run.as_deref().map(|path| run_dir::make(path, settings, seed)).transpose()?;
        let capture = match &config.capture {
            Some(c) => {
                let in_run = run.as_ref().map(|r| r.capture_path(&about.name));
                let path = c.file.clone().or(in_run).unwrap_or_default();
                Some(CaptureFile::create(c, path, config.names())?)
            }
            None => None,
        };
        if let (Some(logs), Some(c)) = (&mut host.around.inputs, &config.inputs) {
            inputs::make(logs, c.file.as_deref(), run.as_ref(), &about.name, &config.user)?;
        }
        let control = match (&config.control, &settings.usual_control) {
            (Some(name), _) => Some((name.clone(), open_control(name, undo)?)),
            (None, Some(name)) => open_usual_control(name, undo, log),
            (None, None) => None,
        };
        Station::prepare(settings)?;
        Ok(Self { run, capture, control })
    }

    fn begin(self, settings: &Settings, host: &mut Host, about: &About) -> Result<Served, Error> {
        let Self { run, capture, control } = self;
        let capture = capture.map(CaptureFile::begin).transpose()?;
        let control = control.map(|(name, bound)| serve_control(bound, &name, about.clone())).transpose()?;
        if let (Some(run), Some(dir)) = (&mut host.around.run, run) {
            run.begin(dir, about, settings)?;
        }
        if let Some(logs) = &mut host.around.inputs {
            logs.begin().map_err(Error::system("start a thread for the log of inputs"))?;
        }
        Ok((capture, control))
    }
}

/// Has the driver of an interface tell what became of unicasts, if it says that it does.
pub(crate) fn watch_tx_status(
    host: &mut Host,
    iface: IfaceId,
    sockets: &PacketSockets,
    ifindex: u32,
    log: &Log,
) {
    match wifi::capabilities(ifindex) {
        Ok(Some(c)) if c.transmit_status => match sockets.enable_tx_status() {
            Ok(()) => host.line(iface).tx_statuses.watch(),
            Err(e) => {
                log.tell(Level::Warning, format_args!("the kernel does not tell what became of frames: {e}"));
            }
        },
        Ok(Some(_)) => log.tell(
            Level::Info,
            "the driver does not tell what became of frames: the protocol has its own acknowledgements",
        ),
        Ok(None) => {}
        Err(e) => log.tell(Level::Warning, format_args!("nl80211 does not answer: {e}")),
    }
}

/// Without the programs, rules of the kernel keep the mesh's packets within the mesh. And without a report of their use, routes
/// end although they are used, and are looked for again.
fn ebpf(name: &str, outcome: std::io::Result<ForwardingPrograms>, log: &Log) -> Option<ForwardingPrograms> {
    if let Err(e) = &outcome {
        log.tell(
            Level::Warning,
            format_args!(
                "what passes {name} cannot be watched ({e}; it needs Linux 6.6): each route lives for its lifetime, and \
                 is then looked for again; packets are kept within the mesh by rules, which cost more"
            ),
        );
    }
    outcome.ok()
}

/// Keeps what comes by an interface from the kernel's IP: who filters the TUN has filtered the mesh.
fn close(name: &str, ifindex: u32, log: &Log) -> Option<ClosedInterface> {
    let closed = ClosedInterface::open(ifindex);
    if let Err(e) = &closed {
        log.tell(
            Level::Warning,
            format_args!(
                "{name} cannot be closed to plain IP ({e}; it needs Linux 6.6): a stranger's packets reach this host's services \
                 by it; filter {name} as well as the TUN"
            ),
        );
    }
    closed.ok()
}

fn open_control(name: &str, undo: &mut Undo) -> Result<Bound, Error> {
    let path = wayhop_control::paths::socket(name).map_err(Error::Config)?;
    undo.unlink(&path)?;
    Bound::new(&path, Access::Owner)
        .map_err(Error::system(format!("open the control socket {}", path.display())))
}

/// The control socket that nobody asked for: a node does without it where another one has it.
fn open_usual_control(name: &str, undo: &mut Undo, log: &Log) -> Option<(String, Bound)> {
    let path = wayhop_control::paths::socket(name).ok()?;
    if wayhop_control::Client::connect(&path).is_ok() {
        let other = "another node has the control socket";
        let say = "give this one its own with --set control=NAME";
        log.tell(Level::Warning, format!("{other} {name}: `wayhop ctl` does not reach this one; {say}"));
        return None;
    }
    match open_control(name, undo) {
        Ok(bound) => {
            log.tell(
                Level::Info,
                format!("look and change: wayhop ctl --run {name} routes, counters, params, ..."),
            );
            Some((name.to_owned(), bound))
        }
        Err(e) => {
            log.tell(Level::Warning, format!("{e}; `wayhop ctl` does not reach this node"));
            None
        }
    }
}

/// Who this node is to others: by its name, or that of its control socket, or that in its scenario, or else the host's.
fn about(settings: &Settings) -> About {
    let config = &settings.config;
    let host = || Some(fs::read_to_string("/proc/sys/kernel/hostname").ok()?.trim().to_owned());
    let given = [&config.name, &config.control, &settings.name].into_iter().flatten().next().cloned();
    let name = given.or_else(host).unwrap_or_else(|| "node".to_owned());
    let node = NodeAbout::new(NODE, &name, settings.address);
    About::new(&name, "field", settings.protocol.name(), vec![node])
}

fn serve_control(bound: Bound, name: &str, about: About) -> Result<(Server, Desk), Error> {
    let server = bound.serve(about).map_err(Error::system("serve the control socket"))?;
    Ok((server, Desk::new(name.to_owned())))
}

/// Whether an interface has an address with which it has no network.
fn has_address(name: &str, addr: Ipv4Addr) -> Result<bool, Error> {
    let mut all = getifaddrs().map_err(|e| Error::System(format!("cannot list addresses: {e}")))?;
    let v4 = |s: Option<nix::sys::socket::SockaddrStorage>| Some(s?.as_sockaddr_in()?.ip());
    Ok(all.any(|a| a.interface_name == name && v4(a.address) == Some(addr)))
}

/// An address of the mesh on the interface itself would have a route of its own, around the mesh.
fn check_addresses(settings: &Settings, may_run: bool) -> Result<(), Error> {
    let all = getifaddrs().map_err(|e| Error::System(format!("cannot list addresses: {e}")))?;
    for a in all.filter(|a| !(may_run && a.interface_name == settings.config.tun)) {
        tun6::check_address(settings, &a)?;
        let v4 = |s: Option<nix::sys::socket::SockaddrStorage>| Some(s?.as_sockaddr_in()?.ip());
        let (Some(addr), Some(netmask)) = (v4(a.address), v4(a.netmask)) else { continue };
        if a.interface_name == settings.config.tun {
            return Err(Error::System(format!(
                "there is an interface {} already; stop the other node, or give this one another `tun`",
                a.interface_name
            )));
        }
        let name = &a.interface_name;
        let is_in_mesh = settings.config.names().any(|n| n == name);
        overlap::check(settings, name, addr, netmask.to_bits().count_ones() as u8, is_in_mesh)?;
    }
    Ok(())
}

pub(crate) fn random_seed() -> std::io::Result<u64> {
    let mut octets = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut octets)?;
    Ok(u64::from_le_bytes(octets))
}
