//! A server that is killed loses at most a second; one that can't keep its records says so and does not start.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use sqlx::Connection;
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};
use trocar_scene::recording::Recording;

const SCENE: &str = include_str!("../../serve/tests/common/scene.toml");
const EXERCISE: &str = include_str!("../../serve/tests/common/exercise.toml");

/// Long enough for a very busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with an exercise and, later, with data.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("exercises/be-there.toml", EXERCISE),
            ("exercises/broken.toml", "trocar = 1\nnonsense"),
            ("scenes/bench-top.toml", SCENE),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, data: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trocar"));
        command
            .args(["serve", "--port", "0", "--data-dir"])
            .arg(data)
            .arg("--scenes")
            .arg(self.path("scenes"))
            .arg("--exercises")
            .arg(self.path("exercises"))
            .stdin(Stdio::null());
        command
    }

    fn start(&self) -> Served {
        let mut process = self
            .command(&self.path("data"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = process.stdout.take().unwrap();
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .unwrap_or_else(|| panic!("{line:?}"))
            .parse()
            .unwrap();
        Served { process, address }
    }

    /// The newest recording.
    fn newest_recording(&self) -> Option<PathBuf> {
        let files = fs::read_dir(self.path("data/recordings")).ok()?;
        let made = |f: &fs::DirEntry| f.metadata().unwrap().created().unwrap();
        let newest = files.map(|f| f.unwrap()).max_by_key(made)?;
        Some(newest.path())
    }
}

/// A server; killed when dropped.
struct Served {
    process: Child,
    address: SocketAddr,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Served {
    fn call(&self, method: &str, path: &str, body: &str) -> (u16, serde_json::Value) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn enter(&self, operation: &str) -> WebSocket<TcpStream> {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let url = format!("ws://{}/ws/{operation}", self.address);
        client(url, stream).unwrap().0
    }
}

/// Simulated time of the next frame, s.
fn time(socket: &mut WebSocket<TcpStream>) -> f64 {
    loop {
        if let Message::Binary(bytes) = socket.read().unwrap() {
            return f64::from_le_bytes(*bytes[16..].first_chunk().unwrap());
        }
    }
}

/// Numbers that look random, the same in every run; the machine adds chance enough.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// How often it is killed: 100 times in the long run.
fn rounds() -> usize {
    let number = std::env::var("TROCAR_KILLS")
        .ok()
        .and_then(|n| n.parse().ok());
    let is_long = std::env::var_os("TROCAR_LONG").is_some_and(|v| v == "1");
    number.unwrap_or(if is_long { 100 } else { 6 })
}

#[test]
fn killed_at_any_moment_it_loses_at_most_a_second() {
    let place = Place::new();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut begun = 0;
    for round in 0..rounds() {
        let mut server = place.start();
        let profile = if round == 0 {
            let (status, profile) = server.call("POST", "/api/profiles", r#"{"name":"Ann"}"#);
            assert_eq!(status, 201, "{profile}");
            profile["id"].as_i64().unwrap()
        } else {
            check_results(&server, begun)
        };
        let (status, operation) = server.call(
            "POST",
            "/api/operations",
            &format!(
                r#"{{"kind":"exercise","exercise":"be-there","level":"long","profile":{profile}}}"#
            ),
        );
        assert_eq!(status, 201, "{operation}");
        let mut socket = server.enter(operation["id"].as_str().unwrap());
        for text in [
            r#"{"type":"resume"}"#,
            r#"{"type":"handle","sequence":1,"instrument":0,"yaw":0.1,"pitch":0,"depth":0.06,"roll":0,"jaw":0.7}"#,
        ] {
            socket.send(Message::text(text)).unwrap();
        }
        let began = Instant::now();
        let long = Duration::from_millis(dice.below(2500));
        let mut seen = time(&mut socket);
        while began.elapsed() < long {
            seen = time(&mut socket);
        }
        // In the midst of what an end or a new beginning writes, too.
        let last = match round % 3 {
            0 => Some(r#"{"type":"finish"}"#),
            1 => Some(r#"{"type":"restart"}"#),
            _ => None,
        };
        if let Some(text) = last {
            socket.send(Message::text(text)).unwrap();
            std::thread::sleep(Duration::from_micros(dice.below(40_000)));
        }
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        drop(server);
        if seen > 1.0 {
            begun += 1;
        }
        if round % 3 != 1 && seen > 1.0 {
            let recording = Recording::read(place.newest_recording().unwrap()).unwrap();
            let kept = recording.steps() as f64 * 0.002;
            assert!(!recording.damaged);
            assert!(kept > seen - 1.0, "round {round}: {kept} s of {seen} s");
        }
    }
    check_results(&place.start(), begun);
}

/// Nothing runs any more, and everything that lasted for a second is there. Gives the profile.
fn check_results(server: &Served, least: usize) -> i64 {
    let (status, rows) = server.call("GET", "/api/results", "");
    assert_eq!(status, 200, "{rows}");
    let rows = rows.as_array().unwrap();
    assert!(rows.len() >= least, "{} of {least}", rows.len());
    for row in rows {
        let ending = row["ending"].as_str().unwrap();
        assert!(["broken_off", "given_up"].contains(&ending), "{row}");
        assert_eq!(row["score"].is_null(), ending == "broken_off", "{row}");
    }
    let (_, profiles) = server.call("GET", "/api/profiles", "");
    profiles[0]["id"].as_i64().unwrap()
}

/// What a server says that must not start.
fn failure(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().unwrap();
    let told = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!status.success(), "{told}");
    assert!(told.contains("error: "), "{told}");
    told
}

#[test]
fn a_folder_that_can_not_be_used_is_told_and_left_alone() {
    let place = Place::new();
    let file = place.path("file");
    fs::write(&file, "mine").unwrap();
    let told = failure(&mut place.command(&file));
    assert!(told.contains("file"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");

    // No one may make a folder there, not even an administrator.
    if cfg!(target_os = "linux") {
        let told = failure(&mut place.command(Path::new("/proc/trocar")));
        assert!(told.contains("/proc/trocar"), "{told}");
    }

    let foreign = place.path("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(
        foreign.join("trocar.db"),
        "this is no database at all, but long enough to be one",
    )
    .unwrap();
    let before = fs::read(foreign.join("trocar.db")).unwrap();
    let told = failure(&mut place.command(&foreign));
    assert!(told.contains("trocar.db"), "{told}");
    assert_eq!(fs::read(foreign.join("trocar.db")).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_folder_that_became_read_only_is_told_and_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    drop(place.start());
    let data = place.path("data");
    let allow = |mode| fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    // An administrator may write anywhere.
    if fs::write(data.join("probe"), "").is_err() {
        let told = failure(&mut place.command(&data));
        assert!(told.contains("data"), "{told}");
    }
    allow(0o755);
    drop(place.start());
}

#[test]
fn a_database_of_a_newer_program_is_told_and_left_alone() {
    let place = Place::new();
    drop(place.start());
    let file = place.path("data/trocar.db");
    let age = async {
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&file);
        let mut database = sqlx::sqlite::SqliteConnection::connect_with(&options)
            .await
            .unwrap();
        sqlx::query("UPDATE _sqlx_migrations SET version = 9999 WHERE version = (SELECT max(version) FROM _sqlx_migrations)")
            .execute(&mut database)
            .await
            .unwrap();
        database.close().await.unwrap();
    };
    tokio::runtime::Runtime::new().unwrap().block_on(age);
    let before = fs::read(&file).unwrap();
    let told = failure(&mut place.command(&place.path("data")));
    assert!(told.contains("newer") && told.contains("9999"), "{told}");
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn two_servers_do_not_share_a_folder() {
    let place = Place::new();
    let first = place.start();
    let told = failure(&mut place.command(&place.path("data")));
    assert!(
        told.contains("another Trocar has this folder open"),
        "{told}"
    );
    assert_eq!(first.call("GET", "/api/health", "").0, 200);
    drop(first);
    place.start();
}

#[test]
fn what_is_broken_is_left_out_with_its_place() {
    let place = Place::new();
    let mut process = place
        .command(&place.path("data"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let errors = process.stderr.take().unwrap();
    let told = BufReader::new(errors)
        .lines()
        .map_while(Result::ok)
        .find(|l| l.contains("broken.toml"));
    let _ = process.kill();
    let _ = process.wait();
    assert!(told.unwrap().contains("broken.toml:2:"));

    let server = place.start();
    let (_, exercises) = server.call("GET", "/api/exercises", "");
    let ids: Vec<&str> = exercises
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["id"].as_str().unwrap())
        .collect();
    assert!(
        ids.contains(&"be-there") && !ids.contains(&"broken"),
        "{ids:?}"
    );
    let (_, scenes) = server.call("GET", "/api/scenes", "");
    let named = |id: &str| scenes.as_array().unwrap().iter().any(|s| s["id"] == id);
    assert!(named("bench-top") && named("gallbladder"), "{scenes}");
}
