//! PRoPHETv2 (RFC 6693): a neighbour gets the bundles that it is more likely to deliver.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wayhop_core::{Span, Time};

use crate::cbor::{Reader, Writer};
use crate::eid::Eid;
use crate::routing::{Decision, MessageError, Routing};

/// The most destinations of which predictabilities are kept.
const MAX_DESTINATIONS: usize = 4_096;
/// Predictabilities below this are forgotten: RFC 6693, section 2.1.2.2, leaves the bound open.
const FORGOTTEN_BELOW: f64 = 1e-4;

/// The parameters of PRoPHETv2; the defaults are those of RFC 6693, section 3.3, where it has one.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProphetParameters {
    /// P_encounter_max: the upper bound of an encounter's weight.
    pub p_max: f64,
    /// P_encounter_first: the predictability after the first encounter.
    pub p_first: f64,
    /// P_first_threshold: below it an encounter counts as the first.
    pub first_threshold: f64,
    /// beta: the weight of what a neighbour tells.
    pub beta: f64,
    /// gamma: what of a predictability is left after one time unit.
    pub gamma: f64,
    /// delta: keeps predictabilities below 1.
    pub delta: f64,
    /// The time unit of ageing. The RFC leaves it to the network.
    pub time_unit: Span,
    /// I_typ: the typical time between encounters; sooner ones count less. The RFC leaves it to the network.
    pub typical_interval: Span,
}

impl Default for ProphetParameters {
    fn default() -> Self {
        Self {
            p_max: 0.7,
            p_first: 0.5,
            first_threshold: 0.1,
            beta: 0.9,
            gamma: 0.999,
            delta: 0.01,
            time_unit: Span::from_secs(1),
            typical_interval: Span::from_secs(60),
        }
    }
}

/// PRoPHETv2 with the forwarding strategy GRTR (RFC 6693, section 3.6): a neighbour gets a copy if its delivery predictability is
/// higher than the node's own.
#[derive(Clone, Debug, Default)]
pub struct Prophet {
    parameters: ProphetParameters,
    /// Delivery predictabilities, by node.
    own: BTreeMap<Eid, f64>,
    /// When they were aged last.
    aged: Time,
    /// When each node was last met.
    met: BTreeMap<Eid, Time>,
    /// What neighbours told when they came.
    told: BTreeMap<Eid, BTreeMap<Eid, f64>>,
}

impl Prophet {
    /// With these parameters.
    pub fn new(parameters: ProphetParameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// The node's delivery predictability for a node, as of its last ageing.
    pub fn predictability(&self, node: &Eid) -> f64 {
        self.own.get(&node.node()).copied().unwrap_or(0.0)
    }

    /// Section 2.1.2, equation 2: P = P_old * gamma^K.
    pub fn age(&mut self, now: Time) {
        let units =
            now.since(self.aged).as_nanos() as f64 / self.parameters.time_unit.as_nanos().max(1) as f64;
        self.aged = self.aged.max(now);
        let left = libm::pow(self.parameters.gamma, units);
        self.own.retain(|_, p| {
            *p *= left;
            *p >= FORGOTTEN_BELOW
        });
    }

    /// Section 2.1.2, equation 1: an encounter.
    fn encounter(&mut self, now: Time, peer: &Eid) {
        let p = &self.parameters;
        let weight = match self.met.get(peer) {
            // Encounters in quick succession say little new: the weight grows with the interval up to the typical one.
            Some(last) if now.since(*last) < p.typical_interval => {
                p.p_max * now.since(*last).as_nanos() as f64 / p.typical_interval.as_nanos() as f64
            }
            _ => p.p_max,
        };
        let old = self.own.get(peer).copied().unwrap_or(0.0);
        let new = if old < p.first_threshold { p.p_first } else { old + (1.0 - p.delta - old) * weight };
        bounded_insert(&mut self.own, peer.clone(), new);
        bounded_insert(&mut self.met, peer.clone(), now);
    }
}

fn bounded_insert<V>(map: &mut BTreeMap<Eid, V>, key: Eid, value: V) {
    if map.len() < MAX_DESTINATIONS || map.contains_key(&key) {
        map.insert(key, value);
    }
}

impl Routing for Prophet {
    fn number(&self) -> Option<u8> {
        Some(3)
    }

    fn contact_up(&mut self, now: Time, peer: &Eid) {
        self.age(now);
        self.encounter(now, peer);
    }

    fn message(&mut self, now: Time) -> Vec<u8> {
        self.age(now);
        encode(&self.own)
    }

    /// Section 2.1.2, equation 3: transitivity, by the maximum.
    fn hear(&mut self, now: Time, peer: &Eid, message: &[u8]) -> Result<(), MessageError> {
        let theirs = decode(message)?;
        self.age(now);
        let direct = self.predictability(peer);
        for (destination, p) in &theirs {
            let transitive = direct * p * self.parameters.beta;
            let old = self.own.get(destination).copied().unwrap_or(0.0);
            if transitive > old && transitive >= FORGOTTEN_BELOW {
                bounded_insert(&mut self.own, destination.clone(), transitive);
            }
        }
        bounded_insert(&mut self.told, peer.clone(), theirs);
        Ok(())
    }

    fn decide(&self, destination: &Eid, _: u32, peer: &Eid) -> Decision {
        let destination = destination.node();
        let theirs = self.told.get(peer).and_then(|told| told.get(&destination)).copied().unwrap_or(0.0);
        if theirs > self.predictability(&destination) { Decision::Copy { copies: 0 } } else { Decision::Keep }
    }

    fn save(&self) -> Option<Vec<u8>> {
        let mut w = Writer::default();
        w.array(3).u64(self.aged.as_nanos()).bytes(&encode(&self.own)).array(self.met.len() as u64);
        for (node, at) in &self.met {
            w.array(2).eid(node).u64(at.as_nanos());
        }
        Some(w.finish())
    }

    fn restore(&mut self, now: Time, saved: &[u8]) -> Result<(), MessageError> {
        let bad = |_| MessageError("its saved state is damaged");
        let mut r = Reader::new(saved);
        r.array_of(3).map_err(bad)?;
        self.aged = Time::from_nanos(r.u64().map_err(bad)?);
        self.own = decode(r.bytes().map_err(bad)?)?;
        let n = r.array().map_err(bad)?;
        for _ in 0..n {
            r.array_of(2).map_err(bad)?;
            let node = r.eid().map_err(bad)?;
            let at = Time::from_nanos(r.u64().map_err(bad)?);
            bounded_insert(&mut self.met, node, at);
        }
        self.age(now);
        Ok(())
    }
}

/// Predictabilities as 16-bit fractions of 65535, as in RFC 6693, section 4.3.2.
fn encode(own: &BTreeMap<Eid, f64>) -> Vec<u8> {
    let mut w = Writer::default();
    w.array(own.len() as u64);
    for (node, p) in own {
        w.array(2).eid(node).u64((p * 65_535.0 + 0.5) as u64);
    }
    w.finish()
}

fn decode(message: &[u8]) -> Result<BTreeMap<Eid, f64>, MessageError> {
    let bad = |_| MessageError("predictabilities that are not a list of (node, number)");
    let mut r = Reader::new(message);
    let n = r.array().map_err(bad)?;
    if n > MAX_DESTINATIONS as u64 {
        return Err(MessageError("more than 4096 predictabilities"));
    }
    let mut all = BTreeMap::new();
    for _ in 0..n {
        r.array_of(2).map_err(bad)?;
        let node = r.eid().map_err(bad)?;
        let p = r.u64().map_err(bad)?;
        if p > 65_535 {
            return Err(MessageError("a predictability above 65535"));
        }
        all.insert(node.node(), p as f64 / 65_535.0);
    }
    r.end().map_err(bad)?;
    Ok(all)
}
