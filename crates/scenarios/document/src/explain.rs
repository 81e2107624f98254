//! What to do about an error of the TOML parser or of serde, and which key a wrong value belongs to.

use serde::de::{DeserializeOwned, Unexpected};
use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

const MOST_TRIED: usize = 200;
/// A value that does not occur in any text.
const MARK: &str = "put here to find the wrong key";

/// A value of a text: its path, such as `traffic[1].rate_pps`, and where it begins.
struct Leaf {
    path: String,
    at: usize,
}

/// The key and position of the value with the wrong type. serde names no key, and of a table that a key `kind` tells
/// apart it knows only where it begins.
pub(crate) fn wrong_key<T: DeserializeOwned>(text: &str, e: &toml::de::Error) -> Option<(String, usize)> {
    let (found, wanted) =
        e.message().strip_prefix("invalid ")?.split_once(": ")?.1.split_once(", expected ")?;
    let root = DeTable::parse(text).ok()?.into_inner();
    let table: Table = toml::from_str(text).ok()?;
    let mut leaves = Vec::new();
    collect(&root, &table, "", found, &mut leaves);
    if let Some(exact) = e.span().and_then(|span| leaves.iter().find(|l| l.at == span.start)) {
        return Some((exact.path.clone(), exact.at));
    }
    // With another value instead of the wrong one, serde complains about that value.
    let complaint = format!("invalid type: string \"{MARK}\", expected {wanted}");
    leaves.into_iter().take(MOST_TRIED).find_map(|leaf| {
        let mut marked = table.clone();
        *value_at(&mut marked, &leaf.path)? = MARK.into();
        let is_it = T::deserialize(marked).is_err_and(|now| now.message() == complaint);
        is_it.then_some((leaf.path, leaf.at))
    })
}

/// The values below a table that serde would call `found`.
fn collect(spans: &DeTable<'_>, table: &Table, path: &str, found: &str, to: &mut Vec<Leaf>) {
    for (key, value) in spans {
        let name = key.get_ref();
        let path = if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
        if let Some(plain) = table.get(name.as_ref()) {
            collect_value(value, plain, &path, found, to);
        }
    }
}

fn collect_value(
    spanned: &toml::Spanned<DeValue<'_>>,
    plain: &Value,
    path: &str,
    found: &str,
    to: &mut Vec<Leaf>,
) {
    if is_called(plain, found) {
        to.push(Leaf { path: path.to_owned(), at: spanned.span().start });
    }
    match (spanned.get_ref(), plain) {
        (DeValue::Table(spans), Value::Table(table)) => collect(spans, table, path, found, to),
        (DeValue::Array(spans), Value::Array(all)) => {
            for (i, (spanned, plain)) in spans.iter().zip(all).enumerate() {
                collect_value(spanned, plain, &format!("{path}[{i}]"), found, to);
            }
        }
        _ => {}
    }
}

fn is_called(value: &Value, found: &str) -> bool {
    let called = match value {
        Value::String(s) => Unexpected::Str(s),
        Value::Integer(i) => Unexpected::Signed(*i),
        Value::Float(f) => Unexpected::Float(*f),
        Value::Boolean(b) => Unexpected::Bool(*b),
        Value::Array(_) => Unexpected::Seq,
        Value::Table(_) => Unexpected::Map,
        Value::Datetime(_) => return false,
    };
    called.to_string() == found
}

fn value_at<'a>(table: &'a mut Table, path: &str) -> Option<&'a mut Value> {
    let mut parts = path.split(['.', '[', ']']).filter(|p| !p.is_empty());
    let first = table.get_mut(parts.next()?)?;
    parts.try_fold(first, |value, part| match value {
        Value::Table(t) => t.get_mut(part),
        Value::Array(a) => a.get_mut(part.parse::<usize>().ok()?),
        _ => None,
    })
}

/// What to do about a message of the parser or of serde about the text from `at` on; `None` if there is nothing special to say.
pub(crate) fn remedy(message: &str, text: &str, at: usize) -> Option<String> {
    let rest = text.get(at..).unwrap_or_default();
    if let Some(wrong) = ["invalid type: ", "invalid value: "].iter().find_map(|p| message.strip_prefix(p)) {
        return of_type(wrong);
    }
    let said = |what: &str| message.starts_with(what);
    if said("invalid boolean") || said("string values must be quoted") {
        return Some(of_bare_word(bare_word(rest)));
    }
    if said("unexpected key or value") && rest.starts_with(',') {
        return Some("use a decimal point, and brackets around a list: [1, 5]".to_owned());
    }
    REMEDIES.iter().find(|(what, _)| said(what)).map(|(_, remedy)| (*remedy).to_owned())
}

/// Beginnings of the parser's messages.
const REMEDIES: [(&str, &str); 9] = [
    ("unexpected key or value", "write one key with one value per line"),
    ("key with no value", "write key = value"),
    ("unexpected leading zero", "remove the leading zeros"),
    ("invalid mantissa", "write a digit before the point, such as 0.5"),
    ("invalid fraction", "write a digit after the point, such as 5.0"),
    ("extra `=`", "write a single ="),
    ("invalid basic string", "close the string with the quote that opens it"),
    ("invalid literal string", "close the string with the quote that opens it"),
    ("duplicate key", "keep one of them"),
];

/// What the parser took for a value, as the file has it.
pub(crate) fn bare_word(rest: &str) -> &str {
    rest.split(['\n', '#', ',', ']', '}']).next().unwrap_or_default().trim()
}

fn of_bare_word(word: &str) -> String {
    let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    match word.to_ascii_lowercase().as_str() {
        lower @ ("true" | "false") => format!("write {lower} in lower case"),
        "yes" | "on" => "write true".to_owned(),
        "no" | "off" => "write false".to_owned(),
        _ if digits > 0 => {
            format!("write {} without a unit: the name of the key includes it", &word[..digits])
        }
        _ => format!("write numbers in digits and strings in quotes: \"{word}\""),
    }
}

/// Of a value of the wrong type: `string "4", expected f64`.
fn of_type(wrong: &str) -> Option<String> {
    let (found, wanted) = wrong.split_once(", expected ")?;
    let bits =
        |kinds: &[char]| wanted.strip_prefix(kinds).is_some_and(|n| n == "size" || n.parse::<u8>().is_ok());
    let (is_whole, is_number) = (bits(&['u', 'i']), bits(&['u', 'i', 'f']));
    let text = found.strip_prefix("string \"").and_then(|t| t.strip_suffix('"'));
    if let Some(text) = text {
        return match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" if wanted == "a boolean" => Some("write true, without quotes".to_owned()),
            "false" | "no" | "off" if wanted == "a boolean" => Some("write false, without quotes".to_owned()),
            _ if is_number && text.parse::<f64>().is_ok() => Some(format!("write {text} without quotes")),
            _ if is_whole => Some("write a whole number in digits, without quotes".to_owned()),
            _ if is_number => Some("write a number in digits, without quotes".to_owned()),
            _ => None,
        };
    }
    let whole = found.strip_prefix("floating point `").and_then(|f| f.strip_suffix('`')?.strip_suffix(".0"));
    if let Some(whole) = whole.filter(|_| is_whole) {
        return Some(format!("write {whole}"));
    }
    match (found, wanted) {
        ("map", "a sequence") => Some("write [[name]] with two brackets, or a list in brackets".to_owned()),
        (_, "a string") => Some("write the string in quotes".to_owned()),
        _ => None,
    }
}
