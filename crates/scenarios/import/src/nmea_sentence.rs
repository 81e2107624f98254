//! Sentences of NMEA 0183: where they are in a line, and what they say of time and place.

use wayhop_world::Geodetic;

use crate::globe::geodetic;
use crate::moment::days;
use crate::xml::finite;

/// A sentence in a line: `$`, fields, and perhaps `*` and a checksum.
#[derive(Clone, Debug)]
pub(crate) struct Sentence<'a> {
    fields: Vec<&'a str>,
    /// Whether it has the checksum of its octets; `None` if it has none at all.
    pub(crate) checksum_fits: Option<bool>,
}

/// The types that say where a receiver is, or what day it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum SentenceType {
    Rmc,
    Gga,
    Gns,
    Gll,
    Zda,
    /// All others, such as receivers' own.
    Other,
}

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct SentenceData {
    /// Midnight of its day, seconds since 1970.
    pub(crate) date_s: Option<f64>,
    /// Seconds since midnight.
    pub(crate) time_s: Option<f64>,
    pub(crate) place: Option<Geodetic>,
    pub(crate) height_m: Option<f64>,
}

/// Why a sentence says nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The receiver did not know where it was.
    NoFix,
    /// A field is not what it should be.
    Field,
}

/// The sentences in a line: each begins at a `$`, or at the `!` of AIS. Tag blocks, times and names of sources may stand before it, and
/// anything behind its checksum.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = Sentence<'_>> {
    line.match_indices(['$', '!']).filter_map(|(at, _)| {
        let text = &line[at + 1..];
        let text = &text[..text.find(['$', '!']).unwrap_or(text.len())];
        let (content, checksum) = match text.split_once('*') {
            Some((content, rest)) => {
                (content, Some(rest.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok())))
            }
            None => (text.trim_end(), None),
        };
        let fields: Vec<&str> = content.split(',').map(str::trim).collect();
        let address = fields[0].as_bytes();
        let is_address = (4..=10).contains(&address.len()) && address.iter().all(u8::is_ascii_alphanumeric);
        let sum = content.bytes().fold(0, |sum, octet| sum ^ octet);
        let checksum_fits = checksum.map(|written| written == Some(sum));
        (is_address && fields.len() > 1).then_some(Sentence { fields, checksum_fits })
    })
}

impl Sentence<'_> {
    /// By its last three letters; the two before say which satellites.
    pub(crate) fn kind(&self) -> SentenceType {
        let address = self.fields[0];
        if address.len() != 5 || address.starts_with('P') {
            return SentenceType::Other;
        }
        match &address[2..] {
            "RMC" => SentenceType::Rmc,
            "GGA" => SentenceType::Gga,
            "GNS" => SentenceType::Gns,
            "GLL" => SentenceType::Gll,
            "ZDA" => SentenceType::Zda,
            _ => SentenceType::Other,
        }
    }

    pub(crate) fn read(&self, kind: SentenceType) -> Result<SentenceData, Wrong> {
        let field = |i: usize| self.fields.get(i).copied().unwrap_or_default();
        // Where time, place, height and the sign that there is a fix are, and the least number of fields.
        let (time, place, height, is_fix, least) = match kind {
            SentenceType::Rmc => (1, 3, None, field(2) == "A" && field(12) != "N", 10),
            SentenceType::Gga => (1, 2, Some(9), !matches!(field(6), "" | "0"), 10),
            SentenceType::Gns => (1, 2, Some(9), field(6).chars().any(|c| c != 'N'), 10),
            SentenceType::Gll => (5, 1, None, field(6) == "A" && field(7) != "N", 7),
            SentenceType::Zda => {
                return Ok(SentenceData {
                    date_s: Some(self.zda().ok_or(Wrong::Field)?),
                    time_s: Some(time_of(field(1)).ok_or(Wrong::Field)?),
                    ..SentenceData::default()
                });
            }
            SentenceType::Other => return Err(Wrong::Field),
        };
        if self.fields.len() < least {
            return Err(Wrong::Field);
        }
        if !is_fix || field(place).is_empty() || field(time).is_empty() {
            return Err(Wrong::NoFix);
        }
        let time_s = time_of(field(time)).ok_or(Wrong::Field)?;
        let lat = degrees(field(place), field(place + 1), 2, ["N", "S"]);
        let lon = degrees(field(place + 2), field(place + 3), 3, ["E", "W"]);
        let place = lat.zip(lon).and_then(|(lat, lon)| geodetic(lat, lon)).ok_or(Wrong::Field)?;
        let date_s = match (kind, field(9)) {
            (SentenceType::Rmc, "") => None,
            (SentenceType::Rmc, date) => Some(date_of(date).ok_or(Wrong::Field)?),
            _ => None,
        };
        let height_m = height.map(field).and_then(finite);
        Ok(SentenceData { date_s, time_s: Some(time_s), place: Some(place), height_m })
    }

    fn zda(&self) -> Option<f64> {
        let part = |i: usize| self.fields.get(i)?.parse::<u32>().ok();
        days(part(4)?, part(3)?, part(2)?).map(|d| d as f64 * 86_400.0)
    }
}

/// Seconds since midnight of `hhmmss.sss`.
fn time_of(text: &str) -> Option<f64> {
    let [hours, minutes] = [two(text, 0)?, two(text, 2)?];
    let seconds = plain(text.get(4..)?).filter(|s| *s < 61.0)?;
    (hours < 24 && minutes < 60).then_some(f64::from(hours * 3_600 + minutes * 60) + seconds)
}

/// Midnight of a day `ddmmyy`, seconds since 1970. GPS began in 1980.
fn date_of(text: &str) -> Option<f64> {
    let [day, month, year] = [two(text, 0)?, two(text, 2)?, two(text, 4)?];
    let year = if year < 80 { 2_000 + year } else { 1_900 + year };
    Some(days(year, month, day).filter(|_| text.len() == 6)? as f64 * 86_400.0)
}

/// Degrees of `ddmm.mmm`, with `digits` digits of whole degrees.
fn degrees(text: &str, side: &str, digits: usize, [plus, minus]: [&str; 2]) -> Option<f64> {
    // Some leave leading zeros out.
    let whole = text.find('.').unwrap_or(text.len());
    let at = whole.checked_sub(2).filter(|at| *at <= digits)?;
    let (degrees, minutes) = text.split_at_checked(at)?;
    let degrees = if degrees.is_empty() { 0.0 } else { plain(degrees)? };
    let value = degrees + plain(minutes).filter(|m| *m < 60.0)? / 60.0;
    match side {
        s if s == plus => Some(value),
        s if s == minus => Some(-value),
        _ => None,
    }
}

fn two(text: &str, at: usize) -> Option<u32> {
    text.get(at..at + 2).filter(|t| t.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

/// A number of digits and at most a point.
fn plain(text: &str) -> Option<f64> {
    let fits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    if fits { finite(text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Vec<Result<SentenceData, Wrong>> {
        sentences(line).filter(|s| s.kind() != SentenceType::Other).map(|s| s.read(s.kind())).collect()
    }

    #[test]
    fn sentences_are_found_in_their_lines() {
        // The sentence of NMEA's own explanation of RMC, with its checksum.
        let rmc = "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A";
        for line in [
            rmc.to_owned(),
            format!("NMEA,{rmc},1709818500000"),
            format!("\\s:rx1,c:1709799300*00\\{rmc}"),
            format!("2024-03-07 08:15:00.120 {rmc}"),
            format!("[12:00] gps0: {rmc}\r"),
            format!("$GPR{rmc}"),
        ] {
            let all: Vec<Sentence<'_>> = sentences(&line).collect();
            let [s] = &all[..] else { panic!("{line}: {all:?}") };
            assert_eq!((s.checksum_fits, s.kind()), (Some(true), SentenceType::Rmc), "{line}");
        }
        let two = format!("{rmc}{}", rmc.replace("*6A", "*6B"));
        let fits: Vec<_> = sentences(&two).map(|s| s.checksum_fits).collect();
        assert_eq!(fits, [Some(true), Some(false)]);
        for line in ["", "$", "$$$", "{\"class\":\"VERSION\"}", "price: $5", "$GP,1", "é$GPRMC"] {
            assert_eq!(sentences(line).count(), 0, "{line}");
        }
    }

    #[test]
    fn sentences_say_time_and_place() {
        let place = geodetic(48.0 + 7.038 / 60.0, 11.0 + 31.0 / 60.0);
        let time_s = Some(f64::from(12 * 3_600 + 35 * 60 + 19));
        // From `date -u -d 1994-03-23 +%s`.
        let date_s = Some(764_380_800.0);
        let all = [
            ("$GNRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W", date_s, None),
            ("$GPRMC,123519.0,A,4807.038,N,1131.000,E,,,,,", None, None),
            ("$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,", None, Some(545.4)),
            ("$GNGNS,123519.00,4807.038,N,01131.000,E,AN,12,0.6,545.4,46.9,,", None, Some(545.4)),
            ("$GPGLL,4807.038,N,01131.000,E,123519,A,A", None, None),
        ];
        for (line, date_s, height_m) in all {
            assert_eq!(read(line), [Ok(SentenceData { date_s, time_s, place, height_m })], "{line}");
        }
        let date_and_time = SentenceData { date_s, time_s, ..SentenceData::default() };
        assert_eq!(read("$GPZDA,123519,23,03,1994,00,00"), [Ok(date_and_time)]);
        for (line, wrong) in [
            ("$GPRMC,123519,V,4807.038,N,01131.000,E,,,230394,,", Wrong::NoFix),
            ("$GPGGA,123519,,,,,0,,,,M,,M,,", Wrong::NoFix),
            ("$GPRMC,123519,A,4807.038,N", Wrong::Field),
            ("$GPRMC,123519,A,4867.038,N,01131.000,E,,,230394,,", Wrong::Field),
            ("$GPRMC,123519,A,4807.038,N,01131.000,X,,,230394,,", Wrong::Field),
            ("$GPRMC,253519,A,4807.038,N,01131.000,E,,,230394,,", Wrong::Field),
            ("$GPRMC,123519,A,4807.038,N,01131.000,E,,,2303994,,", Wrong::Field),
        ] {
            assert_eq!(read(line), [Err(wrong)], "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in "\\PC{0,10}\\$[A-Z]{2}(RMC|GGA|GNS|GLL|ZDA)(,[0-9.ANSEW]{0,10}){0,14}(\\*[0-9A-F]{0,3})?\\PC{0,5}|\\PC{0,60}") {
            for s in sentences(&line) {
                let _ = s.read(s.kind());
            }
        }
    }
}
