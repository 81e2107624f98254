//! A figure as a file of its own: with its legend above, and a line of its caption below.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use crate::escape::escape;
use crate::figure::{Figure, SAMPLE, sample};
use crate::plot::Plot;
use crate::style;
use crate::svg::{self, HALF_WIDTH};
use crate::view::sentences;

/// Letters of the legend and the caption, pixels. In a column of 88 mm they are 7 pt high.
const LETTERS: u32 = 13;
const LINE: u32 = 19;
/// A letter's width, on the average of sans-serif founts.
const LETTER_WIDTH: f64 = 6.8;
const MARGIN: u32 = 10;

/// A column of a paper, mm: as wide as a drawing of [`HALF_WIDTH`] pixels is in print.
const COLUMN_MM: f64 = 88.0;

impl Figure {
    /// An SVG file as wide as a column of a paper, or `width_mm`, its plots below each other. With as many whole sentences of its
    /// caption as there is room for in one line, if `captioned`; all of it is the file's description.
    pub fn svg(&self, captioned: bool, width_mm: Option<f64>) -> Result<String, String> {
        // Letters are as large in print, however wide the figure is.
        let width = width_mm.map_or(HALF_WIDTH, |mm| (f64::from(HALF_WIDTH) * mm / COLUMN_MM).round() as u32);
        let mut file = File { body: String::new(), y: MARGIN, width };
        let mut legend = None;
        for panel in &self.panels {
            if !panel.title.is_empty() {
                file.line(&panel.title);
            }
            // The same lines have one legend.
            let own: Vec<_> =
                panel.plot.series.iter().map(|s| (&s.name, s.mark, s.beads, s.colour)).collect();
            file.plot(&panel.plot, &panel.title, legend.as_ref() != Some(&own))?;
            legend = Some(own);
        }
        let caption = if captioned { self.caption.as_str() } else { "" };
        let letters = (f64::from(width - 2 * MARGIN) / LETTER_WIDTH) as usize;
        let brief = brief(caption, letters);
        if !brief.is_empty() {
            file.line(&brief);
        }
        Ok(file.end(&self.name, caption, width_mm))
    }
}

/// The first sentences of a text that fit in a line of this length.
fn brief(text: &str, most: usize) -> String {
    let mut brief = String::new();
    for sentence in sentences(text) {
        let gap = if brief.is_empty() { "" } else { " " };
        let longer = format!("{brief}{gap}{sentence}");
        if longer.width() > most {
            break;
        }
        brief = longer;
    }
    brief
}

/// An SVG file that grows downwards.
struct File {
    body: String,
    y: u32,
    width: u32,
}

impl File {
    fn text(&mut self, x: u32, base: u32, words: &str) {
        let (ink, words) = (style::TEXT.hex(), escape(words));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{base}\" font-family=\"sans-serif\" font-size=\"{LETTERS}\" fill=\"{ink}\">{words}</text>"
        );
    }

    fn line(&mut self, words: &str) {
        self.y += LINE;
        self.text(MARGIN, self.y - 5, &words.replace('\u{a0}', " "));
    }

    fn plot(&mut self, plot: &Plot, title: &str, with_legend: bool) -> Result<(), String> {
        if with_legend {
            self.legend(plot);
        }
        let drawing = svg::draw(plot, title, self.width)?;
        let _ = writeln!(self.body, "{}", drawing.replacen("<svg", &format!("<svg y=\"{}\"", self.y), 1));
        self.y += svg::height(plot, self.width);
        Ok(())
    }

    fn legend(&mut self, plot: &Plot) {
        if !plot.heading.is_empty() {
            self.text(2 * MARGIN, self.y + LINE - 5, &format!("{}:", plot.heading));
        }
        for row in &legend_rows(plot, self.width) {
            for (x, series) in row {
                let s = &plot.series[*series];
                let at = self.y + (LINE - SAMPLE.1) / 2;
                let _ = writeln!(self.body, "<g transform=\"translate({x} {at})\">{}</g>", sample(s));
                self.text(x + SAMPLE.0 + 6, self.y + LINE - 5, &s.name);
            }
            self.y += LINE;
        }
    }

    fn end(self, title: &str, description: &str, width_mm: Option<f64>) -> String {
        let (width, height, title) = (self.width, self.y + MARGIN, escape(title));
        let size = width_mm.map_or_else(
            || format!("width=\"{width}\" height=\"{height}\""),
            |mm| {
                let high = mm * f64::from(height) / f64::from(width);
                format!("width=\"{mm}mm\" height=\"{high:.2}mm\"")
            },
        );
        let description = match description {
            "" => String::new(),
            words => format!("<desc>{}</desc>\n", escape(words)),
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n{description}\
             <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{}</svg>\n",
            self.body
        )
    }
}

/// The named series by line of the legend, each with its left end. Lines break where the figure ends.
fn legend_rows(plot: &Plot, most: u32) -> Vec<Vec<(u32, usize)>> {
    let width = |words: &str| (words.width() as f64 * LETTER_WIDTH) as u32 + 16;
    let mut rows: Vec<Vec<(u32, usize)>> = vec![Vec::new()];
    let mut x = 2 * MARGIN + if plot.heading.is_empty() { 0 } else { width(&plot.heading) };
    for (i, series) in plot.series.iter().enumerate().filter(|(_, s)| !s.name.is_empty()) {
        let width = SAMPLE.0 + 6 + width(&series.name);
        if x + width > most && x > 2 * MARGIN {
            rows.push(Vec::new());
            x = 2 * MARGIN;
        }
        rows.last_mut().expect("one from the start").push((x, i));
        x += width;
    }
    rows.retain(|row| !row.is_empty() || !plot.heading.is_empty());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caption_in_a_picture_has_whole_sentences_and_one_line() {
        let text = "Means of 3 runs (Student's t). 2 of 9 runs are left out. And more.";
        assert_eq!(brief(text, 67), text);
        assert_eq!(brief(text, 60), "Means of 3 runs (Student's t). 2 of 9 runs are left out.");
        assert_eq!(brief(text, 55), "Means of 3 runs (Student's t).");
        assert_eq!(brief(text, 20), "", "no half of a sentence");
    }
}
