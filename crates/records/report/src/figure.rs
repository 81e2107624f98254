//! Figures of a page.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::legend::sample;
use crate::plot::Plot;
use crate::svg::{self, HALF_WIDTH, WIDTH};
use crate::ties::tied;

/// One or several plots under one caption.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// What the paper calls it: `Figure 8`.
    pub name: String,
    /// What it shows, in sentences.
    pub caption: String,
    /// The plots; two share a line.
    pub panels: Vec<Panel>,
}

/// A plot of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its own heading; may be empty.
    pub title: String,
    /// What it shows.
    pub plot: Plot,
}

impl Figure {
    /// A figure of one plot.
    pub fn of(name: &str, caption: &str, plot: Plot) -> Self {
        Self {
            name: name.to_owned(),
            caption: caption.to_owned(),
            panels: vec![Panel { title: String::new(), plot }],
        }
    }

    /// The `<figure>` element.
    pub(crate) fn html(&self) -> Result<String, String> {
        let half = self.panels.len() > 1;
        let mut panels = String::new();
        for p in &self.panels {
            let title =
                if p.title.is_empty() { self.name.clone() } else { format!("{} {}", self.name, p.title) };
            let heading =
                if p.title.is_empty() { String::new() } else { format!("<h3>{}</h3>", escape(&p.title)) };
            // Letters of the wide drawing could not be read on a narrow screen, which has one of half the width.
            let (drawing, legend) =
                (svg::draw(&p.plot, &title, if half { HALF_WIDTH } else { WIDTH })?, legend(&p.plot));
            let drawings = if half {
                format!("<div class=\"plot\">{drawing}</div>")
            } else {
                let narrow = svg::draw(&p.plot, &title, HALF_WIDTH)?;
                format!("<div class=\"plot wider\">{drawing}</div><div class=\"plot narrow\">{narrow}</div>")
            };
            let _ = writeln!(panels, "<div class=\"panel\">{heading}{legend}{drawings}</div>");
        }
        let (name, caption) = (escape(&self.name), escape(&tied(&self.caption)));
        Ok(format!(
            "<figure>\n<div class=\"panels\">\n{panels}</div>\n<figcaption><b>{name}.</b> {caption}</figcaption>\n</figure>\n"
        ))
    }
}

/// Outside of the drawing, so that it never hides data.
fn legend(plot: &Plot) -> String {
    let named: Vec<_> = plot.series.iter().filter(|s| !s.name.is_empty()).collect();
    if named.is_empty() {
        return String::new();
    }
    let mut items = String::new();
    if !plot.heading.is_empty() {
        let _ = write!(items, "<li>{}:</li>", escape(&plot.heading));
    }
    for s in named {
        let name = escape(&s.name);
        let _ = write!(
            items,
            "<li><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\">{}</svg>{name}</li>",
            sample(s)
        );
    }
    format!("<ul class=\"legend\">{items}</ul>")
}
