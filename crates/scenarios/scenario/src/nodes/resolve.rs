//! Nodes: how many, where, by what name and address.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;

use wayhop_core::{Addr, NodeId, Position, Span, Time};
use wayhop_document::{Document, Omissions, Result, in_range, nearest_or, read_text};
use wayhop_simulator_files::ns2::{Importer, Ns2Scenario};
use wayhop_simulator_files::{BonnMotion, Columns, MAX_NODES};
use wayhop_transport::FlowConfig;
use wayhop_world::{RandomWaypoint, Start, Track, placement};

use super::{Area, NodeRef};
use crate::file::Scenario;
use crate::movement::course::check_speed_order;
use crate::movement::{MAX_TRIPS, Movement, course, waypoints};
use crate::nodes::ipv6::{Ipv6Plan, check_unique};
use crate::site::{Map, locate};
use crate::traffic::Traffic;

/// The nodes of a scenario, before anything is said of traffic.
pub(crate) struct Placement<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) tracks: Vec<Track>,
    pub(crate) names: Vec<String>,
    pub(crate) addresses: Vec<Ipv4Addr>,
    pub(crate) ipv6: Option<Ipv6Plan>,
    pub(crate) index: BTreeMap<String, u32>,
    pub(crate) ns2_flows: Vec<FlowConfig>,
    /// When nodes are absent, by their movement files: node, from and until.
    pub(crate) absences: Vec<(NodeId, Time, Time)>,
    pub(crate) last_move: Option<Time>,
    /// When the run ends, by ns-2 files.
    pub(crate) end: Option<Time>,
    pub(crate) warnings: Vec<String>,
    /// What was skipped in the files that it was read from.
    pub(crate) skipped: Vec<Omissions>,
}

impl<'a> Placement<'a> {
    pub(crate) fn new(scenario: &'a Scenario, seed: u64, end: Time, map: Option<&Map>) -> Result<Self> {
        let doc = &scenario.document;
        // Checked before the slow pattern is made, which may be much longer than the run.
        let factor = scenario.movement.as_ref().and_then(Movement::speed_factor).unwrap_or(1.0);
        in_range(doc, "movement.speed_factor", factor, 1e-3, 1e3)?;
        let slow_end = if factor == 1.0 { end } else { Time::from_secs_f64(end.as_secs_f64() * factor) };
        let mut placed = match &scenario.movement {
            Some(Movement::Ns2 { path, .. }) => from_ns2(scenario, path)?,
            Some(Movement::Bonnmotion { path, columns, .. }) => from_bonnmotion(scenario, path, *columns)?,
            Some(Movement::Course { .. }) => {
                Self::of(scenario, course::tracks(scenario, seed, slow_end, count(scenario)?, map)?)
            }
            Some(movement) => Self::of(scenario, generate(scenario, movement, seed, slow_end)?),
            None => Self::of(scenario, vec![Track::fixed(Position::default()); count(scenario)?]),
        };
        placed.speed_up(factor);
        placed.apply_overrides(doc)?;
        placed.stand_on(map);
        placed.ipv6 = crate::nodes::ipv6::resolve(scenario, placed.tracks.len())?;
        Ok(placed)
    }

    fn of(scenario: &'a Scenario, tracks: Vec<Track>) -> Self {
        let ids: Vec<u32> = (0..tracks.len() as u32).collect();
        Self::with_ids(scenario, tracks, &ids)
    }

    fn with_ids(scenario: &'a Scenario, tracks: Vec<Track>, ids: &[u32]) -> Self {
        Self {
            scenario,
            addresses: (0..tracks.len() as u32).map(|i| NodeId(i).default_addr()).collect(),
            names: ids.iter().map(u32::to_string).collect(),
            tracks,
            ipv6: None,
            index: BTreeMap::new(),
            ns2_flows: Vec::new(),
            absences: Vec::new(),
            last_move: None,
            end: None,
            warnings: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn speed_up(&mut self, factor: f64) {
        if factor == 1.0 {
            return;
        }
        self.tracks = self.tracks.iter().map(|t| t.sped_up(factor)).collect();
        let sooner =
            |t: Time| if t == Time::NEVER { t } else { Time::from_secs_f64(t.as_secs_f64() / factor) };
        self.last_move = self.last_move.map(sooner);
        for (_, from, until) in &mut self.absences {
            (*from, *until) = (sooner(*from), sooner(*until));
        }
    }

    fn apply_overrides(&mut self, doc: &Document) -> Result<()> {
        let scenario = self.scenario;
        let mut seen = BTreeMap::new();
        for (k, node) in scenario.nodes.single.iter().enumerate() {
            let key = |field: &str| format!("nodes.node[{k}].{field}");
            let i = node.id as usize;
            if i >= self.tracks.len() {
                let reason = format!("there is no node {i}; the scenario has {} nodes", self.tracks.len());
                return Err(doc.error(&key("id"), reason, format!("give 0 to {}", self.tracks.len() - 1)));
            }
            if let Some(first) = seen.insert(node.id, k) {
                let reason = format!("nodes.node[{first}] already describes node {i}");
                return Err(doc.error(&key("id"), reason, "merge the two entries"));
            }
            if let Some(name) = &node.name {
                if name.trim().is_empty() {
                    let remedy = "give a name, or remove the key";
                    return Err(doc.error(&key("name"), "the name is empty", remedy));
                }
                if name.chars().any(char::is_control) {
                    let reason = format!("{name:?} contains control characters");
                    return Err(doc.error(&key("name"), reason, "remove them"));
                }
                self.names[i].clone_from(name);
            }
            if let Some(address) = node.address {
                if !Addr::from(address).is_usable() {
                    let reason = format!("{address} cannot be a node's address");
                    return Err(doc.error(&key("address"), reason, "use a unicast address"));
                }
                self.addresses[i] = address;
            }
            if let Some(place) = node.position {
                self.tracks[i] = Track::fixed(locate(place, scenario, &key("position"))?);
            }
        }
        for (i, name) in self.names.iter().enumerate() {
            if let Some(other) = self.index.insert(name.clone(), i as u32) {
                let reason = format!("nodes {other} and {i} are both named {name:?}");
                return Err(doc.error("nodes.node", reason, "give each node its own name"));
            }
        }
        let remedy = "give each node its own address (the default of node N is 10.0.0.1 + N)";
        check_unique(&self.addresses, remedy, doc)
    }

    /// Puts nodes that bear the name of a point of the map there, but for those with a position of their own.
    fn stand_on(&mut self, map: Option<&Map>) {
        let Some(map) = map else { return };
        for (name, at) in map.points("node") {
            if let Some(&i) = self.index.get(name)
                && !self.scenario.nodes.single.iter().any(|n| n.id == i && n.position.is_some())
            {
                self.tracks[i as usize] = Track::fixed(at);
            }
        }
    }

    /// What a user should know of the files that it was read from.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.iter().cloned().chain(self.skipped.iter().flat_map(Omissions::notes)).collect()
    }

    pub(crate) fn doc(&self) -> &'a Document {
        &self.scenario.document
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.tracks.len() as u32).map(NodeId)
    }

    pub(crate) fn find_each(&self, named: &[NodeRef], key: &str) -> Result<Vec<NodeId>> {
        let find = |(i, node)| self.find(node, &format!("{key}[{i}]"));
        named.iter().enumerate().map(find).collect()
    }

    pub(crate) fn find(&self, node: &NodeRef, key: &str) -> Result<NodeId> {
        let (doc, count) = (self.doc(), self.tracks.len());
        match node {
            NodeRef::Id(id) if (*id as usize) < count => Ok(NodeId(*id)),
            NodeRef::Id(id) => {
                let remedy = if self.index.contains_key(&id.to_string()) {
                    format!("nodes are numbered 0 to {}; write \"{id}\" for the node of this name", count - 1)
                } else {
                    format!("the nodes are 0 to {}", count - 1)
                };
                Err(doc.error(key, format!("there is no node {id}"), remedy))
            }
            NodeRef::Name(name) => self.index.get(name).map(|&i| NodeId(i)).ok_or_else(|| {
                let names = self.index.keys().map(String::as_str);
                let remedy = nearest_or(name, names, "add the name in nodes.node");
                doc.error(key, format!("there is no node named {name:?}"), remedy)
            }),
        }
    }
}

fn from_ns2<'a>(scenario: &'a Scenario, path: &Path) -> Result<Placement<'a>> {
    let folder = scenario.document.folder();
    let mut import = Importer::default();
    let mut read = |path: &Path| {
        let full = folder.join(path);
        import.read(&full, &read_text(&full)?)
    };
    read(path)?;
    for entry in &scenario.traffic {
        if let Traffic::Ns2(file) = entry {
            read(&file.path)?;
        }
    }
    let count = scenario.nodes.count.map(|c| check_count(c, scenario)).transpose()?;
    let Ns2Scenario { tracks, ids, flows, absences, last_move, end, warnings, skipped } =
        import.finish(count)?;
    let placed = Placement::with_ids(scenario, tracks, &ids);
    Ok(Placement { ns2_flows: flows, absences, last_move, end, warnings, skipped, ..placed })
}

fn from_bonnmotion<'a>(
    scenario: &'a Scenario,
    path: &Path,
    columns: Option<Columns>,
) -> Result<Placement<'a>> {
    let full = scenario.document.folder().join(path);
    let BonnMotion { tracks, absences, end, .. } = BonnMotion::load(&full, columns)?;
    check_listed(scenario, "movement.path", "line", tracks.len())?;
    Ok(Placement { absences, last_move: Some(end), ..Placement::of(scenario, tracks) })
}

fn check_count(count: u32, scenario: &Scenario) -> Result<usize> {
    let wrong = |reason: String| {
        Err(scenario.document.error("nodes.count", reason, format!("give 1 to {MAX_NODES}")))
    };
    match count as usize {
        0 => wrong("the scenario has no nodes".to_owned()),
        c if c > MAX_NODES => wrong(format!("{c} nodes are too many")),
        c => Ok(c),
    }
}

fn count(scenario: &Scenario) -> Result<usize> {
    let missing = || {
        let reason = "missing; this scenario's movement does not imply it";
        scenario.document.error("nodes.count", reason, "set the number of nodes")
    };
    check_count(scenario.nodes.count.ok_or_else(missing)?, scenario)
}

fn generate(scenario: &Scenario, movement: &Movement, seed: u64, duration: Time) -> Result<Vec<Track>> {
    let doc = &scenario.document;
    let count = || count(scenario);
    let spacing = |m: f64| in_range(doc, "movement.spacing_m", m, 0.0, 1e6);
    let fixed = |places: Vec<Position>| Track::all_fixed(&places);
    let origin = Position::default();
    Ok(match movement {
        Movement::Static { positions } => {
            check_listed(scenario, "movement.positions", "position", positions.len())?;
            let places = positions.iter().enumerate();
            let at = places.map(|(i, &p)| locate(p, scenario, &format!("movement.positions[{i}]")));
            fixed(at.collect::<Result<_, _>>()?)
        }
        Movement::Waypoints { tracks } => {
            check_listed(scenario, "movement.tracks", "track", tracks.len())?;
            waypoints::tracks(scenario, tracks)?
        }
        Movement::Chain { spacing_m } => fixed(placement::chain(count()?, spacing(*spacing_m)?, origin)),
        Movement::Grid { spacing_m, columns } => {
            let count = count()?;
            let square = (count as f64).sqrt().ceil() as usize;
            let columns = columns.map_or(square, |c| c as usize);
            if columns == 0 {
                let remedy = "give at least 1, or remove the key";
                return Err(doc.error("movement.columns", "a grid needs columns", remedy));
            }
            fixed(placement::grid(count, columns, spacing(*spacing_m)?, origin))
        }
        Movement::Uniform {} => fixed(placement::uniform(count()?, area(scenario)?, seed)),
        Movement::RandomWaypoint { speed_min_mps, speed_max_mps, pause_s, steady_state, .. } => {
            check_waypoints(doc, *speed_min_mps, *speed_max_mps, *pause_s)?;
            let model = RandomWaypoint {
                area: area(scenario)?,
                speed_min: *speed_min_mps,
                speed_max: *speed_max_mps,
                pause: Span::from_secs_f64(*pause_s),
                duration,
                start: if *steady_state { Start::Steady } else { Start::Uniform },
            };
            let count = count()?;
            let trips = model.expected_trips() * count as f64;
            if trips > MAX_TRIPS {
                let reason =
                    format!("the nodes would make about {trips:.1e} trips; the limit is {MAX_TRIPS:.0e}");
                let remedy = "use a larger area, lower speeds, fewer nodes, or a shorter run";
                return Err(doc.error("movement", reason, remedy));
            }
            model.tracks(seed, count)
        }
        Movement::Bonnmotion { .. } | Movement::Course { .. } | Movement::Ns2 { .. } => {
            unreachable!("treated by the caller")
        }
    })
}

/// Checks how many places or tracks the scenario lists, one for each node.
fn check_listed(scenario: &Scenario, key: &str, what: &str, listed: usize) -> Result<()> {
    let doc = &scenario.document;
    if listed == 0 {
        return Err(doc.error(key, "the list is empty", format!("list a {what} for each node")));
    }
    if listed > MAX_NODES {
        return Err(doc.error(key, "too many nodes", format!("list at most {MAX_NODES}")));
    }
    if let Some(c) = scenario.nodes.count.filter(|&c| c as usize != listed) {
        let plural = if listed == 1 { "" } else { "s" };
        let remedy = format!("remove nodes.count: the {what}s imply it");
        return Err(doc.error("nodes.count", format!("{c} nodes, but {listed} {what}{plural}"), remedy));
    }
    Ok(())
}

fn check_waypoints(doc: &Document, min_mps: f64, max_mps: f64, pause_s: f64) -> Result<()> {
    in_range(doc, "movement.speed_max_mps", max_mps, 0.0, 1e6)?;
    in_range(doc, "movement.speed_min_mps", min_mps, 0.0, 1e6)?;
    in_range(doc, "movement.pause_s", pause_s, 0.0, 1e9)?;
    check_speed_order(min_mps, max_mps, doc)
}

fn area(scenario: &Scenario) -> Result<[f64; 3]> {
    let doc = &scenario.document;
    let Some(Area { x_m, y_m, z_m }) = scenario.area else {
        let remedy = "add: area = { x_m = 1500, y_m = 300 }";
        return Err(doc.error("area", "missing; this kind of movement requires it", remedy));
    };
    for (key, v) in [("area.x_m", x_m), ("area.y_m", y_m), ("area.z_m", z_m)] {
        in_range(doc, key, v, 0.0, 1e7)?;
    }
    Ok([x_m, y_m, z_m])
}
