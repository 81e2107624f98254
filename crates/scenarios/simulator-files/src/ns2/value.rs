//! Values in files: numbers with units, and scalars that a file sets and uses: `set opt(speed) 20` ... `$opt(speed)`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use wayhop_core::Time;
use wayhop_document::{Error, LineColumn, Result};

/// No coordinate, speed or time of a scenario is larger, in metres, metres per second, seconds.
pub(crate) const MAX_MAGNITUDE: f64 = 1e9;

/// Whether a variable marks packets, or changes nothing here.
pub(super) fn is_label(key: &str) -> bool {
    matches!(key, "fid_" | "class_" | "prio_" | "flags_" | "ttl_" | "type_")
}

pub(super) fn unknown_variable(key: &str, known: &str) -> Error {
    Error::new(format!("{key} is not a supported variable"), format!("use {known}"))
}

/// A time as ns-2 reads it, exact to the nanosecond.
pub(crate) fn shown_seconds(t: Time) -> String {
    let ns = t.as_nanos();
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// A finite number of sensible size.
pub(super) fn number(text: &str, what: &str, place: LineColumn) -> Result<f64> {
    let bad = |reason: String| Error::new(reason, "write a plain decimal number").key(what).at(place);
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

pub(super) fn non_negative(text: &str, what: &str, place: LineColumn) -> Result<f64> {
    let v = number(text, what, place)?;
    if v < 0.0 {
        return Err(Error::new(format!("{text} is negative"), "use zero or more").key(what).at(place));
    }
    Ok(v)
}

pub(super) fn count(text: &str, what: &str, max: u64, place: LineColumn) -> Result<u64> {
    let v = number(text, what, place)?;
    if v.fract() != 0.0 || v < 0.0 || v > max as f64 {
        let reason = format!("{text} is not a whole number from 0 to {max}");
        return Err(Error::new(reason, "use a number in that range").key(what).at(place));
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

/// A number and its unit: an exponent belongs to the number.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let is_unit = |c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E');
    text.split_at(text.find(is_unit).unwrap_or(text.len()))
}

/// Bits per second as ns-2 writes them: `64000`, `64Kb`, `1.5Mb`, `8KB` (octets).
pub(super) fn bandwidth(text: &str, what: &str, place: LineColumn) -> Result<f64> {
    let (mantissa, unit) = split_unit(text);
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
            let reason = format!("{text:?} is not a bit rate");
            return Err(Error::new(reason, "write it like 64Kb or 1.5Mb").key(what).at(place));
        }
    };
    Ok(number(mantissa, what, place)? * scale * octets)
}

/// Seconds as ns-2 writes them: `0.25`, `250ms`, `3.75m` (milliseconds).
pub(super) fn seconds(text: &str, what: &str, place: LineColumn) -> Result<f64> {
    let (mantissa, unit) = split_unit(text);
    let scale = match unit {
        "" | "s" | "sec" => 1.0,
        "m" | "ms" => 1e-3,
        "u" | "us" => 1e-6,
        "n" | "ns" => 1e-9,
        _ => {
            let reason = format!("{text:?} is not a time");
            return Err(Error::new(reason, "write it like 0.25 or 250ms").key(what).at(place));
        }
    };
    Ok(number(mantissa, what, place)? * scale)
}

/// Longer values are not kept: doubling a variable line by line would fill the memory.
const MAX_VALUE_BYTES: usize = 4096;

/// The scalars known so far. Other `$name`s are objects and stay as they are written.
#[derive(Default)]
pub(super) struct Vars(BTreeMap<String, String>);

impl Vars {
    /// Remembers a value, unless it is too long to be a scalar.
    pub(super) fn set(&mut self, name: &str, value: &str) -> bool {
        let fits = name.len() + value.len() <= MAX_VALUE_BYTES;
        if fits {
            self.0.insert(name.to_owned(), value.to_owned());
        }
        fits
    }

    /// `text` with the known scalars put in; `None` if the result would be unreasonably long.
    pub(super) fn substitute<'a>(&self, text: &'a str) -> Option<Cow<'a, str>> {
        if self.0.is_empty() || !text.contains('$') {
            return Some(Cow::Borrowed(text));
        }
        let limit = text.len() + 16 * MAX_VALUE_BYTES;
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            let (name, length) = reference(rest);
            match name.and_then(|n| self.0.get(n)) {
                Some(value) => out.push_str(value),
                None => out.push_str(&rest[..length]),
            }
            rest = &rest[length..];
            if out.len() > limit {
                return None;
            }
        }
        out.push_str(rest);
        Some(Cow::Owned(out))
    }
}

/// The variable's name at the head of `text`, which begins with `$`, and how many bytes the reference takes.
fn reference(text: &str) -> (Option<&str>, usize) {
    let body = &text[1..];
    if let Some(braced) = body.strip_prefix('{') {
        return match braced.find('}') {
            Some(end) => (Some(&braced[..end]), end + 3),
            None => (None, 1),
        };
    }
    let mut end =
        body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':')).unwrap_or(body.len());
    if end == 0 {
        return (None, 1);
    }
    if body[end..].starts_with('(')
        && let Some(close) = body[end..].find(')')
    {
        end += close + 1;
    }
    (Some(&body[..end]), end + 1)
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
        assert!(["2.5", "10"].iter().all(|n| count(n, "n", 9, p).is_err()));
        assert!(non_negative("-1", "n", p).is_err());
    }

    #[test]
    fn known_scalars_are_put_in_and_objects_stay() {
        let mut v = Vars::default();
        v.set("opt(speed)", "20");
        v.set("x", "7");
        for (text, expect) in [
            ("setdest $x ${x}0 $opt(speed)", "setdest 7 70 20"),
            ("$node_(3) at $y $", "$node_(3) at $y $"),
            ("$opt(other)$x", "$opt(other)7"),
            ("$(x) ${x", "$(x) ${x"),
        ] {
            assert_eq!(v.substitute(text).unwrap(), expect);
        }
    }

    #[test]
    fn doubling_stops() {
        let mut v = Vars::default();
        v.set("a", &"z".repeat(2000));
        assert!(!v.set("b", &v.substitute("$a$a$a").unwrap()));
        assert!(v.substitute(&"$a".repeat(100_000)).is_none());
    }
}
