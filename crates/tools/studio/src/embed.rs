//! The page, built from `web/`, and the player with one run in a single document, for reports.

use std::path::Path;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use data_encoding::BASE64;
use serde_json::{Value, json};

use crate::run::OpenRun;

/// Events of packets that a document may hold: some 14 MB of text.
const MOST_ROWS: u64 = 1 << 18;

/// A document that replays a run in any browser, without a server.
///
/// # Errors
/// A message for the user: the run cannot be read, or it is too long for a document.
pub fn replay(path: &Path) -> Result<String, String> {
    let told = |e: crate::error::Error| e.what;
    let run = OpenRun::open(path).map_err(told)?;
    let info = &run.info;
    let rows = info["rows"].as_u64().unwrap_or(0);
    if rows > MOST_ROWS {
        return Err(format!(
            "{}: {rows} packet events are too many for a report (limit {MOST_ROWS}); replay a shorter run, or leave \
             --replay out and open the run with: wayhop studio {}",
            path.display(),
            path.display()
        ));
    }
    let end = info["end_ns"].as_i64().unwrap_or(0).saturating_add(1);
    let positions = run.positions(0, end);
    if until(&positions) < end {
        return Err(format!(
            "{}: the movement is too large for a report; omit --replay and open the run with: wayhop studio {}",
            path.display(),
            path.display()
        ));
    }
    let mut packets = Vec::new();
    let mut from = 0;
    while from < end {
        let frame = run.packets(from, end).map_err(told)?;
        // A frame reaches past its first moment, so this ends.
        from = until(&frame).max(from + 1);
        packets.push(Value::from(BASE64.encode(&frame)));
    }
    let name = path.file_name().map_or_else(|| "run".into(), |n| n.to_string_lossy());
    let data =
        json!({"name": name, "info": info, "positions": BASE64.encode(&positions), "packets": packets})
            .to_string();
    let [style, script] = ["/studio.css", "/studio.js"].map(text);
    // What ends an element must not stand within one.
    let (data, script) = (data.replace('<', "\\u003c"), script.replace("</script", "<\\/script"));
    Ok(format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Replay of {}</title><style>{style}</style></head>\
         <body><div id=\"app\"></div><script type=\"application/json\" id=\"recorded\">{data}</script>\
         <script type=\"module\">{script}</script></body></html>",
        name.replace('&', "&amp;").replace('<', "&lt;")
    ))
}

/// Up to where a frame is complete, nanoseconds.
fn until(frame: &[u8]) -> i64 {
    let length = frame.get(4..8).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes) as usize;
    let head: Option<Value> = frame.get(8..8 + length).and_then(|head| serde_json::from_slice(head).ok());
    head.and_then(|head| head["until_ns"].as_i64()).unwrap_or(i64::MAX)
}

struct File {
    path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const FILES: [File; 3] = [
    File { path: "/", kind: "text/html; charset=utf-8", text: include_str!("../page/index.html") },
    File {
        path: "/studio.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../page/studio.js"),
    },
    File { path: "/studio.css", kind: "text/css; charset=utf-8", text: include_str!("../page/studio.css") },
];

/// The text of a file; empty where there is none.
pub(crate) fn text(path: &str) -> &'static str {
    FILES.iter().find(|f| f.path == path).map_or("", |f| f.text)
}

pub(crate) fn file(path: &str) -> Option<Response> {
    let file = FILES.iter().find(|f| f.path == path)?;
    Some(([(header::CONTENT_TYPE, file.kind)], file.text).into_response())
}
