//! Routes that the node has from its configuration, and that no engine owns.

use wayhop_core::{Protocol, Route, Time};

use crate::node::Node;
use crate::table::InstalledRoute;
use crate::world::World;

impl<P: Protocol> Node<P> {
    /// Gives the node these routes, for when it starts and starts again.
    pub fn set_static_routes(&mut self, routes: Vec<Route>) {
        self.static_routes = routes;
    }

    /// Puts the static routes into the forwarding table.
    pub(crate) fn install_static<W: World>(&mut self, w: &mut W, at: Time) {
        for i in 0..self.static_routes.len() {
            self.install(w, at, InstalledRoute::STATIC, self.static_routes[i]);
        }
    }
}
