//! Which values are valid together.

use wayhop_wire::dsdv::UpdateEntry;

use crate::params::{OVERHEAD, Params};

impl Params {
    /// Rejects values that contradict each other, with the key and a remedy.
    ///
    /// An [`crate::Engine`] survives any values, but does not route with rejected ones.
    pub fn check(&self) -> Result<(), String> {
        let positive: [(&str, u64); 7] = [
            ("periodic_update_ms", self.periodic_update_ms),
            ("allowed_missed_updates", self.allowed_missed_updates.into()),
            ("hello_interval_ms", self.hello_interval_ms.unwrap_or(1)),
            ("allowed_hello_loss", self.allowed_hello_loss.into()),
            ("buffer_packets", self.buffer_packets as u64),
            ("buffer_per_destination", self.buffer_per_destination as u64),
            ("max_routes", self.max_routes as u64),
        ];
        if let Some((key, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{key} is 0: give at least 1"));
        }
        if self.periodic_jitter_ms >= self.periodic_update_ms {
            return Err(format!(
                "periodic_jitter_ms ({}) must be less than periodic_update_ms ({})",
                self.periodic_jitter_ms, self.periodic_update_ms
            ));
        }
        let least = OVERHEAD + UpdateEntry::LEN;
        if usize::from(self.mtu_bytes) < least {
            return Err(format!(
                "mtu_bytes is {}: give at least {least}, the length of an update of one entry",
                self.mtu_bytes
            ));
        }
        if self.settling_weight_per_mille > 1_000 {
            return Err(format!(
                "settling_weight_per_mille is {}: give 0 to 1000",
                self.settling_weight_per_mille
            ));
        }
        let silence = self.neighbour_timeout().as_millis();
        if let Some(delete) = self.delete_period_ms.filter(|&d| d < silence) {
            return Err(format!(
                "delete_period_ms ({delete}) must be at least allowed_missed_updates * periodic_update_ms ({silence}): \
                 otherwise a lost destination is forgotten while older news of it are still on the way, and routes can loop"
            ));
        }
        Ok(())
    }
}
