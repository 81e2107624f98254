//! From an address to a driver.

use std::net::{SocketAddr, ToSocketAddrs as _};

use super::driver::Device;
use super::error::DeviceError;
use super::http::Http;
use super::rcdat::BoxCommand;
use super::telnet::Telnet;

/// Connects to the box at `telnet://HOST:PORT`, `http://HOST:PORT`, or HOST:PORT, which is telnet.
///
/// # Errors
/// The address is none, or nobody answers there, or it is no attenuator.
pub fn connect(address: &str) -> Result<Box<dyn Device>, DeviceError> {
    let mut device: Box<dyn Device> = match address.strip_prefix("http://") {
        Some(rest) => Box::new(Http::new(resolve(rest)?)),
        None => Box::new(Telnet::new(resolve(address.strip_prefix("telnet://").unwrap_or(address))?)?),
    };
    device.ask(BoxCommand::Model)?;
    Ok(device)
}

fn resolve(address: &str) -> Result<SocketAddr, DeviceError> {
    let found =
        address.to_socket_addrs().map_err(|e| DeviceError::Address(format!("{address}: {e}")))?.next();
    found.ok_or_else(|| DeviceError::Address(format!("{address}: the name has no address")))
}
