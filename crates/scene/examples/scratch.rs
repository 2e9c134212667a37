//! Scratch.
use glam::DVec3;
use std::fmt::Write;
use std::time::Instant;
use trocar_scene::{Scene, Simulation, event::Happening};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let kind = &a[1];
    let n: usize = a[2].parse().unwrap();
    let solver = &a[3];
    let tol: f64 = a[4].parse().unwrap();
    let secs: f64 = a[5].parse().unwrap();
    let h: f64 = a.get(6).map_or(0.01, |x| x.parse().unwrap());
    let verbose = a.get(7).is_some();
    let mut t = format!(
        "trocar = 1\n[world]\nstep = {h:?}\nreach = 10000.0\nsolver = \"{solver}\"\ntolerance = {tol:?}\niterations = 10000\nsleep = false\n"
    );
    let l = |v: DVec3| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
    // links: (parent, dir)
    let mut ends: Vec<(DVec3, DVec3, u32)> = vec![];
    for i in 0..n {
        let (start, dir, parent, depth) = if kind == "chain" {
            if i == 0 {
                (DVec3::ZERO, DVec3::X, None, 0)
            } else {
                (ends[i - 1].0, DVec3::X, Some(i - 1), 0)
            }
        } else {
            if i == 0 {
                (DVec3::ZERO, DVec3::new(1.0, -1.0, 0.0).normalize(), None, 0)
            } else {
                let p = (i - 1) / 2;
                let s = if i % 2 == 0 { 0.4 } else { -0.4 };
                let d = ends[p].1;
                let axis = if ends[p].2 % 2 == 0 {
                    DVec3::Z
                } else {
                    d.any_orthonormal_vector()
                };
                let q = trocar_math::rotation::from_axis_angle(axis, s);
                (ends[p].0, (q * d).normalize(), Some(p), ends[p].2 + 1)
            }
        };
        ends.push((start + dir * 0.2, dir, depth));
        let q = glam::DQuat::from_rotation_arc(DVec3::X, dir);
        writeln!(t, "[[body]]\nname = \"b{i}\"\nform = {{ box = [0.1, 0.02, 0.02] }}\nmass = 0.5\nposition = {}\nrotation = {}\ncollide = false", l(start + dir * 0.1), l(trocar_math::rotation::to_scaled_axis(q))).unwrap();
        let pa = match parent {
            Some(p) => format!("{{ body = \"b{p}\", at = [0.1, 0.0, 0.0] }}"),
            None => "{ world = [0.0, 0.0, 0.0] }".into(),
        };
        writeln!(
            t,
            "[[joint]]\nkind = \"ball\"\na = {pa}\nb = {{ body = \"b{i}\", at = [-0.1, 0.0, 0.0] }}"
        )
        .unwrap();
    }
    let scene = Scene::from_text("x.toml", &t).unwrap();
    let mut sim = Simulation::new(&scene, 1).unwrap();
    let input = sim.idle_input();
    let bodies = sim.model().bodies.unwrap();
    let inertia = {
        let h = DVec3::new(0.1, 0.02, 0.02);
        let s = h * h;
        DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0 * 0.5
    };
    let looks: Vec<_> = sim.model().looks.iter().map(|l| (l.at, l.frame)).collect();
    let energy = |sim: &Simulation| {
        let nd = &sim.state().nodes[bodies.index()];
        let mut e = 0.0;
        for ((_, node), frame) in &looks {
            let i = *node as usize;
            let turn = nd.orientation[i] * frame.rotation.conjugate();
            let w = turn.conjugate() * nd.spin[i];
            e += 0.25 * nd.velocity[i].length_squared()
                + 0.5 * w.dot(inertia * w)
                + 0.5 * 9.81 * nd.position[i].y;
        }
        e
    };
    let e0 = energy(&sim);
    let scale: f64 = 9.81 * 0.5 * n as f64 * (if kind == "chain" { 0.1 * n as f64 } else { 0.5 });
    let steps = (secs / h).round() as usize;
    let mut times = vec![];
    let (mut halv, mut quar, mut its, mut worst, mut lo, mut hi) =
        (0, 0, 0u64, 0.0f64, 0.0f64, 0.0f64);
    for k in 0..steps {
        let b = Instant::now();
        let r = sim.step(&input);
        times.push(b.elapsed().as_secs_f64() * 1e6);
        halv += r.halvings;
        its += u64::from(r.aim.iterations);
        worst = worst.max(r.aim.error);
        quar += r
            .events
            .iter()
            .filter(|e| matches!(e.what, Happening::Quarantined { .. }))
            .count();
        let e = (energy(&sim) - e0) / scale * 100.0;
        lo = lo.min(e);
        hi = hi.max(e);
        if verbose && (k + 1) % (steps / 20).max(1) == 0 {
            println!(
                "t {:6.2} E {:+.3}% halvings {halv} its {:.2} worst {worst:.1e} quar {quar}",
                (k + 1) as f64 * h,
                e,
                its as f64 / (k + 1) as f64
            );
        }
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{kind} {n} {solver} {tol:e}: median {:.1} us p99 {:.1} mean {:.1}; E {:+.3}%..{:+.3}% halvings {halv} its {:.2} worst {worst:.1e} quar {quar}",
        times[steps / 2],
        times[steps * 99 / 100],
        times.iter().sum::<f64>() / steps as f64,
        lo,
        hi,
        its as f64 / steps as f64
    );
}
