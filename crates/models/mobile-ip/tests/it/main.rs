//! The engines by sections of RFC 5944.

mod any_bytes;
mod common;
mod foreign_agent;
mod home_agent;
mod mobile_node;
