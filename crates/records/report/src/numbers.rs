//! Numbers for people.

/// `v` with as many decimals as its size asks for, and no more than it has: 0.12, 13.01, 4401.
fn short(v: f64) -> String {
    let decimals = match v.abs() {
        a if a >= 1000.0 => 0,
        a if a >= 100.0 => 1,
        a if a >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{v:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `v` with as many decimals as its size asks for, and the sign of mathematics, which is as wide as a digit, if it is negative.
pub fn plain(v: f64) -> String {
    let text = short(v);
    match text.strip_prefix('-') {
        Some("0") => "0".to_owned(),
        Some(rest) => format!("\u{2212}{rest}"),
        None => text,
    }
}

/// [`plain`] with a sign in any case, for differences.
pub fn signed(v: f64) -> String {
    let text = plain(v);
    if text == "0" || text.starts_with('\u{2212}') { text } else { format!("+{text}") }
}

/// The label of a tick among others `step` apart.
pub(crate) fn tick(v: f64, step: f64) -> String {
    let decimals =
        if step > 1.0 - 1e-9 { 0 } else { (-libm::floor(libm::log10(step))).clamp(0.0, 9.0) as usize };
    let text = format!("{v:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') { "0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_matter() {
        let v = [4401.0, 314.26, 13.01, 10.0, 0.8567, 0.0, -2.5];
        assert_eq!(v.map(plain), ["4401", "314.3", "13.01", "10", "0.857", "0", "\u{2212}2.5"]);
        assert_eq!([1.25, -1.25, 0.0, -0.000_01].map(signed), ["+1.25", "\u{2212}1.25", "0", "0"]);
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        assert_eq!([tick(0.05, 0.03), tick(200.0, 100.0), tick(-0.0, 0.5)], ["0.05", "200", "0"]);
    }
}
