//! Many viewers of one operation, and many operations at once: what each of them notices, and what it costs.
//!
//! The server is a process of its own, so that its time can be told from that of its clients. They run on the same
//! machine, all on one thread: what they take, the server does not get.

use crate::{
    client::{BETWEEN, Client, Heard, RATE},
    measure::{Effort, Summary},
    row::Row,
};
use anyhow::{Context, Error, Result, bail};
use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};
use tokio::task::JoinSet;
use trocar_scene::Scene;
use trocar_serve::{
    Options, Server,
    wire::{NewOperation, Role},
};

/// Until everything runs evenly.
const SETTLE: Duration = Duration::from_secs(1);

/// A frame is on time if it comes within so many times the time between two.
const ON_TIME: f64 = 1.5;

/// What we want of the slowest of a hundred, with eight viewers, ms.
const LATENCY: f64 = 30.0;

/// What we want of the simulation with 32 viewers, against its rate with one.
const UNSLOWED: f64 = 0.99;

/// All rows.
pub fn serve(effort: Effort) -> Result<Vec<Row>> {
    let messages = effort.repeats(270, 80);
    let mut rows = Vec::new();
    let mut alone = None;
    for viewers in [1, 2, 4, 8, 16, 32] {
        let case = counted(viewers, "viewer");
        let measured = measure(1, viewers, messages)?;
        let rate = *alone.get_or_insert(measured.rate);
        rows.extend(measured.rows(&case, viewers == 8, (viewers == 32).then_some(rate)));
    }
    for operations in [1, 2, 4, 8] {
        let case = counted(operations, "operation");
        rows.extend(measure(operations, 1, messages)?.rows(&case, false, None));
    }
    Ok(rows)
}

/// Names a case, and says that its turn has come.
fn counted(count: usize, what: &str) -> String {
    let case = match count {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    eprintln!("serve: {case}");
    case
}

/// What was measured in one case.
struct Measured {
    /// Of all frames, those on time.
    on_time: f64,
    dropped: u32,
    /// ms.
    waits: Summary,
    /// Seconds of the server's process in a second.
    processor: f64,
    /// Simulated seconds in a second, of the slowest operation.
    rate: f64,
}

impl Measured {
    fn rows(&self, case: &str, is_aim: bool, alone: Option<f64>) -> Vec<Row> {
        let mut dropped = Row::single(case, "frames dropped", f64::from(self.dropped), "");
        let mut p99 = Row::single(case, "input to frame, p99", self.waits.p99, "ms");
        if is_aim {
            dropped = dropped.at_most(0.0);
            p99 = p99.below(LATENCY);
        }
        let mut rate = Row::single(case, "simulated per second", self.rate, "s");
        if let Some(alone) = alone {
            rate = rate
                .against("with 1 viewer", alone)
                .at_least(UNSLOWED * alone);
        }
        vec![
            Row::single(case, "frames on time", 100.0 * self.on_time, "%"),
            dropped,
            Row::new(case, "input to frame, median", self.waits, "ms"),
            p99,
            Row::single(case, "server's time on a core", 100.0 * self.processor, "%"),
            rate,
        ]
    }
}

/// Measures `operations`, each with a controller and `viewers` in all.
fn measure(operations: usize, viewers: usize, messages: usize) -> Result<Measured> {
    let host = Host::start(operations)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (heard, processor) = runtime.block_on(attend(&host, viewers, messages))?;
    let gaps = heard.iter().flat_map(|h| &h.gaps);
    let in_time = |gap: &&Duration| gap.as_secs_f64() <= ON_TIME / RATE;
    let waits = heard.iter().flat_map(|h| &h.waits);
    let rates = heard.iter().map(|h| h.simulated / h.seconds);
    Ok(Measured {
        on_time: gaps.clone().filter(in_time).count() as f64 / gaps.count().max(1) as f64,
        dropped: heard.iter().map(|h| h.dropped).sum(),
        waits: Summary::of(waits.map(|w| w.as_secs_f64() * 1e3)),
        processor,
        rate: rates.fold(f64::INFINITY, f64::min),
    })
}

/// Lets all clients come and stay for the time that the messages take.
async fn attend(host: &Host, viewers: usize, messages: usize) -> Result<(Vec<Heard>, f64)> {
    let mut controllers = Vec::new();
    let mut others = Vec::new();
    for socket in &host.sockets {
        controllers.push(Client::enter(socket, Role::Controller).await?);
        for _ in 1..viewers {
            others.push(Client::enter(socket, Role::Viewer).await?);
        }
    }
    let mut settling = JoinSet::new();
    for mut client in others {
        settling.spawn(async move {
            client.listen(SETTLE).await?;
            Ok::<_, Error>((client, false))
        });
    }
    for mut client in controllers {
        settling.spawn(async move {
            client.listen(SETTLE).await?;
            Ok((client, true))
        });
    }
    let mut settled = Vec::new();
    while let Some(client) = settling.join_next().await {
        settled.push(client??);
    }
    let began = std::time::Instant::now();
    let before = host.processor_seconds();
    let mut work = JoinSet::new();
    for (mut client, controls) in settled {
        work.spawn(async move {
            if controls {
                client.talk(messages, || {}).await
            } else {
                client.listen(BETWEEN * messages as u32).await
            }
        });
    }
    let mut heard = Vec::new();
    while let Some(one) = work.join_next().await {
        heard.push(one??);
    }
    let used = match (before, host.processor_seconds()) {
        (Some(before), Some(after)) => after - before,
        _ => f64::NAN,
    };
    Ok((heard, used / began.elapsed().as_secs_f64()))
}

fn scene() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/gallbladder.toml")
}

/// This program again, as a server; it ends with this one, or when dropped.
struct Host {
    process: Child,
    /// While this is open, the server goes on.
    _lifeline: Option<ChildStdin>,
    sockets: Vec<String>,
}

impl Host {
    fn start(operations: usize) -> Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .arg("--host")
            .arg(operations.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("the server can't be started")?;
        let output = process.stdout.take().context("the server has no output")?;
        let mut host = Self {
            _lifeline: process.stdin.take(),
            process,
            sockets: Vec::new(),
        };
        for line in BufReader::new(output).lines().take(operations) {
            host.sockets.push(line?);
        }
        if host.sockets.len() < operations {
            bail!("the server did not start");
        }
        Ok(host)
    }

    /// Time that the server's threads have had, s; none where the system does not tell.
    fn processor_seconds(&self) -> Option<f64> {
        let path = format!("/proc/{}/stat", self.process.id());
        let text = std::fs::read_to_string(path).ok()?;
        // The name before may hold anything but ends with the last bracket.
        let fields = text.rsplit_once(')')?.1.split_whitespace();
        let ticks: Vec<f64> = fields.skip(11).take(2).flat_map(str::parse).collect();
        // There are a hundred ticks in a second on every Linux.
        (ticks.len() == 2).then(|| ticks.iter().sum::<f64>() / 100.0)
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Serves so many operations until standard input ends; prints the address of each.
pub fn host(operations: usize) -> Result<()> {
    let server = Server::start(Options::of_scene(Scene::load(scene())?))?;
    for _ in 0..operations {
        let scene = "scene".to_string();
        let operation = server
            .open(NewOperation::Lab { scene })
            .map_err(Error::msg)?;
        println!("{}", server.socket(&operation));
    }
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    server.stop();
    Ok(())
}
