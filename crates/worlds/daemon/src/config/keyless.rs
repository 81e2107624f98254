//! A warning for nodes that would accept anyone in radio range.

use wayhop_auth::Auth;
use wayhop_linux::interface;

use crate::config::settings::Settings;

impl Settings {
    /// What to know before routing messages of strangers are believed: of a node without keys on an interface that leads out of this machine.
    /// Tunnels and the kernel's devices for tests (veth, dummy, hwsim) have no strangers.
    pub fn unauthenticated(&self) -> Option<String> {
        if self.keys.is_some() || !Auth::supports(self.protocol.description()) {
            return None;
        }
        let open: Vec<&str> = self.config.names().filter(|name| interface::leads_out(name)).collect();
        (!open.is_empty()).then(|| {
            format!(
                "{} without keys: anyone in radio range can redirect or stop this mesh's traffic with \
                 forged routing messages; set security.keys on all nodes (docs/security.md)",
                open.join(" and ")
            )
        })
    }
}
