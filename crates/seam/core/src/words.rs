//! Words for people: a parser's message about an invalid value, and the name that was probably meant.

/// The candidate that `word` was probably meant to be, in whatever case: the nearest by edits, if it is near at all.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (edits(&lower, &c.to_lowercase()), c))
        .filter(|&(d, c)| d <= (c.len().max(word.len()) / 2).max(2))
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// Levenshtein's distance, over the first 64 characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(64).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// serde's message about a value, in words of the file and not of the program. What is not known stays as it is.
pub fn plain(message: &str) -> String {
    let said = message.trim();
    let wrong =
        ["invalid type: ", "invalid value: ", "invalid length "].iter().find_map(|p| said.strip_prefix(p));
    if let Some((found, wanted)) = wrong.and_then(|rest| rest.split_once(", expected ")) {
        return match found.parse::<u64>() {
            Ok(length) => format!("there are {length} values, and it is {}", expected(wanted)),
            Err(_) => format!("{} is not {}", value(found), expected(wanted)),
        };
    }
    let unknown = |kind| quoted_after(said, kind).map(|(name, rest)| (name, known(rest)));
    if let Some((name, known)) = unknown("unknown field ") {
        return format!("unknown key `{name}`{known}");
    }
    if let Some((name, known)) = unknown("unknown variant ") {
        return format!("unknown value `{name}`{known}");
    }
    match quoted_after(said, "missing field ") {
        Some((name, _)) => format!("the key `{name}` is missing"),
        None => said.to_owned(),
    }
}

/// The word in backquotes that follows, and what comes after it.
fn quoted_after<'a>(text: &'a str, start: &str) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(start)?.strip_prefix('`')?.split_once('`')
}

/// `, expected one of ...` as a clause of its own; nothing if no name is expected.
fn known(rest: &str) -> String {
    rest.strip_prefix(", expected ").map_or_else(String::new, |list| format!("; expected {list}"))
}

/// A value as serde shows it.
fn value(found: &str) -> String {
    let shown = ["integer ", "floating point ", "boolean ", "character "]
        .iter()
        .find_map(|kind| found.strip_prefix(kind));
    if let Some(shown) = shown {
        return shown.trim_matches('`').to_owned();
    }
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        "null" | "unit" | "unit value" | "Option value" => "nothing".to_owned(),
        _ => found.strip_prefix("string ").unwrap_or(found).to_owned(),
    }
}

/// TOML's whole numbers have a sign.
const MOST: u64 = i64::MAX as u64;

/// What is wanted, of a type as serde names it.
fn expected(wanted: &str) -> String {
    let whole = |from: i64, to: u64| format!("a whole number from {from} to {to}");
    let name = wanted.trim_start_matches("a nonzero ");
    let least = i64::from(name != wanted);
    match name {
        "u8" => whole(least, u8::MAX.into()),
        "u16" => whole(least, u16::MAX.into()),
        "u32" => whole(least, u32::MAX.into()),
        "u64" | "usize" => whole(least, MOST),
        "i8" => whole(i8::MIN.into(), 127),
        "i16" => whole(i16::MIN.into(), 32_767),
        "i32" => whole(i32::MIN.into(), 2_147_483_647),
        "i64" | "isize" => whole(i64::MIN, MOST),
        "f32" | "f64" | "a float" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" | "path string" | "a borrowed string" => "text in quotes".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" | "any valid TOML table" => "a table".to_owned(),
        _ if name.starts_with("struct ") || name.contains(" tagged enum ") => "a table".to_owned(),
        _ if name.starts_with("enum ") || name == "string or map" || name == "variant identifier" => {
            "one of its names".to_owned()
        }
        _ => match name.strip_prefix("an array of length ") {
            Some(n) => format!("a list of {n} values"),
            None => wanted.to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_the_fewest_edits_in_any_case_and_nothing_when_all_are_far() {
        let keys = ["tx_power_dbm", "frequency_mhz", "capture_db"];
        assert_eq!(nearest("tx_power_db", keys), Some("tx_power_dbm"));
        assert_eq!(nearest("frequncy_mhz", keys), Some("frequency_mhz"));
        assert_eq!(nearest("zzzzzzzzzzzzzzzz", keys), None);
        assert_eq!(nearest("DSR", ["aodv", "dsr"]), Some("dsr"));
        assert_eq!(nearest("mesh0", ["Mesh0", "mash0"]), Some("Mesh0"));
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("abc", "abc")), (3, 3, 0));
        assert_eq!(edits("flaw", "lawn"), 2);
    }

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only read")]
    struct Keys {
        count: u32,
        #[serde(default)]
        speed: f64,
        #[serde(default)]
        on: bool,
        #[serde(default)]
        name: String,
        #[serde(default)]
        list: Vec<u8>,
        #[serde(default)]
        pair: Option<(f64, f64)>,
        #[serde(default)]
        inner: Option<Box<Keys>>,
        #[serde(default)]
        kind: Option<Kind>,
    }
    #[derive(Debug, serde::Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Kind {
        Some,
        Other,
    }

    /// The words for what serde itself says.
    #[test]
    fn what_serde_says_becomes_words_of_the_file() {
        for (json, expected) in [
            (r#"{"count": "four"}"#, "\"four\" is not a whole number from 0 to 4294967295"),
            (r#"{"count": -1}"#, "-1 is not a whole number from 0 to 4294967295"),
            (r#"{"count": 1.5}"#, "1.5 is not a whole number from 0 to 4294967295"),
            (r#"{"count": [1]}"#, "a list is not a whole number from 0 to 4294967295"),
            (r#"{"count": 1, "speed": true}"#, "true is not a number"),
            (r#"{"count": 1, "on": 1}"#, "1 is not true or false"),
            (r#"{"count": 1, "name": {}}"#, "a table is not text in quotes"),
            (r#"{"count": 1, "list": 3}"#, "3 is not a list"),
            (r#"{"count": 1, "inner": 3}"#, "3 is not a table"),
            (
                r#"{"cuont": 1}"#,
                "unknown key `cuont`; expected one of `count`, `speed`, `on`, `name`, `list`, `pair`, `inner`, `kind`",
            ),
            (r#"{"count": 1, "kind": "any"}"#, "unknown value `any`; expected `some` or `other`"),
            ("{}", "the key `count` is missing"),
        ] {
            let json: serde_json::Value = serde_json::from_str(json).unwrap();
            let said = serde_json::from_value::<Keys>(json.clone()).unwrap_err().to_string();
            assert_eq!(plain(&said), expected, "{json}: {said}");
        }
        assert_eq!(plain("something else"), "something else");
    }
}
