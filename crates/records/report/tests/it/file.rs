//! Figures as files of their own.

use proptest::prelude::*;
use wayhop_report::{Axis, Figure, Mark, Plot, Series};

fn file(name: &str, caption: &str, plot: Plot) -> String {
    Figure::of(name, caption, plot).svg(true, None).unwrap()
}

fn plot() -> Plot {
    let marks = [Mark::Disc, Mark::Square, Mark::Triangle, Mark::Diamond, Mark::Cross, Mark::Plus];
    let axes = (Axis::new("nodes").from_to(0.0, 10.0), Axis::new("latency (ms)").from_to(0.0, 10.0));
    let mut plot = Plot::new(axes.0, axes.1);
    plot.heading.push_str("protocol");
    for (i, mark) in marks.into_iter().enumerate() {
        let points = vec![[1.0 + i as f64, 5.0], [2.0 + i as f64, 6.0]];
        let intervals = if i == 0 { vec![Some([2.0, 8.0]), None] } else { vec![] };
        plot = plot.with(Series::new(&format!("s{i}"), mark, i, points).with_intervals(intervals).joined());
    }
    plot
}

/// The lines of this colour, as the coordinates of their points.
fn lines(svg: &str, colour: &str) -> Vec<Vec<f64>> {
    let tree = roxmltree::Document::parse(svg).expect("well-formed");
    let is_it = |n: &roxmltree::Node<'_, '_>| {
        n.tag_name().name() == "polyline"
            && n.attribute("stroke").is_some_and(|s| s.eq_ignore_ascii_case(colour))
    };
    let points = |n: roxmltree::Node<'_, '_>| {
        n.attribute("points").unwrap().split([' ', ',']).filter_map(|v| v.parse().ok()).collect()
    };
    tree.descendants().filter(is_it).map(points).collect()
}

#[test]
fn an_interval_is_a_line_from_end_to_end_with_caps_through_its_mark() {
    let svg = file("t", "", plot());
    let lines = lines(&svg, "#006DAE");
    // Joining two marks; the interval; its two caps.
    assert_eq!(lines.len(), 4, "{lines:?}");
    let (joined, bar) = (&lines[0], &lines[1]);
    assert!(
        (bar[0] - bar[2]).abs() < 0.5 && (bar[0] - joined[0]).abs() < 0.5,
        "upright at its mark: {lines:?}"
    );
    // From 2 to 8 it is six times as long as the second mark is above the first, and the first is in its middle.
    let (rise, length) = (joined[1] - joined[3], bar[1] - bar[3]);
    assert!((length / rise - 6.0).abs() < 0.3, "{length} {rise}");
    assert!((f64::midpoint(bar[1], bar[3]) - joined[1]).abs() <= 1.0, "{lines:?}");
    for (cap, end) in lines[2..].iter().zip([bar[1], bar[3]]) {
        assert!((cap[1] - end).abs() <= 1.0 && (cap[2] - cap[0] - 8.0).abs() < 0.5, "{lines:?}");
    }
}

#[test]
fn a_file_has_legend_title_and_caption_within_its_size() {
    let caption = "Means of 10 runs with 95 % intervals. ".repeat(4);
    let svg = file("latency over nodes", &caption, plot());
    let tree = roxmltree::Document::parse(&svg).expect("well-formed");
    let root = tree.root_element();
    let size = |name: &str| root.attribute(name).unwrap().parse::<f64>().unwrap();
    assert_eq!(root.attribute("aria-label"), Some("latency over nodes"));
    let own: Vec<_> = root.children().filter(|n| n.tag_name().name() == "text").collect();
    let words: Vec<&str> = own.iter().filter_map(roxmltree::Node::text).collect();
    for name in ["protocol:", "s0", "s5"] {
        assert!(words.contains(&name), "{words:?}");
    }
    assert_eq!(words.last(), Some(&&caption[..37]), "as many sentences as there is room for");
    for text in own {
        let at = |name: &str| text.attribute(name).unwrap().parse::<f64>().unwrap();
        assert!(at("x") < size("width") && at("y") < size("height"), "{text:?}");
    }
    let bare = file("t", "", plot());
    assert!(!bare.contains("intervals") && bare.len() < svg.len());
}

proptest! {
    #[test]
    fn no_data_and_no_words_break_the_file(
        words in any::<String>(),
        points in proptest::collection::vec([any::<f64>(), any::<f64>(), any::<f64>(), any::<f64>()], 0..9),
        names in proptest::collection::vec(any::<String>(), 0..4),
    ) {
        // Beyond this a drawing has no pixels to show it.
        let points: Vec<[f64; 4]> = points.into_iter().map(|p| p.map(|v| v.clamp(-1e12, 1e12))).collect();
        let series = Series::new(&words, Mark::Triangle, 1, points.iter().map(|p| [p[0], p[1]]).collect());
        let series = series.with_intervals(points.iter().map(|p| Some([p[2], p[3]])).collect()).joined();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut plot = Plot::new(Axis::of(&names), Axis::new(&words)).with(series.clone());
        plot.heading.clone_from(&words);
        roxmltree::Document::parse(&file(&words, &words, plot)).expect("well-formed");
        let free = Plot::new(Axis::new("x"), Axis::new("y")).with(series);
        roxmltree::Document::parse(&file("", "", free)).expect("well-formed");
    }
}
