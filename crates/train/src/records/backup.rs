//! Everything in one file, and back.

use super::{
    DATABASE, RECORDINGS, RecordsError, RecordsErrorKind, is_plain,
    open::{copy_database, lock, look, migrations},
};
use sqlx::{Connection, Row, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// What a backup holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Profiles.
    pub profiles: usize,
    /// Results.
    pub results: usize,
    /// Recordings.
    pub recordings: usize,
    /// Recordings that results name but that were not there.
    pub missing: usize,
}

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// What the backup held.
    pub saved: Saved,
    /// Where the folder that was there before is now.
    pub aside: Option<PathBuf>,
}

/// Writes everything in the folder into one tar file, which must not exist yet. The folder may be in use: the database is
/// copied as it is at one moment, and recordings are added to at their end only.
pub async fn backup(folder: &Path, file: &Path) -> Result<Saved, RecordsError> {
    let newest = migrations().last().map_or(0, |m| m.version);
    let database = folder.join(DATABASE);
    if look(&database, newest).await?.is_none() {
        return Err(RecordsError::new(
            folder,
            RecordsErrorKind::Missing,
            "there are no records in it",
            "Name the folder that was given to `trocar serve --data-dir`.",
        ));
    }
    if file.exists() {
        return Err(RecordsError::new(
            file,
            RecordsErrorKind::Folder,
            "there is such a file already",
            "Choose another name: backups are not overwritten.",
        ));
    }
    let at = |path: &Path, e: io::Error| RecordsError::file(path, &e);
    // Beside the file it is to become, so that it can be renamed.
    let part = with_suffix(file, ".part");
    let copy = with_suffix(file, ".part.db");
    let tidy = || {
        let _ = fs::remove_file(&part);
        let _ = fs::remove_file(&copy);
    };
    tidy();
    let done = async {
        copy_database(&database, &copy).await?;
        let (mut saved, names) = contents(&copy).await?;
        let mut tar = tar::Builder::new(File::create(&part).map_err(|e| at(&part, e))?);
        tar.append_path_with_name(&copy, DATABASE)
            .map_err(|e| at(&part, e))?;
        for name in names {
            let path = folder.join(RECORDINGS).join(&name);
            // Deleted since, or never written: the result is kept without it.
            let Ok(mut recording) = File::open(&path) else {
                saved.missing += 1;
                continue;
            };
            tar.append_file(format!("{RECORDINGS}/{name}"), &mut recording)
                .map_err(|e| at(&part, e))?;
            saved.recordings += 1;
        }
        let written = tar.into_inner().map_err(|e| at(&part, e))?;
        written.sync_all().map_err(|e| at(&part, e))?;
        fs::rename(&part, file).map_err(|e| at(file, e))?;
        Ok(saved)
    }
    .await;
    tidy();
    done
}

/// Puts a backup back into a folder that is empty or does not exist; with `replace` also into one that is not, which is moved
/// aside. Nothing is touched before the whole backup has been read and found good.
pub async fn restore(file: &Path, folder: &Path, replace: bool) -> Result<Restored, RecordsError> {
    let at = |path: &Path, e: io::Error| RecordsError::file(path, &e);
    // "." and ".." have no name beside which another could stand.
    let whole = folder.canonicalize().ok();
    let folder = whole.as_deref().unwrap_or(folder);
    let occupied = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => false,
        Err(e) => return Err(at(folder, e)),
    };
    if occupied && !replace {
        return Err(RecordsError::new(
            folder,
            RecordsErrorKind::Folder,
            "the folder is not empty",
            "Choose another folder, or use --replace: what is in it is then moved aside, not deleted.",
        ));
    }
    let fresh = with_suffix(folder, ".restoring");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).map_err(|e| at(&fresh, e))?;
    }
    let done = async {
        unpack(file, &fresh)?;
        let newest = migrations().last().map_or(0, |m| m.version);
        let database = fresh.join(DATABASE);
        // The name of the copy means nothing to whoever asked.
        let found = look(&database, newest).await.map_err(|mut e| {
            e.path = file.into();
            e
        })?;
        if found.is_none() {
            return Err(not_a_backup(file, "there is no database in it"));
        }
        let (mut saved, names) = contents(&database).await?;
        for name in names {
            if fresh.join(RECORDINGS).join(name).is_file() {
                saved.recordings += 1;
            } else {
                saved.missing += 1;
            }
        }
        let aside = if occupied {
            Some(move_aside(folder)?)
        } else {
            match fs::remove_dir(folder) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(at(folder, e)),
                _ => None,
            }
        };
        if let Err(e) = fs::rename(&fresh, folder) {
            // What was there comes back, unless somebody else has made a folder meanwhile.
            if let Some(aside) = &aside {
                let _ = fs::rename(&aside.path, folder);
            }
            return Err(at(folder, e));
        }
        Ok(Restored {
            saved,
            aside: aside.map(|a| a.path),
        })
    }
    .await;
    if done.is_err() {
        let _ = fs::remove_dir_all(&fresh);
    }
    done
}

/// A folder that was moved, and stays locked.
struct Aside {
    path: PathBuf,
    /// Windows does not rename a folder with an open file in it: none there.
    _lock: Option<File>,
}

/// Moves a folder aside that nobody works in. Whoever did would go on writing into what was moved, so it is locked before and
/// until something else stands in its place.
fn move_aside(folder: &Path) -> Result<Aside, RecordsError> {
    let lock = Some(lock(folder)?).filter(|_| !cfg!(windows));
    let path = free_name(folder);
    fs::rename(folder, &path).map_err(|e| RecordsError::file(folder, &e))?;
    Ok(Aside { path, _lock: lock })
}

/// Unpacks a backup into a new folder; refuses anything that no backup holds.
fn unpack(file: &Path, folder: &Path) -> Result<(), RecordsError> {
    let at = |path: &Path, e: io::Error| RecordsError::file(path, &e);
    let source = File::open(file).map_err(|e| at(file, e))?;
    fs::create_dir_all(folder.join(RECORDINGS)).map_err(|e| at(folder, e))?;
    let mut tar = tar::Archive::new(source);
    let broken = |e: io::Error| not_a_backup(file, &format!("it can't be read: {e}"));
    for entry in tar.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let name = entry.path().map_err(broken)?.display().to_string();
        let inner = name.strip_prefix("recordings/");
        let fits = name == DATABASE || inner.is_some_and(is_plain);
        if !fits || !entry.header().entry_type().is_file() {
            return Err(not_a_backup(
                file,
                &format!("\"{name}\" does not belong in one"),
            ));
        }
        let path = folder.join(&name);
        let size = entry.size();
        let mut out = File::create_new(&path).map_err(|e| at(&path, e))?;
        let copied = io::copy(&mut entry.by_ref().take(size), &mut out).map_err(|e| {
            if matches!(
                e.kind(),
                io::ErrorKind::UnexpectedEof | io::ErrorKind::Other
            ) {
                broken(e)
            } else {
                at(&path, e)
            }
        })?;
        if copied < size {
            return Err(not_a_backup(file, "it breaks off"));
        }
        out.sync_all().map_err(|e| at(&path, e))?;
    }
    Ok(())
}

fn not_a_backup(file: &Path, problem: &str) -> RecordsError {
    RecordsError::new(
        file,
        RecordsErrorKind::Damaged,
        format!("this is not a whole backup: {problem}"),
        "Use a file that `trocar backup` has written. Nothing was changed.",
    )
}

/// Counts what is in a database, and names its recordings.
async fn contents(path: &Path) -> Result<(Saved, Vec<String>), RecordsError> {
    let wrong = |e: sqlx::Error| RecordsError::database(path, &e);
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut database = SqliteConnection::connect_with(&options)
        .await
        .map_err(wrong)?;
    let found = async {
        let counts =
            sqlx::query("SELECT (SELECT count(*) FROM profiles), (SELECT count(*) FROM results)")
                .fetch_one(&mut database)
                .await?;
        let names = sqlx::query(
            "SELECT DISTINCT recording FROM results WHERE recording IS NOT NULL ORDER BY recording",
        )
        .fetch_all(&mut database)
        .await?;
        let saved = Saved {
            profiles: counts.try_get::<i64, _>(0)? as usize,
            results: counts.try_get::<i64, _>(1)? as usize,
            ..Saved::default()
        };
        let names: Result<Vec<String>, sqlx::Error> = names.iter().map(|r| r.try_get(0)).collect();
        Ok((saved, names?))
    }
    .await;
    database.close().await.map_err(wrong)?;
    let (saved, mut names) = found.map_err(wrong)?;
    names.retain(|n| is_plain(n));
    Ok((saved, names))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(suffix);
    path.with_file_name(name)
}

/// A name beside `folder` that nothing has yet.
fn free_name(folder: &Path) -> PathBuf {
    let mut number = 1;
    loop {
        let name = with_suffix(folder, &format!(".before-{number}"));
        if !name.exists() {
            return name;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn what_is_moved_aside_stays_locked() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let aside = move_aside(&data).unwrap();
        assert!(!data.exists());
        let error = lock(&aside.path).unwrap_err();
        assert_eq!(error.kind, RecordsErrorKind::Busy);
        let path = aside.path.clone();
        drop(aside);
        lock(&path).unwrap();
    }
}
