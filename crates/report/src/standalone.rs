//! A plot as a file of its own: with its legend above, and its caption below.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use crate::escape::escape;
use crate::figure::Figure;
use crate::legend::{SAMPLE, sample};
use crate::plot::Plot;
use crate::style;
use crate::svg::{self, HALF_WIDTH};
use crate::ties::tied;

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
        let mut file = File { body: String::new(), y: MARGIN };
        file.plot(self, title, true)?;
        Ok(file.end(title, caption))
    }
}

impl Figure {
    /// An SVG file as wide as a column of a paper, its plots below each other; with its caption, if `captioned`.
    pub fn svg(&self, captioned: bool) -> Result<String, String> {
        let mut file = File { body: String::new(), y: MARGIN };
        let mut legend = None;
        for panel in &self.panels {
            if !panel.title.is_empty() {
                file.line(MARGIN, &panel.title);
            }
            // The same lines have one legend.
            let own: Vec<_> =
                panel.plot.series.iter().map(|s| (&s.name, s.mark, s.beads, s.colour)).collect();
            file.plot(&panel.plot, &panel.title, legend.as_ref() != Some(&own))?;
            legend = Some(own);
        }
        Ok(file.end(&self.name, if captioned { &self.caption } else { "" }))
    }
}

/// An SVG file that grows downwards.
struct File {
    body: String,
    y: u32,
}

impl File {
    fn text(&mut self, x: u32, base: u32, words: &str) {
        let (ink, words) = (style::TEXT.hex(), escape(words));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{base}\" font-family=\"sans-serif\" font-size=\"{LETTERS}\" fill=\"{ink}\">{words}</text>"
        );
    }

    /// A line of words.
    fn line(&mut self, x: u32, words: &str) {
        self.y += LINE;
        self.text(x, self.y - 5, words);
    }

    fn plot(&mut self, plot: &Plot, title: &str, with_legend: bool) -> Result<(), String> {
        if with_legend {
            self.legend(plot);
        }
        let drawing = svg::draw(plot, title, true)?;
        let _ = writeln!(self.body, "{}", drawing.replacen("<svg", &format!("<svg y=\"{}\"", self.y), 1));
        self.y += svg::height(plot, true);
        Ok(())
    }

    fn legend(&mut self, plot: &Plot) {
        if !plot.heading.is_empty() {
            self.text(2 * MARGIN, self.y + LINE - 5, &format!("{}:", plot.heading));
        }
        for row in &legend_rows(plot) {
            for (x, series) in row {
                let s = &plot.series[*series];
                let at = self.y + (LINE - SAMPLE.1) / 2;
                let _ = writeln!(self.body, "<g transform=\"translate({x} {at})\">{}</g>", sample(s));
                self.text(x + SAMPLE.0 + 6, self.y + LINE - 5, &s.name);
            }
            self.y += LINE;
        }
    }

    fn end(mut self, title: &str, caption: &str) -> String {
        for line in wrapped(&tied(caption), (f64::from(HALF_WIDTH - 2 * MARGIN) / LETTER_WIDTH) as usize) {
            self.line(MARGIN, &line.replace('\u{a0}', " "));
        }
        let (height, title) = (self.y + MARGIN, escape(title));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{HALF_WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {HALF_WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{}</svg>\n",
            self.body
        )
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
    let breaks = |c: char| c.is_whitespace() && c != '\u{a0}';
    for word in text.split(breaks).filter(|w| !w.is_empty()) {
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
        assert_eq!(wrapped("with 95\u{a0}% of", 7), ["with", "95\u{a0}% of"]);
        assert_eq!(wrapped("longer than", 3), ["longer", "than"]);
        assert!(wrapped(" ", 3).is_empty());
    }
}
