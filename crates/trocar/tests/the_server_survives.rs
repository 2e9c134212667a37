//! A server that is killed loses at most a second; one that can't keep its records says so and does not start.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use sqlx::Connection;
use std::{
    collections::BTreeSet,
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

    fn recordings(&self) -> BTreeSet<PathBuf> {
        let files = fs::read_dir(self.path("data/recordings")).unwrap();
        files.map(|f| f.unwrap().path()).collect()
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

    /// Stops it as Ctrl-C does.
    fn stop(mut self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").arg(&id).status().unwrap().success());
        assert!(self.process.wait().unwrap().success());
    }

    /// Makes a profile, and gives its number.
    fn profile(&self, name: &str) -> i64 {
        let (status, profile) =
            self.call("POST", "/api/profiles", &format!(r#"{{"name":"{name}"}}"#));
        assert_eq!(status, 201, "{profile}");
        profile["id"].as_i64().unwrap()
    }

    /// Opens the exercise, and begins to operate.
    fn operate(&self, profile: i64) -> WebSocket<TcpStream> {
        let (status, operation) = self.call(
            "POST",
            "/api/operations",
            &format!(
                r#"{{"kind":"exercise","exercise":"be-there","level":"long","profile":{profile}}}"#
            ),
        );
        assert_eq!(status, 201, "{operation}");
        let mut socket = self.enter(operation["id"].as_str().unwrap());
        for text in [
            r#"{"type":"resume"}"#,
            r#"{"type":"handle","sequence":1,"instrument":0,"yaw":0.1,"pitch":0,"depth":0.06,"roll":0,"jaw":0.7}"#,
        ] {
            socket.send(Message::text(text)).unwrap();
        }
        socket
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
            server.profile("Ann")
        } else {
            check_results(&server, begun)
        };
        let before = place.recordings();
        let mut socket = server.operate(profile);
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
        // A restart may have begun a second one, of which there may be nothing yet; the first is there in any case.
        let is_first = |path: &&PathBuf| path.to_string_lossy().ends_with("-0.trocrec");
        let recorded = place.recordings();
        let first = recorded.difference(&before).find(is_first);
        if seen > 1.0 {
            let recording = Recording::read(first.unwrap()).unwrap();
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
    assert_eq!(status.code(), Some(1), "{told}");
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

/// A small disk in memory; gone when dropped. Only an administrator can have one.
struct Disk {
    path: PathBuf,
}

impl Disk {
    /// None if it can't be had here, which is said.
    fn mount(path: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&path).unwrap();
        let mounted = cfg!(target_os = "linux")
            && Command::new("mount")
                .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
                .arg(&path)
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|s| s.success());
        if !mounted {
            println!("SKIPPED: no disk can be mounted here; run it as root on Linux");
            return None;
        }
        Some(Self { path })
    }

    fn remount(&self, how: &str) {
        let done = Command::new("mount")
            .args(["-o", &format!("remount,{how}")])
            .arg(&self.path)
            .status();
        assert!(done.unwrap().success());
    }

    /// Takes all the room that is left.
    fn fill(&self) -> Filling {
        let path = self.path.join("filling");
        let mut file = fs::File::create(&path).unwrap();
        while file.write(&[1; 4096]).is_ok_and(|n| n > 0) {}
        Filling { path }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).status();
    }
}

/// Takes all the room on a disk, until it is dropped.
struct Filling {
    path: PathBuf,
}

impl Drop for Filling {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Names of the profiles.
fn names(server: &Served) -> Vec<String> {
    let (_, profiles) = server.call("GET", "/api/profiles", "");
    let name = |p: &serde_json::Value| p["name"].as_str().unwrap().into();
    profiles.as_array().unwrap().iter().map(name).collect()
}

#[cfg(unix)]
#[test]
fn a_folder_that_became_read_only_is_told_and_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    place.start().profile("Ann");
    let data = place.path("data");
    let allow = |mode| fs::set_permissions(&data, fs::Permissions::from_mode(mode)).unwrap();
    allow(0o555);
    // An administrator may write anywhere; the next test is for him.
    if fs::write(data.join("probe"), "").is_err() {
        let told = failure(&mut place.command(&data));
        assert!(told.contains("data"), "{told}");
    }
    allow(0o755);
    assert_eq!(names(&place.start()), ["Ann"]);
}

#[test]
fn a_disk_that_became_read_only_is_told_and_left_alone() {
    let place = Place::new();
    let data = place.path("data");
    let Some(disk) = Disk::mount(data.clone(), "8m") else {
        return;
    };
    place.start().profile("Ann");
    let contents = || fs::read(data.join("trocar.db")).unwrap();
    let before = contents();
    disk.remount("ro");
    let told = failure(&mut place.command(&data));
    assert!(
        told.contains("data") && told.contains("Allow this user to write there"),
        "{told}"
    );
    assert_eq!(contents(), before);
    disk.remount("rw");
    assert_eq!(names(&place.start()), ["Ann"]);
}

#[test]
fn a_disk_that_is_full_at_the_start_is_told_and_damages_nothing() {
    let place = Place::new();
    let data = place.path("data");
    let Some(disk) = Disk::mount(data.clone(), "1500k") else {
        return;
    };
    let told_full = || {
        let filling = disk.fill();
        let told = failure(&mut place.command(&data));
        assert!(told.contains("the disk is full"), "{told}");
        assert!(told.contains("Make room on the disk"), "{told}");
        drop(filling);
    };
    // Before there is anything; after a kill, which leaves a log; and after an orderly end.
    told_full();
    let server = place.start();
    server.profile("Ann");
    drop(server);
    told_full();
    let server = place.start();
    assert_eq!(names(&server), ["Ann"]);
    server.profile("Bea");
    server.stop();
    told_full();
    assert_eq!(names(&place.start()), ["Ann", "Bea"]);
}

/// The next message that contains all of `words`.
fn message(socket: &mut WebSocket<TcpStream>, words: &[&str]) -> String {
    let began = Instant::now();
    loop {
        if let Message::Text(text) = socket.read().unwrap()
            && words.iter().all(|w| text.contains(w))
        {
            return text.to_string();
        }
        assert!(began.elapsed() < PATIENCE, "nobody says {words:?}");
    }
}

#[test]
fn a_disk_that_fills_up_is_told_stops_nobody_and_damages_nothing() {
    let place = Place::new();
    let Some(disk) = Disk::mount(place.path("data"), "8m") else {
        return;
    };
    let server = place.start();
    let ann = server.profile("Ann");
    let mut socket = server.operate(ann);
    while time(&mut socket) < 1.5 {}
    let filling = disk.fill();
    // The operation goes on without its recording, and can be ended; what could not be kept is said.
    message(&mut socket, &["Not recorded any more", "the disk is full"]);
    let now = time(&mut socket);
    while time(&mut socket) < now + 0.2 {}
    socket.send(Message::text(r#"{"type":"finish"}"#)).unwrap();
    let told = message(&mut socket, &[r#""type":"finished""#]);
    assert!(told.contains("could not be kept"), "{told}");
    assert!(told.contains("the disk is full"), "{told}");
    drop(socket);
    let (status, answer) = server.call("POST", "/api/profiles", r#"{"name":"Bea"}"#);
    assert_eq!(status, 507, "{answer}");
    let said = answer["error"].as_str().unwrap();
    assert!(said.starts_with("The disk is full."), "{said}");

    // With room again it works as before, without a new start.
    drop(filling);
    let mut socket = server.operate(ann);
    while time(&mut socket) < 0.5 {}
    socket.send(Message::text(r#"{"type":"finish"}"#)).unwrap();
    let told = message(&mut socket, &[r#""type":"finished""#]);
    assert!(told.contains(r#""problem":null"#), "{told}");
    drop(socket);
    drop(server);

    // Everything is there that was kept, the beginning of the recording too.
    let server = place.start();
    assert_eq!(names(&server), ["Ann"]);
    assert_eq!(check_results(&server, 2), ann);
    let lengths: Vec<f64> = place
        .recordings()
        .iter()
        .map(|path| Recording::read(path).unwrap().steps() as f64 * 0.002)
        .collect();
    assert!(
        lengths.len() == 2 && lengths.iter().all(|l| *l > 0.4),
        "{lengths:?}"
    );
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
