//! A plot as a file of its own: with its legend above, and its caption below.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use crate::escape::escape;
use crate::legend::{SAMPLE, sample};
use crate::plot::Plot;
use crate::style;
use crate::svg::{self, HALF_WIDTH};

/// Letters of the legend and the caption, pixels. In a column of 88 mm they are 7 pt high.
const LETTERS: u32 = 13;
const LINE: u32 = 19;
/// A letter's width, on the average of sans-serif founts.
const LETTER_WIDTH: f64 = 6.8;
const MARGIN: u32 = 10;

impl Plot {
    /// An SVG file as wide as a column of a paper; it says `caption` below, if that is not empty, and `title` to those who
    /// cannot see it.
    pub fn svg(&self, title: &str, caption: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut y = MARGIN;
        let ink = style::TEXT.hex();
        let text = format!("font-family=\"sans-serif\" font-size=\"{LETTERS}\" fill=\"{ink}\"");
        if !self.heading.is_empty() {
            let (x, base, words) = (2 * MARGIN, y + LINE - 5, escape(&self.heading));
            let _ = writeln!(out, "<text x=\"{x}\" y=\"{base}\" {text}>{words}:</text>");
        }
        for row in &legend_rows(self) {
            for (x, series) in row {
                let name = escape(&self.series[*series].name);
                let (at, words) = (y + (LINE - SAMPLE.1) / 2, x + SAMPLE.0 + 6);
                let base = y + LINE - 5;
                let _ = writeln!(
                    out,
                    "<g transform=\"translate({x} {at})\">{}</g><text x=\"{words}\" y=\"{base}\" {text}>{name}</text>",
                    sample(&self.series[*series])
                );
            }
            y += LINE;
        }
        let drawing = svg::draw(self, title, true)?;
        let height = svg::height(self, true);
        let _ = writeln!(out, "{}", drawing.replacen("<svg", &format!("<svg y=\"{y}\""), 1));
        y += height;
        for line in wrapped(caption, (f64::from(HALF_WIDTH - 2 * MARGIN) / LETTER_WIDTH) as usize) {
            y += LINE;
            let _ = writeln!(out, "<text x=\"{MARGIN}\" y=\"{}\" {text}>{}</text>", y - 5, escape(&line));
        }
        let (height, title) = (y + MARGIN, escape(title));
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{HALF_WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {HALF_WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{out}</svg>\n"
        ))
    }
}

/// The named series by line of the legend, each with its left end. Lines break where the figure ends.
fn legend_rows(plot: &Plot) -> Vec<Vec<(u32, usize)>> {
    let width = |words: &str| (words.width() as f64 * LETTER_WIDTH) as u32 + 16;
    let mut rows: Vec<Vec<(u32, usize)>> = vec![Vec::new()];
    let mut x = 2 * MARGIN + if plot.heading.is_empty() { 0 } else { width(&plot.heading) };
    for (i, series) in plot.series.iter().enumerate().filter(|(_, s)| !s.name.is_empty()) {
        let width = SAMPLE.0 + 6 + width(&series.name);
        if x + width > HALF_WIDTH && x > 2 * MARGIN {
            rows.push(Vec::new());
            x = 2 * MARGIN;
        }
        rows.last_mut().expect("one from the start").push((x, i));
        x += width;
    }
    rows.retain(|row| !row.is_empty() || !plot.heading.is_empty());
    rows
}

/// Lines of at most so many letters; a longer word has a line of its own.
fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|l| l.width() + 1 + word.width() <= most) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_none_is_lost() {
        assert_eq!(wrapped("a bb ccc  dddd e", 5), ["a bb", "ccc", "dddd", "e"]);
        assert_eq!(wrapped("longer than", 3), ["longer", "than"]);
        assert!(wrapped(" ", 3).is_empty());
    }
}
