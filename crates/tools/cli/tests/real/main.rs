//! The worlds of the real clock and the real kernel: nodes and labs in network namespaces, and the Debian package.
//!
//! Most of it waits, so `.config/nextest.toml` has more of these tests run at a time than there are processors.

mod attacks;
mod bundles;
mod conversations;
mod corrections;
mod faults;
mod fleet;
mod forwarding;
mod gateway;
mod gps;
mod hostile;
mod ipv6;
mod killed;
mod lab;
mod macfilter;
mod matrix;
mod merge;
mod mesh;
mod node;
mod node_capture;
mod node_events;
mod ns3;
mod ns3_libraries;
mod ns3_models;
mod orders;
mod outages;
mod package;
mod partition;
mod replay;
mod route_mtu;
mod roving;
mod roving_faults;
mod station;
mod undo;
mod upkeep;
mod watch;
