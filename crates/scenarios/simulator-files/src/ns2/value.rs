//! Numbers with ns-2's units.

use wayhop_document::{Error, LineColumn};

/// No coordinate, speed or time of a scenario is larger, in metres, metres per second, seconds.
pub(crate) const MAX_MAGNITUDE: f64 = 1e9;

/// Whether a variable marks packets, or changes nothing here.
pub(super) fn is_label(key: &str) -> bool {
    matches!(key, "fid_" | "class_" | "prio_" | "flags_" | "ttl_" | "type_")
}

/// A variable that its object does not have.
pub(super) fn unknown_variable(key: &str, known: &str) -> Error {
    Error::new(format!("{key} is not a supported variable"), format!("use {known}"))
}

/// A finite number of sensible size.
pub(super) fn number(text: &str, what: &str, place: LineColumn) -> Result<f64, Error> {
    let bad =
        |reason: String| Error::new(reason, "write a plain decimal number").key(what.to_owned()).at(place);
    let v: f64 = text.trim().parse().map_err(|_| bad(format!("{text:?} is not a number")))?;
    if !v.is_finite() {
        return Err(bad(format!("{text} is not a finite number")));
    }
    if v.abs() > MAX_MAGNITUDE {
        return Err(bad(format!("{text} is beyond {MAX_MAGNITUDE:e}")));
    }
    Ok(v)
}

/// The number that a word begins with, as ns-2 reads the time 200.0.0001: people write `$opt(stop).0001`.
pub(super) fn leading(text: &str) -> &str {
    match text.match_indices('.').nth(1) {
        Some((end, _)) if text[end..].bytes().all(|b| b == b'.' || b.is_ascii_digit()) => &text[..end],
        _ => text,
    }
}

/// A number that is not negative.
pub(super) fn non_negative(text: &str, what: &str, place: LineColumn) -> Result<f64, Error> {
    let v = number(text, what, place)?;
    if v < 0.0 {
        return Err(Error::new(format!("{text} is negative"), "use zero or more")
            .key(what.to_owned())
            .at(place));
    }
    Ok(v)
}

/// A whole number from 0 to `max`.
pub(super) fn count(text: &str, what: &str, max: u64, place: LineColumn) -> Result<u64, Error> {
    let v = number(text, what, place)?;
    if v.fract() != 0.0 || v < 0.0 || v > max as f64 {
        return Err(Error::new(
            format!("{text} is not a whole number from 0 to {max}"),
            "use a number in that range",
        )
        .key(what.to_owned())
        .at(place));
    }
    Ok(v as u64)
}

/// What a word for a truth value says; `None` for a number, or for anything else.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Bits per second as ns-2 writes them: `64000`, `64Kb`, `1.5Mb`, `8KB` (octets).
pub(super) fn bandwidth(text: &str, what: &str, place: LineColumn) -> Result<f64, Error> {
    let t = text.trim();
    let digits = t.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(t.len());
    let (mantissa, unit) = t.split_at(digits);
    let (scale, rest) = match unit.as_bytes().first() {
        Some(b'k' | b'K') => (1e3, &unit[1..]),
        Some(b'm' | b'M') => (1e6, &unit[1..]),
        Some(b'g' | b'G') => (1e9, &unit[1..]),
        _ => (1.0, unit),
    };
    let octets = match rest {
        "" | "b" | "bps" | "b/s" => 1.0,
        "B" | "Bps" | "B/s" => 8.0,
        _ => {
            return Err(Error::new(format!("{text:?} is not a bit rate"), "write it like 64Kb or 1.5Mb")
                .key(what.to_owned())
                .at(place));
        }
    };
    Ok(number(mantissa, what, place)? * scale * octets)
}

/// Seconds as ns-2 writes them: `0.25`, `250ms`, `3.75m` (milliseconds).
pub(super) fn seconds(text: &str, what: &str, place: LineColumn) -> Result<f64, Error> {
    let t = text.trim();
    let digits = t.find(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')).unwrap_or(t.len());
    let (mantissa, unit) = t.split_at(digits);
    let scale = match unit {
        "" | "s" | "sec" => 1.0,
        "m" | "ms" => 1e-3,
        "u" | "us" => 1e-6,
        "n" | "ns" => 1e-9,
        _ => {
            return Err(Error::new(format!("{text:?} is not a time"), "write it like 0.25 or 250ms")
                .key(what.to_owned())
                .at(place));
        }
    };
    Ok(number(mantissa, what, place)? * scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_ns2s() {
        let p = LineColumn::default();
        for (text, bps) in
            [("64000", 64e3), ("64Kb", 64e3), ("1.5Mb", 1.5e6), ("8KB", 64e3), ("2m", 2e6), ("1e3", 1e3)]
        {
            assert_eq!(bandwidth(text, "rate_", p).unwrap(), bps, "{text}");
        }
        for (text, s) in [("0.25", 0.25), ("250ms", 0.25), ("3.75m", 0.00375), ("1e-3", 1e-3)] {
            assert!((seconds(text, "interval_", p).unwrap() - s).abs() < 1e-15, "{text}");
        }
        for bad in ["", "x", "1Qb", "NaN", "inf", "1e300"] {
            assert!(bandwidth(bad, "rate_", p).is_err() && number(bad, "x", p).is_err(), "{bad}");
        }
        assert!(
            count("2.5", "n", 9, p).is_err()
                && count("10", "n", 9, p).is_err()
                && non_negative("-1", "n", p).is_err()
        );
    }
}
