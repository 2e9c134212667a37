//! The same job by other libraries and by methods without trees: boxes anew, then all pairs of triangles that touch. Which triangles touch is
//! decided by our test for all, so that only the search is compared.

use glam::{DVec3, Vec3A};
use obvhs::{BvhBuildParams, aabb::Aabb, bvh2::Bvh2, bvh2::builder::build_bvh2};
use parry3d_f64::shape::TriMesh;
use trocar_collide::triangle::touch;
use trocar_math::Bounds;

fn corners(t: [u32; 3], positions: &[DVec3]) -> [DVec3; 3] {
    t.map(|n| positions[n as usize])
}

/// `parry3d-f64`.
pub struct Parry(TriMesh);

impl Parry {
    /// A mesh with its tree.
    pub fn new(triangles: &[[u32; 3]], positions: &[DVec3]) -> anyhow::Result<Self> {
        Ok(Self(TriMesh::new(positions.to_vec(), triangles.to_vec())?))
    }

    /// Boxes anew.
    pub fn refit(&mut self, positions: &[DVec3]) {
        self.0.set_vertices(positions);
    }

    /// All pairs that touch.
    pub fn pairs(&self, other: &Self, out: &mut Vec<[u32; 2]>) {
        out.clear();
        let (a, b) = (&self.0, &other.0);
        for (i, j) in a.bvh().leaf_pairs(b.bvh(), |x, y| x.intersects(y)) {
            let s = corners(a.indices()[i as usize], a.vertices());
            let t = corners(b.indices()[j as usize], b.vertices());
            if touch(&s, &t) {
                out.push([i, j]);
            }
        }
        out.sort_unstable();
    }
}

/// `obvhs`, in single precision: boxes are rounded to nearest, which keeps their order.
pub struct Obvhs {
    triangles: Vec<[u32; 3]>,
    bvh: Bvh2,
    stack: Vec<[u32; 2]>,
}

fn bounds(t: [u32; 3], positions: &[DVec3]) -> Aabb {
    let [a, b, c] = corners(t, positions);
    let narrow = |v: DVec3| Vec3A::from(v.as_vec3());
    Aabb::new(narrow(a.min(b).min(c)), narrow(a.max(b).max(c)))
}

impl Obvhs {
    /// A tree with one triangle in a leaf, which is what its refit by triangle wants.
    pub fn new(triangles: &[[u32; 3]], positions: &[DVec3]) -> Self {
        let boxes: Vec<Aabb> = triangles.iter().map(|t| bounds(*t, positions)).collect();
        let settings = BvhBuildParams {
            max_prims_per_leaf: 1,
            ..BvhBuildParams::fast_build()
        };
        let mut bvh = build_bvh2(&boxes, settings, &mut std::time::Duration::default());
        bvh.init_primitives_to_nodes_if_uninit();
        bvh.reorder_in_stack_traversal_order();
        bvh.update_primitives_to_nodes();
        Self {
            triangles: triangles.to_vec(),
            bvh,
            stack: Vec::new(),
        }
    }

    /// Boxes anew.
    pub fn refit(&mut self, positions: &[DVec3]) {
        for (t, node) in self.triangles.iter().zip(&self.bvh.primitives_to_nodes) {
            self.bvh.nodes[*node as usize].set_aabb(bounds(*t, positions));
        }
        self.bvh.refit_all();
    }

    /// All pairs that touch. It has no walk through two trees, so this is ours: the larger box is opened.
    pub fn pairs(
        &mut self,
        positions: &[DVec3],
        other: &Self,
        others: &[DVec3],
        out: &mut Vec<[u32; 2]>,
    ) {
        out.clear();
        self.stack.push([0, 0]);
        while let Some([i, j]) = self.stack.pop() {
            let (a, b) = (&self.bvh.nodes[i as usize], &other.bvh.nodes[j as usize]);
            if !a.aabb().intersect_aabb(b.aabb()) {
                continue;
            }
            let larger = a.aabb().half_area() > b.aabb().half_area();
            if !a.is_leaf() && (b.is_leaf() || larger) {
                self.stack.push([a.first_index + 1, j]);
                self.stack.push([a.first_index, j]);
            } else if !b.is_leaf() {
                self.stack.push([i, b.first_index + 1]);
                self.stack.push([i, b.first_index]);
            } else {
                let pair = [
                    self.bvh.primitive_indices[a.first_index as usize],
                    other.bvh.primitive_indices[b.first_index as usize],
                ];
                let s = corners(self.triangles[pair[0] as usize], positions);
                let t = corners(other.triangles[pair[1] as usize], others);
                if touch(&s, &t) {
                    out.push(pair);
                }
            }
        }
        out.sort_unstable();
    }
}

/// A triangle that may touch something: its box and its number.
#[derive(Clone, Copy)]
struct Boxed {
    low: DVec3,
    high: DVec3,
    triangle: u32,
}

/// The boxes of all triangles that reach into the box of the other surface.
fn boxed(triangles: &[[u32; 3]], positions: &[DVec3], others: &Bounds, out: &mut Vec<Boxed>) {
    out.clear();
    for (triangle, t) in (0..).zip(triangles) {
        let [a, b, c] = corners(*t, positions);
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        if low.cmple(others.high).all() && others.low.cmple(high).all() {
            out.push(Boxed {
                low,
                high,
                triangle,
            });
        }
    }
}

/// A surface and where its nodes are.
pub type Shell<'a> = (&'a [[u32; 3]], &'a [DVec3]);

/// Memory of searches without a tree: what is near the other surface is sorted anew each time.
#[derive(Default)]
pub struct Treeless {
    near: [Vec<Boxed>; 2],
    /// Where the triangles of each cell begin, and these.
    begins: Vec<u32>,
    cells: Vec<u32>,
    active: [Vec<u32>; 2],
}

impl Treeless {
    fn gather(&mut self, shells: [Shell<'_>; 2]) {
        let around = shells.map(|(_, positions)| Bounds::of(positions.iter().copied()));
        for k in 0..2 {
            let (triangles, positions) = shells[k];
            boxed(triangles, positions, &around[1 - k], &mut self.near[k]);
        }
    }

    fn test(shells: [Shell<'_>; 2], a: &Boxed, b: &Boxed, out: &mut Vec<[u32; 2]>) {
        let pair = [a.triangle, b.triangle];
        let [s, t] = [0, 1].map(|k| corners(shells[k].0[pair[k] as usize], shells[k].1));
        if touch(&s, &t) {
            out.push(pair);
        }
    }

    /// A uniform grid (H91), with cells twice as wide as the mean triangle.
    pub fn grid(&mut self, shells: [Shell<'_>; 2], out: &mut Vec<[u32; 2]>) {
        out.clear();
        self.gather(shells);
        let [near_a, near_b] = &self.near;
        let all = Bounds::of(near_a.iter().flat_map(|b| [b.low, b.high]));
        let mean = near_a
            .iter()
            .map(|b| (b.high - b.low).max_element())
            .sum::<f64>()
            / near_a.len().max(1) as f64;
        let cell = (2.0 * mean).max(1e-9);
        let size = (all.size() / cell)
            .to_array()
            .map(|x| x.max(0.0) as usize + 1);
        let at = |p: DVec3| {
            let q = ((p - all.low) / cell).to_array();
            [0, 1, 2].map(|k| (q[k].max(0.0) as usize).min(size[k] - 1))
        };
        let each = |b: &Boxed, found: &mut dyn FnMut(usize, [usize; 3])| {
            let (low, high) = (at(b.low), at(b.high));
            for x in low[0]..=high[0] {
                for y in low[1]..=high[1] {
                    for z in low[2]..=high[2] {
                        found((x * size[1] + y) * size[2] + z, [x, y, z]);
                    }
                }
            }
        };
        // Counted, then put in their places.
        self.begins.clear();
        self.begins.resize(size.iter().product::<usize>() + 1, 0);
        for b in near_a {
            each(b, &mut |cell, _| self.begins[cell + 1] += 1);
        }
        for k in 1..self.begins.len() {
            self.begins[k] += self.begins[k - 1];
        }
        self.cells.clear();
        let total = self.begins.last().copied().unwrap_or(0);
        self.cells.resize(total as usize, 0);
        let mut next = self.begins.clone();
        for (k, b) in (0..).zip(near_a) {
            each(b, &mut |cell, _| {
                self.cells[next[cell] as usize] = k;
                next[cell] += 1;
            });
        }
        for b in near_b {
            each(b, &mut |cell, place| {
                let range = self.begins[cell] as usize..self.begins[cell + 1] as usize;
                for k in &self.cells[range] {
                    let a = &near_a[*k as usize];
                    let overlap = a.low.cmple(b.high).all() && b.low.cmple(a.high).all();
                    // Each pair once: in the first cell that both are in.
                    let (of_a, of_b) = (at(a.low), at(b.low));
                    if overlap && place == [0, 1, 2].map(|k| of_a[k].max(of_b[k])) {
                        Self::test(shells, a, b, out);
                    }
                }
            });
        }
        out.sort_unstable();
    }

    /// Sweep and prune (H92) along x.
    pub fn sweep(&mut self, shells: [Shell<'_>; 2], out: &mut Vec<[u32; 2]>) {
        out.clear();
        self.gather(shells);
        for near in &mut self.near {
            near.sort_unstable_by(|a, b| a.low.x.total_cmp(&b.low.x));
        }
        self.active.iter_mut().for_each(Vec::clear);
        let mut next = [0, 0];
        loop {
            let low = [0, 1].map(|k| self.near[k].get(next[k]).map_or(f64::INFINITY, |b| b.low.x));
            let k = usize::from(low[1] < low[0]);
            let Some(new) = self.near[k].get(next[k]).copied() else {
                break;
            };
            let others = &self.near[1 - k];
            self.active[1 - k].retain(|i| others[*i as usize].high.x >= new.low.x);
            for i in &self.active[1 - k] {
                let old = &others[*i as usize];
                if old.low.cmple(new.high).all() && new.low.cmple(old.high).all() {
                    let (a, b) = if k == 0 { (&new, old) } else { (old, &new) };
                    Self::test(shells, a, b, out);
                }
            }
            self.active[k].push(next[k] as u32);
            next[k] += 1;
        }
        out.sort_unstable();
    }
}
