//! Configured routes.

use core::str::FromStr;

use crate::eid::{Eid, EidError};
use crate::routing::{Decision, Routing};

/// Static routes: the first whose pattern fits says which neighbour is the next hop. One copy of a bundle travels.
#[derive(Clone, Debug, Default)]
pub struct StaticRoutes {
    routes: Vec<(Pattern, Eid)>,
}

/// Which destinations a route is for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    All,
    Node(Eid),
    Endpoint(Eid),
}

/// Why a route cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// There is no `via`.
    #[error(
        "`{0}` is not a route; write DESTINATION via NEIGHBOUR, such as `dtn://b/* via dtn://a/` or `* via \
         dtn://a/`"
    )]
    Form(String),
    /// An endpoint identifier is none.
    #[error(transparent)]
    Eid(#[from] EidError),
}

impl StaticRoutes {
    /// Reads routes such as `dtn://b/* via dtn://a/`, `ipn:7.1 via ipn:5.0`, `* via dtn://gateway/`.
    pub fn parse<'a>(routes: impl IntoIterator<Item = &'a str>) -> Result<Self, RouteError> {
        let routes = routes.into_iter().map(route).collect::<Result<_, _>>()?;
        Ok(Self { routes })
    }

    /// Whether there is a route to this destination, and by which neighbour.
    pub fn next_hop(&self, destination: &Eid) -> Option<&Eid> {
        let fits = |pattern: &Pattern| match pattern {
            Pattern::All => true,
            Pattern::Node(node) => node.same_node(destination),
            Pattern::Endpoint(endpoint) => endpoint == destination,
        };
        self.routes.iter().find(|(pattern, _)| fits(pattern)).map(|(_, via)| via)
    }
}

fn route(text: &str) -> Result<(Pattern, Eid), RouteError> {
    let form = || RouteError::Form(text.to_owned());
    let (to, via) = text.split_once(" via ").ok_or_else(form)?;
    let to = to.trim();
    let pattern = if to == "*" {
        Pattern::All
    } else if let Some(node) = to.strip_suffix("/*") {
        Pattern::Node(Eid::from_str(node)?)
    } else if let Some(node) = to.strip_suffix(".*") {
        Pattern::Node(Eid::from_str(&format!("{node}.0"))?)
    } else {
        Pattern::Endpoint(Eid::from_str(to)?)
    };
    Ok((pattern, Eid::from_str(via.trim())?.node()))
}

impl Routing for StaticRoutes {
    fn number(&self) -> Option<u8> {
        None
    }
    fn decide(&self, destination: &Eid, _: u32, peer: &Eid) -> Decision {
        match self.next_hop(destination) {
            Some(via) if via == peer => Decision::Move,
            _ => Decision::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_route_that_fits_is_taken() {
        let routes =
            StaticRoutes::parse(["dtn://b/x via dtn://c/", "dtn://b/* via dtn://a/", "* via dtn://z/"])
                .unwrap();
        let via = |to: &str| routes.next_hop(&to.parse().unwrap()).unwrap().to_string();
        assert_eq!(via("dtn://b/x"), "dtn://c/");
        assert_eq!(via("dtn://b/y"), "dtn://a/");
        assert_eq!(via("ipn:1.2"), "dtn://z/");
        let ipn = StaticRoutes::parse(["ipn:7.* via ipn:5.0"]).unwrap();
        assert_eq!(ipn.next_hop(&"ipn:7.9".parse().unwrap()), Some(&"ipn:5.0".parse().unwrap()));
        assert_eq!(ipn.next_hop(&"ipn:8.9".parse().unwrap()), None);
    }

    #[test]
    fn a_route_without_via_is_refused_with_an_example() {
        let error = StaticRoutes::parse(["dtn://b/ dtn://a/"]).unwrap_err();
        assert!(error.to_string().contains("DESTINATION via NEIGHBOUR"), "{error}");
    }
}
