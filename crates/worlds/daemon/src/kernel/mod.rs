//! What the kernel of this host is set to: addresses, routes and MTU of the mesh, and the privileges of this process.

pub(crate) mod addresses;
pub(crate) mod mtu;
pub(crate) mod ownership;
pub(crate) mod privileges;
pub(crate) mod random;
pub(crate) mod repairs;
pub(crate) mod resize;
pub(crate) mod routes;
pub(crate) mod set_up;
pub(crate) mod switch;
pub(crate) mod watch;
