//! debug
use trocar_dynamics::*;
use trocar_scene::*;
fn time(n: u32, mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let t = std::time::Instant::now();
        for _ in 0..n {
            f();
        }
        best = best.min(t.elapsed().as_secs_f64() / f64::from(n) * 1e6);
    }
    best
}
fn main() {
    let scene = Scene::load("scenes/gallbladder.toml").unwrap();
    let sim = Simulation::new(&scene, 1).unwrap();
    let field = Field {
        time: 0.0,
        gravity: glam::DVec3::Y,
    };
    for t in 0..2 {
        let m = sim.model().tissues[t].matter;
        let any: &dyn std::any::Any = &*sim.model().matters[m.index()];
        let net = any.downcast_ref::<trocar_soft::Net>().unwrap();
        let mut nodes = net.rest().clone();
        println!(
            "{t} force {:.2} elements {:.2} plan {:.2} advance {:.2}",
            time(2000, || net.force(&mut nodes, &field)),
            time(2000, || {
                net.element_forces(&mut nodes);
                std::hint::black_box(&mut nodes);
            }),
            time(2000, || net.plan(&mut nodes, 1e-3)),
            {
                let n2 = nodes.clone();
                time(2000, || {
                    net.advance(&mut nodes, 1e-9);
                    std::hint::black_box(&n2);
                })
            }
        );
    }
}
