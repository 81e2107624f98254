//! IPv6 at the node, at its TUN and in its mesh.

pub(crate) mod frames;
pub(crate) mod mesh6;
pub(crate) mod tun6;
