//! The media of a run: radio channels, which do not hear each other, and wires.

use std::sync::Arc;

use wayhop_core::{Limits, Purpose, Span, Time, draw};
use wayhop_node::{IfaceConfig, Resolution};
use wayhop_radio::{Arp, EnergyUsed, LinkOverride, Radio, RadioConfig, RadioEvent, Supply, Watching};
use wayhop_scenario::{Attachment, Interfaces, Resolved, WirePlan};

use crate::air::Air;
use crate::audit::Census;
use crate::common::Channel;
use crate::event::{Event, WireEvent};
use crate::fates::flags;
use crate::net::Net;
use crate::wire::Wire;

/// The longest packet that a radio frame carries: an MSDU of 2304 octets (IEEE 802.11 9.2.4.7) less LLC and SNAP. Longer
/// ones would need fragmentation, by IP or by the MAC, and neither is modelled.
const MTU_BYTES: usize = 2304 - wayhop_wire::llc::LEN;
/// The longest packet that an Ethernet frame carries.
const WIRE_MTU_BYTES: usize = 1500;

pub(crate) struct Media {
    radios: Vec<Radio>,
    wires: Vec<Wire>,
}

/// The seed of a radio's random streams. The first radio has the run's, so that further ones leave its draws untouched.
fn seed_of(radio: usize, seed: u64) -> u64 {
    if radio == 0 { seed } else { draw(seed, Purpose::Radio, [radio as u64, 0, 0]) }
}

impl Media {
    pub(crate) fn new(scenario: &Resolved) -> Self {
        let nodes = scenario.tracks.len();
        let radio = |(k, plan): (usize, &wayhop_scenario::RadioPlan)| {
            let mut radio = Radio::new(&plan.config, nodes, seed_of(k, scenario.seed));
            if let Some(members) = &plan.nodes {
                radio.set_members(flags(nodes, members.iter().map(|n| n.index())));
            }
            radio
        };
        let mut radios: Vec<Radio> = scenario.interfaces.radios.iter().enumerate().map(radio).collect();
        for (node, card) in &scenario.cards {
            radios[0].set_card(node.0, *card);
        }
        let wires = (0..).zip(&scenario.interfaces.wires);
        Self { radios, wires: wires.map(|(k, w)| Wire::new(k, w, scenario.seed)).collect() }
    }

    /// What a capture says of each radio's frames.
    pub(crate) fn channels(&self) -> Vec<Channel> {
        let channel = |r: &Radio| Channel {
            link_delay: Span::from_micros(u64::from(r.config().link_delay_us)),
            mhz: r.config().frequency_mhz as u16,
        };
        self.radios.iter().map(channel).collect()
    }

    /// Whether nodes listen to frames for others, and whether frames are captured.
    pub(crate) fn listen(&mut self, overhear: bool, capture: bool) {
        self.radios.iter_mut().for_each(|r| r.set_overhear(overhear));
        self.capture(capture);
    }

    /// Whether stations answer for others.
    pub(crate) fn set_stand_ins(&mut self, on: bool) {
        self.radios.iter_mut().for_each(|r| r.set_stand_ins(on));
    }

    /// The run begins: access points have beacons to send.
    pub(crate) fn begin(&mut self, net: &mut Net) {
        for (radio, r) in (0..).zip(&mut self.radios) {
            r.begin(Time::ZERO, &mut Air { net, radio });
        }
    }

    /// Makes nodes jammers, which have one radio each.
    pub(crate) fn set_jammers(&mut self, net: &mut Net) {
        for (node, plan) in net.common.attackers.as_ref().map_or_else(Vec::new, |a| a.jammers()) {
            self.radios[0].set_jammer(node, plan, &mut Air { net, radio: 0 });
        }
    }

    /// Has the radios tell what becomes of frames.
    pub(crate) fn watch(&mut self, who: &Watching) {
        self.radios.iter_mut().for_each(|r| r.watch(who.clone()));
    }

    /// Whether radios show the frames that stations send and hear.
    pub(crate) fn capture(&mut self, on: bool) {
        self.radios.iter_mut().for_each(|r| r.set_capturing(on));
    }

    /// The first radio, which all nodes of a run with several threads have.
    #[inline]
    pub(crate) fn first_radio(&self) -> &Radio {
        &self.radios[0]
    }
    pub(crate) fn first_radio_mut(&mut self) -> &mut Radio {
        &mut self.radios[0]
    }

    /// Reads what a node's first radio needs. The answer has no meaning.
    #[inline]
    pub(crate) fn touch(&self, node: u32) -> bool {
        self.radios[0].touch(node)
    }

    /// What a radio asked for is due.
    #[inline]
    pub(crate) fn radio_due(&mut self, at: Time, node: u32, k: u8, event: RadioEvent, net: &mut Net) {
        self.radios[usize::from(k)].handle(at, node, event, &mut Air { net, radio: k });
        net.lift();
    }

    /// What a wire asked for is due.
    pub(crate) fn wire_due(&mut self, at: Time, node: u32, k: u16, event: WireEvent, net: &mut Net) {
        self.wires[usize::from(k)].due(at, node, event, net);
    }

    /// When all wires are cut and whole again, and then when nodes are absent from them and back, as events at nodes.
    pub(crate) fn wire_changes(wires: &[WirePlan]) -> impl Iterator<Item = (Time, u32, Event)> {
        let both = |k, node, from, until: Option<Time>, change: fn(bool) -> WireEvent| {
            let event = move |at, begins| (at, node, Event::Wire(k, change(begins)));
            [Some(event(from, true)), until.map(|at| event(at, false))].into_iter().flatten()
        };
        let cuts = (0..).zip(wires).flat_map(move |(k, w)| {
            let first = w.nodes.first().map_or(0, |n| n.0);
            w.cuts.iter().flat_map(move |&(from, until)| both(k, first, from, until, WireEvent::Cut))
        });
        let absences = (0..).zip(wires).flat_map(move |(k, w)| {
            let absences = w.absences.iter();
            absences.flat_map(move |&(node, from, until)| both(k, node.0, from, until, WireEvent::Absent))
        });
        cuts.chain(absences)
    }

    /// Packets entered a node's interface queues.
    #[inline]
    pub(crate) fn wake(&mut self, at: Time, node: u32, net: &mut Net) {
        if net.common.ports.is_single() {
            return self.radios[0].wake(at, node, &mut Air { net, radio: 0 });
        }
        for i in 0..net.common.ports.of(node).len() {
            match net.common.ports.of(node)[i] {
                Attachment::Radio(k) => {
                    self.radios[usize::from(k)].wake(at, node, &mut Air { net, radio: k });
                }
                Attachment::Wire(k) => self.wires[usize::from(k)].wake(at, node, net),
            }
        }
    }

    /// Lets the radios begin their next packets.
    #[inline]
    pub(crate) fn fetch(&mut self, at: Time, net: &mut Net) {
        for (radio, r) in (0..).zip(&mut self.radios) {
            r.fetch(at, &mut Air { net, radio });
        }
    }

    /// A driver stops serving the queue of one of a node's interfaces, or of all, or goes on.
    pub(crate) fn set_stalled(
        &mut self,
        at: Time,
        node: u32,
        only: Option<Attachment>,
        stalled: bool,
        net: &mut Net,
    ) {
        for i in 0..net.common.ports.of(node).len() {
            match net.common.ports.of(node)[i] {
                a if only.is_some_and(|only| only != a) => {}
                Attachment::Radio(k) => {
                    let mut air = Air { net, radio: k };
                    self.radios[usize::from(k)].set_stalled(at, node, stalled, &mut air);
                }
                Attachment::Wire(k) => self.wires[usize::from(k)].set_stalled(at, node, stalled, net),
            }
        }
    }

    /// A node's host is on again, or goes off: then its interfaces send and hear nothing, and what they were sending is lost.
    pub(crate) fn switch(&mut self, at: Time, node: u32, on: bool, net: &mut Net) {
        for i in 0..net.common.ports.of(node).len() {
            match net.common.ports.of(node)[i] {
                Attachment::Radio(k) => {
                    let (radio, air) = (&mut self.radios[usize::from(k)], &mut Air { net, radio: k });
                    if on { radio.switch_on(at, node, air) } else { radio.switch_off(at, node, air) }
                }
                // Wires ask whether a node is up.
                Attachment::Wire(_) if on => {}
                Attachment::Wire(k) => self.wires[usize::from(k)].switch_off(at, node, net),
            }
        }
    }

    /// Gives nodes, which have one radio each, their batteries.
    pub(crate) fn set_supplies(&mut self, supplies: &[Option<Supply>], net: &mut Net) {
        self.radios[0].set_supplies(supplies, &mut Air { net, radio: 0 });
    }
    /// Whether a node's battery has just run empty.
    pub(crate) fn check_battery(&mut self, at: Time, node: u32, net: &mut Net) -> bool {
        self.radios[0].check_battery(at, node, &mut Air { net, radio: 0 })
    }
    /// What a node with a battery has used.
    pub(crate) fn energy(&self, at: Time, node: u32) -> Option<EnergyUsed> {
        self.radios.first()?.energy(at, node)
    }

    /// Counts the packets that are on their way through a medium.
    pub(crate) fn count_held(&self, nodes: u32, census: &mut Census) {
        for r in &self.radios {
            (0..nodes).flat_map(|n| r.held(n)).for_each(|out| census.count(&out.frame.packet));
        }
        self.wires.iter().flat_map(Wire::held).for_each(|p| census.count(p));
    }

    /// Whether packets may be lost without a report.
    pub(crate) fn may_lose_unnoticed(&self) -> bool {
        !self.wires.is_empty() || self.radios.iter().any(|r| !r.config().acknowledge)
    }

    /// What the MAC of a node's interface counted.
    pub(crate) fn counters(&self, node: u32, at: Attachment) -> Vec<(&'static str, u64)> {
        match at {
            Attachment::Radio(k) => {
                let named = self.radios[usize::from(k)].counters(node).named();
                named.into_iter().map(|(name, value)| (name, u64::from(value))).collect()
            }
            Attachment::Wire(k) => self.wires[usize::from(k)].counters(node),
        }
    }

    /// Nodes are elsewhere than their tracks said.
    pub(crate) fn forget_places(&mut self) {
        self.radios.iter_mut().for_each(Radio::forget_places);
    }

    /// Overrides a link one way, or leaves it to the model again.
    pub(crate) fn set_link(&mut self, at: Attachment, from: u32, to: u32, state: Option<LinkOverride>) {
        match at {
            Attachment::Radio(k) => self.radios[usize::from(k)].set_link(from, to, state),
            Attachment::Wire(k) => self.wires[usize::from(k)].set_link(from, to, state),
        }
    }

    /// The overridden links, as (medium, sender, receiver, state).
    pub(crate) fn links(&self) -> impl Iterator<Item = (Attachment, u32, u32, LinkOverride)> {
        let radios = (0..).zip(&self.radios).flat_map(|(k, r)| {
            r.links().map(move |(from, to, state)| (Attachment::Radio(k), from, to, state))
        });
        let wires = (0..).zip(&self.wires).flat_map(|(k, w)| {
            w.links().map(move |(from, to, state)| (Attachment::Wire(k), from, to, state))
        });
        radios.chain(wires)
    }
}

/// The interfaces at each medium, as the network layer knows them: those of the radios, then those of the wires.
pub(crate) fn interfaces(all: &Interfaces, limits: Limits) -> Vec<Arc<IfaceConfig>> {
    let rate = |r: &RadioConfig| r.data_rate_mbps;
    let mut rates: Vec<f64> = all.radios.iter().map(|r| rate(&r.config)).collect();
    rates.sort_by(|a, b| b.total_cmp(a));
    rates.dedup();
    // Of several radios to one neighbour the fastest is the best.
    let rank = |r: &RadioConfig| rates.iter().position(|&other| other == rate(r)).unwrap_or(0);
    let metric = |r: &RadioConfig| u8::try_from(1 + rank(r)).unwrap_or(u8::MAX);
    let radios = all.radios.iter().map(|r| interface(&r.config, metric(&r.config), limits));
    let wires = all.wires.iter().map(|w| IfaceConfig {
        mtu: WIRE_MTU_BYTES,
        queue_packets: w.queue_packets,
        resolution: if w.network.is_some() { Resolution::Host } else { Resolution::Derived },
        link_delay: Some(Span::ZERO),
        leads_out: w.leads_out,
        limits,
        ..IfaceConfig::default()
    });
    let numbered = (0..).zip(radios.chain(wires));
    numbered.map(|(segment, config)| Arc::new(IfaceConfig { segment, ..config })).collect()
}

/// What a radio is to the network layer. A wire to the same neighbour is better.
fn interface(radio: &RadioConfig, metric: u8, limits: Limits) -> IfaceConfig {
    IfaceConfig {
        mtu: MTU_BYTES,
        queue_packets: radio.queue_packets as usize,
        queue_classes: radio.queue_classes,
        acknowledges: radio.acknowledge,
        resolution: match radio.arp {
            Arp::None => Resolution::Derived,
            Arp::Host => Resolution::Host,
            Arp::HoldOne => Resolution::Bsd,
        },
        link_delay: Some(Span::from_micros(u64::from(radio.link_delay_us))),
        first_answer: Span::from_millis(u64::from(radio.arp_answer_delay_ms)),
        metric,
        limits,
        ..IfaceConfig::default()
    }
}
