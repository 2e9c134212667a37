//! The same job by other libraries: boxes anew, then all pairs of triangles that touch. Which triangles touch is decided by our test
//! for all, so that only trees are compared.

use glam::{DVec3, Vec3A};
use obvhs::{BvhBuildParams, aabb::Aabb, bvh2::Bvh2, bvh2::builder::build_bvh2};
use parry3d_f64::shape::TriMesh;
use trocar_collide::triangle::touch;

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
