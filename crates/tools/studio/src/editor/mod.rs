//! The scenario editor: the text is the document, and every edit leaves the rest of it unchanged.

mod convert;
mod edit;
mod export;
mod file;
mod geometry;
mod launch;
mod picture;
mod references;
mod toml_path;
mod view;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use axum::body::Bytes;
use axum::http::StatusCode;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::error::Error;
pub use edit::edit_text;
use edit::{MAX_TEXT, Operation, edit};
use export::{Format, export};
use file::Conflict;
use geometry::{GeometryQuery, NodePair};
pub use launch::Editing;
use launch::{How, Launch};

/// The longest request, octets: a text, quoted.
pub(crate) const MAX_REQUEST: usize = 3 * MAX_TEXT;

pub(crate) struct Editor {
    of: Editing,
    launch: Launch,
    /// Remembers the links that were shown last.
    oracle: Mutex<wayhop_topology::Oracle>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    text: String,
    #[serde(default)]
    operations: Vec<Operation>,
    #[serde(default)]
    pairs: Vec<NodePair>,
    /// The moment that the map shows.
    #[serde(default)]
    at_s: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saving {
    text: String,
    /// Of the file that was read; none if there was none.
    digest: Option<String>,
    /// Whether a file that another program has changed is replaced.
    #[serde(default)]
    over: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Exporting {
    text: String,
    format: Format,
}

impl Editor {
    pub(crate) fn new(of: Editing) -> Result<Self, String> {
        // A link stays a link: what it leads to is saved.
        let scenario = std::fs::canonicalize(&of.scenario).unwrap_or_else(|_| of.scenario.clone());
        let editor =
            Self { of: Editing { scenario, ..of }, launch: Launch::default(), oracle: Mutex::default() };
        file::read(editor.path())?;
        let folder = editor.path().parent().filter(|f| !f.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|f| !f.is_dir()) {
            let file = editor.path().display();
            return Err(format!(
                "{file}: there is no folder {}; create it, or check the name",
                folder.display()
            ));
        }
        Ok(editor)
    }

    fn path(&self) -> &Path {
        &self.of.scenario
    }

    fn view(&self, text: &str, asked: GeometryQuery<'_>) -> Json {
        // What a panic has left is as good as nothing known.
        let mut oracle = self.oracle.lock().unwrap_or_else(PoisonError::into_inner);
        view::view(self.path(), text, &mut oracle, asked)
    }

    /// The file as it is now, and what the page needs to know of settings.
    pub(crate) fn load(&self) -> Result<Json, Error> {
        let read = file::read(self.path()).map_err(Error::unreadable)?;
        Ok(json!({
            "path": self.path(),
            "text": read.text,
            "digest": read.digest,
            "view": self.view(&read.text, GeometryQuery::default()),
            "forms": wayhop_scenario::forms(),
        }))
    }

    /// The text after some operations, and what it means. The file stays.
    pub(crate) fn change(&self, body: &Bytes) -> Result<Json, Error> {
        let asked: Change = of_json(body)?;
        let text = edit(self.path(), &asked.text, &asked.operations).map_err(Error::unreadable)?;
        let view = self.view(&text, GeometryQuery { pairs: &asked.pairs, at_s: asked.at_s });
        Ok(json!({"text": text, "view": view}))
    }

    pub(crate) fn save(&self, body: &Bytes) -> Result<Json, Error> {
        let asked: Saving = of_json(body)?;
        if asked.text.len() > MAX_TEXT {
            return Err(Error::unreadable(format!(
                "{}: larger than {MAX_TEXT} bytes",
                self.path().display()
            )));
        }
        let before = if asked.over {
            file::read(self.path()).map_err(Error::unreadable)?.digest
        } else {
            asked.digest
        };
        let digest = file::save(self.path(), &asked.text, before.as_deref()).map_err(|e| match e {
            Conflict::Changed(what) => Error { status: StatusCode::CONFLICT, what },
            Conflict::Fails(what) => Error::unreadable(what),
        })?;
        Ok(json!({"digest": digest}))
    }

    pub(crate) fn export(&self, body: &Bytes) -> Result<Json, Error> {
        let asked: Exporting = of_json(body)?;
        let (text, warnings) =
            export(&self.of.program, self.path(), asked.text, asked.format).map_err(Error::unreadable)?;
        Ok(json!({"text": text, "warnings": warnings}))
    }

    /// The picture below the map: its type, and its octets.
    pub(crate) fn picture(&self, body: &Bytes) -> Result<(&'static str, Vec<u8>), Error> {
        let asked: picture::PictureQuery = of_json(body)?;
        asked.read(self.path()).map_err(Error::unreadable)
    }

    /// Writes an image from the page to the scenario's folder.
    pub(crate) fn take_picture(&self, body: &Bytes) -> Result<Json, Error> {
        let taken: picture::PictureUpload = of_json(body)?;
        let (name, about) = taken.keep(self.path()).map_err(Error::unreadable)?;
        Ok(json!({"picture": name, "width": about.width, "height": about.height}))
    }

    pub(crate) fn run(&self, body: &Bytes) -> Result<Json, Error> {
        let how: How = of_json(body)?;
        self.launch.start(&self.of, &how).map_err(Error::unreadable)
    }

    pub(crate) fn running(&self) -> Json {
        self.launch.state()
    }

    pub(crate) fn stop(&self) -> Json {
        self.launch.stop()
    }
}

fn of_json<T: serde::de::DeserializeOwned>(body: &Bytes) -> Result<T, Error> {
    serde_json::from_slice(body).map_err(|e| Error::unreadable(format!("invalid request: {e}")))
}
