//! Requests and answers over UDP: clients that ask a server, think about the answer, and ask again.
//!
//! A node with a `server` is a client, one without is a server. A client has one request in
//! progress. It retries after the timeout without an answer, and gives up after the last try; after
//! an answer or a failure it thinks, and then sends the next one. It writes into the table
//! `events`: `request_answered` (value: the response time from the first try on, nanoseconds),
//! `request_retried` (which try), and `request_failed` (how many tries). [`Params`] has the keys.

mod client;
mod message;
mod params;
mod server;

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::parameters::{object, of};
use wayhop_core::{Application, ApplicationDescription, ApplicationParameters, ParameterError};

use client::Client;
use params::Params;
use server::Server;

/// Requests and answers.
pub(crate) static DESCRIPTION: ApplicationDescription = ApplicationDescription {
    name: "request",
    about: "clients that ask a server over UDP and think about the answers",
    schema: || schemars::schema_for!(Params).to_value(),
    defaults: || object(&Params::default()),
    nodes: &["server"],
    notes: &["request_answered", "request_retried", "request_failed"],
    read: |values| Ok(Arc::new(of::<Params>(values)?)),
};

impl ApplicationParameters for Params {
    fn application(&self, _: Option<u32>) -> Box<dyn Application> {
        match self.server {
            Some(server) => Box::new(Client::new(self.clone(), server)),
            None => Box::new(Server::new(self.port)),
        }
    }
    fn values(&self) -> Map<String, Value> {
        object(self)
    }
    fn check(&self) -> Result<(), ParameterError> {
        self.check_ranges()
    }
}
