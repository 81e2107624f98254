//! The GPS receiver's gpsd.

use wayhop_control::gpsd;
use wayhop_linux::Error;

use crate::log::{Log, Trouble};
use crate::node::host::Host;

/// It, and what is wrong with it.
pub(crate) struct GpsReceiver {
    client: gpsd::Client,
    trouble: Trouble,
}

impl GpsReceiver {
    /// Begins to listen to the gpsd at this host and port.
    pub(crate) fn begin(at: &str, log: &Log) -> Result<Self, Error> {
        let client = gpsd::Client::start(at).map_err(Error::system("start a thread for gpsd"))?;
        Ok(Self { client, trouble: Trouble::new(log) })
    }

    /// Has the node know what it says now.
    pub(crate) fn look(&mut self, host: &mut Host) {
        let news = host.whereabouts.hear(self.client.latest());
        self.trouble.is(self.client.trouble(), "", "gpsd answers");
        host.tell_position();
        if news {
            host.record_receiver();
        }
    }
}
