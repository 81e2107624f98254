//! Scenario files and importers, from the outside.

mod cmu;
mod files;
mod in_force;
mod interfaces;
mod ipv6;
mod messages;
mod ns2;
mod ns2_bursts;
mod ns2_order;
mod ns2_usual;
