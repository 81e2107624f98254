//! Dynamic Source Routing, RFC 4728.
