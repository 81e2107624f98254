//! What can be chosen about requests.

use core::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::ParameterError;

use super::message::HEADER_LEN;

/// The longest request or answer, bytes: what fits into an Ethernet frame with a source route.
const MAX_BYTES: u32 = 1_400;
/// The longest time between two requests, seconds: a day.
const MAX_S: f64 = 86_400.0;

/// Requests and answers over UDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    /// Whom to ask: a node of the scenario, or an address. Without it the node is a server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub server: Option<IpAddr>,
    /// The server's UDP port.
    pub port: u16,
    /// The UDP port from which a client asks.
    pub client_port: u16,
    /// UDP payload of a request, bytes.
    pub request_bytes: u32,
    /// UDP payload of an answer, bytes.
    pub answer_bytes: u32,
    /// Mean of the time between an answer, or a failure, and the next request, seconds. It is drawn from an exponential distribution.
    pub think_s: f64,
    /// How long a client waits for an answer before it asks again, seconds.
    pub timeout_s: f64,
    /// How often a request is sent before the client gives it up.
    pub tries: u32,
    /// When a client begins to think about its first request, seconds from the start of the run.
    pub start_s: f64,
    /// When a client makes no more requests, seconds from the start of the run. Absent: at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
    /// How many requests a client makes. Absent: as many as there is time for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_requests: Option<u64>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            server: None,
            port: 7_070,
            client_port: 7_071,
            request_bytes: 64,
            answer_bytes: 1_000,
            think_s: 1.0,
            timeout_s: 2.0,
            tries: 3,
            start_s: 0.0,
            stop_s: None,
            max_requests: None,
        }
    }
}

impl Params {
    pub(super) fn check_ranges(&self) -> Result<(), ParameterError> {
        let wrong = |key: &'static str, problem: String, remedy: String| {
            Err(ParameterError { key: Some(key.into()), problem, remedy })
        };
        let least = HEADER_LEN as u32;
        for (key, bytes) in [("request_bytes", self.request_bytes), ("answer_bytes", self.answer_bytes)] {
            if !(least..=MAX_BYTES).contains(&bytes) {
                return wrong(
                    key,
                    format!("a message of {bytes} bytes"),
                    format!("give {least} to {MAX_BYTES} bytes"),
                );
            }
        }
        let ends = self.stop_s.unwrap_or(0.0);
        for (key, s, least) in [
            ("think_s", self.think_s, 0.0),
            ("timeout_s", self.timeout_s, 0.001),
            ("start_s", self.start_s, 0.0),
            ("stop_s", ends, 0.0),
        ] {
            if !(least..=MAX_S).contains(&s) {
                return wrong(key, format!("{s} is out of range"), format!("give {least} to {MAX_S} s"));
            }
        }
        if self.tries == 0 {
            return wrong("tries", "a request that is never sent".to_owned(), "give 1 or more".to_owned());
        }
        for (key, port) in [("port", self.port), ("client_port", self.client_port)] {
            if port == 0 {
                return wrong(key, "0 is not a port".to_owned(), "give 1 to 65535".to_owned());
            }
        }
        Ok(())
    }
}
