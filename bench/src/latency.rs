//! From a hand's movement to the first frame that shows it: a client on loopback, and the real server as it is.

use crate::{
    client::{BETWEEN, Client, RATE},
    measure::{Effort, Summary, progress},
    row::Row,
};
use anyhow::{Error, Result};
use std::{path::Path, time::Duration};
use trocar_scene::Scene;
use trocar_serve::{
    Options, Server,
    wire::{NewOperation, Role},
};

/// Until everything runs evenly.
const SETTLE: Duration = Duration::from_secs(1);

/// What we want: the slowest of a hundred, ms.
const AIM: f64 = 25.0;

/// All rows.
pub fn latency(effort: Effort) -> Result<Vec<Row>> {
    let messages = effort.repeats(400, 80);
    eprintln!(
        "mesd/latency: {messages} messages, {} ms apart",
        BETWEEN.as_millis()
    );
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/gallbladder.toml");
    let server = Server::start(Options::of_scene(Scene::load(scene)?))?;
    let scene = "scene".to_string();
    let operation = server
        .open(NewOperation::Lab { scene })
        .map_err(Error::msg)?;
    // The client has a thread of its own, as a browser would.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let heard = runtime.block_on(async {
        let mut client = Client::enter(&server.socket(&operation), Role::Controller).await?;
        client.listen(SETTLE).await?;
        let bar = progress("mesd/latency", messages);
        let heard = client.talk(messages, || bar.inc(1)).await;
        bar.finish_and_clear();
        heard
    })?;
    server.stop();

    let case = "loopback client";
    let waits = Summary::of(heard.waits.iter().map(|w| w.as_secs_f64() * 1e3));
    let between = 1e3 / RATE;
    let median = Row::new(case, "input to frame, median", waits, "ms");
    let p99 = Row::single(case, "input to frame, p99", waits.p99, "ms").below(AIM);
    let greatest = Row::single(case, "input to frame, greatest", waits.max, "ms");
    let rate = heard.frames as f64 / heard.seconds;
    Ok(vec![
        median.against("time between frames", between),
        p99,
        greatest,
        // A hundredth less would be the grid of the clock; frames that are lost are counted apart.
        Row::single(case, "frames received", rate, "1/s").at_least(0.99 * RATE),
        Row::single(case, "frames dropped", f64::from(heard.dropped), "").at_most(0.0),
        Row::new(
            case,
            "between frames",
            Summary::of(heard.gaps.iter().map(|g| g.as_secs_f64() * 1e3)),
            "ms",
        )
        .against("time between frames", between),
        Row::single(
            case,
            "simulated per second",
            heard.simulated / heard.seconds,
            "s",
        ),
    ])
}
