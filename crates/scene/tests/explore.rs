//! Scratch.
#![allow(missing_docs)]
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr)]
mod common;
use trocar_scene::Scene;
#[test]
fn explore() {
    let name = std::env::var("SCENE").unwrap();
    let seconds: f64 = std::env::var("SECONDS_").unwrap().parse().unwrap();
    let every: usize = std::env::var("EVERY").unwrap().parse().unwrap();
    let scene = Scene::load(common::scenes().join(name)).unwrap_or_else(|e| panic!("{e}"));
    let mut s = common::simulation(&scene, 1);
    let idle = s.idle_input();
    let n = (seconds / idle.dt) as usize;
    let start = std::time::Instant::now();
    for k in 0..n {
        s.step(&idle);
        for e in &s.report().events {
            println!("{:.3} {}", e.time, e.what);
        }
        if k % every == 0 {
            let tools: Vec<String> = (0..s.model().tools.len())
                .map(|t| {
                    let tip = s.model().tools[t].grasper.tip(&s.poses(t)[0]);
                    format!(
                        "tip {:.2} {:.2} {:.2} mm jaw {:.2} F {:.4} held {} stuck {}",
                        tip.x * 1e3,
                        tip.y * 1e3,
                        tip.z * 1e3,
                        s.handle(t).jaw,
                        s.force(t).length(),
                        s.held(t),
                        s.sticking(t)
                    )
                })
                .collect();
            println!(
                "t {:.2} sub {} contacts {} {}",
                s.state().time,
                s.report().substeps,
                s.report().contacts,
                tools.join(" | ")
            );
        }
    }
    println!("wall {:?} for {} s", start.elapsed(), seconds);
    println!("{:#?}", s.torn());
}
