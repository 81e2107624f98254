//! The stations' positions, for the radio.

use wayhop_core::{Leg, Time};

/// The stations' motion, as the radio asks for it.
pub trait Motions {
    /// The leg that `station` is on at `t`. Asked again once `t` reaches the leg's `until`.
    fn leg(&mut self, station: u32, t: Time) -> Leg;
    /// A time until which no station will be more than `distance_m` from where it is at `now`.
    fn settled_until(&mut self, now: Time, distance_m: f64) -> Time;
}
