//! Pending deliveries and answers for programs.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use wayhop_core::{ApplicationCx, ProgramMessage};

use super::messages::{DeliveryHeader, Refusal, SentBundle, answer, delivery, refusal};
use crate::agent::RequestError;
use crate::bundle::BundleId;
use crate::eid::Eid;

/// Programs, as far as the node waits for them or they for it.
#[derive(Debug, Default)]
pub(super) struct Programs {
    /// Whose an endpoint is.
    pub(super) endpoints: BTreeMap<Eid, u64>,
    pub(super) pending: BTreeMap<u64, PendingRequest>,
    requests: u64,
}

/// A request that is answered when its bundle is in the store.
#[derive(Debug)]
pub(super) struct PendingRequest {
    pub(super) program: u64,
    pub(super) id: Option<u64>,
    pub(super) destination: String,
    pub(super) source: String,
    pub(super) bytes: u64,
}

impl Programs {
    /// The number of the next request.
    pub(super) const fn next_request(&mut self) -> u64 {
        self.requests += 1;
        self.requests
    }

    /// Gives a program what came for it. Without a program it waits in the store.
    pub(super) fn deliver(
        &self,
        cx: &mut ApplicationCx<'_>,
        endpoint: &Eid,
        number: u64,
        id: &BundleId,
        payload: Vec<u8>,
    ) {
        let Some(program) = self.endpoints.get(endpoint) else { return };
        let about = DeliveryHeader {
            endpoint: endpoint.to_string(),
            number,
            bundle: id.name(),
            source: id.source.to_string(),
            created_ms: id.created.time_ms,
        };
        cx.tell(*program, ProgramMessage { head: delivery(&about), data: payload });
    }

    /// A request is a bundle now, and safe.
    pub(super) fn sent(&mut self, cx: &mut ApplicationCx<'_>, number: u64, id: &BundleId) {
        let Some(p) = self.pending.remove(&number) else { return };
        let sent =
            SentBundle { bundle: id.name(), source: p.source, destination: p.destination, bytes: p.bytes };
        reply(cx, p.program, answer(p.id, &sent));
    }

    /// A request was not taken.
    pub(super) fn rejected(&mut self, cx: &mut ApplicationCx<'_>, number: u64, why: &RequestError) {
        let Some(p) = self.pending.remove(&number) else { return };
        reply(cx, p.program, refusal(&Refusal { id: p.id, message: why.to_string() }));
    }
}

pub(super) fn reply(cx: &mut ApplicationCx<'_>, program: u64, head: Map<String, Value>) {
    cx.answer(program, ProgramMessage { head, data: Vec::new() });
}
