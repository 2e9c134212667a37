//! When a joint's pivot is sure to be sound.
//!
//! A rigid joint has a zero block of its own; its pivot comes from the bodies eliminated before it: `-C P Cᵀ`, where `P` is
//! what mobility the joints eliminated before leave to those bodies. One eliminated neighbour is not enough. A body welded
//! to the ground has no mobility left, and a joint from it to a body that is still to come would look redundant although
//! it is not; so would one of two ball joints of a rod, along the rod, while the bodies behind them are still to come.
//!
//! The rule here is that of a forest. Bodies and joints eliminated so far fall into clusters. A joint that still waits for a
//! body hangs out of its cluster, as if that body were ground. A cluster without loops that touches the ground, real or
//! such, at most once has full rank, because each of its joints has a body of its own. So a joint may go
//!
//! - if after it nothing hangs out of its cluster: then a zero pivot is a truly redundant row, or
//! - if after it one joint hangs out, and the cluster has neither loop nor ground.
//!
//! Joints between the same bodies count as one while their rows together are no more than a body has.

/// What has been eliminated, and what that allows.
pub(crate) struct Freedom<'a> {
    sizes: &'a [u8],
    after: &'a [bool],
    /// Bodies of joint `i`: `bodies[first[i]..first[i + 1]]`; joints of body `i` alike.
    first: Vec<u32>,
    across: Vec<u32>,
    /// The joint that stands for all that join the same bodies, and how many rows they have.
    group: Vec<u32>,
    rows: Vec<u32>,
    gone: Vec<bool>,
    /// Union-find over bodies, and for each cluster: how many joints hang out, whether it has a loop or ground, and which
    /// joints wait for it to change.
    parent: Vec<u32>,
    hanging: Vec<u32>,
    fixed: Vec<bool>,
    waiting: Vec<Vec<u32>>,
}

/// The cluster that a joint's elimination would make.
struct Outcome {
    roots: Vec<u32>,
    hanging: u32,
    fixed: bool,
}

impl<'a> Freedom<'a> {
    pub(crate) fn new(sizes: &'a [u8], after: &'a [bool], neighbours: &[Vec<u32>]) -> Self {
        let count = sizes.len();
        let mut first = Vec::with_capacity(count + 1);
        let mut across = Vec::new();
        first.push(0);
        for (node, list) in neighbours.iter().enumerate() {
            across.extend(
                list.iter()
                    .filter(|&&other| after[other as usize] != after[node]),
            );
            first.push(across.len() as u32);
        }
        let mut freedom = Self {
            sizes,
            after,
            first,
            across,
            group: (0..count as u32).collect(),
            rows: sizes.iter().map(|&size| u32::from(size)).collect(),
            gone: vec![false; count],
            parent: (0..count as u32).collect(),
            hanging: vec![0; count],
            fixed: vec![false; count],
            waiting: vec![Vec::new(); count],
        };
        freedom.gather();
        freedom
    }

    /// Lets joints between the same bodies stand for one another.
    fn gather(&mut self) {
        let mut joints: Vec<u32> = (0..self.sizes.len() as u32)
            .filter(|&node| self.after[node as usize] && self.across(node).len() > 1)
            .collect();
        joints.sort_unstable_by(|&a, &b| (self.across(a), a).cmp(&(self.across(b), b)));
        let runs: Vec<&[u32]> = joints
            .chunk_by(|&a, &b| self.across(a) == self.across(b))
            .collect();
        for run in runs {
            let rows: u32 = run.iter().map(|&joint| self.rows[joint as usize]).sum();
            if rows <= self.smallest(run[0]) {
                for &joint in run {
                    self.group[joint as usize] = run[0];
                }
                self.rows[run[0] as usize] = rows;
            }
        }
    }

    /// Bodies of a joint, joints of a body.
    fn across(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.across[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// Rows of the smallest body that a joint has.
    fn smallest(&self, joint: u32) -> u32 {
        let bodies = self.across(joint).iter();
        bodies
            .map(|&body| u32::from(self.sizes[body as usize]))
            .min()
            .unwrap_or(0)
    }

    fn root(&mut self, mut body: u32) -> u32 {
        while self.parent[body as usize] != body {
            let above = self.parent[self.parent[body as usize] as usize];
            self.parent[body as usize] = above;
            body = above;
        }
        body
    }

    /// Makes one cluster of two and returns it.
    fn join(&mut self, a: u32, b: u32) -> u32 {
        if a == b {
            return a;
        }
        let (keep, drop) = if self.waiting[a as usize].len() < self.waiting[b as usize].len() {
            (b as usize, a as usize)
        } else {
            (a as usize, b as usize)
        };
        self.parent[drop] = keep as u32;
        self.hanging[keep] += self.hanging[drop];
        self.fixed[keep] |= self.fixed[drop];
        let moved = std::mem::take(&mut self.waiting[drop]);
        self.waiting[keep].extend(moved);
        keep as u32
    }

    fn outcome(&mut self, joint: u32) -> Outcome {
        let bodies = self.first[joint as usize] as usize..self.first[joint as usize + 1] as usize;
        let mut outcome = Outcome {
            roots: Vec::with_capacity(bodies.len()),
            hanging: 0,
            fixed: bodies.len() < 2 || self.rows[joint as usize] > self.smallest(joint),
        };
        for at in bodies {
            let body = self.across[at];
            if self.gone[body as usize] {
                let root = self.root(body);
                outcome.roots.push(root);
            } else {
                outcome.hanging += 1;
            }
        }
        let found = outcome.roots.len();
        outcome.roots.sort_unstable();
        outcome.roots.dedup();
        outcome.fixed |= outcome.roots.len() < found;
        for &root in &outcome.roots {
            outcome.hanging += self.hanging[root as usize];
            outcome.fixed |= self.fixed[root as usize];
        }
        outcome
    }

    /// Whether the node's pivot would be sound now.
    pub(crate) fn may_go(&mut self, node: u32) -> bool {
        let group = self.group[node as usize];
        if !self.after[node as usize] || self.gone[group as usize] {
            return true;
        }
        let outcome = self.outcome(group);
        outcome.hanging == 0 || (outcome.hanging == 1 && !outcome.fixed)
    }

    /// Notes that a joint which may not go wants to be told when that may have changed.
    pub(crate) fn wait(&mut self, joint: u32) {
        let bodies = self.first[joint as usize] as usize..self.first[joint as usize + 1] as usize;
        for at in bodies {
            let body = self.across[at];
            let root = self.root(body);
            if !self.gone[body as usize] || self.hanging[root as usize] > 0 {
                self.waiting[root as usize].push(joint);
            }
        }
    }

    /// Notes that a node has been eliminated and adds to `woken` the joints that should ask again.
    pub(crate) fn eliminate(&mut self, node: u32, woken: &mut Vec<u32>) {
        if self.after[node as usize] {
            self.eliminate_joint(node, woken);
        } else {
            self.eliminate_body(node, woken);
        }
    }

    fn eliminate_joint(&mut self, joint: u32, woken: &mut Vec<u32>) {
        let group = self.group[joint as usize];
        if self.gone[group as usize] {
            return;
        }
        let outcome = self.outcome(group);
        self.gone[group as usize] = true;
        if let Some(&start) = outcome.roots.first() {
            let root = outcome.roots.iter().fold(start, |a, &b| self.join(a, b));
            self.hanging[root as usize] = outcome.hanging;
            self.fixed[root as usize] = outcome.fixed;
        }
        if self.rows[group as usize] > u32::from(self.sizes[group as usize])
            && let Some(&body) = self.across(group).first()
        {
            let others = self.across(body).iter().copied();
            woken.extend(others.filter(|&other| self.group[other as usize] == group));
        }
    }

    fn eliminate_body(&mut self, body: u32, woken: &mut Vec<u32>) {
        self.gone[body as usize] = true;
        let joints = self.first[body as usize] as usize..self.first[body as usize + 1] as usize;
        for at in joints {
            let joint = self.across[at];
            if self.group[joint as usize] != joint || !self.gone[joint as usize] {
                continue;
            }
            let mut others = self.across(joint).iter().copied();
            let partner = others.find(|&other| other != body && self.gone[other as usize]);
            let Some(partner) = partner else { continue };
            let (here, there) = (self.root(body), self.root(partner));
            let root = self.join(here, there) as usize;
            self.fixed[root] |= here == there;
            self.hanging[root] -= 1;
        }
        let root = self.root(body);
        woken.append(&mut self.waiting[root as usize]);
    }
}
