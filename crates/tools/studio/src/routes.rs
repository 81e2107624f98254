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
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::connections::{self, OfConnection};
use crate::drive::Since;
use crate::editor::{Editor, MAX_REQUEST};
use crate::error::Error;
use crate::library::Library;
#[cfg(feature = "live")]
use crate::live::{Live, viewer};
use crate::places::{Serving, next_turn};
use crate::rows::{RowQuery, rows};
use crate::run::OpenRun;
use crate::story::StoryQuery;
use crate::{embed, reports, series, sizes};

/// Requests that read tables at a time; others wait.
const READERS: usize = 4;
/// The page loads from here only, runs its own script only, and nobody may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What every request needs.
pub(crate) struct Studio {
    access: Access,
    shown: Catalogue,
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
        Self { access, shown, readers: Arc::new(Semaphore::new(READERS)) }
    }

    fn editor(&self) -> Result<&Editor, Error> {
        let none = || {
            Error::not_found("this studio only shows runs; open a scenario with: wayhop studio SCENARIO.toml")
        };
        self.shown.editor.as_ref().ok_or_else(none)
    }

    pub(crate) fn end(&self) {
        if let Some(editor) = &self.shown.editor {
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
    from: i64,
    to: i64,
}

#[derive(Deserialize)]
struct OfNode {
    node: Option<usize>,
}

#[derive(Deserialize)]
struct NameQuery {
    name: String,
}

/// The server's answers.
pub(crate) fn router(studio: Arc<Studio>) -> Router {
    let router = Router::new();
    #[cfg(feature = "live")]
    let router = router.route("/api/live", get(under_way)).route("/api/live/watch", get(watch));
    let router = of_runs(of_editor(router));
    router
        .route("/api/runs", get(|State(s)| told(s, |s| Ok(s.shown.library.list()))))
        .route("/api/sweep", get(sweep))
        .route("/api/reports", get(|State(s)| told(s, |s| Ok(reports::told(&s.shown.library.reports())))))
        .route("/report", get(report))
        .route("/api/matrix", get(|State(s)| told(s, |s| Ok(json!({"drives": s.shown.library.drives()})))))
        .route("/api/matrix/rows", get(driven))
        .route("/api/frames.pcapng", get(capture))
        .layer(DefaultBodyLimit::max(MAX_REQUEST))
        .fallback(files)
        .layer(from_fn_with_state(Arc::clone(&studio), guard))
        .with_state(studio)
}

fn of_runs(router: Router<Arc<Studio>>) -> Router<Arc<Studio>> {
    router
        .route("/api/run", get(|s, r, q| of_run(s, r, q, |run, _: OfRun| Ok(run.info.clone()))))
        .route("/api/rows", get(|s, r, q| of_run(s, r, q, |run, q: RowQuery| rows(&run.dir, &q))))
        .route(
            "/api/connections",
            get(|s, r, q| of_run(s, r, q, |run, _: OfRun| connections::list(&run.dir))),
        )
        .route("/api/story", get(|s, r, q| of_run(s, r, q, |run, q: StoryQuery| run.story(&q))))
        .route("/api/frames", get(|s, r, q| of_run(s, r, q, |run, q: StoryQuery| run.frames().decoded(&q))))
        .route(
            "/api/positions",
            get(|s, r, q| frame(s, r, q, |run, q: Stretch| Ok(run.positions(q.from, q.to)))),
        )
        .route("/api/packets", get(|s, r, q| frame(s, r, q, |run, q: Stretch| run.packets(q.from, q.to))))
        .route("/api/overview", get(|s, r, q| frame(s, r, q, |run, q: OfNode| run.overview(q.node))))
        .route("/api/losses", get(|s, r, q| frame(s, r, q, |run, q: OfNode| run.losses(q.node))))
        .route(
            "/api/series",
            get(|s, r, q| frame(s, r, q, |run, q| series::figure(&run.dir, q, run.end_ns()))),
        )
        .route(
            "/api/sizes",
            get(|s, r, q| frame(s, r, q, |run, q: OfNode| sizes::lengths(&run.dir, q.node, run.end_ns()))),
        )
        .route("/api/tcp", get(|s, r, q| frame(s, r, q, |run, q| series::tcp(&run.dir, q))))
        .route(
            "/api/connection",
            get(|s, r, q| frame(s, r, q, |run, q: OfConnection| connections::one(&run.dir, &q))),
        )
}

fn of_editor(router: Router<Arc<Studio>>) -> Router<Arc<Studio>> {
    router
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
    embed::file(path).unwrap_or_else(|| Error::not_found("not found").into_response())
}

async fn sweep(State(studio): State<Arc<Studio>>, Query(q): Query<NameQuery>) -> Response {
    let answer = read(&studio, move |s| s.shown.library.sweep_table(&q.name)).await;
    answer.map(|text| ([(header::CONTENT_TYPE, "text/csv; charset=utf-8")], text)).into_response()
}

async fn report(State(studio): State<Arc<Studio>>, Query(q): Query<NameQuery>) -> Response {
    read(&studio, move |s| reports::document(&s.shown.library.reports(), &q.name)).await.into_response()
}

/// The settings of a matrix of attenuators.
async fn driven(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(from): Query<Since>,
) -> Response {
    told(studio, move |s| s.shown.library.drive(&of.run, &from)).await
}

async fn capture(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(asked): Query<StoryQuery>,
) -> Response {
    let answer = read(&studio, move |s| s.shown.library.run(&of.run)?.frames().capture(&asked)).await;
    let file = |(name, octets)| {
        // The name has letters, digits and what else a file's name may have, and no quote.
        let disposition = format!("attachment; filename=\"{name}\"");
        let kind = (header::CONTENT_TYPE, "application/x-pcapng".to_owned());
        ([kind, (header::CONTENT_DISPOSITION, disposition)], octets)
    };
    answer.map(file).into_response()
}

async fn loaded(State(studio): State<Arc<Studio>>) -> Response {
    // Of a studio that only shows runs the page asks, too.
    told(studio, |s| s.shown.editor.as_ref().map_or(Ok(Value::Null), Editor::load)).await
}

/// The runs under way; null of a studio that shows none.
#[cfg(feature = "live")]
async fn under_way(State(studio): State<Arc<Studio>>) -> Response {
    told(studio, |s| Ok(s.shown.live.as_ref().map_or(Value::Null, Live::list))).await
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
        s.shown.live.as_ref().ok_or_else(none)?.hub(&name)
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

async fn edited(
    State(studio): State<Arc<Studio>>,
    body: Bytes,
    answer: impl FnOnce(&Editor, &Bytes) -> Result<Value, Error> + Send + 'static,
) -> Response {
    told(studio, move |s| answer(s.editor()?, &body)).await
}

/// What a run says to a question, as JSON.
async fn of_run<Q: Send + 'static>(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(asked): Query<Q>,
    answer: impl FnOnce(&OpenRun, Q) -> Result<Value, Error> + Send + 'static,
) -> Response {
    told(studio, move |s| answer(&*s.shown.library.run(&of.run)?, asked)).await
}

/// What a run says to a question, as a frame.
async fn frame<Q: Send + 'static>(
    State(studio): State<Arc<Studio>>,
    Query(of): Query<OfRun>,
    Query(asked): Query<Q>,
    answer: impl FnOnce(&OpenRun, Q) -> Result<Vec<u8>, Error> + Send + 'static,
) -> Response {
    let answer = read(&studio, move |s| answer(&*s.shown.library.run(&of.run)?, asked)).await;
    answer.map(|octets| ([(header::CONTENT_TYPE, "application/octet-stream")], octets)).into_response()
}

/// What a job says, as JSON.
async fn told(
    studio: Arc<Studio>,
    job: impl FnOnce(&Studio) -> Result<Value, Error> + Send + 'static,
) -> Response {
    let json = |v: Value| ([(header::CONTENT_TYPE, "application/json")], v.to_string());
    read(&studio, job).await.map(json).into_response()
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
