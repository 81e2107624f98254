//! Commands of programs to a node.

use wayhop_core::{ApplicationCx, ProgramMessage, Span, Time};

use super::messages::{Ask, ContactNow, HeldBundle, Hello, Listing, Refusal, VERSION, answer, read, refusal};
use super::node::Node;
use super::programs::{PendingRequest, reply};
use crate::agent::{Input, Request};
use crate::bundle::flags;
use crate::eid::{Eid, EidError};
use crate::store::Store;

/// The most bundles that are listed.
const MOST_LISTED: usize = 10_000;
/// How long a bundle lives if nobody says, seconds.
const LIFETIME_S: f64 = 3_600.0;
/// The longest lifetime, seconds: a hundred years.
const MAX_LIFETIME_S: f64 = 3.2e9;

impl<S: Store> Node<S> {
    /// A program asks for something.
    pub(super) fn command(&mut self, cx: &mut ApplicationCx<'_>, program: u64, message: ProgramMessage) {
        let (id, ask) = match read(message.head) {
            Ok(read) => read,
            Err(r) => return reply(cx, program, refusal(&r)),
        };
        let now = cx.now();
        let head = match ask {
            Ask::Send { .. } => match self.send(now, (program, id), ask, message.data) {
                // The answer comes when its bundle is safe.
                Ok(()) => return,
                Err(message) => Err(message),
            },
            Ask::Hello {} => Ok(answer(id, &self.hello())),
            Ask::List {} => Ok(answer(id, &self.listing(now))),
            Ask::Register { endpoint, got } => {
                self.register(now, program, &endpoint, got).map(|e| answer(id, &e.to_string()))
            }
            Ask::Unregister { endpoint } => self.own(program, &endpoint).map(|endpoint| {
                self.programs.endpoints.remove(&endpoint);
                self.tell(now, Input::Unregister { endpoint });
                answer(id, &())
            }),
            Ask::Confirm { endpoint, number } => self.own(program, &endpoint).map(|endpoint| {
                self.tell(now, Input::Confirm { endpoint, number });
                answer(id, &())
            }),
        };
        let head = head.unwrap_or_else(|message| refusal(&Refusal { id, message }));
        reply(cx, program, head);
    }

    pub(super) fn gone(&mut self, now: Time, program: u64) {
        let own = self.programs.endpoints.iter().filter(|(_, owner)| **owner == program);
        for endpoint in own.map(|(endpoint, _)| endpoint.clone()).collect::<Vec<_>>() {
            self.programs.endpoints.remove(&endpoint);
            self.tell(now, Input::Unregister { endpoint });
        }
        self.programs.pending.retain(|_, p| p.program != program);
    }

    fn tell(&mut self, now: Time, input: Input) {
        if let Some(open) = &mut self.open {
            open.tell(now, input);
        }
    }

    fn hello(&self) -> Hello {
        let s = &self.settings;
        Hello {
            wayhop: wayhop_core::version::full().to_owned(),
            messages: VERSION,
            node: s.agent.node.to_string(),
            routing: s.routing.name().to_owned(),
            layers: s.listens.iter().map(|l| l.name().to_owned()).collect(),
            largest: s.agent.limits.adu_octets,
        }
    }

    fn listing(&self, now: Time) -> Listing {
        let Some(open) = &self.open else { return Listing::default() };
        let held = open.agent.held();
        let numbers = open.agent.statistics();
        let bundle = |h: &crate::agent::Held| HeldBundle {
            bundle: h.id.name(),
            offset: h.id.offset(),
            destination: h.destination.to_string(),
            octets: h.octets,
            expires_s: h.expires.since(now).as_secs_f64(),
            custody: h.in_custody,
            here: h.is_for_here,
        };
        let contacts = open.contacts().map(|(node, address, layer)| ContactNow {
            node: node.to_string(),
            address: address.to_string(),
            layer: layer.name().to_owned(),
        });
        Listing {
            node: self.settings.agent.node.to_string(),
            bundles: held.iter().take(MOST_LISTED).map(bundle).collect(),
            left_out: held.len().saturating_sub(MOST_LISTED) as u64,
            contacts: contacts.collect(),
            octets: numbers.octets,
            unconfirmed: numbers.unconfirmed as u64,
        }
    }

    /// An endpoint as programs write it: whole, or a service of this node.
    fn endpoint(&self, text: &str) -> Result<Eid, String> {
        let service = || self.settings.agent.node.service(text).to_string();
        let whole = if text.contains(':') { text.to_owned() } else { service() };
        whole.parse().map_err(|e: EidError| e.to_string())
    }

    fn register(&mut self, now: Time, program: u64, endpoint: &str, got: u64) -> Result<Eid, String> {
        let (endpoint, node) = (self.endpoint(endpoint)?, &self.settings.agent.node);
        if endpoint.is_singleton() && !endpoint.same_node(node) {
            return Err(format!(
                "{endpoint} is not an endpoint of this node, {node}; give a service of this node, such as \
                 inbox"
            ));
        }
        let is_sink = self.sinks.iter().any(|(sink, _)| *sink == endpoint);
        if self.programs.endpoints.get(&endpoint).is_some_and(|owner| *owner != program) || is_sink {
            return Err(format!(
                "{endpoint} is used by another program; choose another service, or stop that program"
            ));
        }
        self.programs.endpoints.insert(endpoint.clone(), program);
        self.tell(now, Input::Register { endpoint: endpoint.clone(), got });
        Ok(endpoint)
    }

    /// An endpoint that this program has registered.
    fn own(&self, program: u64, endpoint: &str) -> Result<Eid, String> {
        let endpoint = self.endpoint(endpoint)?;
        if self.programs.endpoints.get(&endpoint) == Some(&program) {
            return Ok(endpoint);
        }
        Err(format!("{endpoint} is not registered by this program; register it first"))
    }

    fn send(
        &mut self,
        now: Time,
        (program, id): (u64, Option<u64>),
        ask: Ask,
        payload: Vec<u8>,
    ) -> Result<(), String> {
        let request = self.request_of(ask, payload)?;
        let pending = PendingRequest {
            program,
            id,
            destination: request.destination.to_string(),
            source: request.source.to_string(),
            bytes: request.payload.len() as u64,
        };
        self.programs.pending.insert(request.number, pending);
        self.tell(now, Input::Send(request));
        Ok(())
    }

    fn request_of(&mut self, ask: Ask, payload: Vec<u8>) -> Result<Request, String> {
        let Ask::Send { source, destination, lifetime_s, custody, report_to } = ask else {
            return Err("nothing to send".to_owned());
        };
        let lifetime = lifetime_s.unwrap_or(LIFETIME_S);
        if !(0.001..=MAX_LIFETIME_S).contains(&lifetime) {
            return Err(format!("lifetime_s is {lifetime}; give seconds from 0.001 to {MAX_LIFETIME_S}"));
        }
        let report_to = report_to.map(|text| self.endpoint(&text)).transpose()?;
        let node = &self.settings.agent.node;
        Ok(Request {
            source: source.map_or_else(|| Ok(node.clone()), |text| self.endpoint(&text))?,
            destination: destination.parse().map_err(|e: EidError| e.to_string())?,
            flags: if report_to.is_some() { flags::REPORT_DELIVERY } else { 0 },
            report_to: report_to.unwrap_or_default(),
            lifetime: Span::from_secs_f64(lifetime),
            custody,
            payload,
            number: self.programs.next_request(),
        })
    }
}
