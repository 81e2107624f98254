//! What the server answers instead of data.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why there is no data, for the page to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Error {
    pub(crate) status: StatusCode,
    pub(crate) what: String,
}

impl Error {
    /// A run or a table cannot be read; the text names file and remedy.
    pub(crate) fn unreadable(what: impl std::fmt::Display) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, what: what.to_string() }
    }

    pub(crate) fn not_found(what: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, what: what.into() }
    }

    pub(crate) fn bad_request(what: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, what: what.into() }
    }

    pub(crate) fn forbidden(what: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, what: what.into() }
    }
}

impl From<wayhop_trace::Error> for Error {
    fn from(e: wayhop_trace::Error) -> Self {
        Self::unreadable(e)
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        let body = json!({"error": self.what}).to_string();
        (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
}
