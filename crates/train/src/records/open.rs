//! Opening the folder: lock, look, migrate, tidy up.

use super::{
    DATABASE, LOCK, RECORDINGS, Records, RecordsError, RecordsErrorKind, error::RecordsErrorKind::*,
};
use sqlx::{
    Connection, Row, SqlSafeStr, SqliteConnection,
    migrate::{MigrateError, Migration, MigrationType, Migrator},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{
    fs::{File, OpenOptions, TryLockError},
    io::Read,
    path::Path,
    sync::Arc,
    time::Duration,
};

/// The database's mark in its header, "TROC": which program it belongs to.
const APPLICATION: i64 = 0x5452_4f43;

/// A database up to this size (bytes) is checked as a whole when it is opened; it takes well under a second.
const CHECKED: u64 = 64 << 20;

/// All changes of the schema, oldest first. What was released is never edited: add one.
pub fn migrations() -> Vec<Migration> {
    vec![
        migration(1, "first", include_str!("../../migrations/0001_first.sql")),
        migration(
            2,
            "measures",
            include_str!("../../migrations/0002_measures.sql"),
        ),
    ]
}

fn migration(version: i64, name: &'static str, sql: &'static str) -> Migration {
    Migration::new(
        version,
        name.into(),
        MigrationType::Simple,
        sql.into_sql_str(),
        false,
    )
}

impl Records {
    /// Opens the folder; makes it if it does not exist. One program at a time may have it open. A database of an older
    /// program is brought up to date, and a copy of it is kept beside it; one of a newer program is left alone. What was
    /// running when the program ended is marked as broken off.
    pub async fn open(folder: &Path) -> Result<Self, RecordsError> {
        Self::open_with(folder, migrations()).await
    }

    async fn open_with(folder: &Path, migrations: Vec<Migration>) -> Result<Self, RecordsError> {
        let recordings = folder.join(RECORDINGS);
        std::fs::create_dir_all(&recordings).map_err(|e| RecordsError::file(folder, &e))?;
        let lock = lock(folder)?;
        let path = folder.join(DATABASE);
        let newest = migrations.last().map_or(0, |m| m.version);
        if let Some(found) = look(&path, newest).await?
            && found < newest
        {
            keep_copy(&path, found).await?;
        }
        let options = SqliteConnectOptions::new()
            .filename(&path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let wrong = |e: sqlx::Error| RecordsError::database(&path, &e);
        // One connection: writes are few and small, and nobody can be busy for anybody else.
        let pool = SqlitePoolOptions::new()
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await
            .map_err(wrong)?;
        Migrator::with_migrations(migrations)
            .run(&pool)
            .await
            .map_err(|e| migration_error(&path, e))?;
        // The number is APPLICATION; a pragma takes no parameters.
        sqlx::query("PRAGMA application_id = 1414680387")
            .execute(&pool)
            .await
            .map_err(wrong)?;
        sqlx::query(
            "UPDATE results SET state = 'broken_off', ending = 'broken_off' WHERE state = 'running'",
        )
        .execute(&pool)
        .await
        .map_err(wrong)?;
        let records = Self {
            folder: folder.into(),
            pool,
            lock: Some(Arc::new(lock)),
        };
        records.delete_condemned().await?;
        Ok(records)
    }

    /// Records that are gone when the program ends, without recordings.
    pub async fn in_memory() -> Result<Self, RecordsError> {
        let path = Path::new(":memory:");
        let options = SqliteConnectOptions::new()
            .in_memory(true)
            .foreign_keys(true);
        // One connection that is never given up: the database is gone with it.
        let pool = SqlitePoolOptions::new()
            .min_connections(1)
            .max_connections(1)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_with(options)
            .await
            .map_err(|e| RecordsError::database(path, &e))?;
        Migrator::with_migrations(migrations())
            .run(&pool)
            .await
            .map_err(|e| migration_error(path, e))?;
        Ok(Self {
            folder: path.into(),
            pool,
            lock: None,
        })
    }

    /// Lets the database grow no further than this many pages: a disk that is full, for tests.
    #[doc(hidden)]
    pub async fn fill_disk(&self) {
        // Less than there are means: as many as there are.
        let _ = sqlx::query("PRAGMA max_page_count = 1")
            .execute(&self.pool)
            .await;
    }
}

/// Locks a folder for this program.
pub fn lock(folder: &Path) -> Result<File, RecordsError> {
    let path = folder.join(LOCK);
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)
        .map_err(|e| RecordsError::file(&path, &e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(RecordsError::new(
            folder,
            Busy,
            "another Trocar has this folder open",
            "Close it, or choose another folder with --data-dir.",
        )),
        Err(TryLockError::Error(e)) => Err(RecordsError::file(&path, &e)),
    }
}

/// Looks at a database without changing it: the version of its schema, 0 if it is empty, none if there is none. Refuses
/// what is newer than `newest`, damaged, or not ours.
pub async fn look(path: &Path, newest: i64) -> Result<Option<i64>, RecordsError> {
    let size = match std::fs::metadata(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(RecordsError::file(path, &e)),
        Ok(metadata) if !metadata.is_file() => {
            return Err(RecordsError::new(
                path,
                RecordsErrorKind::Folder,
                "it is not a file",
                "Move it away, or choose another folder.",
            ));
        }
        Ok(metadata) => metadata.len(),
    };
    if size == 0 {
        return Ok(Some(0));
    }
    let foreign = |problem: &str| {
        RecordsError::new(
            path,
            Damaged,
            problem,
            "Restore a backup (`trocar restore`), or move the file away to start anew. It was left as it is.",
        )
    };
    let mut head = [0; 16];
    let read = File::open(path).and_then(|mut f| f.read_exact(&mut head));
    if read.is_err() || &head != b"SQLite format 3\0" {
        return Err(foreign("this is not a database"));
    }
    let wrong = |e: sqlx::Error| RecordsError::database(path, &e);
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut database = SqliteConnection::connect_with(&options)
        .await
        .map_err(wrong)?;
    let found = inspect(&mut database, size).await;
    database.close().await.map_err(wrong)?;
    match found.map_err(wrong)? {
        Found::Foreign => Err(foreign("this is a database of another program")),
        Found::Broken(why) => Err(foreign(&format!("the database is damaged: {why}"))),
        Found::Version(version) if version > newest => Err(RecordsError::new(
            path,
            Newer,
            format!(
                "this database is of a newer Trocar (schema {version}, this program knows {newest})"
            ),
            "Use the newer program, or another folder. It was left as it is.",
        )),
        Found::Version(version) => Ok(Some(version)),
    }
}

enum Found {
    Version(i64),
    Foreign,
    Broken(String),
}

async fn inspect(database: &mut SqliteConnection, size: u64) -> Result<Found, sqlx::Error> {
    let application: i64 = sqlx::query("PRAGMA application_id")
        .fetch_one(&mut *database)
        .await?
        .try_get(0)?;
    let tables: i64 =
        sqlx::query("SELECT count(*) FROM sqlite_master WHERE name = '_sqlx_migrations'")
            .fetch_one(&mut *database)
            .await?
            .try_get(0)?;
    // A first start that was killed leaves a database without its mark, or without tables.
    if application != APPLICATION && application != 0 {
        return Ok(Found::Foreign);
    }
    if size <= CHECKED {
        let said: String = sqlx::query("PRAGMA quick_check(1)")
            .fetch_one(&mut *database)
            .await?
            .try_get(0)?;
        if said != "ok" {
            return Ok(Found::Broken(said));
        }
    }
    if tables == 0 {
        let any: i64 = sqlx::query("SELECT count(*) FROM sqlite_master")
            .fetch_one(&mut *database)
            .await?
            .try_get(0)?;
        return Ok(if any == 0 {
            Found::Version(0)
        } else {
            Found::Foreign
        });
    }
    let version: Option<i64> = sqlx::query("SELECT max(version) FROM _sqlx_migrations")
        .fetch_one(&mut *database)
        .await?
        .try_get(0)?;
    Ok(Found::Version(version.unwrap_or(0)))
}

/// The score that is stored in `folder` for a recording; none if there is no such result, or no records at all. The folder
/// may be in use, and is only read.
pub async fn stored_score(folder: &Path, recording: &str) -> Result<Option<f64>, RecordsError> {
    let path = folder.join(DATABASE);
    let newest = migrations().last().map_or(0, |m| m.version);
    if look(&path, newest).await?.unwrap_or(0) == 0 {
        return Ok(None);
    }
    let wrong = |e: sqlx::Error| RecordsError::database(&path, &e);
    let options = SqliteConnectOptions::new().filename(&path).read_only(true);
    let mut database = SqliteConnection::connect_with(&options)
        .await
        .map_err(wrong)?;
    let found = sqlx::query("SELECT score FROM results WHERE recording = ?1 AND score IS NOT NULL")
        .bind(recording)
        .fetch_optional(&mut database)
        .await;
    database.close().await.map_err(wrong)?;
    match found.map_err(wrong)? {
        None => Ok(None),
        Some(row) => row.try_get(0).map_err(wrong),
    }
}

/// Keeps a copy of an older database before it is changed.
async fn keep_copy(path: &Path, version: i64) -> Result<(), RecordsError> {
    if version == 0 {
        return Ok(());
    }
    let copy = path.with_file_name(format!("trocar-schema-{version}.db"));
    if copy.exists() {
        return Ok(());
    }
    copy_database(path, &copy).await
}

/// A consistent copy of a database that may be in use.
pub async fn copy_database(path: &Path, copy: &Path) -> Result<(), RecordsError> {
    let wrong = |e: sqlx::Error| RecordsError::database(path, &e);
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(10));
    let mut database = SqliteConnection::connect_with(&options)
        .await
        .map_err(wrong)?;
    let done = sqlx::query("VACUUM INTO ?1")
        .bind(copy.display().to_string())
        .execute(&mut database)
        .await;
    database.close().await.map_err(wrong)?;
    done.map_err(|e| RecordsError::database(copy, &e))?;
    Ok(())
}

fn migration_error(path: &Path, cause: MigrateError) -> RecordsError {
    match cause {
        MigrateError::Execute(e) | MigrateError::ExecuteMigration(e, _) => {
            RecordsError::database(path, &e)
        }
        other => RecordsError::new(
            path,
            Damaged,
            format!("its schema is not what it should be: {other}"),
            "Restore a backup (`trocar restore`), or move the file away to start anew.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_mark_is_the_number_in_the_pragma() {
        assert_eq!(APPLICATION, 1_414_680_387);
    }

    #[tokio::test]
    async fn an_older_database_is_brought_up_to_date_and_a_copy_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open(folder.path()).await.unwrap();
        records.create_profile("Ada").await.unwrap();
        records.close().await;
        let mut later = migrations();
        let next = later.len() as i64 + 1;
        later.push(migration(
            next,
            "next",
            "ALTER TABLE profiles ADD COLUMN hand TEXT NOT NULL DEFAULT 'right'",
        ));
        let records = Records::open_with(folder.path(), later).await.unwrap();
        assert_eq!(records.profiles().await.unwrap()[0].name, "Ada");
        records.close().await;
        let copy = folder.path().join(format!("trocar-schema-{}.db", next - 1));
        assert_eq!(look(&copy, next).await.unwrap(), Some(next - 1));
        // And this program now refuses it, and leaves it alone.
        let path = folder.path().join(DATABASE);
        let before = std::fs::read(&path).unwrap();
        let error = Records::open(folder.path()).await.err().unwrap();
        assert_eq!(error.kind, Newer);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[tokio::test]
    async fn a_migration_that_fails_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open(folder.path()).await.unwrap();
        records.create_profile("Ada").await.unwrap();
        records.close().await;
        let mut later = migrations();
        later.push(migration(
            later.len() as i64 + 1,
            "bad",
            "DELETE FROM profiles; INSERT INTO nowhere VALUES (1)",
        ));
        assert!(Records::open_with(folder.path(), later).await.is_err());
        let records = Records::open(folder.path()).await.unwrap();
        assert_eq!(records.profiles().await.unwrap().len(), 1);
    }
}
