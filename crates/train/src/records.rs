//! Profiles, results and recordings, in one folder: `trocar.db`, `recordings/`, and `lock`, which one program holds at a time.
//!
//! The database is SQLite with a write-ahead log and full synchronisation: there are a few small writes an operation, so
//! that each of them reaches the disk before it is reported as done costs nothing, and whatever kills the program or the
//! machine, the database opens again with everything that was reported.

mod backup;
mod entry;
mod error;
mod export;
mod open;

pub use backup::{Restored, Saved, backup, restore};
pub use entry::{NewResult, Profile, ResultDetail, ResultRow, ResultState};
pub use error::{RecordsError, RecordsErrorKind};
pub use export::{csv, json, results_csv};
pub use open::stored_score;

use crate::{Ending, Performance, Trace};
use entry::Detail;
use serde::{Serialize, de::DeserializeOwned};
use sqlx::{Row, SqlitePool, sqlite::SqliteRow};
use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

/// Longest name of a profile, in characters.
pub const MAX_NAME: usize = 64;

/// Profiles, results and recordings, in one folder.
#[derive(Clone)]
pub struct Records {
    folder: PathBuf,
    pool: SqlitePool,
    /// Held until the records are closed; none if they are only in memory.
    lock: Option<Arc<File>>,
}

impl Records {
    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the recordings.
    pub fn recordings(&self) -> PathBuf {
        self.folder.join(RECORDINGS)
    }

    /// True if anything is kept when the program ends.
    pub fn keeps(&self) -> bool {
        self.lock.is_some()
    }

    /// Closes the database and lets the folder go, for all clones: whatever they ask from now on is an error. Whoever drops
    /// all records without this leaves the database's log to the next one who opens it.
    pub async fn close(&self) {
        self.pool.close().await;
        // It fails only if it is not held any more.
        let _ = self.lock.as_ref().map(|file| file.unlock());
    }

    /// All profiles, by name.
    pub async fn profiles(&self) -> Result<Vec<Profile>, RecordsError> {
        self.find_profiles(None).await
    }

    /// Makes a profile. Its name is trimmed, has 1 to 64 characters, and is unique ignoring case.
    pub async fn create_profile(&self, name: &str) -> Result<Profile, RecordsError> {
        let name = self.usable(name)?;
        let done = sqlx::query("INSERT INTO profiles (name, key, created) VALUES (?1, ?2, ?3)")
            .bind(&name)
            .bind(name.to_lowercase())
            .bind(now())
            .execute(&self.pool)
            .await
            .map_err(|e| self.taken(&name, &e))?;
        self.profile(done.last_insert_rowid()).await
    }

    /// Renames a profile.
    pub async fn rename_profile(&self, id: i64, name: &str) -> Result<Profile, RecordsError> {
        let name = self.usable(name)?;
        sqlx::query("UPDATE profiles SET name = ?1, key = ?2 WHERE id = ?3")
            .bind(&name)
            .bind(name.to_lowercase())
            .bind(id)
            .execute(&self.pool)
            .await
            .map_err(|e| self.taken(&name, &e))?;
        self.profile(id).await
    }

    /// Deletes a profile with its results and recordings.
    pub async fn delete_profile(&self, id: i64) -> Result<(), RecordsError> {
        let mut change = self.pool.begin().await.map_err(|e| self.wrong(&e))?;
        sqlx::query(
            "INSERT OR IGNORE INTO condemned SELECT recording FROM results \
             WHERE profile = ?1 AND recording IS NOT NULL",
        )
        .bind(id)
        .execute(&mut *change)
        .await
        .map_err(|e| self.wrong(&e))?;
        // The results go with it: they refer to it.
        let done = sqlx::query("DELETE FROM profiles WHERE id = ?1")
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(|e| self.wrong(&e))?;
        change.commit().await.map_err(|e| self.wrong(&e))?;
        if done.rows_affected() == 0 {
            return Err(self.missing("profile", id));
        }
        self.delete_condemned().await
    }

    /// Begins a result; returns its number.
    pub async fn begin(&self, new: &NewResult) -> Result<i64, RecordsError> {
        if let Some(name) = &new.recording
            && !is_plain(name)
        {
            return Err(RecordsError::new(
                &self.recordings(),
                RecordsErrorKind::Name,
                format!("\"{name}\" is not the name of a file in it"),
                "Name a file, not a path.",
            ));
        }
        self.profile(new.profile).await?;
        let recording = new.recording.as_ref().filter(|_| self.keeps());
        let done = sqlx::query(
            "INSERT INTO results (profile, exercise, exercise_title, level, level_title, begun, state, recording, build) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'running', ?7, ?8)",
        )
        .bind(new.profile)
        .bind(&new.exercise)
        .bind(&new.exercise_title)
        .bind(&new.level)
        .bind(&new.level_title)
        .bind(now())
        .bind(recording)
        .bind(&new.build)
        .execute(&self.pool)
        .await
        .map_err(|e| self.wrong(&e))?;
        Ok(done.last_insert_rowid())
    }

    /// Completes a result that was begun. `realtime`: simulated seconds in a second, over the whole operation.
    pub async fn complete(
        &self,
        id: i64,
        performance: &Performance,
        realtime: f64,
    ) -> Result<(), RecordsError> {
        let broken = performance.ending == Ending::BrokenOff;
        let detail = serde_json::to_string(&Detail::of(performance))
            .map_err(|e| self.unreadable(id, &e.to_string()))?;
        let mut change = self.pool.begin().await.map_err(|e| self.wrong(&e))?;
        let done = sqlx::query(
            "UPDATE results SET state = ?1, ending = ?2, score = ?3, passed = ?4, seconds = ?5, realtime = ?6, \
             detail = ?7, trace = ?8 WHERE id = ?9 AND state = 'running'",
        )
        .bind(if broken { "broken_off" } else { "done" })
        .bind(word(&performance.ending))
        .bind(performance.score)
        .bind(performance.passed)
        .bind(performance.seconds)
        .bind(realtime)
        .bind(detail)
        .bind(performance.trace.to_bytes())
        .bind(id)
        .execute(&mut *change)
        .await
        .map_err(|e| self.wrong(&e))?;
        if done.rows_affected() == 0 {
            return Err(self.missing("running result", id));
        }
        for measured in performance.measures.iter().filter(|m| m.value.is_finite()) {
            sqlx::query("INSERT INTO measures (result, measure, value) VALUES (?1, ?2, ?3)")
                .bind(id)
                .bind(measured.id.id())
                .bind(measured.value)
                .execute(&mut *change)
                .await
                .map_err(|e| self.wrong(&e))?;
        }
        change.commit().await.map_err(|e| self.wrong(&e))
    }

    /// Results, newest first: of one profile, of one exercise, or all.
    pub async fn results(
        &self,
        profile: Option<i64>,
        exercise: Option<&str>,
    ) -> Result<Vec<ResultRow>, RecordsError> {
        let rows = sqlx::query(
            "SELECT * FROM results_listed WHERE (?1 IS NULL OR profile = ?1) \
             AND (?2 IS NULL OR exercise = ?2) ORDER BY begun DESC, id DESC",
        )
        .bind(profile)
        .bind(exercise)
        .fetch_all(&self.pool)
        .await
        .map_err(|e| self.wrong(&e))?;
        rows.iter()
            .map(|r| row(r).map_err(|e| self.wrong(&e)))
            .collect()
    }

    /// One result.
    pub async fn result(&self, id: i64) -> Result<Option<ResultDetail>, RecordsError> {
        let found = sqlx::query(
            "SELECT l.*, p.name AS profile_name, r.detail, r.trace FROM results_listed l \
             JOIN results r ON r.id = l.id JOIN profiles p ON p.id = l.profile WHERE l.id = ?1",
        )
        .bind(id)
        .fetch_optional(&self.pool)
        .await
        .map_err(|e| self.wrong(&e))?;
        let Some(found) = found else { return Ok(None) };
        let wrong = |e: sqlx::Error| self.wrong(&e);
        let row = row(&found).map_err(wrong)?;
        let detail: Option<String> = found.try_get("detail").map_err(wrong)?;
        let trace: Option<Vec<u8>> = found.try_get("trace").map_err(wrong)?;
        let detail = match detail {
            None => Detail::default(),
            Some(text) => {
                serde_json::from_str(&text).map_err(|e| self.unreadable(row.id, &e.to_string()))?
            }
        };
        let trace = match trace {
            None => Trace::default(),
            Some(bytes) => {
                Trace::from_bytes(&bytes).ok_or_else(|| self.unreadable(row.id, "its signals"))?
            }
        };
        Ok(Some(ResultDetail {
            profile_name: found.try_get("profile_name").map_err(wrong)?,
            row,
            pass_mark: detail.pass_mark,
            reached: detail.reached,
            goals: detail.goals,
            parts: detail.parts,
            measures: detail.measures,
            advice: detail.advice,
            praise: detail.praise,
            events: detail.events,
            trace,
        }))
    }

    /// Deletes a result and its recording.
    pub async fn delete_result(&self, id: i64) -> Result<(), RecordsError> {
        let mut change = self.pool.begin().await.map_err(|e| self.wrong(&e))?;
        sqlx::query(
            "INSERT OR IGNORE INTO condemned SELECT recording FROM results \
             WHERE id = ?1 AND recording IS NOT NULL",
        )
        .bind(id)
        .execute(&mut *change)
        .await
        .map_err(|e| self.wrong(&e))?;
        let done = sqlx::query("DELETE FROM results WHERE id = ?1")
            .bind(id)
            .execute(&mut *change)
            .await
            .map_err(|e| self.wrong(&e))?;
        change.commit().await.map_err(|e| self.wrong(&e))?;
        if done.rows_affected() == 0 {
            return Err(self.missing("result", id));
        }
        self.delete_condemned().await
    }

    /// The recording of a result, if it has one and it is there.
    pub async fn recording_path(&self, id: i64) -> Result<Option<PathBuf>, RecordsError> {
        let found = sqlx::query("SELECT recording FROM results WHERE id = ?1")
            .bind(id)
            .fetch_optional(&self.pool)
            .await
            .map_err(|e| self.wrong(&e))?;
        let Some(found) = found else { return Ok(None) };
        let name: Option<String> = found.try_get(0).map_err(|e| self.wrong(&e))?;
        Ok(name
            .filter(|n| is_plain(n))
            .map(|n| self.recordings().join(n))
            .filter(|p| p.is_file()))
    }

    async fn find_profiles(&self, id: Option<i64>) -> Result<Vec<Profile>, RecordsError> {
        let rows = sqlx::query(
            "SELECT p.id, p.name, p.created, count(r.id), max(r.begun) FROM profiles p \
             LEFT JOIN results r ON r.profile = p.id WHERE ?1 IS NULL OR p.id = ?1 GROUP BY p.id ORDER BY p.key",
        )
        .bind(id)
        .fetch_all(&self.pool)
        .await
        .map_err(|e| self.wrong(&e))?;
        let read = |r: &SqliteRow| -> Result<Profile, sqlx::Error> {
            Ok(Profile {
                id: r.try_get(0)?,
                name: r.try_get(1)?,
                created: r.try_get(2)?,
                results: r.try_get(3)?,
                last: r.try_get(4)?,
            })
        };
        rows.iter()
            .map(|r| read(r).map_err(|e| self.wrong(&e)))
            .collect()
    }

    async fn profile(&self, id: i64) -> Result<Profile, RecordsError> {
        let mut found = self.find_profiles(Some(id)).await?;
        found.pop().ok_or_else(|| self.missing("profile", id))
    }

    /// Deletes the files of results that were deleted. A file that can't be deleted now is tried again at the next start.
    async fn delete_condemned(&self) -> Result<(), RecordsError> {
        let names = sqlx::query("SELECT recording FROM condemned")
            .fetch_all(&self.pool)
            .await
            .map_err(|e| self.wrong(&e))?;
        for name in names {
            let name: String = name.try_get(0).map_err(|e| self.wrong(&e))?;
            if is_plain(&name) {
                let path = self.recordings().join(&name);
                match std::fs::remove_file(&path) {
                    Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                        tracing::warn!("{} can't be deleted yet: {e}", path.display());
                        continue;
                    }
                    _ => {}
                }
            }
            sqlx::query("DELETE FROM condemned WHERE recording = ?1")
                .bind(&name)
                .execute(&self.pool)
                .await
                .map_err(|e| self.wrong(&e))?;
        }
        Ok(())
    }

    /// A name as it is kept, or why it can't be.
    fn usable(&self, name: &str) -> Result<String, RecordsError> {
        let name = name.trim();
        let count = name.chars().count();
        let problem = if count == 0 {
            "the name is empty"
        } else if count > MAX_NAME {
            "the name is too long"
        } else if name.chars().any(char::is_control) {
            "the name has characters that can't be seen"
        } else {
            return Ok(name.into());
        };
        Err(RecordsError::new(
            &self.database_path(),
            RecordsErrorKind::Name,
            problem,
            format!("Use 1 to {MAX_NAME} visible characters."),
        ))
    }

    /// The one constraint a name can violate is that it is unique.
    fn taken(&self, name: &str, cause: &sqlx::Error) -> RecordsError {
        let unique = cause
            .as_database_error()
            .is_some_and(sqlx::error::DatabaseError::is_unique_violation);
        if !unique {
            return self.wrong(cause);
        }
        RecordsError::new(
            &self.database_path(),
            RecordsErrorKind::Name,
            format!("there is a profile called \"{name}\" already"),
            "Choose another name; capital and small letters count as the same.",
        )
    }

    fn missing(&self, what: &str, id: i64) -> RecordsError {
        RecordsError::new(
            &self.database_path(),
            RecordsErrorKind::Missing,
            format!("there is no {what} with the number {id}"),
            "It may have been deleted; read the list again.",
        )
    }

    fn unreadable(&self, id: i64, why: &str) -> RecordsError {
        RecordsError::new(
            &self.database_path(),
            RecordsErrorKind::Damaged,
            format!("the details of result {id} can't be understood: {why}"),
            "A newer program may have written them; the score and the recording are still there.",
        )
    }

    fn wrong(&self, cause: &sqlx::Error) -> RecordsError {
        RecordsError::database(&self.database_path(), cause)
    }

    fn database_path(&self) -> PathBuf {
        self.folder.join(DATABASE)
    }
}

/// The database's file name.
const DATABASE: &str = "trocar.db";

/// The name of the folder of recordings.
const RECORDINGS: &str = "recordings";

/// The name of the file that is locked.
const LOCK: &str = "lock";

/// Reads what the lists show.
fn row(r: &SqliteRow) -> Result<ResultRow, sqlx::Error> {
    Ok(ResultRow {
        id: r.try_get("id")?,
        profile: r.try_get("profile")?,
        exercise: r.try_get("exercise")?,
        exercise_title: r.try_get("exercise_title")?,
        level: r.try_get("level")?,
        level_title: r.try_get("level_title")?,
        begun: r.try_get("begun")?,
        state: unword(r.try_get("state")?)?,
        ending: match r.try_get::<Option<String>, _>("ending")? {
            None => None,
            Some(word) => Some(unword(word)?),
        },
        score: r.try_get("score")?,
        passed: r.try_get("passed")?,
        seconds: r.try_get("seconds")?,
        realtime: r.try_get("realtime")?,
        recording: r.try_get("recording")?,
        build: r.try_get("build")?,
        values: serde_json::from_str(r.try_get("measured")?)
            .map_err(|e| sqlx::Error::Decode(Box::new(e)))?,
    })
}

/// The word by which a value without contents goes in files.
fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

fn unword<T: DeserializeOwned>(word: String) -> Result<T, sqlx::Error> {
    serde_json::from_value(serde_json::Value::String(word))
        .map_err(|e| sqlx::Error::Decode(Box::new(e)))
}

/// True if a name is that of a file, not a path that leads elsewhere.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', ':', '\0'])
}

/// Seconds since 1970.
fn now() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_secs() as i64)
}
