//! A scenario with everything looked up, generated and checked.

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_auth::Keys;
use wayhop_core::{Configured, Limits, NodeId, Position, Route, Time};
use wayhop_document::{Omissions, Result, in_range, unknown_name};
use wayhop_radio::{CardConfig, PRESETS, RadioConfig, Supply};
use wayhop_simulator_files::MAX_DURATION_S;
use wayhop_transport::{FlowConfig, FlowKind};
use wayhop_world::{Geodetic, Track};

use crate::applications::{self, ApplicationPlan};
use crate::attacks::{Attack, AttackContext};
use crate::dtn::DtnPlan;
use crate::file::Scenario;
use crate::gateways::EdgePlan;
use crate::interfaces::path_losses::LossTable;
use crate::interfaces::stalls::QueueStall;
use crate::interfaces::{Interfaces, energy, path_losses, stalls};
use crate::movement::Movement;
use crate::nodes::Placement;
use crate::nodes::ipv6::Ipv6Plan;
use crate::outages::Outage;
use crate::output::{CapturePlan, ReceptionPlan, TablePlan, capture_plan, reception_plan, table_plan};
use crate::protocol::commands::Order;
use crate::protocol::{commands, routes};
use crate::site::{Map, check_geodetic};
use crate::traffic::programs::ProgramPlan;
use crate::traffic::{cut_off, default_duration, ip, programs};
use crate::{attacks, dtn, gateways, interfaces, outages, protocol, traffic};

/// A scenario as the simulator takes it: plain data.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// For summaries.
    pub name: String,
    /// Of every random stream.
    pub seed: u64,
    /// The end of the run.
    pub duration: Time,
    /// Size of the area from the local origin, metres: as given, or as far as any node ever is.
    pub area: [f64; 3],
    /// The local origin on the globe.
    pub origin: Option<Geodetic>,
    /// Each node's motion. Its length is the number of nodes.
    pub tracks: Arc<[Track]>,
    /// Each node's name.
    pub names: Vec<String>,
    /// Each node's address.
    pub addresses: Vec<Ipv4Addr>,
    /// Their IPv6 addresses, if they have any.
    pub ipv6: Option<Ipv6Plan>,
    /// The nodes' static routes.
    pub routes: Vec<(NodeId, Route)>,
    /// The edge of the mesh; `None` in a scenario without gateways.
    pub edge: Option<EdgePlan>,
    /// The flows.
    pub flows: Vec<FlowConfig>,
    /// The nodes' radios and wires.
    pub interfaces: Interfaces,
    /// The nodes with a network card of their own, for the first radio.
    pub cards: Vec<(NodeId, CardConfig)>,
    /// The protocol with its parameters.
    pub protocol: Configured,
    /// What nodes take from their neighbours.
    pub limits: Limits,
    /// The keys with which nodes authenticate routing messages; none for no authentication.
    pub keys: Option<Keys>,
    /// When drivers stop serving their interface queues.
    pub stalls: Vec<QueueStall>,
    /// Links whose path loss follows a table.
    pub path_losses: Vec<LossTable>,
    /// When nodes are down: in order of time, then of nodes; those of one node apart from each other.
    pub outages: Vec<Outage>,
    /// The attackers, in order of nodes.
    pub attacks: Vec<Attack>,
    /// Each node's battery; empty if no node has one.
    pub energy: Vec<Option<Supply>>,
    /// The protocol of a node that has rebooted without its tables.
    pub protocol_after_reboot: Configured,
    /// The commands sent to nodes.
    pub orders: Vec<Order>,
    /// The agents for bundles, if any.
    pub dtn: Option<DtnPlan>,
    /// The applications at nodes.
    pub applications: Vec<ApplicationPlan>,
    /// The programs that run in nodes where these are real.
    pub programs: Vec<ProgramPlan>,
    /// The captures.
    pub captures: CapturePlan,
    /// The frames whose outcome is recorded.
    pub receptions: ReceptionPlan,
    /// The tables.
    pub tables: TablePlan,
    /// Whether it is recorded what identifies each packet; only a command asks for this, no key of the scenario does.
    pub identities: bool,
    /// Whether to write a trace in ns-2's old wireless format.
    pub ns2_trace: bool,
    /// What a user should know before believing the result.
    pub warnings: Vec<String>,
    /// What was skipped in other tools' files that the scenario names; `warnings` has a note about each kind.
    pub skipped: Vec<Omissions>,
}

impl Resolved {
    /// Whether, in emulation, the hosts' own network stacks do all that is above the link: each node's radio is a TAP. Without a
    /// routing protocol they can, if nothing else of the scenario is a part of the network layer.
    pub fn has_taps(&self) -> bool {
        let is_plain = self.edge.is_none() && self.keys.is_none() && self.attacks.is_empty();
        let has_links = |a: &ApplicationPlan| !a.application.parameters.links().is_empty();
        self.protocol.name() == "none"
            && self.interfaces.is_single()
            && is_plain
            && !self.applications.iter().any(has_links)
    }

    /// The radio; of several, the first.
    pub fn radio(&self) -> &RadioConfig {
        &self.interfaces.radios[0].config
    }
}

impl Scenario {
    /// Looks up, generates and checks everything.
    pub fn resolve(&self) -> Result<Resolved> {
        if self.movement.is_none() {
            let remedy = "add: movement = { kind = \"chain\", spacing_m = 150 }, or another kind (docs/reference/scenario.md)";
            return Err(self.document.error("movement", "missing; only real hosts do without it", remedy));
        }
        self.resolve_hosts()
    }

    /// As [`resolve`](Self::resolve), for real hosts, whose positions the scenario need not have.
    pub fn resolve_hosts(&self) -> Result<Resolved> {
        let doc = &self.document;
        let name = self.checked_name()?;
        self.check_ground()?;
        let given = self.duration_s.map(|s| self.check_duration(s)).transpose()?;
        let map = Map::load(self)?;
        // Only movement files say more of it, and they do not ask for it.
        let written = given.unwrap_or_else(|| default_duration(self, None, &[]));
        let mut placed = Placement::new(self, self.seed, written, map.as_ref())?;
        let duration = match (&self.movement, given) {
            (Some(Movement::Ns2 { .. } | Movement::Bonnmotion { .. }), None) => {
                placed.end.unwrap_or_else(|| default_duration(self, placed.last_move, &placed.ns2_flows))
            }
            _ => written,
        };
        let flows = traffic::flows(&placed, self.seed)?;
        let mut warnings = placed.warnings();
        warnings.extend(of_flows(&flows, &placed, duration, given.is_some() || placed.end.is_some()));
        let mut interfaces = interfaces::resolve(&placed, map.as_ref())?;
        let mut protocol = self.protocol.resolve(doc)?;
        if flows.iter().any(wants_notices) {
            protocol = protocol::with_notices(&protocol, &self.protocol);
        }
        warnings.extend(protocol::unnoticed_breaks(&protocol, &self.protocol, &interfaces));
        let edge = gateways::resolve(&mut placed, &mut interfaces, &protocol)?;
        let routes = routes::resolve(&placed, &protocol, &interfaces)?;
        // Programs may be routing daemons.
        let unrouted: &[_] = if self.programs.is_empty() { &flows } else { &[] };
        warnings.extend(ip::neighbours_only(unrouted, &protocol, routes.iter().map(|(_, r)| *r)));
        let stalls = stalls::resolve(&placed, &interfaces)?;
        let path_losses = path_losses::resolve(&placed, &interfaces)?;
        let (outages, late) = outages::resolve(&placed, self.seed, duration)?;
        warnings.extend(late);
        let around = AttackContext {
            placed: &placed,
            flows: &flows,
            interfaces: &interfaces,
            protocol: &protocol,
            end: duration,
        };
        let (attacks, late) = attacks::resolve(&around)?;
        warnings.extend(late);
        let energy = energy::resolve(&placed, &interfaces)?;
        let protocol_after_reboot = protocol::after_reboot(&protocol, &self.protocol);
        let dtn = dtn::resolve(&placed)?;
        let area = self.area.map_or_else(|| extent(&placed.tracks, duration), |a| [a.x_m, a.y_m, a.z_m]);
        Ok(Resolved {
            name,
            orders: commands::resolve(&placed)?,
            applications: applications::resolve(&placed, &interfaces)?,
            programs: programs::resolve(&placed)?,
            captures: capture_plan(&self.captures, &placed)?,
            receptions: reception_plan(&self.receptions, &placed, flows.len())?,
            tables: table_plan(&self.output, &placed, flows.len())?,
            seed: self.seed,
            duration,
            area,
            origin: self.origin,
            tracks: placed.tracks.into(),
            names: placed.names,
            addresses: placed.addresses,
            ipv6: placed.ipv6,
            routes,
            edge,
            flows,
            interfaces,
            cards: self.resolve_cards()?,
            limits: self.limits.or(self.protocol.limits()),
            keys: self.security.load(protocol.description(), doc)?,
            protocol,
            stalls,
            path_losses,
            outages,
            attacks,
            energy,
            protocol_after_reboot,
            dtn,
            identities: false,
            ns2_trace: self.output.ns2_trace,
            warnings,
            skipped: placed.skipped,
        })
    }

    /// Where the ground lies on the globe, and the picture under it.
    fn check_ground(&self) -> Result<()> {
        let doc = &self.document;
        if let Some(origin) = self.origin {
            check_geodetic(origin, "origin", doc)?;
        }
        if let Some(background) = &self.background {
            crate::site::background::check(background, doc)?;
        }
        Ok(())
    }

    fn checked_name(&self) -> Result<String> {
        if self.name.chars().any(char::is_control) {
            let reason = format!("{:?} contains control characters", self.name);
            return Err(self.document.error("name", reason, "remove them"));
        }
        Ok(if self.name.is_empty() { "scenario".to_owned() } else { self.name.clone() })
    }

    fn check_duration(&self, seconds: f64) -> Result<Time> {
        if seconds <= 0.0 {
            let remedy = "give a number of seconds above zero";
            return Err(self.document.error("duration_s", format!("{seconds} is not a duration"), remedy));
        }
        in_range(&self.document, "duration_s", seconds, 0.0, MAX_DURATION_S).map(Time::from_secs_f64)
    }

    /// The numbers of the nodes were checked when they were placed.
    fn resolve_cards(&self) -> Result<Vec<(NodeId, CardConfig)>> {
        let named = self.nodes.single.iter().enumerate();
        let own = named.filter_map(|(k, node)| Some((k, node.id, node.card.as_deref()?)));
        own.map(|(k, id, name)| {
            let preset = RadioConfig::preset(name).ok_or_else(|| {
                let key = format!("nodes.node[{k}].card");
                unknown_name(&self.document, &key, name, PRESETS.iter().map(|p| p.0))
            })?;
            Ok((NodeId(id), CardConfig::from(&preset)))
        })
        .collect()
    }
}

/// Whether a flow's sender reacts to the notice that its route is lost.
fn wants_notices(flow: &FlowConfig) -> bool {
    matches!(flow.kind, FlowKind::Tcp(c) if c.failure.listens())
}

/// Flows that duplicate others, and traffic that the end of the run cuts off. A user who set the end cut flows off on
/// purpose.
fn of_flows(flows: &[FlowConfig], placed: &Placement<'_>, end: Time, is_given: bool) -> Vec<String> {
    let cut = if is_given { None } else { cut_off(flows, end) };
    traffic::twins(flows, &placed.names).into_iter().chain(late_flows(flows, end)).chain(cut).collect()
}

/// A flow that begins when the run is over is probably a mistake.
fn late_flows(flows: &[FlowConfig], end: Time) -> Option<String> {
    let late: Vec<usize> = (0..flows.len()).filter(|&i| flows[i].start > end).collect();
    let first = *late.first()?;
    Some(format!(
        "{} of {} flows begin after the end of the run ({} s) and send nothing, for example flow {first} (at {} s)",
        late.len(),
        flows.len(),
        end.as_secs_f64(),
        flows[first].start.as_secs_f64(),
    ))
}

fn extent(tracks: &[Track], until: Time) -> [f64; 3] {
    let mut far = Position::default();
    for leg in tracks.iter().flat_map(Track::legs).filter(|l| l.from <= until) {
        for p in [leg.start, leg.position(leg.until.min(until))] {
            far = Position { x: far.x.max(p.x), y: far.y.max(p.y), z: far.z.max(p.z) };
        }
    }
    [far.x, far.y, far.z]
}

impl Resolved {
    /// The scenario's network as a chain: identical static nodes in the open, and one flow from end to end.
    #[must_use]
    pub fn as_chain(&self, flow: &FlowConfig, hops: u32, spacing_m: f64, duration: Time, seed: u64) -> Self {
        let place = |i: u32| Track::fixed(Position::new(f64::from(i) * spacing_m, 0.0, 0.0));
        let address = |i: u32| -> Ipv4Addr { NodeId(i).default_addr() };
        let mut interfaces = self.interfaces.clone();
        interfaces.radios[0].config.site = None;
        Self {
            seed,
            duration,
            area: [f64::from(hops) * spacing_m, 0.0, 0.0],
            tracks: (0..=hops).map(place).collect(),
            names: (0..=hops).map(|i| i.to_string()).collect(),
            addresses: (0..=hops).map(address).collect(),
            ipv6: None,
            routes: Vec::new(),
            edge: None,
            flows: vec![FlowConfig { src: NodeId(0), dst: NodeId(hops), ip6: false, ..flow.clone() }],
            interfaces,
            cards: Vec::new(),
            stalls: Vec::new(),
            outages: Vec::new(),
            attacks: Vec::new(),
            energy: Vec::new(),
            orders: Vec::new(),
            applications: Vec::new(),
            programs: Vec::new(),
            captures: CapturePlan::default(),
            receptions: ReceptionPlan::default(),
            tables: TablePlan::default(),
            identities: false,
            ns2_trace: false,
            warnings: Vec::new(),
            ..self.clone()
        }
    }
}
