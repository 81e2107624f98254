//! The playback speed of a recorded file: that of its observations.

use std::time::Duration;

use wayhop_wire::rtcm3::Frame;

/// A GPS week, milliseconds.
const WEEK_MS: u32 = 7 * 24 * 3_600_000;
/// A longer gap is one of the recording: it is passed over.
const LONGEST: u32 = 60_000;

/// The moment at which the last observations were made.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    last_ms: Option<u32>,
}

impl Pace {
    /// How long to wait before this frame.
    pub(crate) fn before(&mut self, frame: Frame<'_>) -> Duration {
        let Some(now) = frame.gps_epoch_ms().filter(|ms| *ms < WEEK_MS) else { return Duration::ZERO };
        let Some(last) = self.last_ms.replace(now) else { return Duration::ZERO };
        // Weeks begin at Saturday's midnight.
        let later = (now + WEEK_MS - last) % WEEK_MS;
        Duration::from_millis(if later <= LONGEST { later.into() } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framer::tests::frame;

    /// Observations (1077 of station 1) of this moment.
    fn observations(ms: u64) -> Vec<u8> {
        frame(&((1077_u64 << 52) | (1 << 40) | (ms << 10)).to_be_bytes())
    }

    #[test]
    fn it_is_that_of_the_observations_over_the_end_of_the_week_and_not_over_gaps() {
        let mut pace = Pace::default();
        let mut wait = |ms| pace.before(Frame::new_checked(&observations(ms)).unwrap()).as_millis();
        assert_eq!(wait(604_799_000), 0, "nothing came before");
        assert_eq!(wait(604_799_000), 0, "the same moment");
        assert_eq!(wait(0), 1_000);
        assert_eq!(wait(500), 500);
        assert_eq!(wait(3_600_500), 0, "an hour is missing");
        assert_eq!(wait(3_600_000), 0, "an older recording follows");
    }
}
