//! Scenario files: the TOML schema, what its keys mean, and generators.
//!
//! [`Scenario::load`] reads a TOML file, [`Scenario::from_ns2`] makes a scenario of ns-2's movement and traffic files.
//! [`Scenario::resolve`] turns either into [`Resolved`]: tracks, flows, radio and protocol parameters, checked, with
//! nothing left to look up. [`export_ns2`] writes it back as files that ns-2 runs.
//!
//! What comes from outside is bounded before it is read and checked before it is used; an
//! [`Error`](wayhop_document::Error) names file, line, key, reason and remedy.

mod attacks;
mod attacks_schema;
mod background;
mod checks;
mod commands;
mod course;
mod daemon;
mod dtn;
mod dtn_schema;
mod duration;
mod energy;
mod energy_schema;
mod export;
mod forms;
mod gateways;
mod gateways_schema;
mod in_force;
mod interfaces;
mod interfaces_schema;
mod ipv6;
mod ipv6_flows;
mod ipv6_schema;
mod limits;
mod load;
mod macfilter;
mod map;
mod names;
mod neighbour_limits;
mod outages;
mod outages_schema;
mod overrides;
mod path_losses;
mod path_losses_schema;
mod placing;
mod presets;
mod programs;
mod protocol;
mod reference;
mod references;
mod resolve;
mod routes;
mod schema;
mod security;
mod site;
mod site_schema;
mod stalls;
mod tcp;
mod tcp_in_force;
mod tcp_schema;
mod traffic;
mod traffic_schema;
mod waypoints;
mod waypoints_schema;

pub use attacks::{Action, Attack};
pub use attacks_schema::{AttackKind, Attacks};
pub use background::{Background, ControlPoint};
pub use commands::Order;
pub use daemon::daemon_settings;
pub use dtn::{BundleFlowPlan, DtnPlan};
pub use dtn_schema::{BundleFlow, Dtn, DtnRoute};
pub use energy_schema::Energy;
pub use export::{export_ns2, export_ns2_movement, export_ns2_traffic};
pub use forms::{forms, scenario_schema};
pub use gateways::{EdgePlan, GatewayPlan, OutsidePlan};
pub use gateways_schema::Gateway;
pub use in_force::InForce;
pub use interfaces::{Attachment, Interfaces, RadioPlan, WirePlan};
pub use interfaces_schema::{Cut, Wire};
pub use ipv6::{Ipv6Plan, prefix as parse_prefix};
pub use ipv6_schema::{IpVersion, NodesIpv6, StaticRoute};
pub use macfilter::{Ignores, MacFilter, MacFilterError, parse_link_address};
pub use map::{Map, MapFeature, Shape};
pub use neighbour_limits::NeighbourLimits;
pub use outages::Outage;
pub use outages_schema::{Outages, Tables};
pub use path_losses::LossTable;
pub use path_losses_schema::PathLosses;
pub use presets::{Preset, presets};
pub use programs::ProgramPlan;
pub use protocol::after_reboot;
pub use reference::reference_markdown;
pub use references::{NodeRef, Place};
pub use resolve::{CapturePlan, ReceptionPlan, Resolved};
pub use schema::{
    Area, Captures, Cbr, CbrRandom, Command, Movement, Node, Nodes, Ns2File, Output, Ping, Poisson, Program,
    Protocol, PurgeRoutes, Radio, Scenario, Stall, Traffic,
};
pub use security::{Secret, Security, SharedKey, without_keys};
pub use site_schema::{Antenna, Pair, Site, Zone};
pub use stalls::QueueStall;
pub use tcp_schema::{RouteFailure, Tcp, TcpApplication, TcpProfile, TcpVariant};
pub use traffic_schema::{OnOff, Pareto, TrafficTrace};
pub use wayhop_transport::{FlowConfig, FlowKind};
pub use waypoints_schema::{NodeTrack, Waypoint};
