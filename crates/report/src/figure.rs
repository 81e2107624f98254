//! Figures of a page.

use std::fmt::Write as _;

use crate::escape::escape;
use crate::plot::{Mark, Plot};
use crate::svg;

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
            let drawing = svg::draw(&p.plot, &title, half)?;
            let _ = writeln!(panels, "<div class=\"panel\">{heading}{}{drawing}</div>", legend(&p.plot));
        }
        let (name, caption) = (escape(&self.name), escape(&self.caption));
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
    for s in named {
        let hex = svg::colour(s.colour).hex();
        let stroke = format!("fill=\"none\" stroke=\"{hex}\" stroke-width=\"2\"");
        let sample = match s.mark {
            Mark::Dot => format!("<circle cx=\"12\" cy=\"6\" r=\"3\" fill=\"{hex}\"/>"),
            Mark::Cross => format!("<path d=\"M8 2L16 10M16 2L8 10\" {stroke}/>"),
            Mark::Plus => format!("<path d=\"M7 6H17M12 1V11\" {stroke}/>"),
            Mark::Line | Mark::Steps => format!("<path d=\"M1 6H23\" {stroke}/>"),
            Mark::Rule => format!("<path d=\"M1 6H23\" stroke-dasharray=\"6 4\" {stroke}/>"),
            Mark::Bars(_) => format!("<rect x=\"5\" y=\"0\" width=\"14\" height=\"12\" fill=\"{hex}\"/>"),
        };
        let name = escape(&s.name);
        let _ =
            write!(items, "<li><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\">{sample}</svg>{name}</li>");
    }
    format!("<ul class=\"legend\">{items}</ul>")
}
