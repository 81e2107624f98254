//! The kernel's settings for the mesh: addresses, routes, MTU, and this process's privileges.

pub(crate) mod addresses;
pub(crate) mod mtu;
pub(crate) mod ownership;
pub(crate) mod privileges;
pub(crate) mod random;
pub(crate) mod repairs;
pub(crate) mod routes;
pub(crate) mod set_up;
pub(crate) mod switch;
pub(crate) mod watch;
