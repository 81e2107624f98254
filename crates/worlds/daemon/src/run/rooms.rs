//! The state of a running node: one value for each part.

use wayhop_control::Server;
use wayhop_linux::Error;

use crate::gateway::router::Router;
use crate::interfaces::mesh_interface::MeshInterfaces;
use crate::kernel::set_up::Kernel;
use crate::log::Log;
use crate::node::host::Host;
use crate::record::files::NodeRecord;
use crate::undo::Undo;

/// A node that is ready to run.
pub(crate) struct Rooms {
    pub(crate) host: Host,
    pub(crate) kernel: Kernel,
    pub(crate) interfaces: MeshInterfaces,
    /// Of a gateway.
    pub(crate) router: Option<Router>,
    pub(crate) record: NodeRecord,
    /// With its name.
    pub(crate) control: Option<(Server, String)>,
    pub(crate) log: Log,
    /// Dropped last: it sets the host back.
    pub(crate) undo: Undo,
}

impl Rooms {
    /// Ends what programs see of the node, and sets the host back.
    ///
    /// # Errors
    /// If the host is not as before.
    pub(crate) fn end(self) -> Result<(), Error> {
        let Self { kernel, control, mut undo, interfaces, .. } = self;
        drop((kernel, control));
        let outcome = undo.finish();
        // Until now, what comes from the mesh stays within it.
        drop(interfaces);
        outcome
    }
}
