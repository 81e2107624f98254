//! A picture below the map that people look at. No run reads it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::{Document, Error};

/// A picture below the map of `wayhop studio`, such as a plan or an aerial photograph. Two points of it with their places turn, scale
/// and shift it. Runs do not read the picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Background {
    /// The picture, PNG, JPEG, GIF or WebP. A relative path counts from the scenario file's folder.
    pub picture: PathBuf,
    /// Two points that are not the same, in the picture and on the ground.
    pub points: Vec<ControlPoint>,
    /// How strongly it is drawn: from 0, not at all, to 1. Without it: 0.6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opacity: Option<f64>,
}

/// A point of the picture, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlPoint {
    /// From the picture's left edge, pixels.
    pub right_px: f64,
    /// From the picture's upper edge, pixels.
    pub down_px: f64,
    /// East, metres in the local frame.
    pub x: f64,
    /// North, metres in the local frame.
    pub y: f64,
}

/// Whether a picture can lie where its points say. Whether there is a picture is the studio's matter.
pub(crate) fn check(background: &Background, doc: &Document) -> Result<(), Error> {
    let Background { points, opacity, .. } = background;
    let [a, b] = points[..] else {
        return Err(doc.error(
            "background.points",
            format!("{} points", points.len()),
            "give two, each as { right_px = 0, down_px = 0, x = 0, y = 0 }",
        ));
    };
    for (i, p) in points.iter().enumerate() {
        if ![p.right_px, p.down_px, p.x, p.y].iter().all(|v| v.is_finite()) {
            return Err(doc.error(&format!("background.points[{i}]"), "not a place", "give finite numbers"));
        }
    }
    if (a.right_px, a.down_px) == (b.right_px, b.down_px) || (a.x, a.y) == (b.x, b.y) {
        let reason = "the two points are the same, in the picture or on the ground";
        return Err(doc.error("background.points", reason, "give two that lie apart"));
    }
    if opacity.is_some_and(|o| !(0.0..=1.0).contains(&o)) {
        return Err(doc.error("background.opacity", "not from 0 to 1", "give a share, such as 0.6"));
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
