//! debug
use trocar_scene::*;
fn main() {
    let scene = Scene::load("scenes/gallbladder.toml").unwrap();
    let t = std::time::Instant::now();
    let mut sim = Simulation::new(&scene, 1).unwrap();
    println!("build {:?}", t.elapsed());
    for g in &sim.model().groups {
        println!("{:?}", g.bounds);
    }
    let input = sim.idle_input();
    let mut input = input;
    for _ in 0..500 {
        sim.step(&input);
    }
    for depth in [0.13, 0.19] {
        input.handles[0].depth = depth;
        for _ in 0..500 {
            sim.step(&input);
        }
        let mut sum = Timings::default();
        for _ in 0..5000 {
            sum.add(&sim.step(&input).timings);
        }
        for (n, t) in Stage::NAMES.iter().zip(sum.stage) {
            println!("{n:8} {:.2} us", t / 5000.0 * 1e6);
        }
        println!(
            "total {:.2} substeps {} contacts {} aim {:?} force {}",
            sum.total() / 5000.0 * 1e6,
            sim.report().substeps,
            sim.report().contacts,
            sim.report().aim,
            sim.force(0)
        );
    }
}
