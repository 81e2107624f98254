//! Home agent, foreign agent and mobile node in the registry of applications: their descriptions,
//! and the links that each needs.

pub(crate) mod foreign_agent;
pub(crate) mod home_agent;
pub(crate) mod mobile_node;
