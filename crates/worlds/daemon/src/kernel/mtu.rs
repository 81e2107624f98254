//! The MTU: protocol and TUN follow the interface with the smallest.

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::Configured;
use wayhop_linux::Error;

use crate::config::plan::MtuPlan;
use crate::ipv6::tun6;
use crate::kernel::set_up::Kernel;
use crate::log::Log;
use crate::node::host::Host;

impl MtuPlan {
    /// The protocol for links that carry packets of this length, unless the configuration says another.
    pub(crate) fn of_protocol(&self, configured: Configured, shortest: usize) -> Configured {
        match self.key {
            Some(key) => configured.with(key, self.value(shortest)).unwrap_or(configured),
            None => configured,
        }
    }

    /// The TUN's, bytes: less than the links', for the protocol's headers.
    pub(crate) fn of_tun(&self, shortest: usize) -> u16 {
        self.tun.unwrap_or_else(|| {
            self.unsealed(shortest).saturating_sub(self.header_room).clamp(576, 65_535) as u16
        })
    }

    /// The value of the protocol's parameter, for links that carry packets of this length.
    fn value(&self, shortest: usize) -> Value {
        self.unsealed(shortest).min(usize::from(u16::MAX)).into()
    }

    /// How long packets may be before they get what authenticates them.
    fn unsealed(&self, shortest: usize) -> usize {
        shortest.saturating_sub(self.seal)
    }
}

impl Kernel {
    /// Has the protocol know how long packets may be, where all interfaces carry those of the length `shortest`. One that is down is
    /// told when it is up.
    pub(crate) fn tell_protocol(&mut self, shortest: Option<usize>, host: &mut Host, log: &Log) {
        let Some(shortest) = shortest.filter(|s| *s != self.protocol_mtu) else { return };
        let mtu = &self.plan.mtu;
        let Some(key) = mtu.key else {
            self.protocol_mtu = shortest;
            return;
        };
        if let Some(next) = &mut host.power.rebirth
            && let Ok(protocol) = next.protocol.with(key, mtu.value(shortest))
        {
            next.protocol = Arc::new(protocol);
        }
        if !host.node.is_up() {
            return;
        }
        self.protocol_mtu = shortest;
        let change = Map::from_iter([(key.to_owned(), mtu.value(shortest))]);
        if let Err(e) = host.change_parameters(&change) {
            log.warning(format_args!("protocol.{key} is unchanged: {e}"));
        }
    }

    /// Has the TUN carry packets of the length that the interfaces leave. Returns that length if it carried others.
    pub(crate) fn resize_tun(&self, shortest: Option<usize>, now: usize) -> Result<Option<u16>, Error> {
        let wanted = shortest.map(|s| self.plan.mtu.of_tun(s));
        let Some(wanted) = wanted.filter(|mtu| usize::from(*mtu) != now) else { return Ok(None) };
        let name = &self.tun_name;
        if self.plan.addresses.own6.is_some() {
            let is_wrong = |e: Error| Error::System(format!("{e}; the node exits"));
            tun6::check_mtu(name, usize::from(wanted)).map_err(is_wrong)?;
        }
        self.tun.set_mtu(wanted).map_err(Error::system(format!("give {name} the MTU {wanted}")))?;
        Ok(Some(wanted))
    }
}
