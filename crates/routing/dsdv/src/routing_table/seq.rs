//! Sequence numbers: even ones are the destination's own, odd ones say that the way to it was lost.

/// Whether `a` is fresher than `b`: the difference as a signed number is positive, so that numbers may roll over.
pub(crate) const fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The number of a route of this number that is lost now.
pub(crate) const fn lost(seq: u32) -> u32 {
    seq | 1
}

/// The number after which the next own number, two more, is even and newer than `heard`.
pub(crate) const fn before_next(heard: u32) -> u32 {
    heard & !1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_roll_over() {
        assert!(newer(0, u32::MAX) && !newer(u32::MAX, 0));
        assert!(newer(1 << 31, (1 << 31) - 1));
        assert!(!newer(5, 5));
    }

    #[test]
    fn a_loss_lies_between_two_numbers_of_the_destination() {
        for own in [0, 8, u32::MAX - 1] {
            let next = own.wrapping_add(2);
            assert!(newer(lost(own), own) && newer(next, lost(own)));
            assert_eq!(lost(lost(own)), lost(own));
            assert_eq!(before_next(lost(own)).wrapping_add(2), next);
        }
    }
}
