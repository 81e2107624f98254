//! Home agent, foreign agent and mobile node in the registry of applications: what the outside knows of them, and which links each needs.

pub(crate) mod foreign_agent;
pub(crate) mod home_agent;
pub(crate) mod mobile_node;
