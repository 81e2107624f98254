//! The node with its protocol started, before anything on the host is changed.

use wayhop_auth::Auth;
use wayhop_core::{DataPlane, NodeContext, NodeId, Purpose, stream};
use wayhop_linux::Error;
use wayhop_linux::interface::InterfaceFacts;
use wayhop_node::Edge as NodeEdge;
use wayhop_scenario::after_reboot;

use crate::config::plan::NodePlan;
use crate::interfaces::mesh_interface::port;
use crate::kernel::random::random_seed;
use crate::node::first_number::begin_now;
use crate::node::host::Host;
use crate::node::power::Power;
use crate::node::timing::Timing;
use crate::record::inputs;
use crate::record::program_flows::ProgramFlows;
use crate::record::run_dir::RunRecord;

impl Host {
    pub(crate) fn begin(plan: NodePlan, interfaces: &[(String, InterfaceFacts)]) -> Result<Self, Error> {
        let NodePlan { name, addresses, protocol, edge, metrics, outages, timing, has_run, has_inputs } =
            plan;
        let (own, seed) = (addresses.own, protocol.seed);
        let shortest = interfaces.iter().map(|(_, facts)| facts.mtu).min().unwrap_or(0);
        let configured = protocol.mtu.of_protocol(protocol.configured, shortest);
        let configured = begin_now(configured, &protocol.section);
        let rng = stream(seed, Purpose::Protocol, own.to_bits().into());
        let ports = interfaces.iter().enumerate();
        let mut ports = ports.map(|(i, (name, facts))| port(name, facts, metrics.get(i).copied()));
        let Some(first) = ports.next() else { return Err(Error::Config("no interface".to_owned())) };
        let context = NodeContext {
            seed,
            // Node 0 if it is not of a scenario.
            node: NodeId::from_default_addr(own).map_or(0, |n| n.0),
            interfaces: interfaces.len() as u8,
            prefix_len: addresses.mesh.len(),
            ..NodeContext::default()
        };
        let mut host = Self::new(configured.engine_at(context), own, addresses.mesh, first, rng);
        ports.for_each(|p| host.add(p));
        host.limit(protocol.limits);
        if let Some(keys) = &protocol.keys {
            // Not the configuration's seed: an index must never come twice (RFC 8967, section 4.1).
            let seed = random_seed().map_err(Error::system("get a random number"))?;
            let rng = stream(seed, Purpose::Authentication, 0);
            host.node.set_auth(Auth::for_protocol(keys, configured.description(), own, rng));
        }
        host.parameters = configured.values().into();
        let after_reboot = after_reboot(&configured, &protocol.section);
        host.timing = timing.then(Timing::default);
        let flows = || ProgramFlows::new(addresses.all().collect(), host.plane == DataPlane::Forwarding);
        host.around.run = has_run.then(|| RunRecord::waiting(flows()));
        host.around.inputs = has_inputs
            .then(|| inputs::waiting((&configured, &after_reboot), (&name, seed), &addresses, interfaces));
        host.power = Power::new(&outages, after_reboot, context);
        if let Some(v6) = addresses.own6 {
            host.set_ipv6(v6, &addresses.routes);
        }
        host.node.set_static_routes(addresses.routes);
        if let Some(edge) = edge {
            // The host's own network stack sends on what the node delivers for the outside.
            host.node.set_edge(NodeEdge { outside: edge.outside.clone(), routes: Vec::new() });
            host.around.edge = Some(edge);
        }
        // Filters and eBPF need to know which sockets the protocol opens; what it sends waits in the queue.
        host.start();
        Ok(host)
    }
}
