//! The event queue and the assembly of nodes: the one place where the layers touch.
