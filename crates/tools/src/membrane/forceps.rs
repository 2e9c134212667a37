//! Forceps that grasp a membrane: points between the jaws get homes in the tool's frame (W152, M21).
//!
//! The thesis gives homes to all corners of the triangles that are touched, however far from the jaws they are, and so freezes the sheet around them. Here they
//! are points of the triangles, between the jaws, that pull at the corners by their weights; those that meet at a node share,
//! so that it gets no stiffer than by one of them.

use super::{Reaction, Travel};
use glam::DVec3;
use trocar_collide::{closest, on_triangle, segment_triangle};
use trocar_dynamics::Nodes;
use trocar_math::Pose;
use trocar_mesh::sheet::{Followed, SheetAnchor};
use trocar_soft::membrane::Membrane;

/// What forceps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForcepsParts {
    /// The line along which the jaws meet, in the tool's frame, m.
    pub axis: [DVec3; 2],
    /// How far from it they grasp, m, > 0.
    pub reach: f64,
    /// How firmly they hold a point, N/m, > 0.
    pub stiffness: f64,
    /// Force from which all that is held slips between the jaws, N, > 0; infinite if it never does. Each point bears its part of it.
    pub slip: f64,
    /// Force from which a single point slips, N, > 0; infinite if it never does.
    pub bears: f64,
}

/// A point that is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Home {
    pub(super) anchor: SheetAnchor,
    /// Where it is to be in the tool's frame, m.
    pub(super) place: DVec3,
    /// Its share of the stiffness.
    pub(super) share: f64,
}

/// Forceps; see the [module](self).
#[derive(Clone, Debug)]
pub struct Forceps {
    parts: ForcepsParts,
    travel: Travel,
    pub(super) homes: Vec<Home>,
    /// The jaws are amid the sheet: they hold it, or did and have not got clear of it since.
    pub(super) amid: bool,
    /// As they were before the substep at hand.
    kept: Vec<Home>,
    reaction: Reaction,
}

impl Forceps {
    /// Checks the parts; the reason why not, if they can't be used.
    pub fn new(parts: ForcepsParts) -> Result<Self, &'static str> {
        check(&parts)?;
        Ok(Self {
            parts,
            travel: Travel::still(Pose::IDENTITY, 0.0),
            homes: Vec::new(),
            amid: false,
            kept: Vec::new(),
            reaction: Reaction::default(),
        })
    }

    /// What they are.
    pub fn parts(&self) -> &ForcepsParts {
        &self.parts
    }

    /// Makes them other forceps that hold what they held; the reason why not, if the parts can't be used.
    pub fn set_parts(&mut self, parts: ForcepsParts) -> Result<(), &'static str> {
        check(&parts)?;
        self.parts = parts;
        Ok(())
    }

    /// Notes what is held before a substep that may have to be done again.
    pub fn keep(&mut self) {
        self.kept.clone_from(&self.homes);
    }

    /// Holds what was held before the substep.
    pub fn go_back(&mut self) {
        self.homes.clone_from(&self.kept);
    }

    /// Corners of the triangles that are held, by place; a corner of several comes several times.
    pub fn held_nodes<'a>(&'a self, membrane: &'a Membrane) -> impl Iterator<Item = u32> + 'a {
        let sheet = membrane.sheet();
        let held = self.homes.iter().map(|home| home.anchor.triangle);
        held.filter(|t| sheet.has_triangle(*t))
            .flat_map(|t| sheet.corners(t).map(|n| n.slot() as u32))
    }

    /// Draws what is held to the middle between the jaws as they close: `part` (0 to 1) of its way along y of the tool's frame is left.
    pub fn draw_together(&mut self, part: f64) {
        for home in &mut self.homes {
            home.place.y *= part;
        }
    }

    /// The most that they add to the stiffness of a node, N/m: for [`Membrane::expect_tools`].
    pub fn added_stiffness(&self) -> f64 {
        self.parts.stiffness
    }

    /// Whether the jaws are amid the sheet: they hold it, or did and have not got [clear](Self::get_clear) of it since. What then lies around them they went through while they held it, this way
    /// or that, so that nobody can say which way it would get out: they should not push it.
    pub fn is_amid(&self) -> bool {
        self.amid
    }

    /// The jaws are clear of the sheet, unless they hold it.
    pub fn get_clear(&mut self) {
        self.amid = !self.homes.is_empty();
    }

    /// Points that are held.
    pub fn held(&self) -> usize {
        self.homes.len()
    }

    /// What the membrane did to them in the last substep.
    pub fn reaction(&self) -> Reaction {
        self.reaction
    }

    /// Closes the jaws at a pose: grasps what is between them; how many points.
    pub fn close(&mut self, membrane: &Membrane, nodes: &Nodes, pose: &Pose) -> usize {
        self.homes.clear();
        let [a, b] = self.parts.axis.map(|p| pose.point(p));
        let reach = self.parts.reach;
        let (low, high) = (a.min(b) - reach, a.max(b) + reach);
        let sheet = membrane.sheet();
        for (slot, corners) in membrane.triangles() {
            let corners = corners.map(|n| nodes.position[n as usize]);
            let [p, q, r] = corners;
            if p.min(q).min(r).cmpgt(high).any() || p.max(q).max(r).cmplt(low).any() {
                continue;
            }
            // The nearest, and what lies below the ends of the jaws, so that they hold against turning, too.
            let nearest = segment_triangle(a, b, corners).weights;
            for (k, weights) in [nearest, on_triangle(a, corners), on_triangle(b, corners)]
                .into_iter()
                .enumerate()
            {
                let at = closest::point(corners, weights);
                let along = closest::on_segment(at, a, b);
                let off = at.distance(a.lerp(b, along));
                // An end's foot on a triangle far from that end belongs to another triangle.
                let end = [None, Some(a), Some(b)][k];
                if off > reach || end.is_some_and(|end| at.distance(end) > reach) {
                    continue;
                }
                let place = pose.local(at);
                let twice = |home: &Home| home.place.distance_squared(place) < 1e-6 * reach * reach;
                if self.homes.iter().any(twice) {
                    continue;
                }
                let triangle = sheet.triangle_at(slot);
                self.homes.push(Home {
                    anchor: SheetAnchor { triangle, weights },
                    place,
                    share: 1.0,
                });
            }
        }
        self.share(membrane);
        self.amid |= !self.homes.is_empty();
        self.homes.len()
    }

    /// Opens the jaws.
    pub fn open(&mut self) {
        self.homes.clear();
        self.reaction = Reaction::default();
    }

    /// Forgets the sheet: it is another one now.
    pub fn forget(&mut self) {
        self.open();
        self.amid = false;
    }

    /// Lets what is held share the nodes it meets at: Σ share · weight ≤ 1 at each.
    fn share(&mut self, membrane: &Membrane) {
        let sheet = membrane.sheet();
        let mut sums: Vec<(usize, f64)> = Vec::new();
        for home in &self.homes {
            let corners = sheet.corners(home.anchor.triangle);
            for (node, weight) in corners.into_iter().zip(home.anchor.weights) {
                match sums.iter_mut().find(|s| s.0 == node.slot()) {
                    Some(sum) => sum.1 += weight,
                    None => sums.push((node.slot(), weight)),
                }
            }
        }
        for home in &mut self.homes {
            let corners = sheet.corners(home.anchor.triangle);
            let sum_at = |slot: usize| sums.iter().find(|s| s.0 == slot).map_or(0.0, |s| s.1);
            let most = corners.map(|n| sum_at(n.slot()));
            home.share = 1.0 / most.into_iter().fold(1.0, f64::max);
        }
    }

    /// Begins a frame.
    pub fn begin(&mut self, travel: Travel) {
        self.travel = travel;
    }

    /// Adds their forces to those of the membrane, for the substep that ends after a part (0 to 1) of the frame. Points that are pulled harder than they
    /// can be held are drawn along the jaws, and out of them.
    pub fn act(&mut self, membrane: &Membrane, nodes: &mut Nodes, part: f64) {
        let pose = self.travel.at(part);
        let ForcepsParts {
            axis,
            reach,
            stiffness,
            slip,
            bears,
        } = self.parts;
        let Self {
            homes, reaction, ..
        } = self;
        *reaction = Reaction::default();
        let shares = homes.iter().fold(0.0, |sum, home| sum + home.share);
        let sheet = membrane.sheet();
        homes.retain_mut(|home| {
            if !sheet.has_triangle(home.anchor.triangle) {
                return false;
            }
            let corners = sheet.corners(home.anchor.triangle).map(|n| n.slot());
            let at = closest::point(corners.map(|n| nodes.position[n]), home.anchor.weights);
            let mut force = (pose.point(home.place) - at) * (stiffness * home.share);
            let size = force.length();
            let most = bears.min(slip * home.share / shares);
            if size > most {
                force *= most / size;
                home.place = pose.local(at + force / (stiffness * home.share));
                let foot = closest::on_segment(home.place, axis[0], axis[1]);
                if home.place.distance(axis[0].lerp(axis[1], foot)) > reach {
                    return false;
                }
            }
            for (n, w) in corners.into_iter().zip(home.anchor.weights) {
                nodes.force[n] += force * w;
            }
            reaction.take(at - pose.position, force);
            true
        });
    }

    /// Lets what is held follow the membrane's last tear or cut. To be called after every one.
    pub fn follow(&mut self, membrane: &Membrane) {
        let (sheet, event) = (membrane.sheet(), membrane.event());
        self.homes
            .retain_mut(|home| event.follow(sheet, &mut home.anchor) != Followed::Lost);
        self.homes
            .retain(|home| sheet.has_triangle(home.anchor.triangle));
        self.share(membrane);
    }
}

/// Whether parts can be used, or the reason why not.
fn check(parts: &ForcepsParts) -> Result<(), &'static str> {
    let positive = |x: f64| x > 0.0 && x < f64::INFINITY;
    if !parts.axis.iter().all(|p| p.is_finite()) || !positive(parts.reach) {
        return Err("forceps need a finite axis and a reach above 0");
    }
    // Not `<= 0`: no number is refused, too.
    let holds = |force: f64| force > 0.0;
    if !(positive(parts.stiffness) && holds(parts.slip) && holds(parts.bears)) {
        return Err("forceps need a stiffness, a slip and what a point bears above 0");
    }
    Ok(())
}
