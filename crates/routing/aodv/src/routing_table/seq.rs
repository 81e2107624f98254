//! Sequence numbers (section 6.1).

/// Whether `a` is fresher than `b`: the difference as a signed number is positive, so that numbers may roll over.
pub(crate) const fn newer(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The fresher of two.
pub(crate) const fn newest(a: u32, b: u32) -> u32 {
    if newer(b, a) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_survives_rollover() {
        // Section 6.1: 4294967295 is followed by 0, and 2147483647 by 2147483648.
        assert!(newer(0, u32::MAX));
        assert!(!newer(u32::MAX, 0));
        assert!(newer(2_147_483_648, 2_147_483_647));
        assert!(!newer(5, 5));
        assert_eq!(newest(u32::MAX, 3), 3);
        assert_eq!(newest(3, u32::MAX), 3);
    }
}
