//! Which interface a node chooses for a neighbour, and whether the link layer acknowledges there.

use wayhop_core::{Addr, IfaceId, Time};

use crate::node::Node;

impl<P> Node<P> {
    /// The interface for a neighbour where the protocol leaves the choice to the node.
    pub fn interface_to(&self, neighbour: Addr) -> IfaceId {
        self.heard.choose(neighbour, self.metric()).unwrap_or_else(|| self.first_up())
    }

    /// An interface on which a neighbour is heard, after it did not acknowledge on another one.
    pub(crate) fn another_to(&self, neighbour: Addr) -> Option<IfaceId> {
        self.heard.choose_sure(neighbour, self.metric())
    }

    /// The metric of an interface that is up.
    fn metric(&self) -> impl Fn(IfaceId) -> Option<u8> {
        |i| {
            let i = &self.interfaces[i.index()];
            i.is_up.then_some(i.config.metric)
        }
    }

    /// The first interface in the mesh that is up, or the first.
    pub(crate) fn first_up(&self) -> IfaceId {
        let in_mesh = |up: bool| self.interfaces.iter().position(|i| i.is_up >= up && !i.config.leads_out);
        crate::interface::id(in_mesh(true).or_else(|| in_mesh(false)).unwrap_or(0))
    }

    /// Whether an interface acknowledges.
    pub(crate) fn acknowledges(&self, iface: IfaceId) -> bool {
        self.interfaces[iface.index()].config.acknowledges
    }

    /// A neighbour was heard on an interface, of several.
    pub(crate) fn hear(&mut self, at: Time, neighbour: Addr, iface: IfaceId) {
        self.heard.note(at, neighbour, iface);
        self.review_acknowledgement(neighbour);
    }

    /// The interface for a neighbour may be another one.
    pub(crate) fn review_acknowledgement(&mut self, neighbour: Addr) {
        if self.is_uniform() {
            return;
        }
        let usual = self.acknowledges(self.first_up());
        let is_exception = self.acknowledges(self.interface_to(neighbour)) != usual;
        self.heard.set_exception(neighbour, is_exception);
    }

    /// The interface for every neighbour may be another one, or acknowledge otherwise.
    pub(crate) fn review_acknowledgements(&mut self) {
        self.heard.clear_exceptions();
        if !self.is_uniform() {
            for neighbour in self.heard.neighbours().collect::<Vec<_>>() {
                self.review_acknowledgement(neighbour);
            }
        }
    }

    /// Whether all of its interfaces acknowledge, or none.
    fn is_uniform(&self) -> bool {
        let in_mesh = self.interfaces.iter().filter(|i| !i.config.leads_out);
        let mut all = in_mesh.map(|i| i.config.acknowledges);
        all.next().is_none_or(|first| all.all(|other| other == first))
    }
}
