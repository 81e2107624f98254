//! An agent comes back from its store.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use minicbor::decode::Error as CborError;
use wayhop_core::Time;

use crate::agent::config::Config;
use crate::agent::item::{Digest, StoredBundle, read_id};
use crate::agent::state::{Agent, COUNTERS, Delivery, KnownBundle, ROUTING, SequenceNumbers};
use crate::cbor::{Reader, Writer};
use crate::eid::Eid;
use crate::routing::Routing;
use crate::store::{Store, StoreError, StoreTable};

/// Why an agent did not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The node's identifier is not that of an administrative endpoint.
    #[error("{0} is not a node's own endpoint; write dtn://name/ or ipn:5.0")]
    NotANode(Eid),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store is another node's.
    #[error("the bundle store belongs to {0}")]
    ForeignStore(Eid),
    /// A row of the store cannot be read.
    #[error("the bundle store is damaged: table {table}: {what}")]
    Damaged {
        /// In which table.
        table: &'static str,
        /// What is wrong.
        what: String,
    },
}

impl<S: Store> Agent<S> {
    /// Opens the agent of a node over its store, which is empty or that of the same node before it went down.
    pub fn open(config: Config, routing: Box<dyn Routing>, store: S, now: Time) -> Result<Self, OpenError> {
        if config.node.is_none() || config.node != config.node.node() {
            return Err(OpenError::NotANode(config.node));
        }
        let mut agent = Self::new(config, routing, store, now);
        agent.read_counters()?;
        agent.read_tables()?;
        if let Some(saved) = agent.store.value(StoreTable::State, ROUTING)? {
            let restored = agent.routing.restore(now, &saved);
            restored.map_err(|error| damaged(StoreTable::State, &error))?;
        }
        Ok(agent)
    }

    fn new(config: Config, routing: Box<dyn Routing>, store: S, now: Time) -> Self {
        let born_ms = now.as_nanos() / 1_000_000;
        Self {
            config,
            routing,
            store,
            failed: None,
            staged: Vec::new(),
            ready: VecDeque::new(),
            items: BTreeMap::new(),
            by_digest: BTreeMap::new(),
            by_custody: BTreeMap::new(),
            by_whole: BTreeMap::new(),
            octets: 0,
            expiries: BTreeSet::new(),
            waits: BTreeSet::new(),
            seen: BTreeMap::new(),
            seen_expiries: BTreeSet::new(),
            registered: BTreeSet::new(),
            deliveries: BTreeMap::new(),
            delivery_expiries: BTreeSet::new(),
            // A node that lost its store begins with numbers that it has not given before.
            counters: SequenceNumbers {
                created: born_ms,
                custody_sequence: born_ms + 1,
                ..SequenceNumbers::default()
            },
            counters_changed: true,
            routing_changed: false,
            neighbours: BTreeMap::new(),
            next_transfer: 0,
            resume: BTreeMap::new(),
            signals: BTreeMap::new(),
        }
    }

    fn read_counters(&mut self) -> Result<(), OpenError> {
        let Some(row) = self.store.value(StoreTable::State, COUNTERS)? else { return Ok(()) };
        let (node, counters) = parse_counters(&row).map_err(|error| damaged(StoreTable::State, &error))?;
        if node != self.config.node {
            return Err(OpenError::ForeignStore(node));
        }
        self.counters = counters;
        self.counters_changed = false;
        Ok(())
    }

    fn read_tables(&mut self) -> Result<(), OpenError> {
        let items = self.rows(StoreTable::Items, |key, row| {
            let item = StoredBundle::parse(row)?;
            let number = local_number(key).ok_or_else(|| CborError::message("a key that is not a number"))?;
            Ok::<_, CborError>((number, item))
        })?;
        for (number, item) in items {
            self.index(number, item);
        }
        let seen = |key: &[u8], row: &[u8]| seen_row(key, row).ok_or("a row of another length");
        for (digest, row) in self.rows(StoreTable::Seen, seen)? {
            self.seen.insert(digest, row);
            self.seen_expiries.insert((row.expires, digest));
        }
        let delivery = |_: &[u8], row: &[u8]| Ok((DeliveryRow::parse(row)?, row.len() as u64));
        for (row, octets) in self.rows::<_, CborError>(StoreTable::Deliveries, delivery)? {
            self.index_delivery(row.endpoint, row.number, Delivery { octets, expires: row.expires });
        }
        Ok(())
    }

    fn rows<T, E: std::fmt::Display>(
        &self,
        table: StoreTable,
        read: impl Fn(&[u8], &[u8]) -> Result<T, E>,
    ) -> Result<Vec<T>, OpenError> {
        let (mut rows, mut wrong) = (Vec::new(), None);
        self.store.scan(table, &mut |key, row| match read(key, row) {
            Ok(row) => rows.push(row),
            Err(error) => wrong = Some(error),
        })?;
        wrong.map_or(Ok(rows), |error| Err(damaged(table, &error)))
    }
}

fn damaged(table: StoreTable, what: &dyn std::fmt::Display) -> OpenError {
    OpenError::Damaged { table: table.name(), what: what.to_string() }
}

fn local_number(key: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(key.try_into().ok()?))
}

fn seen_row(key: &[u8], row: &[u8]) -> Option<(Digest, KnownBundle)> {
    let (&delivered, expires) = row.split_first()?;
    let expires = Time::from_nanos(local_number(expires)?);
    Some((Digest(key.try_into().ok()?), KnownBundle { expires, delivered: delivered != 0 }))
}

/// The row of the counters, with whose they are.
pub(crate) fn encode_counters(node: &Eid, counters: &SequenceNumbers) -> Vec<u8> {
    let mut w = Writer::default();
    w.array(6).eid(node).u64(counters.item).u64(counters.created);
    w.u64(counters.custody).u64(counters.custody_sequence).array(counters.deliveries.len() as u64);
    for (endpoint, number) in &counters.deliveries {
        w.array(2).eid(endpoint).u64(*number);
    }
    w.finish()
}

fn parse_counters(row: &[u8]) -> Result<(Eid, SequenceNumbers), CborError> {
    let mut r = Reader::new(row);
    r.array_of(6)?;
    let node = r.eid()?;
    let mut counters = SequenceNumbers {
        item: r.u64()?,
        created: r.u64()?,
        custody: r.u64()?,
        custody_sequence: r.u64()?,
        deliveries: BTreeMap::new(),
    };
    for _ in 0..r.array()? {
        r.array_of(2)?;
        let endpoint = r.eid()?;
        counters.deliveries.insert(endpoint, r.u64()?);
    }
    Ok((node, counters))
}

/// A row of the deliveries.
pub(crate) struct DeliveryRow {
    pub(crate) endpoint: Eid,
    pub(crate) number: u64,
    pub(crate) id: crate::bundle::BundleId,
    pub(crate) is_admin_record: bool,
    pub(crate) expires: Time,
    pub(crate) payload: Vec<u8>,
}

impl DeliveryRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.array(6).eid(&self.endpoint).u64(self.number);
        crate::agent::item::write_id(&mut w, &self.id);
        w.bool(self.is_admin_record).u64(self.expires.as_nanos()).bytes(&self.payload);
        w.finish()
    }

    pub(crate) fn parse(row: &[u8]) -> Result<Self, CborError> {
        let mut r = Reader::new(row);
        r.array_of(6)?;
        Ok(Self {
            endpoint: r.eid()?,
            number: r.u64()?,
            id: read_id(&mut r)?,
            is_admin_record: r.bool()?,
            expires: Time::from_nanos(r.u64()?),
            payload: r.bytes()?.to_vec(),
        })
    }

    /// The key of the row: rows of an endpoint stand in order.
    pub(crate) fn key(endpoint: &Eid, number: u64) -> Vec<u8> {
        let mut key = endpoint.to_string().into_bytes();
        key.push(0);
        key.extend(number.to_be_bytes());
        key
    }
}
