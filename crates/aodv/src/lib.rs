//! Ad hoc On-Demand Distance Vector routing, RFC 3561.
