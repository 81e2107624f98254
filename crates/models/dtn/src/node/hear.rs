//! Events from sessions for the agent, and the agent's commands to them.

use wayhop_core::{ApplicationCx, ApplicationRow, BundleEventKind, Span, Time};

use super::open_node::OpenNode;
use super::record::{ContactRecord, Record};
use super::session::{NeighbourSession, OpenSession, SessionState};
use crate::agent::{BundleRecord, Contact, ContactId, Input, Output};
use crate::cl::{Event, Session};
use crate::eid::Eid;
use crate::store::Store;

impl<S: Store> OpenNode<S> {
    /// Takes what the sessions tell. Whether there was anything.
    pub(super) fn hear_sessions(&mut self, cx: &mut ApplicationCx<'_>) -> bool {
        let ids: Vec<ContactId> = self.sessions.keys().copied().collect();
        let mut any = false;
        for id in ids {
            self.bring_up_due(cx.now(), id);
            while let Some(event) = self.sessions.get_mut(&id).and_then(|s| s.session.event()) {
                any = true;
                self.hear_session(cx, id, event);
            }
        }
        any
    }

    fn hear_session(&mut self, cx: &mut ApplicationCx<'_>, contact: ContactId, event: Event) {
        let input = match event {
            Event::Up { peer, largest } => return self.session_up(cx.now(), contact, &peer, largest),
            Event::Down(reason) => return self.session_down(cx, contact, &reason.to_string()),
            Event::Transfer(event) => Input::Transfer(contact, event),
        };
        // One that sends before its beacon came does not wait for it.
        if matches!(self.sessions.get(&contact), Some(OpenSession { state: SessionState::Waits(..), .. })) {
            self.bring_up(cx.now(), contact);
        }
        self.tell(cx.now(), input);
    }

    fn session_up(&mut self, now: Time, id: ContactId, peer: &Eid, largest: Option<usize>) {
        let wait = if self.settings.beacon.is_some() { self.settings.silence } else { Span::ZERO };
        let Some(open) = self.sessions.get_mut(&id) else { return };
        if !peer.is_none() {
            open.peer = peer.node();
        }
        open.state = SessionState::Waits(largest, now + wait);
        self.bring_up_due(now, id);
    }

    /// Tells the agent of a session that need not wait any more: its neighbour's beacon has come, or will not come.
    fn bring_up_due(&mut self, now: Time, id: ContactId) {
        let Some(open) = self.sessions.get(&id) else { return };
        let SessionState::Waits(_, until) = open.state else { return };
        let is_known =
            matches!(open.link, NeighbourSession::Udp(..)) || self.neighbours.of(&open.peer).is_some();
        if is_known || until <= now {
            self.bring_up(now, id);
        }
    }

    fn bring_up(&mut self, now: Time, id: ContactId) {
        let Some(open) = self.sessions.get_mut(&id) else { return };
        let SessionState::Waits(largest, _) = open.state else { return };
        open.state = SessionState::Up;
        let peer = open.peer.clone();
        let known = if peer.is_none() { None } else { self.neighbours.of(&peer) };
        let exchanges = self.routing.is_some() && known.is_some_and(|n| n.routing == self.routing);
        let largest = [largest, self.settings.largest].into_iter().flatten().min();
        if !peer.is_none() {
            open.carried = Some(ContactRecord { from: now, peer: peer.clone(), ..ContactRecord::default() });
        }
        self.tell(now, Input::ContactUp(Contact { id, peer, largest, exchanges }));
    }

    fn session_down(&mut self, cx: &mut ApplicationCx<'_>, id: ContactId, why: &str) {
        let Some(open) = self.sessions.get_mut(&id) else { return };
        let was_up = std::mem::replace(&mut open.state, SessionState::Over) == SessionState::Up;
        open.end_contact(cx);
        if matches!(open.link, NeighbourSession::Tcp(..)) {
            let with = if open.peer.is_none() { open.link.ip().to_string() } else { open.peer.to_string() };
            cx.remark(format!("{with}: {why}"));
        }
        if was_up {
            self.tell(cx.now(), Input::ContactDown(id));
        }
    }

    pub(super) fn carry_out(&mut self, cx: &mut ApplicationCx<'_>, output: Output) {
        let sessions = &mut self.sessions;
        let rest = output.give(cx.now(), |id| Some(&mut *sessions.get_mut(&id)?.session as &mut dyn Session));
        match rest {
            Some(Output::Record(row)) => {
                self.count(&row);
                cx.row(ApplicationRow::new(Record::Bundle(row)));
            }
            rest => self.outputs.extend(rest),
        }
    }

    /// Adds a bundle to what its contact carried.
    fn count(&mut self, row: &BundleRecord) {
        let mut all = self.sessions.values_mut().filter(|s| s.peer == row.peer);
        let Some(carried) = all.find_map(|s| s.carried.as_mut()) else { return };
        match row.event {
            BundleEventKind::Forward => {
                carried.sent += 1;
                carried.sent_bytes += row.bytes;
            }
            BundleEventKind::Receive | BundleEventKind::Duplicate => {
                carried.received += 1;
                carried.received_bytes += row.bytes;
            }
            _ => {}
        }
    }
}
