//! Spaces where a line does not break.

/// What stays with the number before it.
const UNITS: [&str; 10] = ["%", "s", "ms", "m", "km", "octets", "packets", "runs", "hops", "dBm"];

/// `text` with no-break spaces between numbers and what they count or measure.
pub(crate) fn tied(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut before = "";
    for (i, word) in text.split(' ').enumerate() {
        let is_tied = before.ends_with(|c: char| c.is_ascii_digit())
            && UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        if i > 0 {
            out.push(if is_tied { '\u{a0}' } else { ' ' });
        }
        out.push_str(word);
        before = word;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_with_their_units() {
        let text = "Values 0.14 % apart, with 95 % intervals, in each 2 s: of 5 runs. Flow 3 to s.";
        let expect = "Values 0.14_% apart, with 95_% intervals, in each 2_s: of 5_runs. Flow 3 to s.";
        assert_eq!(tied(text).replace('\u{a0}', "_"), expect);
        assert_eq!(tied(" a  3 "), " a  3 ");
    }
}
