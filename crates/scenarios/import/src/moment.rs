//! Moments as RFC 3339, XML Schema and ISO 8601 write them.

/// Seconds since 1970 of a moment such as `2024-05-01T12:00:00.25Z` or `2024-05-01T14:00:00+02:00`; without a zone it counts as UTC.
pub(crate) fn unix_s(text: &str) -> Option<f64> {
    let (date, rest) = text.trim().split_once(['T', 't', ' '])?;
    // Spreadsheets write 2024/05/01; 01/05/2024 may be a day of May or of January.
    let between = if date.as_bytes().get(4) == Some(&b'/') { '/' } else { '-' };
    let [year, month, day] = whole_numbers(date, between)?;
    let zone = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let (time, zone) = rest.split_at(zone);
    let (hours, minutes_seconds) = time.split_once(':')?;
    let (minutes, seconds) = minutes_seconds.split_once(':')?;
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    // ISO 8601 allows a comma.
    let seconds: f64 = Some(seconds.replace(',', "."))
        .filter(|s| s.bytes().all(|b| b.is_ascii_digit() || b == b'.'))?
        .parse()
        .ok()?;
    if hours > 24 || minutes > 59 || seconds >= 61.0 {
        return None;
    }
    Some(
        days(year, month, day)? as f64 * 86_400.0 + f64::from(hours * 3_600 + minutes * 60) + seconds
            - offset_s(zone)?,
    )
}

/// Days since 1970 of a date of the Gregorian calendar.
pub(crate) fn days(year: u32, month: u32, day: u32) -> Option<i64> {
    if !(1..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (y, m) = (i64::from(y), i64::from(m));
    Some(y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + i64::from(day) - 1 - 719_468)
}

/// How far a zone is ahead of UTC.
fn offset_s(zone: &str) -> Option<f64> {
    match zone.as_bytes() {
        [] | b"Z" | b"z" => Some(0.0),
        [sign @ (b'+' | b'-'), ..] => {
            // +02:00; ISO 8601 also has +0200 and +02.
            let (hours, minutes) = match zone[1..].split_once(':') {
                Some(parts) => parts,
                None if matches!(zone.len(), 3 | 5) => zone[1..].split_at_checked(2)?,
                None => return None,
            };
            let (hours, minutes) = (digits(hours)?, if minutes.is_empty() { 0 } else { digits(minutes)? });
            let ahead = f64::from(hours * 3_600 + minutes * 60);
            (hours < 24 && minutes < 60).then_some(if *sign == b'+' { ahead } else { -ahead })
        }
        _ => None,
    }
}

fn whole_numbers<const N: usize>(text: &str, between: char) -> Option<[u32; N]> {
    let mut parts = text.split(between);
    let mut all = [0; N];
    for one in &mut all {
        *one = digits(parts.next()?)?;
    }
    parts.next().is_none().then_some(all)
}

fn digits(text: &str) -> Option<u32> {
    let short = (1..=4).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if short { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_date_u() {
        // From `date -u -d MOMENT +%s`.
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0.0),
            ("2000-02-29T00:00:00Z", 951_782_400.0),
            ("2024-02-29T23:59:59.5Z", 1_709_251_199.5),
            ("2024-05-01T14:00:00+02:00", 1_714_564_800.0),
            ("2024-05-01 12:00:00", 1_714_564_800.0),
            ("2024-05-01T14:00:00+0200", 1_714_564_800.0),
            ("2024/05/01 12:00:00", 1_714_564_800.0),
            ("2024-05-01T14:00:00,5+02", 1_714_564_800.5),
        ] {
            assert_eq!(unix_s(text), Some(seconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            "T",
            "2024-05-01",
            "2024-13-01T00:00:00Z",
            "2024-05-01T25:00:00Z",
            "2024-05-01T00:61:00Z",
            "2024-05-01T00:00:00+200",
            "01/05/2024 00:00:00",
            "2024-05-01T00:00:00+",
            "x-y-zTa:b:c",
        ] {
            assert_eq!(unix_s(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_moment_or_none(text in "[-0-9TZ:.+ ]{0,40}|\\PC{0,20}") {
            let _ = unix_s(&text);
        }
    }
}
