//! A TCP connection as traffic.

use wayhop_document::Error;
use wayhop_transport::FlowKind;

use super::in_force;
use super::resolve::resolve;
use super::schema::Tcp;
use crate::traffic::kind::{
    Flows, OpenKey, RunContext, Times, TrafficEntry, TrafficKind, flow_keys, over_ipv4,
};

impl TrafficKind for Box<Tcp> {
    fn flows(&self, entry: &TrafficEntry<'_>, flows: &mut Flows<'_>) -> Result<(), Error> {
        let config = resolve(self, &entry.key, entry.doc, entry.network.tcp_padding)?;
        flows.add(entry.flow(FlowKind::Tcp(config), flow_keys!(self), config.segment_bytes, None)?);
        Ok(())
    }

    fn times(&self) -> Option<Times> {
        Some((self.start_s, self.stop_s))
    }

    fn unsaid(&self, run: &RunContext<'_>) -> Result<Vec<OpenKey>, Error> {
        let config = resolve(self, &run.key, run.doc, run.tcp_padding)?;
        let mut rows = in_force::values(self, &config);
        rows.push(over_ipv4());
        Ok(rows)
    }
}
