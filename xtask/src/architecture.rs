//! The picture of the architecture, `docs/img/architecture.svg`: storeys, crates, and their dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::crates::{Crate, in_workspace};

/// Folders of `crates/`, the ground first, each with what it is.
const STOREYS: &[(&str, &str)] = &[
    ("seam", "interfaces of protocols, packets, one node"),
    ("routing", "routing protocols and shared code"),
    ("models", "radio, movement, traffic, TCP, bundles, Mobile IP"),
    ("records", "run directories, figures, statistics"),
    ("scenarios", "scenario files, importers"),
    ("worlds", "simulation, emulation, lab, field"),
    ("tools", "command line, studio, sweeps"),
];

const WIDTH: f64 = 1_000.0;
const MARGIN: f64 = 12.0;
const LABEL: f64 = 190.0;
const BOX: f64 = 26.0;
const GAP: f64 = 10.0;
/// Between two rows of boxes: room for lines.
const ROW: f64 = 44.0;

struct Place {
    x: f64,
    y: f64,
    width: f64,
}

pub(crate) fn svg(root: &Path) -> Result<String, String> {
    let mut crates = in_workspace(root)?;
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(draw(&crates))
}

fn draw(crates: &[Crate]) -> String {
    let (places, bands, height) = layout(crates);
    let mut out = String::new();
    _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <style>.b{{fill:#f3f5f7}}.c{{fill:#fff;stroke:#5a6b7b}}.l{{fill:none;stroke:#5a6b7b;stroke-opacity:.35}}text{{fill:#1d2731}}\
         .s{{fill:#5a6b7b;font-size:11px}}@media(prefers-color-scheme:dark){{.b{{fill:#1b2229}}.c{{fill:#11161b;stroke:#8fa2b5}}\
         .l{{stroke:#8fa2b5}}text{{fill:#e4eaf0}}.s{{fill:#8fa2b5}}}}</style>"
    );
    for ((name, about), (top, tall)) in STOREYS.iter().zip(&bands) {
        let inner = WIDTH - 2.0 * MARGIN;
        _ = writeln!(
            out,
            "<rect class=\"b\" x=\"{MARGIN}\" y=\"{top}\" width=\"{inner}\" height=\"{tall}\" rx=\"6\"/>"
        );
        _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{name}</text>",
            MARGIN + 10.0,
            top + 24.0
        );
        for (i, line) in wrapped(about).iter().enumerate() {
            let y = top + 42.0 + 14.0 * i as f64;
            _ = writeln!(out, "<text class=\"s\" x=\"{}\" y=\"{y}\">{line}</text>", MARGIN + 10.0);
        }
    }
    for (from, to) in lines(crates) {
        let (Some(a), Some(b)) = (places.get(from), places.get(to)) else { continue };
        let (x1, y1, x2, y2) = (a.x + a.width / 2.0, a.y + BOX, b.x + b.width / 2.0, b.y);
        let bend = (y2 - y1).abs().max(24.0) / 2.0;
        let (y1, y2, bend) = if a.y < b.y { (y1, y2, bend) } else { (a.y, b.y, -20.0) };
        _ = writeln!(
            out,
            "<path class=\"l\" d=\"M{x1:.0} {y1:.0}C{x1:.0} {:.0} {x2:.0} {:.0} {x2:.0} {y2:.0}\"/>",
            y1 + bend,
            y2 - bend
        );
    }
    for (name, Place { x, y, width }) in &places {
        _ = writeln!(
            out,
            "<rect class=\"c\" x=\"{x:.0}\" y=\"{y:.0}\" width=\"{width:.0}\" height=\"{BOX}\" rx=\"4\"/>"
        );
        let (middle, base) = (x + width / 2.0, y + 17.0);
        _ = writeln!(out, "<text x=\"{middle:.0}\" y=\"{base:.0}\" text-anchor=\"middle\">{name}</text>");
    }
    out.push_str("</svg>\n");
    out
}

/// Where each crate stands, where each storey begins and how tall it is, and the height of all.
fn layout(crates: &[Crate]) -> (BTreeMap<&str, Place>, Vec<(f64, f64)>, f64) {
    let mut places = BTreeMap::new();
    let mut bands = vec![(0.0, 0.0); STOREYS.len()];
    let mut top = MARGIN;
    for (i, (storey, _)) in STOREYS.iter().enumerate().rev() {
        let (mut x, mut y) = (LABEL, top + 16.0);
        for c in crates.iter().filter(|c| c.storey == *storey) {
            let width = 18.0 + 7.4 * c.name.len() as f64;
            if x + width > WIDTH - 2.0 * MARGIN {
                (x, y) = (LABEL, y + ROW);
            }
            places.insert(c.name.as_str(), Place { x, y, width });
            x += width + GAP;
        }
        let tall = (y + BOX + 16.0 - top).max(72.0);
        bands[i] = (top, tall);
        top += tall + 22.0;
    }
    (places, bands, top - 22.0 + MARGIN)
}

/// Direct dependencies of code, without those that another one has, too.
fn lines(crates: &[Crate]) -> Vec<(&str, &str)> {
    let direct: BTreeMap<&str, BTreeSet<&str>> = crates
        .iter()
        .map(|c| (c.name.as_str(), c.edges.iter().filter(|e| !e.dev).map(|e| e.to.as_str()).collect()))
        .collect();
    let below = |name: &str| {
        let mut all = BTreeSet::new();
        let mut open: Vec<&str> = direct.get(name).into_iter().flatten().copied().collect();
        while let Some(n) = open.pop() {
            if all.insert(n) {
                open.extend(direct.get(n).into_iter().flatten());
            }
        }
        all
    };
    let mut lines = Vec::new();
    for (name, to) in &direct {
        let implied: BTreeSet<&str> = to.iter().flat_map(|t| below(t)).collect();
        lines.extend(to.iter().filter(|t| !implied.contains(*t)).map(|t| (*name, *t)));
    }
    lines
}

/// A text in lines that fit beside the boxes.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().filter(|l| l.len() + word.len() < 26);
        match last {
            Some(line) if !line.is_empty() => *line = format!("{line} {word}"),
            Some(line) => line.push_str(word),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// One line for each crate that stands in no storey, or uses one of a storey above its own.
pub(crate) fn findings(crates: &[Crate]) -> Vec<String> {
    let height = |c: &Crate| STOREYS.iter().position(|(s, _)| *s == c.storey);
    let mut findings = Vec::new();
    for c in crates.iter().filter(|c| c.name != "xtask") {
        let Some(own) = height(c) else {
            let names: Vec<&str> = STOREYS.iter().map(|(s, _)| *s).collect();
            findings.push(format!(
                "crate {}: stands in no storey; move it into crates/ {}",
                c.name,
                names.join(", ")
            ));
            continue;
        };
        for edge in c.edges.iter().filter(|e| !e.dev) {
            let above = crates.iter().find(|o| o.name == edge.to).and_then(height).filter(|h| *h > own);
            if above.is_some() {
                findings.push(format!("crate {}: uses {} of a storey above its own", c.name, edge.to));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crates::Edge;

    fn one(name: &str, storey: &str, to: &[&str]) -> Crate {
        let edges = to.iter().map(|t| Edge { to: (*t).into(), dev: false }).collect();
        Crate { name: name.into(), storey: storey.into(), edges }
    }

    #[test]
    fn lines_that_follow_from_others_are_not_drawn() {
        let crates = [one("a", "seam", &[]), one("b", "models", &["a"]), one("c", "tools", &["a", "b"])];
        assert_eq!(lines(&crates), [("b", "a"), ("c", "b")]);
        let svg = draw(&crates);
        assert_eq!(svg.matches("<path").count(), 2);
        assert!(["a", "b", "c"].iter().all(|n| svg.contains(&format!(">{n}</text>"))), "{svg}");
    }

    #[test]
    fn a_crate_that_looks_up_or_stands_nowhere_is_found() {
        let crates = [one("a", "seam", &["c"]), one("c", "tools", &[]), one("d", "cellar", &[])];
        let found = findings(&crates);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("crate a: uses c") && found[1].contains("crate d: stands in no storey"),
            "{found:?}"
        );
    }
}
