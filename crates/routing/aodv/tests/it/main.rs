//! AODV on scripted links.

mod das;
mod discovery;
mod errors;
mod flags;
mod flood;
mod gateway;
mod hostile;
mod lifetimes;
mod live;
mod loops;
mod neighbours;
mod notices;
mod ns2;
mod ns3;
mod numbers;
mod parameters;
mod passive;
mod reboot;
mod recorded;
mod repair;
mod replay;
mod sequences;
mod subnets;
mod support;
mod traps;
mod wire;
