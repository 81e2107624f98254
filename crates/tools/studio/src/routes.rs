//! What is at which address.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
#[cfg(feature = "live")]
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::connections::OfConnection;
use crate::editor::{Editor, MAX_REQUEST};
use crate::error::Error;
use crate::library::Library;
#[cfg(feature = "live")]
use crate::live::{Live, viewer};
use crate::page;
use crate::places::{Serving, next_turn};
use crate::reports;
use crate::rows::RowQuery;
use crate::run::OpenRun;
use crate::series;
use crate::story::StoryQuery;

/// Requests that read tables at a time; others wait.
const READERS: usize = 4;
/// The page loads from here only, runs its own script only, and nobody may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What every request needs.
pub(crate) struct Studio {
    access: Access,
    library: Library,
    editor: Option<Editor>,
    #[cfg(feature = "live")]
    live: Option<Live>,
    readers: Arc<Semaphore>,
}

/// What a studio has to show.
pub(crate) struct Catalogue {
    pub(crate) library: Library,
    pub(crate) editor: Option<Editor>,
    #[cfg(feature = "live")]
    pub(crate) live: Option<Live>,
}

impl Catalogue {
    /// Recorded runs only.
    pub(crate) fn of(library: Library) -> Self {
        Self {
            library,
            editor: None,
            #[cfg(feature = "live")]
            live: None,
        }
    }

    /// Whether who sees it can change something.
    pub(crate) fn can_be_changed(&self) -> bool {
        #[cfg(feature = "live")]
        let is_live = self.live.is_some();
        #[cfg(not(feature = "live"))]
        let is_live = false;
        self.editor.is_some() || is_live
    }
}

impl Studio {
    pub(crate) fn new(access: Access, shown: Catalogue) -> Self {
        Self {
            access,
            library: shown.library,
            editor: shown.editor,
            #[cfg(feature = "live")]
            live: shown.live,
            readers: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Ends what the page has started.
    pub(crate) fn end(&self) {
        if let Some(editor) = &self.editor {
            editor.stop();
        }
    }
}

#[derive(Deserialize)]
struct OfRun {
    run: String,
}

#[derive(Deserialize)]
struct Stretch {
    run: String,
    from: i64,
    to: i64,
}

#[derive(Deserialize)]
struct OfNode {
    run: String,
    node: Option<usize>,
}

#[derive(Deserialize)]
struct NameQuery {
    name: String,
}

impl Studio {
    fn editor(&self) -> Result<&Editor, Error> {
        let none = || {
            Error::not_found("this studio only shows runs; open a scenario with: wayhop studio SCENARIO.toml")
        };
        self.editor.as_ref().ok_or_else(none)
    }
}

/// The server's answers.
pub(crate) fn router(studio: Arc<Studio>) -> Router {
    let router = Router::new();
    #[cfg(feature = "live")]
    let router = router.route("/api/live", get(under_way)).route("/api/live/watch", get(watch));
    router
        .route("/api/runs", get(runs))
        .route("/api/sweep", get(sweep))
        .route("/api/run", get(info))
        .route("/api/positions", get(positions))
        .route("/api/packets", get(packets))
        .route("/api/overview", get(overview))
        .route("/api/rows", get(rows))
        .route("/api/losses", get(losses))
        .route("/api/series", get(series))
        .route("/api/sizes", get(sizes))
        .route("/api/reports", get(all_reports))
        .route("/report", get(report))
        .route("/api/tcp", get(tcp))
        .route("/api/connections", get(all_connections))
        .route("/api/connection", get(connection))
        .route("/api/matrix", get(drives))
        .route("/api/matrix/rows", get(driven))
        .route("/api/story", get(story))
        .route("/api/frames", get(frames))
        .route("/api/frames.pcapng", get(capture))
        .route("/api/editor", get(loaded))
        .route("/api/editor/change", post(|s, b| edited(s, b, Editor::change)))
        .route("/api/editor/save", post(|s, b| edited(s, b, Editor::save)))
        .route("/api/editor/picture", post(picture))
        .route("/api/editor/picture/take", post(|s, b| edited(s, b, Editor::take_picture)))
        .route("/api/editor/export", post(|s, b| edited(s, b, Editor::export)))
        .route(
            "/api/editor/run",
            get(|s, b| edited(s, b, |e, _| Ok(e.running()))).post(|s, b| edited(s, b, Editor::run)),
        )
        .route("/api/editor/stop", post(|s, b| edited(s, b, |e, _| Ok(e.stop()))))
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .fallback(files)
        .layer(from_fn_with_state(Arc::clone(&studio), guard))
        .with_state(studio)
}

/// Checks each request and gives each answer the headers that keep it to the page.
async fn guard(State(studio): State<Arc<Studio>>, request: Request, next: Next) -> Response {
    next_turn();
    let query = request.uri().query().unwrap_or_default();
    let token = query.split('&').find_map(|p| p.strip_prefix("token="));
    let visits = request.uri().path() == "/" && token.is_some();
    let changes = *request.method() == Method::POST && request.uri().path().starts_with("/api/editor/");
    let watches = request.uri().path().starts_with("/api/live/");
    let checked = if changes {
        studio.access.check_change(request.headers())
    } else if watches {
        studio.access.check_own_page(request.headers())
    } else {
        studio.access.check(request.method(), request.headers(), token)
    };
    let mut response = match checked {
        Err(e) => e.into_response(),
        Ok(()) if visits => enter(&studio.access, query),
        Ok(()) => next.run(request).await,
    };
    next_turn();
    let headers = response.headers_mut();
    // A report has its own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Takes the token out of the address, where people would pass it on, into a cookie.
fn enter(access: &Access, query: &str) -> Response {
    let rest: Vec<&str> = query.split('&').filter(|p| !p.starts_with("token=")).collect();
    let to = if rest.is_empty() { "/".to_owned() } else { format!("/?{}", rest.join("&")) };
    let mut response = (StatusCode::SEE_OTHER, Body::empty()).into_response();
    let cookie = access.cookie();
    for (name, value) in [(header::LOCATION, Some(to)), (header::SET_COOKIE, cookie)] {
        if let Some(value) = value.and_then(|v| HeaderValue::from_str(&v).ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

async fn files(request: Request) -> Response {
    let path = request.uri().path();
    page::file(path).unwrap_or_else(|| Error::not_found("not found").into_response())
}

async fn runs(State(studio): State<Arc<Studio>>) -> Response {
    let answer = read(&studio, |s| Ok(s.library.list())).await;
    answer.map(|v| json(&v)).into_response()
}

async fn sweep(State(studio): State<Arc<Studio>>, Query(q): Query<NameQuery>) -> Response {
    let answer = read(&studio, move |s| s.library.sweep_table(&q.name)).await;
    answer.map(|text| ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text)).into_response()
}

async fn info(State(studio): State<Arc<Studio>>, Query(q): Query<OfRun>) -> Response {
    let answer = read(&studio, move |s| Ok(s.library.run(&q.run)?.info().clone())).await;
    answer.map(|v| json(&v)).into_response()
}

async fn positions(State(studio): State<Arc<Studio>>, Query(q): Query<Stretch>) -> Response {
    of_run(&studio, q.run, move |run| Ok(run.positions(q.from, q.to))).await
}

async fn packets(State(studio): State<Arc<Studio>>, Query(q): Query<Stretch>) -> Response {
    of_run(&studio, q.run, move |run| run.packets(q.from, q.to)).await
}

async fn overview(State(studio): State<Arc<Studio>>, Query(q): Query<OfNode>) -> Response {
    of_run(&studio, q.run, move |run| run.overview(q.node)).await
}

async fn losses(State(studio): State<Arc<Studio>>, Query(q): Query<OfNode>) -> Response {
    of_run(&studio, q.run, move |run| run.losses(q.node)).await
}

async fn series(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(wanted): Query<series::SeriesQuery>,
) -> Response {
    of_run(&studio, of.run, move |run| run.figure(wanted)).await
}

async fn sizes(State(studio): State<Arc<Studio>>, Query(q): Query<OfNode>) -> Response {
    let node = q.node.map(|n| i32::try_from(n).unwrap_or(i32::MAX));
    of_run(&studio, q.run, move |run| run.sizes(node)).await
}

async fn all_reports(State(studio): State<Arc<Studio>>) -> Response {
    let answer = read(&studio, |s| Ok(reports::told(&s.library.reports()))).await;
    answer.map(|v| json(&v)).into_response()
}

async fn report(State(studio): State<Arc<Studio>>, Query(q): Query<NameQuery>) -> Response {
    read(&studio, move |s| reports::document(&s.library.reports(), &q.name)).await.into_response()
}

async fn tcp(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(wanted): Query<series::OfFlow>,
) -> Response {
    of_run(&studio, of.run, move |run| run.tcp(wanted)).await
}

async fn all_connections(State(studio): State<Arc<Studio>>, Query(of): Query<OfRun>) -> Response {
    let answer = read(&studio, move |s| s.library.run(&of.run)?.connections()).await;
    answer.map(|v| json(&v)).into_response()
}

async fn connection(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(wanted): Query<OfConnection>,
) -> Response {
    of_run(&studio, of.run, move |run| run.connection(&wanted)).await
}

async fn rows(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(wanted): Query<RowQuery>,
) -> Response {
    let answer = read(&studio, move |s| s.library.run(&of.run)?.rows(&wanted)).await;
    answer.map(|v| json(&v)).into_response()
}

/// What has the settings of a matrix of attenuators.
async fn drives(State(studio): State<Arc<Studio>>) -> Response {
    let answer = read(&studio, |s| Ok(serde_json::json!({"drives": s.library.drives()}))).await;
    answer.map(|v| json(&v)).into_response()
}

async fn driven(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(from): Query<crate::drive::Since>,
) -> Response {
    let answer = read(&studio, move |s| s.library.drive(&of.run, &from)).await;
    answer.map(|v| json(&v)).into_response()
}

async fn story(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(asked): Query<StoryQuery>,
) -> Response {
    let answer = read(&studio, move |s| s.library.run(&of.run)?.story(&asked)).await;
    answer.map(|v| json(&v)).into_response()
}

async fn frames(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(asked): Query<StoryQuery>,
) -> Response {
    let answer = read(&studio, move |s| s.library.run(&of.run)?.frames().decoded(&asked)).await;
    answer.map(|v| json(&v)).into_response()
}

async fn capture(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(asked): Query<StoryQuery>,
) -> Response {
    let answer = read(&studio, move |s| s.library.run(&of.run)?.frames().capture(&asked)).await;
    let file = |(name, octets)| {
        // The name has letters, digits and what else a file's name may have, and no quote.
        let disposition = format!("attachment; filename=\"{name}\"");
        let kind = (header::CONTENT_TYPE, "application/x-pcapng".to_owned());
        ([kind, (header::CONTENT_DISPOSITION, disposition)], octets)
    };
    answer.map(file).into_response()
}

async fn loaded(State(studio): State<Arc<Studio>>) -> Response {
    match &studio.editor {
        // Of a studio that only shows runs the page asks, too.
        None => json(&Value::Null),
        Some(_) => read(&studio, |s| s.editor()?.load()).await.map(|v| json(&v)).into_response(),
    }
}

/// The runs under way; null of a studio that shows none.
#[cfg(feature = "live")]
async fn under_way(State(studio): State<Arc<Studio>>) -> Response {
    let list = read(&studio, |s| Ok(s.live.as_ref().map_or(Value::Null, Live::list))).await;
    list.map(|v| json(&v)).into_response()
}

/// Has a viewer follow a run under way.
#[cfg(feature = "live")]
async fn watch(
    State(studio): State<Arc<Studio>>,
    Query(wanted): Query<viewer::ResumePoint>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let name = wanted.run.clone();
    let hub = read(&studio, move |s| {
        let none = || {
            Error::not_found("this studio does not show running runs; start it with: wayhop studio --live")
        };
        s.live.as_ref().ok_or_else(none)?.hub(&name)
    });
    match hub.await {
        Ok(hub) => upgrade
            .max_message_size(viewer::MAX_REQUEST)
            .on_upgrade(move |socket| viewer::serve(socket, hub, wanted)),
        Err(e) => e.into_response(),
    }
}

/// The picture below the editor's map.
async fn picture(State(studio): State<Arc<Studio>>, body: Bytes) -> Response {
    let answer = read(&studio, move |s| s.editor()?.picture(&body)).await;
    answer.map(|(kind, octets)| ([(header::CONTENT_TYPE, kind)], octets)).into_response()
}

/// What the editor answers to a request's body.
async fn edited(
    State(studio): State<Arc<Studio>>,
    body: Bytes,
    answer: impl FnOnce(&Editor, &Bytes) -> Result<Value, Error> + Send + 'static,
) -> Response {
    let answer = read(&studio, move |s| answer(s.editor()?, &body)).await;
    answer.map(|v| json(&v)).into_response()
}

/// A frame of a run.
async fn of_run(
    studio: &Arc<Studio>,
    name: String,
    frame: impl FnOnce(&OpenRun) -> Result<Vec<u8>, Error> + Send + 'static,
) -> Response {
    let answer = read(studio, move |s| frame(&*s.library.run(&name)?)).await;
    answer.map(|octets| ([(header::CONTENT_TYPE, "application/octet-stream")], octets)).into_response()
}

/// Reads files on a thread of its own. What a damaged file makes the Parquet library do ends there.
async fn read<T: Send + 'static>(
    studio: &Arc<Studio>,
    job: impl FnOnce(&Studio) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let _serving = Serving::new();
    let reader = Arc::clone(&studio.readers).acquire_owned().await.map_err(Error::unreadable)?;
    let of_job = Arc::clone(studio);
    let job = move || {
        // Who asked may be gone before the job is done; it still counts.
        let _reader = reader;
        job(&of_job)
    };
    let done = tokio::task::spawn_blocking(job).await;
    done.unwrap_or_else(|_| Err(Error::unreadable("a table of this run is damaged; run the scenario again")))
}

fn json(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
