//! Scalars that a file sets and uses: `set opt(speed) 20` ... `$opt(speed)`.

use std::borrow::Cow;
use std::collections::BTreeMap;

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
