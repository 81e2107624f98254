//! The plan for each part of the node, resolved once, before anything is set up.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use wayhop_auth::Keys;
use wayhop_control::{About, NodeAbout};
use wayhop_core::{Addr, Configured, Limits, Mac, Outside, Prefix as MeshPrefix, Route};
use wayhop_linux::{Error, Prefix};
use wayhop_scenario::{Ignores, Outage, Protocol};
use wayhop_trace::LibraryRecord;

use crate::config::gateway::{EdgePlan, ProbeTargets};
use crate::config::monitor::Monitor;
use crate::config::node_config::{Capture, InputLog};
use crate::config::number::NODE;
use crate::config::settings::Settings;
use crate::config::signal::{self, SignalSource};
use crate::log::Level;

/// A plan for each room.
pub(crate) struct Plans {
    pub(crate) log: LogPlan,
    pub(crate) node: NodePlan,
    pub(crate) interfaces: InterfacesPlan,
    pub(crate) kernel: KernelPlan,
    pub(crate) gateway: Option<GatewayPlan>,
    pub(crate) record: RecordPlan,
    pub(crate) control: ControlPlan,
    /// The user that the node becomes.
    pub(crate) user: String,
}

/// Lines for people.
pub(crate) struct LogPlan {
    pub(crate) level: Level,
    /// `None` is standard error.
    pub(crate) file: Option<PathBuf>,
}

/// The node's addresses, and what it reaches by them.
#[derive(Clone)]
pub(crate) struct Addresses {
    pub(crate) own: Ipv4Addr,
    pub(crate) mesh: Prefix,
    /// With the length of the prefix of its neighbours.
    pub(crate) own6: Option<(Ipv6Addr, u8)>,
    /// Static routes.
    pub(crate) routes: Vec<Route>,
}

impl Addresses {
    /// All of the node's own.
    pub(crate) fn all(&self) -> impl Iterator<Item = Addr> {
        let own6 = self.own6.map(|(addr, _)| Addr::from(addr));
        own6.into_iter().chain([self.own.into()])
    }

    /// The networks of IPv6 that programs reach by the TUN: its own, and behind it those of static routes.
    pub(crate) fn networks6(&self) -> Option<(MeshPrefix, impl Iterator<Item = MeshPrefix>)> {
        let own = self.own6.map(|(addr, len)| MeshPrefix::around(addr, len))?;
        let routed = self.routes.iter().map(|r| r.destination).filter(move |to| !own.contains(to.addr));
        Some((own, routed))
    }
}

/// The node itself.
pub(crate) struct NodePlan {
    pub(crate) name: String,
    pub(crate) addresses: Addresses,
    pub(crate) protocol: ProtocolPlan,
    pub(crate) edge: Option<EdgePlan>,
    /// Of each interface, as far as the configuration gives them.
    pub(crate) metrics: Vec<u8>,
    pub(crate) outages: Vec<Outage>,
    /// Whether it measures how long frames take.
    pub(crate) timing: bool,
    pub(crate) has_run: bool,
    pub(crate) has_inputs: bool,
}

/// The routing protocol.
pub(crate) struct ProtocolPlan {
    pub(crate) configured: Configured,
    /// As the configuration gives it: what it is after a reboot follows from it.
    pub(crate) section: Protocol,
    pub(crate) mtu: MtuPlan,
    pub(crate) keys: Option<Keys>,
    pub(crate) limits: Limits,
    pub(crate) seed: u64,
}

/// How long packets may be, as it follows from what the interfaces carry.
#[derive(Clone)]
pub(crate) struct MtuPlan {
    /// The TUN's, bytes, if the configuration gives it.
    pub(crate) tun: Option<u16>,
    /// Room that the protocol's headers need, bytes.
    pub(crate) header_room: usize,
    /// What authenticates a packet, bytes.
    pub(crate) seal: usize,
    /// The protocol's parameter that says it, where the configuration leaves it to the interfaces.
    pub(crate) key: Option<&'static str>,
}

impl MtuPlan {
    pub(crate) fn of(settings: &Settings) -> Self {
        let traits = &settings.protocol.description().host;
        let given = &settings.config.protocol.overrides;
        Self {
            tun: settings.config.mtu,
            header_room: traits.header_room,
            seal: if settings.keys.is_some() { wayhop_wire::auth::MAX_LEN } else { 0 },
            key: traits.mtu.filter(|key| !given.contains_key(*key)),
        }
    }
}

/// The interfaces in the mesh.
pub(crate) struct InterfacesPlan {
    /// In the order of their numbers.
    pub(crate) names: Vec<String>,
    pub(crate) addresses: Addresses,
    pub(crate) macfilter: MacFilterPlan,
    pub(crate) way_out: WayOut,
    /// Where the power comes from with which neighbours are received.
    pub(crate) signals: Vec<SignalSource>,
}

/// By which interfaces the kernel may send on what comes from the mesh and is for an address outside.
pub(crate) enum WayOut {
    /// There is no outside.
    None,
    /// By those in the mesh, to a gateway; and by the TUN, by which the node hears of it if there is no route.
    Mesh,
    /// A gateway's uplink.
    Uplink(String),
}

/// Whom the node ignores.
pub(crate) struct MacFilterPlan {
    /// In order of time.
    pub(crate) ignores: Vec<Ignores>,
    /// Link addresses that the file names, for orders about links.
    pub(crate) cards: Vec<Mac>,
    /// By which the node is known in such orders; `None` without a macfilter.
    pub(crate) own: Option<OwnNames>,
}

/// By what orders about links name this node.
pub(crate) struct OwnNames {
    /// Its number in the macfilter's file.
    pub(crate) number: Option<u32>,
    pub(crate) address: Ipv4Addr,
    pub(crate) names: Vec<String>,
}

/// What the kernel is set to.
pub(crate) struct KernelPlan {
    /// The TUN's name.
    pub(crate) tun: String,
    /// The interfaces in the mesh.
    pub(crate) interfaces: Vec<String>,
    pub(crate) addresses: Addresses,
    /// What is reached by gateways.
    pub(crate) by_gateways: Vec<MeshPrefix>,
    /// Whether the host sends on what comes out of the TUN, as a gateway does.
    pub(crate) forwards: bool,
    pub(crate) mtu: MtuPlan,
}

/// A router between the mesh and an uplink.
pub(crate) struct GatewayPlan {
    pub(crate) uplink: String,
    /// The TUN and the interfaces in the mesh.
    pub(crate) mesh_side: Vec<String>,
    pub(crate) outside: Outside,
    /// Whether packets leave with the uplink's address.
    pub(crate) translate: bool,
    /// The name of its table of nftables.
    pub(crate) table: String,
    pub(crate) probe: Option<ProbeTargets>,
}

/// What is recorded and reported about the node.
pub(crate) struct RecordPlan {
    pub(crate) about: About,
    pub(crate) user: String,
    pub(crate) addresses: Addresses,
    pub(crate) interfaces: Vec<String>,
    pub(crate) run: Option<RunPlan>,
    pub(crate) capture: Option<Capture>,
    pub(crate) inputs: Option<InputLog>,
    pub(crate) telemetry: TelemetryPlan,
}

/// A run directory.
pub(crate) struct RunPlan {
    pub(crate) path: PathBuf,
    /// The configuration that it keeps.
    pub(crate) config: String,
    pub(crate) seed: u64,
    /// Where its protocol comes from, if it is not built in.
    pub(crate) library: Option<LibraryRecord>,
}

/// The periodic reports.
pub(crate) struct TelemetryPlan {
    pub(crate) metrics: Option<SocketAddr>,
    pub(crate) gpsd: Option<String>,
    pub(crate) monitor: Option<Monitor>,
    /// Whether somebody may want to know the places of other nodes, and sizes: subscribers, or the run directory.
    pub(crate) is_watched: bool,
}

/// The control socket.
pub(crate) struct ControlPlan {
    pub(crate) socket: Option<ControlSocketName>,
    pub(crate) about: About,
}

/// What a control socket is called.
pub(crate) enum ControlSocketName {
    Given(String),
    /// Nobody asked for it: a node does without it where another one has it.
    Usual(String),
}

impl Plans {
    /// The plans of a node with these settings.
    pub(crate) fn of(settings: &Settings, seed: u64) -> Result<Self, Error> {
        let config = &settings.config;
        let about = about(settings);
        let addresses = Addresses {
            own: settings.address,
            mesh: Prefix::around(settings.address, settings.prefix_len),
            own6: settings.address6,
            routes: settings.routes.clone(),
        };
        let names: Vec<String> = config.names().map(str::to_owned).collect();
        let uplink = settings.edge.as_ref().and_then(|e| e.uplink.clone());
        Ok(Self {
            log: LogPlan { level: config.log, file: config.log_file.clone() },
            node: node(settings, &about.name, &addresses, seed),
            kernel: KernelPlan {
                tun: config.tun.clone(),
                interfaces: names.clone(),
                addresses: addresses.clone(),
                by_gateways: settings.edge.as_ref().map_or(Vec::new(), |e| e.by_gateways.clone()),
                forwards: uplink.is_some(),
                mtu: MtuPlan::of(settings),
            },
            gateway: settings.edge.as_ref().and_then(|edge| gateway(edge, settings)),
            record: record(settings, (&about, &addresses, &names), seed)?,
            control: ControlPlan {
                socket: match (&config.control, &settings.usual_control) {
                    (Some(name), _) => Some(ControlSocketName::Given(name.clone())),
                    (None, usual) => usual.clone().map(ControlSocketName::Usual),
                },
                about,
            },
            interfaces: InterfacesPlan {
                macfilter: macfilter(settings),
                way_out: match (&settings.edge, uplink) {
                    (None, _) => WayOut::None,
                    (Some(_), None) => WayOut::Mesh,
                    (Some(_), Some(uplink)) => WayOut::Uplink(uplink),
                },
                signals: names
                    .iter()
                    .filter_map(|name| signal::source(&config.signal, name).flatten())
                    .collect(),
                names,
                addresses,
            },
            user: config.user.clone(),
        })
    }
}

fn node(settings: &Settings, name: &str, addresses: &Addresses, seed: u64) -> NodePlan {
    let config = &settings.config;
    NodePlan {
        name: name.to_owned(),
        addresses: addresses.clone(),
        protocol: ProtocolPlan {
            configured: settings.protocol.clone(),
            section: config.protocol.clone(),
            mtu: MtuPlan::of(settings),
            keys: settings.keys.clone(),
            limits: settings.limits(),
            seed,
        },
        edge: settings.edge.clone(),
        metrics: config.interface_metrics.clone(),
        outages: settings.outages.clone(),
        timing: config.timing,
        has_run: config.run.is_some(),
        has_inputs: config.inputs.is_some(),
    }
}

fn macfilter(settings: &Settings) -> MacFilterPlan {
    let config = &settings.config;
    MacFilterPlan {
        ignores: settings.ignores.clone(),
        cards: settings.cards.clone(),
        own: config.macfilter.as_ref().map(|m| OwnNames {
            number: m.node,
            address: settings.address,
            names: [&settings.name, &config.name].into_iter().flatten().cloned().collect(),
        }),
    }
}

/// `None` of a node that is no gateway.
fn gateway(edge: &EdgePlan, settings: &Settings) -> Option<GatewayPlan> {
    let tun = &settings.config.tun;
    // What is no letter or digit in the TUN's name cannot be in a table's.
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    Some(GatewayPlan {
        uplink: edge.uplink.clone()?,
        mesh_side: settings.config.names().chain([tun.as_str()]).map(str::to_owned).collect(),
        outside: edge.outside.clone(),
        translate: edge.translate,
        table: format!("wayhop_{}", tun.chars().map(plain).collect::<String>()),
        probe: edge.asked.clone(),
    })
}

fn record(
    settings: &Settings,
    (about, addresses, names): (&About, &Addresses, &[String]),
    seed: u64,
) -> Result<RecordPlan, Error> {
    let config = &settings.config;
    let protocol = settings.protocol.description();
    let library = wayhop_protocols::library(protocol).map(|file| LibraryRecord::new(protocol, file));
    let run = |path: &PathBuf| {
        settings.record().map(|config| RunPlan { path: path.clone(), config, seed, library: library.clone() })
    };
    Ok(RecordPlan {
        about: about.clone(),
        user: config.user.clone(),
        addresses: addresses.clone(),
        interfaces: names.to_vec(),
        run: config.run.as_ref().map(run).transpose()?,
        capture: config.capture.clone(),
        inputs: config.inputs.clone(),
        telemetry: TelemetryPlan {
            metrics: config.metrics,
            gpsd: config.gpsd.clone(),
            monitor: config.monitor.clone(),
            is_watched: config.control.is_some() || settings.usual_control.is_some() || config.run.is_some(),
        },
    })
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
