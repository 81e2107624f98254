//! The TCP connections of the host's programs, sampled while they run: the table `connections` of
//! its run directory.

use wayhop_core::{NodeId, Span, Time};
use wayhop_linux::{Error, TcpConnections};
use wayhop_trace::ConnectionEvent;

use crate::config::number::NODE;
use crate::config::plan::Addresses;
use crate::log::Log;
use crate::node::host::Host;

/// How often connections are looked at. A look takes the kernel some 0.3 ms.
const EVERY: Span = Span::from_millis(100);

/// Looks at the connections with an end at one of the node's addresses.
pub(crate) struct Connections {
    /// `None` once the kernel has failed to tell.
    kernel: Option<TcpConnections>,
    next: Time,
}

impl Connections {
    /// Begins, if the node has a run directory.
    pub(crate) fn begin(addresses: &Addresses, has_run: bool) -> Result<Self, Error> {
        let open = has_run.then(|| TcpConnections::open(addresses.all().collect()));
        let kernel = open.transpose().map_err(Error::system("look at TCP connections"))?;
        Ok(Self { kernel, next: Time::ZERO })
    }

    /// When to look next.
    pub(crate) fn next(&self) -> Option<Time> {
        self.kernel.is_some().then_some(self.next)
    }

    /// Looks, if that is due.
    pub(crate) fn run_due(&mut self, host: &mut Host, log: &Log) {
        let time = host.now();
        let (Some(kernel), Some(run)) = (&mut self.kernel, &mut host.around.run) else { return };
        if time < self.next {
            return;
        }
        self.next = time + EVERY;
        let record = |c: &_| run.connection(ConnectionEvent { time, node: NodeId(NODE), connection: *c });
        if let Err(e) = kernel.look(record) {
            let why = format!(
                "the kernel does not report TCP connections ({e}), so the table `connections` ends here; this requires Linux \
                 5.4 or later with CONFIG_INET_DIAG"
            );
            log.warning(&why);
            self.kernel = None;
        }
    }
}
