//! Protocol and TUN follow changes of the interfaces' MTU.

use std::sync::Arc;

use serde_json::Map;
use wayhop_linux::Error;

use crate::ipv6::tun6;
use crate::kernel::set_up::Kernel;
use crate::log::{Level, Log};
use crate::node::host::Host;

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
            log.tell(Level::Warning, format_args!("protocol.{key} is unchanged: {e}"));
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
