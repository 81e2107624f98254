//! The page, built from `web/` and kept with the sources, so that a build needs no Node.

use axum::http::header;
use axum::response::{IntoResponse, Response};

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

/// The file at a path.
pub(crate) fn file(path: &str) -> Option<Response> {
    let file = FILES.iter().find(|f| f.path == path)?;
    Some(([(header::CONTENT_TYPE, file.kind)], file.text).into_response())
}
