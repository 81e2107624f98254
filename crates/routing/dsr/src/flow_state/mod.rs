//! Flow state (RFC 4728 sections 3.5 and 8.6): data packets without source routes.

mod flow;
mod flow_error;
pub(crate) mod flow_header;
mod flow_shortening;
pub(crate) mod flow_table;
pub(crate) mod shortening_table;
