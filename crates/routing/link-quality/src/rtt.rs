//! Round-trip times of neighbours: TCP's estimator (Jacobson 1988, as RFC 6298 section 2 writes it down).

use wayhop_core::Span;

/// A smoothed round-trip time and its mean deviation, in integer nanoseconds.
///
/// The first sample R sets srtt = R and rttvar = R / 2. Each further one sets, in this order,
/// rttvar += (|srtt - R| - rttvar) / 4 and srtt += (R - srtt) / 8, rounded towards zero. The timeout is
/// srtt + 4 rttvar; floors, ceilings and back-off belong to the caller, and so does Karn's rule: the acknowledgement of
/// a packet that was sent more than once is no sample.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RttEstimator {
    srtt: Option<Span>,
    rttvar: Span,
}

/// The longest sample that counts: longer ones are taken for this, so that no sum can overflow.
const LONGEST: Span = Span::from_secs(3_600);

impl RttEstimator {
    /// Takes in one measured round-trip time; more than an hour counts as an hour.
    pub fn sample(&mut self, rtt: Span) {
        let rtt = rtt.min(LONGEST);
        let Some(srtt) = self.srtt else {
            self.srtt = Some(rtt);
            self.rttvar = rtt / 2;
            return;
        };
        // One of the two differences is zero, for spans saturate.
        let (up, down) = (rtt - srtt, srtt - rtt);
        self.rttvar = self.rttvar - self.rttvar / 4 + (up + down) / 4;
        self.srtt = Some(srtt + up / 8 - down / 8);
    }

    /// The smoothed round-trip time; `None` before the first sample.
    pub const fn smoothed(&self) -> Option<Span> {
        self.srtt
    }
    /// The mean deviation; zero before the first sample.
    pub const fn deviation(&self) -> Span {
        self.rttvar
    }
    /// How long to wait for an acknowledgement: srtt + 4 rttvar; `None` before the first sample.
    pub fn timeout(&self) -> Option<Span> {
        self.srtt.map(|s| s + self.rttvar * 4)
    }
}
