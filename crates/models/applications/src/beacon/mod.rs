//! Neighbour discovery by beacons: each node broadcasts one every few seconds, and lists whom it hears.
//!
//! Beacons go to the neighbours and no further. The time between two is uniform between
//! `interval_min_s` and `interval_max_s`. A neighbour is lost when nothing was heard of it for
//! `lifetime_s`. It writes into the table `events`: `beacon_neighbour_found` (value: the number of
//! neighbours with it) and `beacon_neighbour_lost` (value: how long it was one, nanoseconds).
//! [`Params`] has the keys.

mod message;
mod node;
mod params;

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::parameters::{object, of};
use wayhop_core::{Application, ApplicationDescription, ApplicationParameters, ParameterError};

use node::BeaconNode;
use params::Params;

/// Beacons.
pub(crate) static DESCRIPTION: ApplicationDescription = ApplicationDescription {
    name: "beacon",
    about: "neighbour discovery: nodes that broadcast beacons and list whom they hear",
    schema: || schemars::schema_for!(Params).to_value(),
    defaults: || object(&Params::default()),
    nodes: &[],
    notes: &["beacon_neighbour_found", "beacon_neighbour_lost"],
    read: |values| Ok(Arc::new(of::<Params>(values)?)),
};

impl ApplicationParameters for Params {
    fn application(&self, _: Option<u32>) -> Box<dyn Application> {
        Box::new(BeaconNode::new(self))
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        self.check_ranges()
    }
}
