//! A path through the states, in words.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;

use wayhop_wire::ipv4;

use super::air::Flight;
use super::checked::Explorable;
use super::exploration::Exploration;
use super::names::Names;
use super::world::{Action, World};

/// How a rule is broken.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// One line a step.
    pub steps: Vec<String>,
    /// EventKind is wrong in the end.
    pub complaint: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, s) in self.steps.iter().enumerate() {
            writeln!(f, "{:>3}: {s}", i + 1)?;
        }
        writeln!(f, "   => {}", self.complaint)
    }
}

/// Tells what these actions do, from the beginning.
pub(crate) fn tell<P: Explorable>(x: &Exploration<P>, actions: Vec<Action>) -> Counterexample {
    let names = Names(x.topology.nodes());
    let mut world = World::new(x);
    let mut steps = Vec::new();
    for action in actions {
        let next = world.after(x, action);
        let changes = changes(&world, &next, names);
        steps.push(format!("{}{changes}", happening(x, &world, &next, action, names)));
        world = next;
    }
    Counterexample { steps, complaint: x.complaint(&world).unwrap_or_default() }
}

fn happening<P: Explorable>(
    x: &Exploration<P>,
    w: &World<P>,
    next: &World<P>,
    action: Action,
    names: Names,
) -> String {
    let n = |i: usize| names.node(i);
    match action {
        Action::Send(flow) => format!("{} has a packet for {}", n(x.flows[flow].0), n(x.flows[flow].1)),
        Action::Deliver(i) => {
            let late = if w.air.is_behind(i) { ", overtaking what was sent before" } else { "" };
            format!("{}{late}", frame::<P>(&w.air.flights[i], names))
        }
        Action::Lose(i) => format!("{}: lost", frame::<P>(&w.air.flights[i], names)),
        Action::Unheard(i) => {
            format!(
                "{}, but {} hears no acknowledgement",
                frame::<P>(&w.air.flights[i], names),
                n(w.air.flights[i].from)
            )
        }
        Action::Break { a, b, keep: true } => format!("link {}-{} breaks", n(a), n(b)),
        Action::Break { a, b, keep: false } => {
            let hit = |f: &&Flight| (f.from, f.to) == (a, b) || (f.from, f.to) == (b, a);
            let lost: Vec<String> = w.air.flights.iter().filter(hit).map(|f| frame::<P>(f, names)).collect();
            match lost.len() {
                0 => format!("link {}-{} breaks", n(a), n(b)),
                _ => format!("link {}-{} breaks; lost on it: {}", n(a), n(b), lost.join("; ")),
            }
        }
        Action::Restore(a, b) => format!("link {}-{} is back", n(a), n(b)),
        Action::Reboot(i) => format!("{} reboots", n(i)),
        Action::Fire(i, key) => format!("{}: {}", n(i), P::timer(key, names)),
        Action::Wait => format!("{} pass", next.now() - w.now()),
    }
}

fn frame<P: Explorable>(f: &Flight, names: Names) -> String {
    let is_data = ipv4::Packet::new_checked(f.packet.bytes())
        .is_ok_and(|ip| ip.protocol() == ipv4::protocol::UDP)
        && f.is_data;
    let what = match ipv4::Packet::new_checked(f.packet.bytes()) {
        Ok(ip) if is_data => format!("data ({} to {})", names.of(ip.src()), names.of(ip.dst())),
        _ => P::describe(f.packet.bytes(), names),
    };
    let to = if f.broadcast { format!("({})", names.node(f.to)) } else { names.node(f.to).to_string() };
    format!("{} -> {to} {what}", names.node(f.from))
}

/// EventKind nodes know after that they did not know before.
fn changes<P: Explorable>(before: &World<P>, after: &World<P>, names: Names) -> String {
    let mut all = Vec::new();
    for (i, (old, new)) in before.nodes.iter().zip(&after.nodes).enumerate() {
        let read = |p: &P| p.knowledge(names).into_iter().collect::<BTreeMap<Ipv4Addr, String>>();
        let (old, new) = (read(old.protocol()), read(new.protocol()));
        let mut mine = Vec::new();
        for (to, now) in &new {
            match old.get(to) {
                Some(was) if was == now => {}
                Some(was) => mine.push(format!("{} {was} => {now}", names.of(*to))),
                None => mine.push(format!("{} {now}", names.of(*to))),
            }
        }
        mine.extend(
            old.keys().filter(|to| !new.contains_key(to)).map(|to| format!("{} forgotten", names.of(*to))),
        );
        if !mine.is_empty() {
            all.push(format!("{}: {}", names.node(i), mine.join(", ")));
        }
    }
    if all.is_empty() { String::new() } else { format!("  [{}]", all.join("; ")) }
}
