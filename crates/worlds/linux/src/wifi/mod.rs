//! What a wireless interface reports besides frames: the transmit status of sent frames, and the
//! power of received ones.
//!
//! * [`reports_transmit_status`]: whether the interface's driver reports it, by nl80211.
//! * [`control_messages`]: transmit status, from the error queue of the sending socket.
//! * [`nl80211`]: signals of neighbours, from the driver's table of stations.
//! * [`monitor`]: signal of each transmitter, from the radiotap headers of a monitor interface.

pub mod control_messages;
pub mod monitor;
pub mod nl80211;
mod socket;

use std::io;

use wayhop_core::Mac;

/// Asks nl80211 whether the driver of an interface tells sockets with `SO_WIFI_STATUS` the transmit status of unicasts; `None`
/// for an interface that is not wireless.
pub fn reports_transmit_status(ifindex: u32) -> io::Result<Option<bool>> {
    let Some(mut socket) = socket::Nl80211::open()? else { return Ok(None) };
    let mut flags = None;
    let asked =
        socket.ask(nl80211::GET_WIPHY, &nl80211::about_interface(ifindex), false, |command, attributes| {
            if command == nl80211::NEW_WIPHY {
                flags = flags.or(nl80211::feature_flags(attributes));
            }
        });
    match asked {
        // How the kernel says that an interface is not wireless.
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENODEV | libc::EOPNOTSUPP | libc::EINVAL)) => {
            Ok(None)
        }
        Err(e) => Err(e),
        Ok(()) => Ok(flags.map(|f| f & nl80211::FEATURE_SK_TX_STATUS != 0)),
    }
}

/// Hands on each station that the driver of an interface hears, with the power of its last frame, dBm. Without wireless
/// hardware there are none.
pub fn stations(ifindex: u32, mut station: impl FnMut(Mac, f32)) -> io::Result<()> {
    let Some(mut socket) = socket::Nl80211::open()? else { return Ok(()) };
    socket.ask(nl80211::GET_STATION, &nl80211::about_interface(ifindex), true, |command, attributes| {
        if command == nl80211::NEW_STATION
            && let Some((mac, dbm)) = nl80211::station(attributes)
        {
            station(mac, dbm);
        }
    })
}
