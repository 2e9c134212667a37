//! Baraff's multipliers in linear time (B99): accelerations and joint forces of a tree in one sparse system,
//!
//! ```text
//! [  M  −Jᵀ ] [ a ]   [ F ]
//! [ −J   0  ] [ λ ] = [ c ]
//! ```
//!
//! eliminated from the leaves to the root. Every body comes before the joint that carries it, every joint before the body it
//! hangs from, so that L has one block for each body and joint and nothing fills in.

#![allow(
    clippy::needless_range_loop,
    reason = "small blocks read best with the indices of their formulas"
)]

use super::plan::Plan;
use glam::{DMat3, DVec3};
use trocar_math::rotation::skew;

/// A vector of a body: three numbers of its motion, three of its turning.
pub type Six = [f64; 6];
type Three = [f64; 3];

/// What the system is made of, for each body and for each joint.
pub struct Parts<'a> {
    /// kg, and kg·m² along the world's axes.
    pub masses: &'a [(f64, DMat3)],
    /// From the centres of a and b to the joint, m, along the world's axes.
    pub arms: &'a [[DVec3; 2]],
}

/// The order of elimination and the factors.
pub struct Tree {
    /// Bodies, depth first; each with the joint that carries it and the body this one hangs from.
    order: Vec<Limb>,
    bodies: Vec<Node<6, 3>>,
    joints: Vec<Node<3, 6>>,
}

#[derive(Clone, Copy, Debug)]
struct Limb {
    body: usize,
    joint: usize,
    parent: Option<usize>,
}

/// A node of the tree: its pivot, and what ties it to its parent, already divided by the pivot.
#[derive(Clone, Copy)]
struct Node<const N: usize, const P: usize> {
    /// L with L Lᵀ = ± pivot; its diagonal is inverted.
    pivot: [[f64; N]; N],
    up: [[f64; P]; N],
}

impl<const N: usize, const P: usize> Node<N, P> {
    const EMPTY: Self = Self {
        pivot: [[0.0; N]; N],
        up: [[0.0; P]; N],
    };
}

impl Tree {
    /// The order for a plan; none if its joints make a loop or leave a body free.
    pub fn new(plan: &Plan) -> Option<Self> {
        let count = plan.things.len();
        let mut carried: Vec<Option<usize>> = vec![None; count];
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut roots = Vec::new();
        for (k, joint) in plan.joints.iter().enumerate() {
            if carried[joint.b].replace(k).is_some() {
                return None;
            }
            match joint.a {
                Some(a) => children[a].push(joint.b),
                None => roots.push(joint.b),
            }
        }
        // Parents first and depth first; the other way round children come before their parents.
        let mut order = Vec::new();
        let mut open = roots;
        while let Some(body) = open.pop() {
            let joint = carried[body]?;
            let parent = plan.joints[joint].a;
            order.push(Limb {
                body,
                joint,
                parent,
            });
            open.extend(&children[body]);
        }
        order.reverse();
        (order.len() == count).then(|| Self {
            order,
            bodies: vec![Node::EMPTY; count],
            joints: vec![Node::EMPTY; count],
        })
    }

    /// Factors the system: L D Lᵀ, block by block.
    pub fn factor(&mut self, parts: &Parts<'_>) {
        for (node, (mass, inertia)) in self.bodies.iter_mut().zip(parts.masses) {
            node.pivot = [[0.0; 6]; 6];
            for k in 0..3 {
                node.pivot[k][k] = *mass;
                for l in 0..3 {
                    node.pivot[3 + k][3 + l] = inertia.col(l)[k];
                }
            }
        }
        for limb in &self.order {
            let [at_a, at_b] = parts.arms[limb.joint];
            // The joint's rows for its child: C = a − b, and H has −J. Columns of −Jᵀ.
            let own = &mut self.bodies[limb.body];
            decompose(&mut own.pivot);
            let arm = skew(at_b);
            for column in 0..3 {
                let mut x = [0.0; 6];
                x[column] = 1.0;
                for k in 0..3 {
                    x[3 + k] = arm.col(column)[k];
                }
                divide(&own.pivot, &mut x);
                for (row, x) in own.up.iter_mut().zip(x) {
                    row[column] = x;
                }
            }
            // The joint's pivot is − J D⁻¹ Jᵀ; its negative is kept.
            let joint = &mut self.joints[limb.joint];
            for r in 0..3 {
                for c in 0..3 {
                    let mut sum = own.up[r][c];
                    for k in 0..3 {
                        sum += arm.col(r)[k] * own.up[3 + k][c];
                    }
                    joint.pivot[r][c] = sum;
                }
            }
            decompose(&mut joint.pivot);
            let Some(parent) = limb.parent else { continue };
            // Its rows for the body it hangs from: −(E, −arm×).
            let arm = skew(at_a);
            let mut rows = [[0.0; 6]; 3];
            for r in 0..3 {
                rows[r][r] = -1.0;
                for k in 0..3 {
                    rows[r][3 + k] = arm.col(k)[r];
                }
            }
            for column in 0..6 {
                let mut x = [rows[0][column], rows[1][column], rows[2][column]];
                divide(&joint.pivot, &mut x);
                for (row, x) in joint.up.iter_mut().zip(x) {
                    row[column] = -x;
                }
            }
            let pivot = &mut self.bodies[parent].pivot;
            for r in 0..6 {
                for c in 0..6 {
                    let sum: f64 = (0..3).map(|k| rows[k][r] * joint.up[k][c]).sum();
                    pivot[r][c] -= sum;
                }
            }
        }
    }

    /// Solves for accelerations and forces; they replace F and c.
    pub fn solve(&self, bodies: &mut [Six], joints: &mut [Three]) {
        for limb in &self.order {
            let own = &self.bodies[limb.body];
            let x = bodies[limb.body];
            let y = &mut joints[limb.joint];
            for c in 0..3 {
                y[c] -= (0..6).map(|k| own.up[k][c] * x[k]).sum::<f64>();
            }
            if let Some(parent) = limb.parent {
                let (joint, y) = (&self.joints[limb.joint], *y);
                for c in 0..6 {
                    bodies[parent][c] -= (0..3).map(|k| joint.up[k][c] * y[k]).sum::<f64>();
                }
            }
        }
        for limb in self.order.iter().rev() {
            let joint = &self.joints[limb.joint];
            let y = &mut joints[limb.joint];
            divide(&joint.pivot, y);
            *y = y.map(|y| -y);
            if let Some(parent) = limb.parent {
                let x = bodies[parent];
                for r in 0..3 {
                    y[r] -= (0..6).map(|k| joint.up[r][k] * x[k]).sum::<f64>();
                }
            }
            let own = &self.bodies[limb.body];
            let (x, y) = (&mut bodies[limb.body], *y);
            divide(&own.pivot, x);
            for r in 0..6 {
                x[r] -= (0..3).map(|k| own.up[r][k] * y[k]).sum::<f64>();
            }
        }
    }
}

/// Cholesky in place: the lower triangle, its diagonal inverted.
fn decompose<const N: usize>(matrix: &mut [[f64; N]; N]) {
    for r in 0..N {
        for c in 0..=r {
            let known: f64 = (0..c).map(|k| matrix[r][k] * matrix[c][k]).sum();
            let rest = matrix[r][c] - known;
            matrix[r][c] = if r == c {
                1.0 / rest.sqrt()
            } else {
                rest * matrix[c][c]
            };
        }
    }
}

/// Solves with it.
fn divide<const N: usize>(factor: &[[f64; N]; N], x: &mut [f64; N]) {
    for r in 0..N {
        let known: f64 = (0..r).map(|k| factor[r][k] * x[k]).sum();
        x[r] = (x[r] - known) * factor[r][r];
    }
    for r in (0..N).rev() {
        let known: f64 = (r + 1..N).map(|k| factor[k][r] * x[k]).sum();
        x[r] = (x[r] - known) * factor[r][r];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H x = b holds, row by row, with H written anew.
    #[test]
    fn a_tree_is_solved() {
        let plan = Plan::tree(15);
        let mut tree = Tree::new(&plan).unwrap();
        let count = plan.things.len();
        let number = |i: usize| trocar_math::real::sin(i as f64 * 1.7 + 0.3);
        let vector = |i: usize| DVec3::new(number(i), number(i + 100), number(i + 200));
        let masses: Vec<(f64, DMat3)> = (0..count)
            .map(|i| {
                let turn = trocar_math::rotation::from_scaled_axis(vector(i));
                let axes = DMat3::from_quat(turn);
                let own = DMat3::from_diagonal(DVec3::new(0.1, 0.2, 0.25));
                (1.0 + 0.5 * number(i), axes * own * axes.transpose())
            })
            .collect();
        let arms: Vec<[DVec3; 2]> = (0..count)
            .map(|i| [vector(i + 7) * 0.2, vector(i + 31) * 0.2])
            .collect();
        let force: Vec<Six> = (0..count)
            .map(|i| std::array::from_fn(|k| number(6 * i + k + 50)))
            .collect();
        let right: Vec<Three> = (0..count)
            .map(|i| std::array::from_fn(|k| number(3 * i + k + 500)))
            .collect();
        tree.factor(&Parts {
            masses: &masses,
            arms: &arms,
        });
        let (mut x, mut y) = (force.clone(), right.clone());
        tree.solve(&mut x, &mut y);

        let halves = |x: &Six| [DVec3::from_slice(x), DVec3::from_slice(&x[3..])];
        // M a − Jᵀ λ = F.
        let mut left: Vec<[DVec3; 2]> = (0..count)
            .map(|i| {
                let [a, w] = halves(&x[i]);
                [a * masses[i].0, masses[i].1 * w]
            })
            .collect();
        for (k, joint) in plan.joints.iter().enumerate() {
            let push = DVec3::from_array(y[k]);
            let [at_a, at_b] = arms[k];
            // −J a = c with C = a − b.
            let moves = |body: usize, arm: DVec3| {
                let [a, w] = halves(&x[body]);
                a + w.cross(arm)
            };
            let mut apart = -moves(joint.b, at_b);
            left[joint.b][0] += push;
            left[joint.b][1] += at_b.cross(push);
            if let Some(a) = joint.a {
                apart += moves(a, at_a);
                left[a][0] -= push;
                left[a][1] -= at_a.cross(push);
            }
            assert!((-apart).distance(DVec3::from_array(right[k])) < 1e-12);
        }
        for (left, force) in left.iter().zip(&force) {
            let [f, t] = halves(force);
            assert!(left[0].distance(f) < 1e-12 && left[1].distance(t) < 1e-12);
        }
    }

    #[test]
    fn a_loop_is_no_tree() {
        let mut plan = Plan::chain(4);
        assert!(Tree::new(&plan).is_some());
        let again = plan.joints[2];
        plan.joints.push(again);
        assert!(Tree::new(&plan).is_none());
    }
}
