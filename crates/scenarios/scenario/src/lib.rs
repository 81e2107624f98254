//! Scenario files: the TOML schema, what its keys mean, and generators.
//!
//! [`Scenario::load`] reads a TOML file, [`Scenario::from_ns2`] builds a scenario from ns-2's movement and traffic
//! files. [`Scenario::resolve`] turns either into [`Resolved`]: tracks, flows, radio and protocol parameters, checked,
//! with nothing left to look up. [`export_ns2`] writes it back as files that ns-2 runs.
//!
//! What comes from outside is bounded before it is read and checked before it is used; an
//! [`Error`](wayhop_document::Error) names file, line, key, reason and remedy.

/// The defaults of keys, as functions for serde.
macro_rules! defaults {
    ($($name:ident: $of:ty = $value:expr;)*) => { $(fn $name() -> $of { $value })* };
}

mod applications;
mod attacks;
mod dtn;
mod file;
mod gateways;
mod interfaces;
mod movement;
mod nodes;
mod outages;
mod output;
mod presets;
mod protocol;
mod resolve;
mod security;
mod site;
mod traffic;

pub use applications::schema::ApplicationSection;
pub use applications::{ApplicationPlan, configure_application};
pub use attacks::{Action, Attack, AttackKind, Attacks};
pub use dtn::{BundleFlow, BundleFlowPlan, Dtn, DtnPlan, DtnRoute};
pub use file::{Scenario, reference_markdown};
pub use gateways::{EdgePlan, Gateway, GatewayPlan, OutsidePlan};
pub use interfaces::energy::Energy;
pub use interfaces::path_losses::{LossTable, PathLosses};
pub use interfaces::stalls::{QueueStall, Stall};
pub use interfaces::{Absence, Attachment, Cut, Interfaces, Radio, RadioPlan, Wire, WirePlan};
pub use movement::{Movement, NodeTrack, Waypoint};
pub use nodes::ipv6::{Ipv6Plan, prefix as parse_prefix};
pub use nodes::{Area, Node, NodeRef, Nodes, NodesIpv6, Place};
pub use outages::{Outage, Outages, Tables};
pub use output::{
    CapturePlan, Captures, Output, ReceptionPlan, TABLES, TablePlan, daemon_settings, export_ns2,
    export_ns2_movement, export_ns2_traffic,
};
pub use presets::{InForce, Preset, forms, presets, scenario_schema, unit};
pub use protocol::commands::{Command, Order, PurgeRoutes};
pub use protocol::routes::StaticRoute;
pub use protocol::{NeighbourLimits, Protocol, after_reboot};
pub use resolve::Resolved;
pub use security::{Secret, Security, SharedKey, without_keys};
pub use site::background::{Background, ControlPoint};
pub use site::{Antenna, Map, MapFeature, Pair, Shape, Site, Zone};
pub use traffic::programs::{Program, ProgramPlan, ProgramRestart};
pub use traffic::tcp::{RouteFailure, Tcp, TcpApplication, TcpProfile, TcpVariant};
pub use traffic::{Cbr, CbrRandom, IpVersion, Ns2File, OnOff, Pareto, Ping, Poisson, Traffic, TrafficTrace};
pub use wayhop_simulator_files::{Ignores, MacFilter};
pub use wayhop_transport::{FlowConfig, FlowKind};
