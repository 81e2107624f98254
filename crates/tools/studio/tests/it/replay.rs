//! The player with a run in a single document.

use std::fs;

use crate::recorded::run;

#[test]
fn a_document_holds_the_page_and_the_run_and_names_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    // A name that would end the element it stands in.
    let path = folder.path().join("<script>x&");
    run(&path, 5_000);
    let html = wayhop_studio::replay(&path).unwrap();
    assert_eq!(html.matches("</script").count(), 2, "two scripts, and nothing that ends them sooner");
    assert!(html.contains("<title>Replay of &lt;script>x&amp;</title>"));
    let begin = html.find("id=\"recorded\">").unwrap() + 14;
    let data = &html[begin..begin + html[begin..].find("</script>").unwrap()];
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    assert_eq!((&data["name"], &data["info"]["rows"]), (&"<script>x&".into(), &5_000.into()));
    assert!(!html.contains("src=") && !html.contains("<link"), "all is inside");
}

#[test]
fn what_is_too_long_or_broken_is_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    run(&path, (1 << 18) + 1);
    let why = wayhop_studio::replay(&path).unwrap_err();
    assert!(why.contains("262145 packet events") && why.contains("wayhop studio"), "{why}");
    let none = wayhop_studio::replay(&folder.path().join("none")).unwrap_err();
    assert!(none.contains("none"), "{none}");
    let half = folder.path().join("half");
    run(&half, 5_000);
    let table = half.join("packets.parquet");
    let octets = fs::read(&table).unwrap();
    fs::write(&table, &octets[..octets.len() / 2]).unwrap();
    let why = wayhop_studio::replay(&half).unwrap_err();
    assert!(why.contains("packets.parquet"), "{why}");
}
