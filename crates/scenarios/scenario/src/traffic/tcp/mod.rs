//! TCP connections as traffic.

mod in_force;
mod resolve;
mod schema;

use wayhop_document::Error;
use wayhop_transport::FlowKind;

use crate::traffic::kind::{Flows, OpenKey, RunContext, TrafficEntry, TrafficKind, flow_keys, over_ipv4};

pub(crate) use in_force::values;
pub(crate) use resolve::resolve;
pub use schema::{RouteFailure, Tcp, TcpApplication, TcpProfile, TcpVariant};

impl TrafficKind for Box<Tcp> {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<(), Error> {
        let config = resolve(self, &entry.key, entry.doc, entry.network.tcp_padding)?;
        flows.made.push(entry.flow(FlowKind::Tcp(config), flow_keys!(self), config.segment_bytes, None)?);
        Ok(())
    }

    fn unsaid(&self, run: &RunContext<'_>) -> Result<Vec<OpenKey>, Error> {
        let config = resolve(self, &run.key, run.doc, run.tcp_padding)?;
        let mut rows = values(self, &config);
        rows.push(over_ipv4());
        Ok(rows)
    }
}
