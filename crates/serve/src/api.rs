//! What the server answers below `/api`.

use crate::{
    describe, guard,
    house::{House, Refusal},
    session,
    wire::{
        ExerciseInfo, Health, NewOperation, NewProfile, OperationInfo, PROTOCOL, Profile,
        ResultDetail, ResultRow, SceneDescription, SceneInfo,
    },
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{DefaultBodyLimit, FromRequest, Path, Query, Request, State, WebSocketUpgrade},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{any, get, patch},
};
use serde::{Deserialize, de::DeserializeOwned};
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::timeout;
use trocar_train::{Records, records};

/// A body that takes longer than this to arrive is not waited for.
const BODY: Duration = Duration::from_secs(10);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(self.problem)).into_response()
    }
}

type Answer<T> = Result<Json<T>, Refusal>;
type Here = State<Arc<House>>;

/// All paths below `/api`, and the WebSockets.
pub fn router() -> Router<Arc<House>> {
    Router::new()
        .route("/ws/{operation}", any(open_socket))
        .route("/api/health", get(health))
        .route("/api/exercises", get(exercises))
        .route("/api/scenes", get(scenes))
        .route("/api/scenes/{id}", get(scene))
        .route("/api/profiles", get(profiles).post(create_profile))
        .route(
            "/api/profiles/{id}",
            patch(rename_profile).delete(delete_profile),
        )
        .route("/api/profiles/{id}/results.csv", get(profile_csv))
        .route("/api/results", get(results))
        .route("/api/results/{id}", get(result).delete(delete_result))
        .route("/api/results/{id}/export.csv", get(export_csv))
        .route("/api/results/{id}/export.json", get(export_json))
        .route("/api/results/{id}/recording", get(recording))
        .route("/api/operations", get(operations).post(open_operation))
        .route("/api/operations/{id}", axum::routing::delete(end_operation))
        .route("/api/{*rest}", any(nothing))
        .method_not_allowed_fallback(async || {
            Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "That can't be done here.")
        })
        .layer(DefaultBodyLimit::max(guard::MAX_BODY))
}

async fn nothing(uri: Uri) -> Refusal {
    Refusal::missing(format!("There is nothing at {}.", uri.path()))
}

async fn health(State(house): Here) -> Json<Health> {
    Json(Health {
        status: "ok".into(),
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").into(),
        keeps: house.records.keeps(),
        operations: house.operations().len() as u32,
    })
}

async fn exercises(State(house): Here) -> Json<Vec<ExerciseInfo>> {
    Json(house.catalogue.exercises())
}

/// Work that takes a moment, away from those who talk to pages.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|_| {
        Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The program has a fault.",
        )
    })
}

async fn scenes(State(house): Here) -> Answer<Vec<SceneInfo>> {
    Ok(Json(aside(move || house.scenes()).await?))
}

async fn scene(State(house): Here, Path(id): Path<String>) -> Answer<SceneDescription> {
    Ok(Json(aside(move || house.describe(&id)).await??))
}

async fn profiles(State(house): Here) -> Answer<Vec<Profile>> {
    let profiles = house.records.profiles().await?;
    Ok(Json(profiles.into_iter().map(describe::profile).collect()))
}

async fn create_profile(
    State(house): Here,
    Body(new): Body<NewProfile>,
) -> Result<(StatusCode, Json<Profile>), Refusal> {
    let made = house.records.create_profile(&new.name).await?;
    Ok((StatusCode::CREATED, Json(describe::profile(made))))
}

async fn rename_profile(
    State(house): Here,
    Path(id): Path<i64>,
    Body(new): Body<NewProfile>,
) -> Answer<Profile> {
    let renamed = house.records.rename_profile(id, &new.name).await?;
    Ok(Json(describe::profile(renamed)))
}

async fn delete_profile(State(house): Here, Path(id): Path<i64>) -> Result<StatusCode, Refusal> {
    house.delete_profile(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Wanted {
    profile: Option<i64>,
    exercise: Option<String>,
}

async fn results(State(house): Here, Query(wanted): Query<Wanted>) -> Answer<Vec<ResultRow>> {
    let records = &house.records;
    let rows = records
        .results(wanted.profile, wanted.exercise.as_deref())
        .await?;
    let names: BTreeMap<i64, String> = records
        .profiles()
        .await?
        .into_iter()
        .map(|p| (p.id, p.name))
        .collect();
    let row = |row: &records::ResultRow| {
        let name = names.get(&row.profile).map_or("", String::as_str);
        describe::result_row(row, name, has_recording(records, row))
    };
    Ok(Json(rows.iter().map(row).collect()))
}

fn has_recording(records: &Records, row: &records::ResultRow) -> bool {
    let file = row.recording.as_ref();
    file.is_some_and(|file| records.recordings().join(file).is_file())
}

async fn detail(house: &House, id: i64) -> Result<records::ResultDetail, Refusal> {
    let detail = house.records.result(id).await?;
    detail.ok_or_else(|| Refusal::missing("There is no such result any more."))
}

async fn result(State(house): Here, Path(id): Path<i64>) -> Answer<ResultDetail> {
    let detail = detail(&house, id).await?;
    let has_recording = has_recording(&house.records, &detail.row);
    Ok(Json(describe::result_detail(detail, has_recording)))
}

async fn delete_result(State(house): Here, Path(id): Path<i64>) -> Result<StatusCode, Refusal> {
    if detail(&house, id).await?.row.state == records::ResultState::Running {
        return Err(Refusal::new(
            StatusCode::CONFLICT,
            "This operation is still running. End it first.",
        ));
    }
    house.records.delete_result(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn export_csv(State(house): Here, Path(id): Path<i64>) -> Result<Response, Refusal> {
    let detail = detail(&house, id).await?;
    let name = format!("{}-{}-{id}.csv", detail.row.exercise, detail.row.level);
    Ok(file(
        "text/csv; charset=utf-8",
        &name,
        records::csv(&detail),
    ))
}

async fn export_json(State(house): Here, Path(id): Path<i64>) -> Result<Response, Refusal> {
    let detail = detail(&house, id).await?;
    let name = format!("{}-{}-{id}.json", detail.row.exercise, detail.row.level);
    Ok(file("application/json", &name, records::json(&detail)))
}

async fn profile_csv(State(house): Here, Path(id): Path<i64>) -> Result<Response, Refusal> {
    let profiles = house.records.profiles().await?;
    if !profiles.iter().any(|p| p.id == id) {
        return Err(Refusal::missing("There is no such profile any more."));
    }
    let rows = house.records.results(Some(id), None).await?;
    let text = records::results_csv(&rows);
    Ok(file("text/csv; charset=utf-8", "results.csv", text))
}

async fn recording(State(house): Here, Path(id): Path<i64>) -> Result<Response, Refusal> {
    let path = house.records.recording_path(id).await?;
    let missing = || Refusal::missing("This result has no recording.");
    let path = path.ok_or_else(missing)?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
    let bytes = aside(move || std::fs::read(path)).await?.map_err(|error| {
        Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("The recording can't be read: {error}"),
        )
    })?;
    let name = name.unwrap_or_else(|| format!("{id}.trocrec"));
    Ok(file("application/octet-stream", &name, bytes))
}

/// A file to be saved.
fn file(kind: &'static str, name: &str, contents: impl Into<Bytes>) -> Response {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = name.chars().filter(|c| plain(*c)).collect();
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    // Only letters and digits: always a header's value.
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}\"")) {
        headers.insert(header::CONTENT_DISPOSITION, value);
    }
    (headers, contents.into()).into_response()
}

async fn operations(State(house): Here) -> Json<Vec<OperationInfo>> {
    Json(house.operations().iter().map(|o| o.info()).collect())
}

async fn open_operation(
    State(house): Here,
    Body(new): Body<NewOperation>,
) -> Result<(StatusCode, Json<OperationInfo>), Refusal> {
    Ok((StatusCode::CREATED, Json(house.open(new).await?)))
}

async fn end_operation(State(house): Here, Path(id): Path<String>) -> Result<StatusCode, Refusal> {
    if house.end(&id, "the operation has been ended").await {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Refusal::missing("There is no such operation any more."))
    }
}

#[derive(Deserialize)]
struct Manner {
    /// Only looks on if this is `1`.
    watch: Option<String>,
}

async fn open_socket(
    State(house): Here,
    Path(id): Path<String>,
    Query(manner): Query<Manner>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, Refusal> {
    let operation = house
        .operation(&id)
        .ok_or_else(|| Refusal::missing("There is no such operation any more."))?;
    let permit = Arc::clone(&house.seats).try_acquire_owned().map_err(|_| {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "All seats are taken. Close another page first.",
        )
    })?;
    let visit = session::Visit {
        operation,
        operating: manner.watch.as_deref() != Some("1"),
        patience: house.patience,
        closing: house.closing.clone(),
        permit,
    };
    Ok(upgrade
        .max_message_size(session::MAX_READ)
        .max_frame_size(session::MAX_READ)
        .on_upgrade(|socket| visit.run(socket)))
}

/// A body of JSON.
struct Body<T>(T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
        let bytes = timeout(BODY, Bytes::from_request(request, state))
            .await
            .map_err(|_| Refusal::new(StatusCode::REQUEST_TIMEOUT, "The body takes too long."))?
            .map_err(|rejection| Refusal::new(rejection.status(), rejection.body_text()))?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            Refusal::new(
                StatusCode::BAD_REQUEST,
                format!("This request is not one of the protocol: {error}"),
            )
        })
    }
}
