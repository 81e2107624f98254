//! UTC in the ISO 8601 form that gpsd writes, both ways.

use std::time::{SystemTime, UNIX_EPOCH};

/// `2026-11-22T03:04:05.678Z`. A time before 1970 reads as 1970 began.
pub fn iso8601(t: SystemTime) -> String {
    let since = t.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days);
    let (h, m, s) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{:03}Z", since.subsec_millis())
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    // Counted from 1 March of the year 0, so that the leap day is the last of its year; 400 years have 146097 days.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let year = 400 * era + year;
    if month < 10 { (year, month + 3, date) } else { (year + 1, month - 9, date) }
}

/// Nanoseconds since 1970 of a time such as `2026-11-22T03:04:05.678Z`; none for a time before, or after the year 2554, and for what
/// is none.
pub(crate) fn nanos(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let number = |t: &str| t.bytes().all(|b| b.is_ascii_digit()).then(|| t.parse::<u64>().ok()).flatten();
    let parts = |t: &str, by: char| -> Option<[u64; 3]> {
        let all: Vec<u64> = t.split(by).map(number).collect::<Option<_>>()?;
        all.try_into().ok()
    };
    let [year, month, day] = parts(date, '-')?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [h, m, s] = parts(clock, ':')?;
    // A leap second is the first one of the next minute, as the kernel's clock has it.
    let in_range = (1970..2555).contains(&year) && h < 24 && m < 60 && s <= 60;
    if !in_range || !is_date(year, month, day) || fraction.is_empty() || fraction.len() > 18 {
        return None;
    }
    let digits = format!("{fraction:0<9}");
    let ns = number(&digits[..9]).filter(|_| number(fraction).is_some())?;
    let seconds = days(year, month, day) * 86_400 + h * 3600 + m * 60 + s;
    seconds.checked_mul(1_000_000_000)?.checked_add(ns)
}

/// Whether the calendar has this day.
fn is_date(year: u64, month: u64, day: u64) -> bool {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return false;
    }
    civil(days(year, month, day)) == (year, month, day)
}

/// Days since 1970-01-01 of a date, by the same reckoning as [`civil`].
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year / 400, year % 400);
    era * 146_097 + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn moments_are_those_that_date_prints() {
        // date -u -d @SECONDS +%FT%T
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, "2000-02-28T23:59:59.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (951_868_800, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599, "2024-12-31T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso8601(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
        let with_ms = UNIX_EPOCH + Duration::from_millis(1_234_567_890_123);
        assert_eq!(iso8601(with_ms), "2009-02-13T23:31:30.123Z");
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        // date -u -d TEXT +%s
        assert_eq!(nanos("2009-02-13T23:31:30.123Z"), Some(1_234_567_890_123_000_000));
        assert_eq!(nanos("2000-02-29T00:00:00Z"), Some(951_782_400_000_000_000));
        for seconds in [0, 951_782_399, 1_735_689_599, 4_107_542_400_u64] {
            let text = iso8601(UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(nanos(&text), Some(seconds * 1_000_000_000), "{text}");
        }
        for bad in [
            "",
            "Z",
            "2026-11-22",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-11-22T24:00:00Z",
            "2026-11-22T00:00:00.Z",
            "2026-11-22T00:00:00.+1Z",
            "1969-12-31T23:59:59Z",
            "9999-01-01T00:00:00Z",
            "2026-11-22T00:00:00",
            "2026-00-01T00:00:00Z",
            "2026-1é-01T00:00:00Z",
        ] {
            assert_eq!(nanos(bad), None, "{bad}");
        }
    }
}
