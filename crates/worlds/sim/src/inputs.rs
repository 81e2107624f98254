//! Logs of the inputs of a run's engines.

use std::path::PathBuf;

use wayhop_core::parameters::object;
use wayhop_core::{IfaceId, NodeId};
use wayhop_dtn::node::NAME;
pub use wayhop_replay::Pace;
use wayhop_replay::{ApplicationHeader, Header, Logs, RecordedLink};
use wayhop_scenario::Resolved;

use crate::bundles;
use crate::simulation::Simulation;

impl Simulation {
    /// Logs what goes into the engines of these nodes, each into a file of its own. `path` says where the log of the node
    /// with a name is. Before the run's first event.
    ///
    /// # Errors
    /// If a file cannot be made.
    pub fn log_inputs(
        &mut self,
        scenario: &Resolved,
        nodes: &[NodeId],
        pace: Pace,
        path: impl Fn(&str) -> PathBuf,
    ) -> Result<(), String> {
        let world = match pace {
            Pace::RealTime => "emulation",
            Pace::Whole => "sim",
        };
        let attackers = self.net.common.attackers.as_ref();
        if let Some(node) = nodes.iter().find(|n| attackers.is_some_and(|all| all.is_one(n.0))) {
            return Err(format!(
                "node {} is an attacker, and a replay would run the ordinary protocol instead; log the \
                 inputs of other nodes",
                scenario.names[node.index()]
            ));
        }
        self.net.nodes.create_all(&self.net.common.addrs);
        let header = Header::new(world, &scenario.name, &scenario.protocol, scenario.seed)
            .rebooting_as(&scenario.protocol_after_reboot);
        let prefix_len = scenario.prefix_len().unwrap_or(header.prefix_len);
        let log = |node: &NodeId| {
            let (n, name) = (&self.net.nodes[node.index()], &scenario.names[node.index()]);
            let links = (0..n.interfaces()).map(|i| RecordedLink::new(n.mac(IfaceId(i)))).collect();
            let header = header.of_node(Some(node.0), name, n.addr(), links);
            (path(name), Header { address6: n.addr6(), prefix_len, ..header })
        };
        let mut all: Vec<_> = nodes.iter().map(log).collect();
        // On a real clock applications are programs, which write their own, but for those of the network layer.
        let has_links =
            |number: u32| scenario.applications.get(number as usize).is_some_and(|a| !a.links.is_empty());
        for (node, application) in applications(scenario) {
            let is_here = pace == Pace::Whole || has_links(application.number);
            if !is_here || !nodes.contains(&node) {
                continue;
            }
            let name =
                format!("{}-{}-{}", scenario.names[node.index()], application.name, application.number);
            let header = header.of_node(Some(node.0), &name, scenario.addresses[node.index()], Vec::new());
            all.push((path(&name), Header { application: Some(application), ..header }));
        }
        let mut logs = Logs::create(all, pace)?;
        logs.begin().map_err(|e| format!("cannot start a thread for the logs of inputs: {e}"))?;
        self.net.common.inputs = Some(Box::new(logs));
        Ok(())
    }

    /// Ends the logs of inputs, if there are any.
    ///
    /// # Errors
    /// Why they are not whole.
    pub fn end_inputs(&mut self) -> Result<(), String> {
        self.net.common.inputs.take().map_or(Ok(()), |logs| logs.finish())
    }
}

/// The scenario's applications and its bundle agents, as `hosted_applications` numbers them.
fn applications(scenario: &Resolved) -> Vec<(NodeId, ApplicationHeader)> {
    let listed = (0..).zip(&scenario.applications);
    let listed = listed.map(|(number, p)| (p.node, ApplicationHeader::new(number, &p.application)));
    let behind = scenario.applications.len() as u32;
    let agents = scenario.dtn.iter().flat_map(|plan| {
        (behind..).zip(&plan.nodes).map(|(number, node)| {
            let parameters = object(&bundles::settings(plan, *node));
            (*node, ApplicationHeader { name: NAME.to_owned(), number, parameters })
        })
    });
    listed.chain(agents).collect()
}
