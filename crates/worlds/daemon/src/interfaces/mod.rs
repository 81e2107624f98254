//! The host's mesh interfaces: their sockets, programs and traffic.

pub(crate) mod follow;
pub(crate) mod macfilter;
pub(crate) mod mesh_interface;
pub(crate) mod programs;
pub(crate) mod receive;
pub(crate) mod remade;
pub(crate) mod set_up;
pub(crate) mod settings;
pub(crate) mod signals;
pub(crate) mod sockets;
pub(crate) mod transmit;
pub(crate) mod watch;
