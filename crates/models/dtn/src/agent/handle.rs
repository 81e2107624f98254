//! Inputs and outputs.

use wayhop_core::Time;

use crate::agent::input::{ContactId, Input, TransferEvent};
use crate::agent::item::StoredBundle;
use crate::agent::open::encode_counters;
use crate::agent::output::Output;
use crate::agent::state::{Agent, COUNTERS, ROUTING};
use crate::bundle::BundleId;
use crate::eid::Eid;
use crate::store::{Store, StoreError, StoreTable};

/// A bundle that a node holds: a line of `wayhop bundle list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Which.
    pub id: BundleId,
    /// Where it goes.
    pub destination: Eid,
    /// Its length as it is encoded, octets.
    pub octets: u64,
    /// When its lifetime is over.
    pub expires: Time,
    /// Whether this node is its custodian.
    pub in_custody: bool,
    /// Whether it waits here for an application.
    pub is_for_here: bool,
}

/// What an agent holds, in numbers.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bundles and fragments held.
    pub bundles: usize,
    /// Octets of bundles, as they are encoded, and of deliveries that are not confirmed.
    pub octets: u64,
    /// Of them in custody here.
    pub in_custody: usize,
    /// Deliveries that applications have not confirmed.
    pub unconfirmed: usize,
}

impl<S: Store> Agent<S> {
    /// Something happened. Outputs come after [`Agent::commit`].
    pub fn handle(&mut self, now: Time, input: Input) {
        self.pass_time(now);
        match input {
            Input::Register { endpoint, got } => self.register(now, &endpoint, got),
            Input::Unregister { endpoint } => drop(self.registered.remove(&endpoint)),
            Input::Confirm { endpoint, number } => self.confirm(&endpoint, number),
            Input::Send(request) => self.request(now, request),
            Input::ContactUp(contact) => self.contact_up(now, contact),
            Input::ContactDown(contact) => self.contact_down(now, contact),
            Input::Transfer(contact, event) => self.transfer_event(now, contact, event),
            Input::Timer => {}
        }
        self.send_signals(now);
    }

    fn transfer_event(&mut self, now: Time, contact: ContactId, event: TransferEvent) {
        match event {
            TransferEvent::Received { transfer, bundle } => self.received(now, contact, transfer, &bundle),
            TransferEvent::Part(octets) => self.received_part(now, contact, &octets),
            TransferEvent::Sent(transfer) => self.sent(now, contact, transfer),
            TransferEvent::Interrupted { transfer, acknowledged } => {
                self.interrupted(now, contact, transfer, acknowledged);
            }
            TransferEvent::Refused(transfer, reason) => self.refused(now, contact, transfer, reason),
        }
    }

    /// Makes durable what was done since the last time, and releases the outputs. After an error nothing is released: the host
    /// stops the agent.
    pub fn commit(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.counters_changed) {
            let row = encode_counters(&self.config.node, &self.counters);
            self.with_store(|store| store.put(StoreTable::State, COUNTERS, &row));
        }
        if std::mem::take(&mut self.routing_changed)
            && let Some(saved) = self.routing.save()
        {
            self.with_store(|store| store.put(StoreTable::State, ROUTING, &saved));
        }
        self.with_store(Store::commit);
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.ready.extend(self.staged.drain(..));
        Ok(())
    }

    /// The next output. A contact that has just ended may be named in one: it is passed over.
    pub fn output(&mut self) -> Option<Output> {
        self.ready.pop_front()
    }

    /// The bundles that it holds, in the order in which they came.
    pub fn held(&self) -> Vec<Held> {
        let held = |item: &StoredBundle| Held {
            id: item.id.clone(),
            destination: item.destination.clone(),
            octets: item.octets,
            expires: item.expires,
            in_custody: item.custody.is_some(),
            is_for_here: self.is_local(&item.destination),
        };
        self.items.values().map(held).collect()
    }

    /// What it holds, in numbers.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            bundles: self.items.len(),
            octets: self.octets,
            in_custody: self.by_custody.len(),
            unconfirmed: self.deliveries.len(),
        }
    }
}
