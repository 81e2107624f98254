//! Protocol and TUN follow when the interfaces carry longer packets, or only shorter ones.

use std::sync::Arc;

use serde_json::Map;
use wayhop_linux::Error;

use crate::config::settings::Settings;
use crate::ipv6::tun6;
use crate::kernel::mtu;
use crate::log::Level;
use crate::run::setup::Ready;

/// The longest packets that all interfaces of the node carry.
fn shortest(ready: &Ready) -> Option<usize> {
    ready.attached.iter().filter(|a| !a.is_gone).map(|a| a.facts.mtu).min()
}

/// Has the protocol know how long packets may be. One that is down is told when it is up.
pub(crate) fn tell_protocol(ready: &mut Ready, settings: &Settings) {
    let Some(shortest) = shortest(ready).filter(|s| *s != ready.told_mtu) else { return };
    let Ready { host, log, told_mtu, .. } = ready;
    let Some(key) = mtu::key(settings) else {
        *told_mtu = shortest;
        return;
    };
    if let Some(next) = &mut host.power.rebirth
        && let Ok(protocol) = next.protocol.with(key, mtu::value(settings, shortest))
    {
        next.protocol = Arc::new(protocol);
    }
    if !host.node.is_up() {
        return;
    }
    *told_mtu = shortest;
    let change = Map::from_iter([(key.to_owned(), mtu::value(settings, shortest))]);
    if let Err(e) = host.change_parameters(&change) {
        log.tell(Level::Warning, format_args!("protocol.{key} stays as it was: {e}"));
    }
}

/// Has the TUN carry packets of the length that the interfaces leave. Returns that length if it carried others.
pub(crate) fn resize_tun(ready: &Ready, settings: &Settings, now: usize) -> Result<Option<u16>, Error> {
    let wanted = shortest(ready).map(|s| mtu::of_tun(settings, s));
    let Some(wanted) = wanted.filter(|mtu| usize::from(*mtu) != now) else { return Ok(None) };
    let name = &ready.tun_name;
    if settings.address6.is_some() {
        let is_wrong = |e: Error| Error::System(format!("{e}; the node leaves the mesh"));
        tun6::check_mtu(name, usize::from(wanted)).map_err(is_wrong)?;
    }
    ready.tun.set_mtu(wanted).map_err(Error::system(format!("give {name} the MTU {wanted}")))?;
    Ok(Some(wanted))
}
