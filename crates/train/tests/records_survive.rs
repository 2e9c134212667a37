//! What was stored stays stored: bad folders, full disks, two programs at once, foreign and damaged databases each end in a
//! clear message, and nothing is damaged.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::{fs, path::Path};
use trocar_train::{
    Ending, Measure, Performance, Records, Trace,
    records::{
        NewResult, RecordsErrorKind, ResultState, backup, csv, json, restore, results_csv,
        stored_score,
    },
};

fn new_result(profile: i64, recording: Option<&str>) -> NewResult {
    NewResult {
        profile,
        exercise: "grasp-and-lift".into(),
        exercise_title: "Grasp and lift".into(),
        level: "easy".into(),
        level_title: "Easy".into(),
        recording: recording.map(Into::into),
        build: "test".into(),
    }
}

fn performance(score: f64, samples: usize) -> Performance {
    let ramp: Vec<f32> = (0..samples).map(|k| k as f32 * 0.02).collect();
    Performance {
        ending: Ending::Completed,
        score,
        passed: score >= 60.0,
        pass_mark: 60.0,
        reached: 3,
        goals: 3,
        parts: Vec::new(),
        measures: vec![Measure::Time.with(31.5), Measure::GreatestForce.with(2.25)],
        advice: vec!["Pull more slowly.".into()],
        praise: vec!["A steady hand.".into()],
        trace: Trace {
            time: ramp.clone(),
            x: ramp.clone(),
            y: ramp.clone(),
            z: ramp.clone(),
            speed: ramp.clone(),
            force: ramp.clone(),
            stretch: ramp,
            in_view: vec![1; samples],
            holding: vec![0; samples],
            goal: vec![2; samples],
        },
        events: Vec::new(),
        seconds: 31.5,
    }
}

async fn open(folder: &Path) -> Records {
    Records::open(folder)
        .await
        .unwrap_or_else(|e| panic!("{e}"))
}

async fn refused(folder: &Path) -> trocar_train::RecordsError {
    let error = Records::open(folder).await.err().expect("it was opened");
    let text = error.to_string();
    assert!(text.contains(&error.path.display().to_string()), "{text}");
    assert!(!error.remedy.is_empty(), "{text}");
    error
}

#[tokio::test]
async fn what_is_stored_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let records = open(folder.path()).await;
    let ada = records.create_profile("  Ada ").await.unwrap();
    assert_eq!(ada.name, "Ada");
    let id = records
        .begin(&new_result(ada.id, Some("a.trocrec")))
        .await
        .unwrap();
    assert_eq!(
        records.results(None, None).await.unwrap()[0].state,
        ResultState::Running
    );
    let done = performance(72.5, 100);
    records.complete(id, &done, 0.98).await.unwrap();
    records.close().await;

    let records = open(folder.path()).await;
    let detail = records.result(id).await.unwrap().unwrap();
    assert_eq!(detail.row.state, ResultState::Done);
    assert_eq!(detail.row.score, Some(72.5));
    assert_eq!(detail.row.ending, Some(Ending::Completed));
    assert!(detail.row.passed);
    assert_eq!(detail.profile_name, "Ada");
    assert_eq!(detail.trace, done.trace);
    assert_eq!(detail.measures, done.measures);
    assert_eq!(detail.row.values["greatest_force"], 2.25);
    assert_eq!(detail.advice, done.advice);
    assert_eq!(csv(&detail).lines().count(), 101);
    assert!(json(&detail).contains("\"score\": 72.5"));
    let rows = records
        .results(Some(ada.id), Some("grasp-and-lift"))
        .await
        .unwrap();
    assert_eq!(results_csv(&rows).lines().count(), 2);
    assert!(
        records
            .results(Some(ada.id), Some("other"))
            .await
            .unwrap()
            .is_empty()
    );
    assert!(records.result(id + 1).await.unwrap().is_none());
    let stored = stored_score(folder.path(), "a.trocrec").await.unwrap();
    assert_eq!(stored, Some(72.5));
    assert_eq!(
        stored_score(folder.path(), "b.trocrec").await.unwrap(),
        None
    );
    // A result is completed once.
    let again = records.complete(id, &done, 1.0).await.unwrap_err();
    assert_eq!(again.kind, RecordsErrorKind::Missing);
    let profiles = records.profiles().await.unwrap();
    assert_eq!(
        (profiles[0].results, profiles[0].last),
        (1, Some(rows[0].begun))
    );
}

#[tokio::test]
async fn names_are_trimmed_limited_and_unique_ignoring_case() {
    let folder = tempfile::tempdir().unwrap();
    let records = open(folder.path()).await;
    let ada = records.create_profile("Ädä").await.unwrap();
    for bad in ["", "   ", &"x".repeat(65), "a\nb", "ÄDÄ", " ädä "] {
        let error = records.create_profile(bad).await.unwrap_err();
        assert_eq!(error.kind, RecordsErrorKind::Name, "{bad:?}");
    }
    let bob = records.create_profile(&"ß".repeat(64)).await.unwrap();
    let error = records.rename_profile(bob.id, "äDä").await.unwrap_err();
    assert_eq!(error.kind, RecordsErrorKind::Name);
    // Changing only the case of one's own name is no clash.
    assert_eq!(
        records.rename_profile(ada.id, "ÄDÄ").await.unwrap().name,
        "ÄDÄ"
    );
    let error = records.rename_profile(99, "Zoe").await.unwrap_err();
    assert_eq!(error.kind, RecordsErrorKind::Missing);
}

#[tokio::test]
async fn deleting_a_profile_deletes_its_results_and_recordings_and_nobody_elses() {
    let folder = tempfile::tempdir().unwrap();
    let records = open(folder.path()).await;
    let ada = records.create_profile("Ada").await.unwrap();
    let bob = records.create_profile("Bob").await.unwrap();
    for (profile, name) in [(ada.id, "a.trocrec"), (bob.id, "b.trocrec")] {
        fs::write(records.recordings().join(name), b"x").unwrap();
        records
            .begin(&new_result(profile, Some(name)))
            .await
            .unwrap();
    }
    records.delete_profile(ada.id).await.unwrap();
    assert!(!records.recordings().join("a.trocrec").exists());
    let rows = records.results(None, None).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(records.recording_path(rows[0].id).await.unwrap().is_some());
    records.delete_result(rows[0].id).await.unwrap();
    assert!(!records.recordings().join("b.trocrec").exists());
    let error = records.delete_profile(ada.id).await.unwrap_err();
    assert_eq!(error.kind, RecordsErrorKind::Missing);
    // No path leads out of the folder of recordings.
    for bad in ["../x", "/etc/passwd", "a/b", ".hidden", ""] {
        let error = records
            .begin(&new_result(bob.id, Some(bad)))
            .await
            .unwrap_err();
        assert_eq!(error.kind, RecordsErrorKind::Name, "{bad}");
    }
}

#[tokio::test]
async fn what_was_running_when_the_program_ended_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let records = open(folder.path()).await;
    let ada = records.create_profile("Ada").await.unwrap();
    let id = records.begin(&new_result(ada.id, None)).await.unwrap();
    // Dropped without closing, as if killed.
    drop(records);
    let records = open(folder.path()).await;
    let detail = records.result(id).await.unwrap().unwrap();
    assert_eq!(detail.row.state, ResultState::BrokenOff);
    assert_eq!(detail.row.ending, Some(Ending::BrokenOff));
    assert_eq!(detail.row.score, None);
}

/// Stores results as fast as it can, and says each that is stored, until it is killed.
#[tokio::test]
#[ignore = "only the next test runs it, in a program of its own"]
async fn store_until_killed() {
    use std::io::Write;
    let Some(folder) = std::env::var_os("TROCAR_TEST_FOLDER") else {
        return;
    };
    let records = open(Path::new(&folder)).await;
    let name = format!("run {}", records.profiles().await.unwrap().len());
    let profile = records.create_profile(&name).await.unwrap();
    loop {
        let id = records.begin(&new_result(profile.id, None)).await.unwrap();
        let done = performance(id as f64 % 100.0, 500);
        records.complete(id, &done, 1.0).await.unwrap();
        println!("stored {id}");
        std::io::stdout().flush().unwrap();
    }
}

#[tokio::test]
async fn whatever_was_reported_as_stored_outlives_a_kill() {
    use std::{
        io::{BufRead, BufReader},
        process::{Command, Stdio},
    };
    let folder = tempfile::tempdir().unwrap();
    let mut stored: Vec<i64> = Vec::new();
    for round in 0..20 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store_until_killed", "--ignored", "--nocapture"])
            .env("TROCAR_TEST_FOLDER", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = lines
            .map_while(Result::ok)
            .filter_map(|l| l.rsplit("stored ").next()?.parse::<i64>().ok());
        // A different moment in every round.
        stored.extend(said.by_ref().take(1 + round % 5));
        std::thread::sleep(std::time::Duration::from_micros(137 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        // What it said in its last moments counts too.
        stored.extend(said);
    }
    assert!(stored.len() >= 20, "{stored:?}");
    let records = open(folder.path()).await;
    for id in stored {
        let detail = records.result(id).await.unwrap().unwrap();
        assert_eq!(detail.row.state, ResultState::Done);
        assert_eq!(
            (detail.row.score, detail.trace.len()),
            (Some(id as f64 % 100.0), 500)
        );
    }
    let rows = records.results(None, None).await.unwrap();
    assert!(rows.iter().all(|r| r.state != ResultState::Running));
}

#[tokio::test]
async fn one_program_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let records = open(folder.path()).await;
    let error = refused(folder.path()).await;
    assert_eq!(error.kind, RecordsErrorKind::Busy);
    records.create_profile("Ada").await.unwrap();
    records.close().await;
    assert_eq!(open(folder.path()).await.profiles().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_full_disk_is_said_and_damages_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let records = open(folder.path()).await;
    let ada = records.create_profile("Ada").await.unwrap();
    let id = records.begin(&new_result(ada.id, None)).await.unwrap();
    records.fill_disk().await;
    let error = records
        .complete(id, &performance(80.0, 20_000), 1.0)
        .await
        .unwrap_err();
    assert_eq!(error.kind, RecordsErrorKind::Full, "{error}");
    assert!(error.to_string().contains("Make room"));
    // What was there is there, and small things still work.
    assert_eq!(
        records.result(id).await.unwrap().unwrap().row.state,
        ResultState::Running
    );
    records.close().await;
    let records = open(folder.path()).await;
    assert_eq!(records.profiles().await.unwrap()[0].name, "Ada");
}

#[tokio::test]
async fn a_folder_that_is_a_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, b"precious").unwrap();
    assert_eq!(refused(&path).await.kind, RecordsErrorKind::Folder);
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_can_not_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o555)).unwrap();
    // Whoever may do everything can write there all the same; a folder that nobody can write to serves then.
    let path = if fs::write(path.join("probe"), b"").is_ok() {
        "/proc/trocar".into()
    } else {
        path
    };
    if cfg!(target_os = "linux") || !path.starts_with("/proc") {
        assert_eq!(refused(&path).await.kind, RecordsErrorKind::Folder);
    }
}

#[tokio::test]
async fn what_is_no_database_of_ours_is_left_alone() {
    let garbage: [(&str, Vec<u8>); 3] = [
        (
            "text",
            b"this is no database, it is a letter to a friend".to_vec(),
        ),
        ("short", b"SQLite".to_vec()),
        (
            "header only",
            [b"SQLite format 3\0".to_vec(), vec![0xa5; 8192]].concat(),
        ),
    ];
    for (name, bytes) in garbage {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trocar.db");
        fs::write(&path, &bytes).unwrap();
        let error = refused(folder.path()).await;
        assert_eq!(error.kind, RecordsErrorKind::Damaged, "{name}: {error}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "{name}");
    }
}

#[tokio::test]
async fn a_database_with_a_spoilt_page_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let records = open(folder.path()).await;
    for k in 0..200 {
        records
            .create_profile(&format!("profile {k}"))
            .await
            .unwrap();
    }
    records.close().await;
    let path = folder.path().join("trocar.db");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096;
    bytes[middle..middle + 4096].fill(0xee);
    fs::write(&path, &bytes).unwrap();
    let error = refused(folder.path()).await;
    assert_eq!(error.kind, RecordsErrorKind::Damaged, "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

/// A folder with a database of schema 1, as it was written when that was new.
async fn of_schema_1() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    change_by(folder.path(), include_str!("fixtures/schema-1.sql")).await;
    folder
}

/// Changes a database behind the program's back.
async fn change_by(folder: &Path, sql: &'static str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new()
        .filename(folder.join("trocar.db"))
        .create_if_missing(true);
    let mut database = <sqlx::SqliteConnection as sqlx::Connection>::connect_with(&options)
        .await
        .unwrap();
    sqlx::raw_sql(sql).execute(&mut database).await.unwrap();
    sqlx::Connection::close(database).await.unwrap();
}

/// Databases of schema 1 must be readable for ever.
#[tokio::test]
async fn a_database_of_schema_1_is_brought_up_to_date_and_keeps_everything() {
    let folder = of_schema_1().await;
    let records = open(folder.path()).await;
    let profiles = records.profiles().await.unwrap();
    assert_eq!(profiles.len(), 1);
    assert_eq!((profiles[0].name.as_str(), profiles[0].results), ("Ada", 2));
    assert_eq!(profiles[0].created, 1_794_788_666);
    let rows = records.results(None, None).await.unwrap();
    assert_eq!(rows.len(), 2);
    let done = rows.iter().find(|r| r.state == ResultState::Done).unwrap();
    assert_eq!((done.score, done.passed), (Some(81.25), true));
    assert_eq!(done.recording.as_deref(), Some("a.trocrec"));
    // What it knew only in its details is in the list now.
    let values: Vec<_> = done.values.iter().map(|(m, v)| (m.as_str(), *v)).collect();
    assert_eq!(values, [("greatest_force", 2.25), ("time", 31.5)]);
    let detail = records.result(done.id).await.unwrap().unwrap();
    assert_eq!(&detail.row, done);
    assert_eq!(detail.measures[0].id, Measure::Time);
    assert_eq!(detail.advice, ["Pull more slowly."]);
    assert_eq!(detail.trace.len(), 3);
    // The other one was running.
    let broken = rows.iter().find(|r| r.id != done.id).unwrap();
    assert_eq!(broken.state, ResultState::BrokenOff);
    assert!(broken.values.is_empty());

    // It goes on as one that was always new, and what it was is kept beside it.
    let id = records
        .begin(&new_result(profiles[0].id, None))
        .await
        .unwrap();
    let next = performance(90.0, 3);
    records.complete(id, &next, 1.0).await.unwrap();
    records.close().await;
    let copy = tempfile::tempdir().unwrap();
    fs::copy(
        folder.path().join("trocar-schema-1.db"),
        copy.path().join("trocar.db"),
    )
    .unwrap();
    let copied = open(copy.path()).await.results(None, None).await.unwrap();
    assert_eq!(copied.len(), 2);
    let records = open(folder.path()).await;
    assert_eq!(records.results(None, None).await.unwrap().len(), 3);
    assert_eq!(
        records.result(id).await.unwrap().unwrap().row.values["time"],
        31.5
    );
}

#[tokio::test]
async fn a_database_of_schema_1_can_be_backed_up_and_restored() {
    let folder = of_schema_1().await;
    let file = folder.path().join("backup.tar");
    let saved = backup(folder.path(), &file).await.unwrap();
    assert_eq!((saved.profiles, saved.results), (1, 2));
    let other = folder.path().join("other");
    restore(&file, &other, false).await.unwrap();
    let rows = open(&other).await.results(None, None).await.unwrap();
    assert!(rows.iter().any(|r| r.values.get("time") == Some(&31.5)));
}

#[tokio::test]
async fn a_database_of_a_newer_program_is_refused_and_left_alone() {
    let folder = of_schema_1().await;
    open(folder.path()).await.close().await;
    change_by(
        folder.path(),
        "INSERT INTO _sqlx_migrations SELECT 9999, 'later', installed_on, success, checksum, 0 \
         FROM _sqlx_migrations WHERE version = 1",
    )
    .await;
    let path = folder.path().join("trocar.db");
    let before = fs::read(&path).unwrap();
    let error = refused(folder.path()).await;
    assert_eq!(error.kind, RecordsErrorKind::Newer, "{error}");
    assert!(error.problem.contains("9999"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_backup_made_while_it_is_in_use_restores_everything() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let records = open(&data).await;
    let ada = records.create_profile("Ada").await.unwrap();
    let id = records
        .begin(&new_result(ada.id, Some("a.trocrec")))
        .await
        .unwrap();
    fs::write(records.recordings().join("a.trocrec"), b"recorded").unwrap();
    records
        .begin(&new_result(ada.id, Some("gone.trocrec")))
        .await
        .unwrap();
    records
        .complete(id, &performance(90.0, 10), 1.0)
        .await
        .unwrap();
    let file = folder.path().join("backup.tar");
    let saved = backup(&data, &file).await.unwrap();
    assert_eq!(
        (
            saved.profiles,
            saved.results,
            saved.recordings,
            saved.missing
        ),
        (1, 2, 1, 1)
    );
    assert!(
        backup(&data, &file).await.is_err(),
        "a backup was overwritten"
    );

    let other = folder.path().join("other");
    let restored = restore(&file, &other, false).await.unwrap();
    assert_eq!((restored.saved, restored.aside), (saved, None));
    let copy = open(&other).await;
    assert_eq!(
        copy.result(id).await.unwrap(),
        records.result(id).await.unwrap()
    );
    let path = copy.recording_path(id).await.unwrap().unwrap();
    assert_eq!(fs::read(path).unwrap(), b"recorded");

    // A folder in use, or with something in it, is not replaced unasked.
    let error = restore(&file, &other, false).await.unwrap_err();
    assert_eq!(error.kind, RecordsErrorKind::Folder);
    let error = restore(&file, &other, true).await.unwrap_err();
    assert_eq!(error.kind, RecordsErrorKind::Busy, "{error}");
    copy.create_profile("Zoe").await.unwrap();
    copy.close().await;
    let restored = restore(&file, &other, true).await.unwrap();
    assert_eq!(open(&other).await.profiles().await.unwrap().len(), 1);
    let aside = restored.aside.unwrap();
    assert_eq!(open(&aside).await.profiles().await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_is_no_backup_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let records = open(&data).await;
    records.create_profile("Ada").await.unwrap();
    let whole = folder.path().join("whole.tar");
    backup(&data, &whole).await.unwrap();
    let whole = fs::read(whole).unwrap();
    let mut evil = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(4);
    header.set_mode(0o644);
    header.as_gnu_mut().unwrap().name[..12].copy_from_slice(b"../escape.db");
    header.set_cksum();
    evil.append(&header, &b"evil"[..]).unwrap();
    let bad = [
        ("text", b"not a tar file".to_vec()),
        ("empty", Vec::new()),
        ("cut", whole[..whole.len() / 2].to_vec()),
        ("escaping", evil.into_inner().unwrap()),
    ];
    for (name, bytes) in bad {
        let file = folder.path().join("bad.tar");
        fs::write(&file, bytes).unwrap();
        let target = folder.path().join("target");
        let error = restore(&file, &target, false).await.unwrap_err();
        assert_eq!(error.kind, RecordsErrorKind::Damaged, "{name}: {error}");
        assert!(
            !target.exists() && !folder.path().join("escape.db").exists(),
            "{name}"
        );
    }
    assert!(
        backup(&folder.path().join("nothing"), &folder.path().join("x.tar"))
            .await
            .is_err()
    );
}
