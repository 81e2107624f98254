//! A protocol's engine under replay.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value;
use wayhop_core::{Cx, Effect, Input, NodeContext, Packet, Pool, Protocol, Rng, Time};
use wayhop_wire::{ipv4, ipv6};

use crate::answer::{Answer, check_order, guarded};
use crate::header::{Engines, Header};
use crate::line::InputRecord;

pub(crate) struct EngineSubject {
    engines: Engines,
    engine: Option<(Box<dyn Protocol>, Rng)>,
    addr: (Ipv4Addr, Option<Ipv6Addr>),
    context: NodeContext,
    pool: Pool,
    effects: Vec<Effect>,
}

impl EngineSubject {
    pub(crate) fn new(engines: Engines, header: &Header) -> Self {
        let (addr, context) = ((header.address, header.address6), header.context());
        Self { engines, engine: None, addr, context, pool: Pool::new(), effects: Vec::new() }
    }

    /// Gives it an input, which comes after `before`. The error is what is wrong with the line.
    pub(crate) fn answer(&mut self, line: InputRecord<'_>, before: Time) -> Result<Answer, String> {
        let checked = check(&line, before, self.engine.is_none());
        let InputRecord { at, id, interface, exceptions, rng, input, out: expected } = line;
        let mut old = None;
        if let (Input::Start, Some(rng)) = (&input, rng) {
            // The node comes up, perhaps again: nothing is left of what it was.
            let again = self.engine.is_some();
            let protocol = if again { &self.engines.after_reboot } else { &self.engines.first };
            old = self.engine.replace((protocol.engine_at(self.context), rng));
            // The run of a library ends with its last engine. Here no other node's keeps it, until the next one has started.
            if !self.engines.share_parameters() {
                old = None;
            }
        }
        checked?;
        let (addr, addr6) = self.addr;
        let mut panicked = None;
        if let Some((engine, rng)) = &mut self.engine {
            let (mut id, pool, effects) = (id, &mut self.pool, &mut self.effects);
            panicked = guarded(|| {
                let mut cx = Cx::new(at, addr, interface, rng, pool, &mut id, effects)
                    .with_addr6(addr6)
                    .with_exceptions(&exceptions);
                engine.on_input(&mut cx, input);
            });
        }
        drop(old);
        let got: Vec<Value> =
            self.effects.iter().map(|e| serde_json::to_value(e).unwrap_or_default()).collect();
        self.end_effects();
        Ok(Answer { at, expected, got, panicked })
    }

    /// The packets of effects end here.
    fn end_effects(&mut self) {
        for effect in self.effects.drain(..) {
            if let Effect::Send(p, _) | Effect::Deliver(p) | Effect::Drop(p, _) | Effect::Consume(p) = effect
            {
                self.pool.recycle(p);
            }
        }
    }
}

/// What a node never gives an engine.
fn check(line: &InputRecord<'_>, before: Time, is_first: bool) -> Result<(), String> {
    let is_start = matches!(line.input, Input::Start);
    check_order((line.at, before), is_start, line.rng.is_some(), is_first)?;
    if !line.exceptions.is_sorted() {
        return Err("`exceptions` are not in order".into());
    }
    match packet(&line.input) {
        Some(octets) if !is_ip(octets) => Err("the input's packet is not an IP packet".into()),
        _ => Ok(()),
    }
}

fn packet<'a>(input: &'a Input<'_>) -> Option<&'a [u8]> {
    match input {
        Input::Outbound(p) | Input::Frame(p, _) => Some(p.bytes()),
        Input::Overheard { packet, .. } => Some(packet),
        Input::TxStatus(report) => report.packet.as_ref().map(Packet::bytes),
        _ => None,
    }
}

fn is_ip(octets: &[u8]) -> bool {
    let v4 = || ipv4::Packet::new_checked(octets).map(|ip| ip.total_len());
    let v6 = || ipv6::Packet::new_checked(octets).map(|ip| ip.total_len());
    v4().or_else(|_| v6()).is_ok_and(|len| len == octets.len())
}
