//! Combines the lines of a gpsd: position, accuracy and satellites come in different ones.

use std::time::{Duration, Instant};

use wayhop_core::{AccuracyFrom, Fix, FixQuality};

use super::messages::{Deviations, Report, parse_report};

/// A report that is further away in time than this belongs to another position. Receivers report once a second, or faster.
const TOGETHER: Duration = Duration::from_millis(1_500);
/// The number of satellites is worth telling for so long.
const SATELLITES_STAY: Duration = Duration::from_secs(30);

/// A position as it came.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct GpsReport {
    /// Where.
    pub fix: Fix,
    /// How good it is.
    pub quality: FixQuality,
    /// When the report came.
    pub at: Instant,
}

/// Puts reports together. It does no I/O.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    latest: Option<GpsReport>,
    deviations: Option<(Deviations, Instant)>,
    satellites: Option<(u8, Instant)>,
}

impl Reader {
    /// Takes a line that came at this moment. Returns whether what is known changed.
    pub fn take(&mut self, line: &str, at: Instant) -> bool {
        match parse_report(line) {
            Some(Report::Fix(fix, quality)) => self.latest = Some(GpsReport { fix, quality, at }),
            Some(Report::NoFix) => self.latest = None,
            Some(Report::Deviations(d)) => self.deviations = Some((d, at)),
            Some(Report::Satellites(n)) => self.satellites = Some((n, at)),
            _ => return false,
        }
        true
    }

    /// The last position, with what belongs to it; none while the receiver knows none.
    pub fn latest(&self) -> Option<GpsReport> {
        let mut latest = self.latest?;
        let apart = |at: Instant| latest.at.max(at) - latest.at.min(at);
        let of_this = |(d, at): &(Deviations, Instant)| match (d.time_unix_ns, latest.quality.time_unix_ns) {
            (Some(a), Some(b)) => Duration::from_nanos(a.abs_diff(b)) <= TOGETHER,
            _ => apart(*at) <= TOGETHER,
        };
        let deviations = self.deviations.filter(of_this);
        let satellites = self.satellites.filter(|(_, at)| apart(*at) <= SATELLITES_STAY);
        let quality = &mut latest.quality;
        if let Some((d, _)) = deviations {
            quality.accuracy_m = Some(d.horizontal_m);
            quality.vertical_m = d.vertical_m;
            quality.accuracy_from = Some(AccuracyFrom::Gst);
        }
        quality.satellites = satellites.map(|(n, _)| n);
        Some(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::FixStatus;

    const TPV: &str = r#"{"class":"TPV","mode":3,"status":3,"time":"2026-11-22T12:00:01.000Z","lat":48.1,"lon":11.5,
        "altHAE":550.0,"epx":3.0,"epy":4.0,"epv":6.5,"eph":999.0}"#;

    #[test]
    fn the_accuracy_is_the_receivers_own_where_it_tells_it_and_never_eph() {
        let mut r = Reader::default();
        let at = Instant::now();
        assert!(r.take(TPV, at));
        let q = r.latest().unwrap().quality;
        // 3-4-5.
        assert_eq!(
            (q.accuracy_m, q.vertical_m, q.accuracy_from),
            (Some(5.0), Some(6.5), Some(AccuracyFrom::Epx))
        );
        assert_eq!((q.status, q.mode, q.satellites), (FixStatus::RtkFixed, 3, None));
        assert_eq!(q.time_unix_ns, Some(1_795_348_801_000_000_000));
        // 5-12-13, in millimetres.
        let gst = r#"{"class":"GST","time":"2026-11-22T12:00:01.000Z","rms":0.5,"lat":0.005,"lon":0.012,"alt":0.02}"#;
        assert!(r.take(gst, at));
        assert!(r.take(r#"{"class":"SKY","nSat":12,"uSat":9,"satellites":[]}"#, at));
        let q = r.latest().unwrap().quality;
        assert!((q.accuracy_m.unwrap() - 0.013).abs() < 1e-9);
        assert_eq!((q.vertical_m, q.accuracy_from), (Some(0.02), Some(AccuracyFrom::Gst)));
        assert_eq!(q.satellites, Some(9));
    }

    #[test]
    fn deviations_of_another_moment_do_not_count() {
        let mut r = Reader::default();
        let at = Instant::now();
        r.take(r#"{"class":"GST","time":"2026-11-22T11:59:59.000Z","lat":0.005,"lon":0.012,"alt":0.02}"#, at);
        r.take(TPV, at);
        assert_eq!(r.latest().unwrap().quality.accuracy_from, Some(AccuracyFrom::Epx));
    }

    #[test]
    fn satellites_are_counted_where_an_older_gpsd_only_lists_them() {
        let mut r = Reader::default();
        let at = Instant::now();
        r.take(TPV, at);
        r.take(r#"{"class":"SKY","satellites":[{"PRN":1,"used":true},{"PRN":2,"used":false},{"PRN":3,"used":true}]}"#, at);
        assert_eq!(r.latest().unwrap().quality.satellites, Some(2));
        assert!(r.take(r#"{"class":"TPV","mode":1}"#, at));
        assert_eq!(r.latest(), None);
    }
}
