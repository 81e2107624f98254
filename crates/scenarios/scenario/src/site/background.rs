//! An image below the map. No run reads it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::{Document, Result};

/// An image below the map of `wayhop studio`, such as a plan or an aerial photograph. Two control points position,
/// scale and rotate it. Runs ignore it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// The image file: PNG, JPEG, GIF or WebP. A relative path is relative to the scenario file's folder.
    pub picture: PathBuf,
    /// Two different control points, each in the image and on the ground.
    pub points: Vec<ControlPoint>,
    /// Opacity, from 0 (invisible) to 1. Default: 0.6.
    pub opacity: Option<f64>,
}

/// A control point: a point of the image and its position on the ground.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlPoint {
    /// Distance from the image's left edge, pixels.
    pub right_px: f64,
    /// Distance from the image's upper edge, pixels.
    pub down_px: f64,
    /// East, metres in the local frame.
    pub x: f64,
    /// North, metres in the local frame.
    pub y: f64,
}

/// Whether an image can be placed by its points. The studio checks that the image exists.
pub(crate) fn check(background: &Background, doc: &Document) -> Result<()> {
    let Background { points, opacity, .. } = background;
    let [a, b] = points[..] else {
        let remedy = "give two, each like { right_px = 0, down_px = 0, x = 0, y = 0 }";
        return Err(doc.error("background.points", format!("{} points", points.len()), remedy));
    };
    for (i, p) in points.iter().enumerate() {
        if ![p.right_px, p.down_px, p.x, p.y].iter().all(|v| v.is_finite()) {
            let reason = "the coordinates are not finite";
            return Err(doc.error(&format!("background.points[{i}]"), reason, "give finite numbers"));
        }
    }
    if (a.right_px, a.down_px) == (b.right_px, b.down_px) || (a.x, a.y) == (b.x, b.y) {
        let reason = "the two points are the same in the picture or on the ground";
        return Err(doc.error("background.points", reason, "give two different points"));
    }
    if opacity.is_some_and(|o| !(0.0..=1.0).contains(&o)) {
        let remedy = "give one in that range, such as 0.6";
        return Err(doc.error("background.opacity", "not a number from 0 to 1", remedy));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn resolve(background: &str) -> Result<crate::Resolved, String> {
        let text = format!(
            "nodes.count = 2\nmovement = {{ kind = \"chain\", spacing_m = 100 }}\n[background]\n{background}\n"
        );
        Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).map_err(|e| e.to_string())
    }

    const POINTS: &str = "points = [{ right_px = 0, down_px = 50, x = 1, y = 2 }, { right_px = 100, down_px = 50, x = 300, y = 2 }]";

    #[test]
    fn a_run_needs_no_picture() {
        let bare = "nodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n";
        let bare = Scenario::from_text(bare, &[]).and_then(|s| s.resolve()).unwrap();
        let with = resolve(&format!("picture = \"/nonexistent/plan.png\"\n{POINTS}\nopacity = 0.3")).unwrap();
        assert_eq!((with.tracks, with.warnings), (bare.tracks, bare.warnings));
    }

    #[test]
    fn points_that_place_nothing_are_named() {
        for (text, says) in [
            (POINTS.replace("x = 300", "x = 1"), "the same"),
            (POINTS.replace("right_px = 100", "right_px = 0"), "the same"),
            (POINTS.replace("x = 300", "x = inf"), "background.points[1]"),
            (POINTS.replace("x = 300", "x = nan"), "background.points[1]"),
            ("points = []".to_owned(), "0 points"),
            (format!("{POINTS}\nopacity = 2"), "background.opacity"),
            (format!("{POINTS}\nopacity = nan"), "background.opacity"),
            (format!("{POINTS}\ncolour = 1"), "colour"),
        ] {
            let e = resolve(&format!("picture = \"plan.png\"\n{text}")).unwrap_err();
            assert!(e.contains(says), "{text}: {e}");
        }
    }
}
