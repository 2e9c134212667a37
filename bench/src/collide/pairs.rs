//! Two surfaces that deform and overlap slightly: boxes anew and all pairs of triangles that touch.

use super::{
    meshes::{FRAMES, Mesh, organ},
    peers::{Obvhs, Parry, Shell, Treeless},
};
use crate::{
    measure::{Effort, Summary, hush, interleave, rouse, time},
    row::Row,
};
use anyhow::{Result, ensure};
use glam::DVec3;
use std::cell::RefCell;
use trocar_collide::tree::{Search, Side, Tree};
use trocar_dynamics::Crew;
use trocar_math::{Alone, Workers};

/// Nodes around, and rings: 4.8, 19 and 99 thousand triangles.
pub const SIZES: [(u32, u32); 3] = [(70, 34), (140, 69), (316, 157)];

/// What we want of trees beside parry's, and of a second core with the largest surfaces.
const LEAD: f64 = 2.0;
const SPEEDUP: f64 = 1.7;

/// Which of the jobs are done by two threads.
const SHARED: [usize; 2] = [1, 8];

/// Our trees over two surfaces.
struct Ours<'a> {
    meshes: &'a [Mesh; 2],
    trees: [Tree; 2],
    search: Search,
}

impl<'a> Ours<'a> {
    fn new(meshes: &'a [Mesh; 2]) -> Result<Self> {
        let [a, b] = meshes;
        Ok(Self {
            meshes,
            trees: [
                Tree::new(&a.triangles, &a.frames[0])?,
                Tree::new(&b.triangles, &b.frames[0])?,
            ],
            search: Search::default(),
        })
    }

    fn refit(&mut self, frame: usize, workers: &impl Workers) -> Result<()> {
        for (tree, mesh) in self.trees.iter_mut().zip(self.meshes) {
            tree.refit_by(&mesh.frames[frame], workers)?;
        }
        Ok(())
    }

    fn pairs(&mut self, frame: usize, workers: &impl Workers) -> &[[u32; 2]] {
        let side = |k: usize| Side {
            tree: &self.trees[k],
            positions: &self.meshes[k].frames[frame],
        };
        self.search.between_by(side(0), side(1), workers)
    }
}

/// Rows.
pub fn pairs(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let crew = Crew::new(2);
    for (around, count) in SIZES {
        let apart = DVec3::new(0.097, 0.004, 0.002);
        let meshes = [
            organ(around, count, DVec3::splat(0.1)),
            organ(around, count, DVec3::splat(0.1) + apart),
        ];
        rows.extend(one_size(&meshes, &crew, effort)?);
    }
    Ok(rows)
}

fn one_size(meshes: &[Mesh; 2], crew: &Crew, effort: Effort) -> Result<Vec<Row>> {
    let triangles = meshes[0].triangles.len();
    let case = format!("collide/pairs, 2 × {triangles} triangles");
    let ours = RefCell::new(Ours::new(meshes)?);
    let parry = RefCell::new([
        Parry::new(&meshes[0].triangles, &meshes[0].frames[0])?,
        Parry::new(&meshes[1].triangles, &meshes[1].frames[0])?,
    ]);
    let obvhs =
        RefCell::new([0, 1].map(|k| Obvhs::new(&meshes[k].triangles, &meshes[k].frames[0])));
    let treeless = RefCell::new(Treeless::default());
    let out = RefCell::new(Vec::new());

    // All must find the same, in every frame and with every number of threads.
    let mut found = 0;
    for frame in 0..FRAMES {
        let mut ours = ours.borrow_mut();
        let mut out = out.borrow_mut();
        ours.refit(frame, &Alone)?;
        let wanted = ours.pairs(frame, &Alone).to_vec();
        found += wanted.len();
        ours.refit(frame, crew)?;
        ensure!(
            wanted == ours.pairs(frame, crew),
            "two threads find other pairs than one"
        );
        parry_frame(&mut parry.borrow_mut(), meshes, frame, &mut out);
        ensure!(wanted == *out, "parry finds other pairs");
        obvhs_frame(&mut obvhs.borrow_mut(), meshes, frame, &mut out);
        ensure!(wanted == *out, "obvhs finds other pairs");
        treeless.borrow_mut().grid(shells(meshes, frame), &mut out);
        ensure!(wanted == *out, "a uniform grid finds other pairs");
        treeless.borrow_mut().sweep(shells(meshes, frame), &mut out);
        ensure!(wanted == *out, "sweep and prune finds other pairs");
    }

    let mut at = [0_usize; 9];
    let mut next = |k: usize| {
        at[k] = (at[k] + 3) % FRAMES;
        at[k]
    };
    let frames: RefCell<&mut dyn FnMut(usize) -> usize> = RefCell::new(&mut next);
    let frame = |k: usize| (frames.borrow_mut())(k);
    let mut build = || time(|| drop(Tree::new(&meshes[0].triangles, &meshes[0].frames[0])));
    let mut build_parry = || time(|| drop(Parry::new(&meshes[0].triangles, &meshes[0].frames[0])));
    let mut build_obvhs = || time(|| drop(Obvhs::new(&meshes[0].triangles, &meshes[0].frames[0])));
    let builds = interleave(
        "collide/pairs build",
        effort.repeats(15, 3),
        &mut [&mut build, &mut build_parry, &mut build_obvhs],
    );
    let both = |k: usize, workers: &dyn Fn(usize) -> Result<()>| {
        let f = frame(k);
        hush();
        rouse(SHARED.contains(&k).then_some(crew));
        // A refused refit would be no measurement; it was tried above.
        time(|| drop(workers(f)))
    };
    let one_thread = |f: usize| -> Result<()> {
        let mut ours = ours.borrow_mut();
        ours.refit(f, &Alone)?;
        ours.pairs(f, &Alone);
        Ok(())
    };
    let two_threads = |f: usize| -> Result<()> {
        let mut ours = ours.borrow_mut();
        ours.refit(f, crew)?;
        ours.pairs(f, crew);
        Ok(())
    };
    // Two searches that share nothing but the machine: more than this it does not give.
    let twins = RefCell::new([(Ours::new(meshes)?, Ok(())), (Ours::new(meshes)?, Ok(()))]);
    let side_by_side = |f: usize| -> Result<()> {
        let mut twins = twins.borrow_mut();
        Workers::each(crew, &mut *twins, |(ours, done)| {
            *done = ours.refit(f, &Alone);
            ours.pairs(f, &Alone);
        });
        Ok(())
    };
    let refit_only = |f: usize| ours.borrow_mut().refit(f, &Alone);
    let with_parry = |f: usize| -> Result<()> {
        parry_frame(&mut parry.borrow_mut(), meshes, f, &mut out.borrow_mut());
        Ok(())
    };
    let parry_refit = |f: usize| -> Result<()> {
        let mut parry = parry.borrow_mut();
        (0..2).for_each(|k| parry[k].refit(&meshes[k].frames[f]));
        Ok(())
    };
    let with_obvhs = |f: usize| -> Result<()> {
        obvhs_frame(&mut obvhs.borrow_mut(), meshes, f, &mut out.borrow_mut());
        Ok(())
    };
    let with_grid = |f: usize| -> Result<()> {
        let mut out = out.borrow_mut();
        treeless.borrow_mut().grid(shells(meshes, f), &mut out);
        Ok(())
    };
    let with_sweep = |f: usize| -> Result<()> {
        let mut out = out.borrow_mut();
        treeless.borrow_mut().sweep(shells(meshes, f), &mut out);
        Ok(())
    };
    let mut jobs: [Box<dyn FnMut() -> f64 + '_>; 9] = [
        Box::new(|| both(0, &one_thread)),
        Box::new(|| both(1, &two_threads)),
        Box::new(|| both(2, &refit_only)),
        Box::new(|| both(3, &with_parry)),
        Box::new(|| both(4, &parry_refit)),
        Box::new(|| both(5, &with_obvhs)),
        Box::new(|| both(6, &with_grid)),
        Box::new(|| both(7, &with_sweep)),
        Box::new(|| both(8, &side_by_side)),
    ];
    let mut list: Vec<&mut dyn FnMut() -> f64> = Vec::new();
    for job in &mut jobs {
        list.push(&mut **job);
    }
    let samples = interleave("collide/pairs", effort.repeats(300, 30), &mut list);
    let milli = |list: &[f64]| Summary::of(list.iter().map(|s| s * 1e3));
    let [
        one,
        two,
        refit,
        parry_all,
        parry_refit,
        obvhs_all,
        by_grid,
        by_sweep,
        beside,
    ] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|k| milli(&samples[k]));
    let mut rows = vec![
        Row::single(
            &case,
            "pairs that touch, mean of all frames",
            found as f64 / FRAMES as f64,
            "",
        ),
        Row::new(&case, "ours: build one", milli(&builds[0]), "ms")
            .against("parry3d-f64", milli(&builds[1]).median),
        Row::new(&case, "obvhs: build one", milli(&builds[2]), "ms"),
        Row::new(&case, "ours: refit both", refit, "ms").against("parry3d-f64", parry_refit.median),
        Row::new(&case, "ours: refit both and all pairs", one, "ms")
            .against("parry3d-f64", parry_all.median)
            .at_most(parry_all.median / LEAD),
        Row::new(
            &case,
            "ours: refit both and all pairs, beside obvhs",
            one,
            "ms",
        )
        .against("obvhs", obvhs_all.median),
        Row::new(&case, "uniform grid: all pairs", by_grid, "ms").against("ours", one.median),
        Row::new(&case, "sweep and prune: all pairs", by_sweep, "ms").against("ours", one.median),
        Row::new(&case, "ours: the same with two threads", two, "ms"),
    ];
    let gain = Row::single(
        &case,
        "ours: gain from a second thread",
        one.median / two.median,
        "",
    );
    rows.push(if triangles > 90_000 {
        gain.at_least(SPEEDUP)
    } else {
        gain
    });
    rows.push(Row::single(
        &case,
        "gain of two searches side by side that share nothing",
        2.0 * one.median / beside.median,
        "",
    ));
    Ok(rows)
}

fn shells(meshes: &[Mesh; 2], frame: usize) -> [Shell<'_>; 2] {
    [0, 1].map(|k| (&meshes[k].triangles[..], &meshes[k].frames[frame][..]))
}

fn parry_frame(parry: &mut [Parry; 2], meshes: &[Mesh; 2], f: usize, out: &mut Vec<[u32; 2]>) {
    let [a, b] = parry;
    a.refit(&meshes[0].frames[f]);
    b.refit(&meshes[1].frames[f]);
    a.pairs(b, out);
}

fn obvhs_frame(obvhs: &mut [Obvhs; 2], meshes: &[Mesh; 2], f: usize, out: &mut Vec<[u32; 2]>) {
    let [a, b] = obvhs;
    let (of_a, of_b) = (&meshes[0].frames[f], &meshes[1].frames[f]);
    a.refit(of_a);
    b.refit(of_b);
    a.pairs(of_a, b, of_b, out);
}
