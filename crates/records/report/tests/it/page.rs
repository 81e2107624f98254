//! The page: well-formed, whole in itself, and as its parts say.

use proptest::prelude::*;
use wayhop_report::{Axis, Figure, Inset, Mark, Page, Panel, Plot, Row, Section, Series, Sheet, Table};

fn plot() -> Plot {
    Plot::new(Axis::new("time (s)"), Axis::new("losses (%)"))
        .with(Series::new("bars", Mark::Bars(1.0), 0, vec![[0.5, 3.0], [1.5, 1.0]]))
        .with(Series::new("line", Mark::Line, 1, vec![[0.0, 1.0], [f64::NAN, 0.0], [1.0, 2.0], [2.0, 2.5]]))
        .with(Series::new("steps", Mark::Steps, 2, vec![[0.0, 1.0], [1.0, 2.0]]))
        .with(Series::new("dots", Mark::Dot, 3, vec![[0.2, 1.0]]))
        .with(Series::new("x < y", Mark::Cross, 4, vec![[0.3, 1.0]]))
        .with(Series::new("plus", Mark::Plus, 5, vec![[0.4, 1.0]]))
        .with(Series::new("1 % line", Mark::Rule, 6, vec![[0.0, 1.0]]))
}

fn page() -> Page {
    Page {
        title: "The CMU & \"friends\" testbed".into(),
        lead: "Numbers beside the paper's.".into(),
        facts: vec![("Seeds".into(), "1 to 10".into())],
        command: "wayhop reproduce cmu --seeds 10".into(),
        sections: vec![Section {
            heading: "Tables I and II".into(),
            text: vec!["Loss per first hop.".into()],
            rows: vec![
                Row::new("Table I", "T1", "loss_pct", 13.01).with([11.0, 12.0, 13.0, 14.0, 15.0].map(Some)),
                Row::new("Section 9", "lab", "goodput_mbps", 0.86).note("comes with TCP"),
            ],
            figures: vec![Figure {
                name: "Figure 8".into(),
                caption: "Two panels.".into(),
                panels: vec![
                    Panel { title: "(a) one".into(), plot: plot() },
                    Panel { title: "(b) a map".into(), plot: Plot { same_scale: true, ..plot() } },
                ],
            }],
            tables: vec![],
            insets: vec![Inset {
                title: "A \"replay\"".into(),
                html: "<p title=\"a & b\">one\n// two</p>\u{1}".into(),
            }],
        }],
    }
}

fn body(html: &str) -> &str {
    html.strip_prefix("<!DOCTYPE html>\n").expect("a document type")
}

#[test]
fn the_page_is_well_formed() {
    let html = page().html().unwrap();
    let tree = roxmltree::Document::parse(body(&html)).expect("well-formed");
    let count = |name: &str| tree.descendants().filter(|n| n.tag_name().name() == name).count();
    assert_eq!((count("section"), count("figure"), count("tr")), (1, 1, 7));
    // Two drawings, and a sample for each of the seven names in both legends.
    assert_eq!(count("svg"), 2 + 2 * 7);
}

#[test]
fn a_sheet_is_well_formed_and_its_figures_stand_to_the_right() {
    let sheet = Sheet {
        title: "a & b".into(),
        table: Table {
            head: ["", "<sim>", "lab"].map(str::to_owned).to_vec(),
            body: vec![vec!["hops".into(), "4".into(), "4".into()], vec!["flow 0".into()]],
            words: 1,
        },
        notes: vec!["x < y".into()],
        figures: vec![Figure::of("Latency", "Two.", plot())],
        ..Sheet::default()
    };
    let html = sheet.html().unwrap();
    let tree = roxmltree::Document::parse(body(&html)).expect("well-formed");
    let cells = |name: &str, class: Option<&str>| {
        tree.descendants().filter(|n| n.tag_name().name() == name && n.attribute("class") == class).count()
    };
    assert_eq!((cells("td", None), cells("td", Some("n"))), (2, 2));
    assert_eq!(cells("figure", None), 1);
    // On a phone a drawing of half the width, whose letters can be read there, replaces the wide one.
    let width = |class: &str| {
        let plot = tree.descendants().find(|n| n.attribute("class") == Some(class)).expect("a drawing");
        let drawing = plot.first_element_child().expect("a picture");
        drawing.attribute("width").expect("a width").parse::<f64>().expect("a number")
    };
    assert!(width("plot wider") > 1.5 * width("plot narrow"));
    assert!(html.contains("(max-width:44rem){.narrow{display:block}.wider{display:none}}"));
    assert!(!html.contains("svg{min-width"), "it is as wide as the screen");
}

#[test]
fn the_page_refers_to_nothing_outside() {
    let html = page().html().unwrap();
    let tree = roxmltree::Document::parse(body(&html)).unwrap();
    for n in tree.descendants() {
        // A document within the page is in it, and has no `src`.
        assert!(!matches!(n.tag_name().name(), "script" | "link" | "img" | "object" | "use" | "image"));
        for a in n.attributes() {
            assert!(a.name() != "src" && !a.value().contains("://"), "{a:?}");
            assert!(a.name() != "href" || a.value().starts_with('#'), "{a:?}");
        }
    }
    assert!(!html.contains("url(") && !html.contains("@import"));
}

#[test]
fn a_number_stands_beside_the_papers() {
    let html = page().html().unwrap();
    let row = html.lines().find(|l| l.contains("<td>T1</td>")).unwrap();
    for cell in [">13.01<", ">13<", ">11.04 to 14.96 \u{2713}<", ">\u{2212}0.01<"] {
        assert!(row.contains(cell), "{cell} in {row}");
    }
    assert!(row.contains("class=\"n in\""), "the paper's number lies within the interval: {row}");
    assert!(row.contains("\u{2713}</td>"), "and a sign says it without the colour: {row}");
    assert!(
        html.contains("the interval, over at least five seeds, contains the paper's number"),
        "said what it means"
    );
    assert!(html.contains("<li>comes with TCP</li>"));
}

#[test]
fn every_colour_of_a_figure_follows_the_readers_light() {
    let html = page().html().unwrap();
    let drawing = &html[html.find("<figure>").unwrap()..];
    for attribute in ["fill=\"#", "stroke=\"#"] {
        for part in drawing.split(attribute).skip(1) {
            let rule = format!("[{attribute}{}\"]", &part[..6]);
            assert!(html.contains(&rule), "no rule for {rule}");
        }
    }
}

#[test]
fn on_a_map_a_metre_is_as_long_in_both_directions() {
    let square = vec![[0.0, 0.0], [400.0, 0.0], [400.0, 200.0], [0.0, 200.0]];
    let plot = Plot {
        same_scale: true,
        ..Plot::new(Axis::new("east (m)").from_to(0.0, 400.0), Axis::new("north (m)").from_to(0.0, 200.0))
            .with(Series::new("", Mark::Line, 0, square))
    };
    let html = Page {
        sections: vec![Section { figures: vec![Figure::of("Map", "", plot)], ..Section::default() }],
        ..Page::default()
    }
    .html()
    .unwrap();
    let line = html.lines().find(|l| l.contains("<polyline") && l.contains("#006DAE")).unwrap();
    let points: Vec<f64> = line
        .split("points=\"")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap()
        .split([' ', ','])
        .filter_map(|v| v.parse().ok())
        .collect();
    let (across, up) = (points[2] - points[0], points[3] - points[5]);
    assert!((across / up - 2.0).abs() < 0.02, "{points:?}");
}

#[test]
fn things_that_have_names_stand_under_their_bars() {
    let bars = Series::new("", Mark::Bars(0.8), 0, vec![[0.0, 3.0], [1.0, 1.0], [2.0, 2.0]]);
    let plot = Plot::new(Axis::of(&["Request", "Reply", "Error"]), Axis::new("packets")).with(bars);
    let figure = |panels: usize| Figure {
        panels: (0..panels).map(|_| Panel { title: String::new(), plot: plot.clone() }).collect(),
        ..Figure::default()
    };
    for panels in [1, 2] {
        let sections = vec![Section { figures: vec![figure(panels)], ..Section::default() }];
        let html = Page { sections, ..Page::default() }.html().unwrap();
        let tree = roxmltree::Document::parse(body(&html)).unwrap();
        let words = |text: &str| {
            tree.descendants()
                .filter(|n| n.tag_name().name() == "text" && n.text().map(str::trim) == Some(text))
                .count()
        };
        // A plot alone has a drawing for wide and one for narrow screens.
        assert_eq!(["Request", "Reply", "Error"].map(words), [2; 3], "{panels}");
    }
}

proptest! {
    #[test]
    fn no_data_and_no_words_break_the_page(
        words in any::<String>(),
        points in proptest::collection::vec([any::<f64>(), any::<f64>()], 0..20),
        range in proptest::option::of([any::<f64>(), any::<f64>()]),
    ) {
        let mut page = page();
        page.title.clone_from(&words);
        page.sections[0].rows[0].note.clone_from(&words);
        let figure = &mut page.sections[0].figures[0];
        figure.caption.clone_from(&words);
        figure.panels[0].plot.x.label.clone_from(&words);
        figure.panels[0].plot.series[1].name.clone_from(&words);
        // Beyond this a drawing has no pixels to show it.
        let points: Vec<[f64; 2]> = points.into_iter().map(|p| p.map(|v| v.clamp(-1e12, 1e12))).collect();
        figure.panels[0].plot.series[1].points = points;
        figure.panels[0].plot.y.range = range.map(|r| r.map(|v| v.clamp(-1e12, 1e12)));
        let html = page.html().unwrap();
        roxmltree::Document::parse(body(&html)).expect("well-formed");
    }
}

#[test]
fn a_document_within_the_page_reads_as_it_was_written_and_reaches_nothing() {
    let html = page().html().unwrap();
    let tree = roxmltree::Document::parse(body(&html)).expect("well-formed");
    let inset = tree.descendants().find(|n| n.has_tag_name("iframe")).expect("the document");
    assert_eq!(inset.attribute("srcdoc"), Some("<p title=\"a & b\">one\n// two</p> "));
    assert_eq!(inset.attribute("title"), Some("A \"replay\""));
    let sandbox: Vec<&str> = inset.attribute("sandbox").unwrap().split(' ').collect();
    assert!(!sandbox.contains(&"allow-same-origin"), "{sandbox:?}");
}
