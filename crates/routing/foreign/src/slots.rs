//! Places for what a process loads.
//!
//! A description has plain functions, which cannot carry a library with them. So there is a set of functions for each of a
//! few places where a library may be.

use std::sync::OnceLock;

/// Protocols that a process can load, and applications.
pub(crate) const SLOTS: usize = 8;

/// Places for values that stay until the process ends.
pub(crate) struct Slots<T>([OnceLock<T>; SLOTS]);

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self([const { OnceLock::new() }; SLOTS])
    }

    /// What is at a place, if it is taken.
    pub(crate) fn at(&self, place: usize) -> Option<&T> {
        self.0[place].get()
    }

    /// Gives a value a place, which is returned, too; `what` are several of its kind, for users.
    ///
    /// # Errors
    /// If all are taken.
    pub(crate) fn add(&self, value: T, what: &str) -> Result<(usize, &T), String> {
        let mut value = value;
        for (place, slot) in self.0.iter().enumerate() {
            match slot.set(value) {
                Ok(()) => {
                    let kept = slot.get().unwrap_or_else(|| unreachable!("it was just set"));
                    return Ok((place, kept));
                }
                Err(back) => value = back,
            }
        }
        Err(format!("a process can load {SLOTS} {what}; use fewer, or several processes"))
    }
}

/// What a `const fn` with the number of a place as its parameter returns for each place.
macro_rules! for_each_slot {
    ($function:ident) => {
        [
            $function::<0>(),
            $function::<1>(),
            $function::<2>(),
            $function::<3>(),
            $function::<4>(),
            $function::<5>(),
            $function::<6>(),
            $function::<7>(),
        ]
    };
}
pub(crate) use for_each_slot;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_has_a_place_of_its_own_until_none_is_left() {
        let slots = Slots::new();
        for i in 0..SLOTS {
            assert_eq!(slots.add(i, "numbers"), Ok((i, &i)));
        }
        assert_eq!(slots.at(3), Some(&3));
        let said = slots.add(SLOTS, "numbers").unwrap_err();
        assert_eq!(said, "a process can load 8 numbers; use fewer, or several processes");
    }
}
