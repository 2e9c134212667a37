//! Contacts of hulls and bodies with tissue, swept between the rounds of the joints (K108, B80–B89).

use super::{
    Budget, Workspace,
    ends::Ends,
    mover::{Level, Movers},
};
use crate::{Anchor, Cast, Contact, Local};
use glam::{DMat3, DVec3};
use trocar_math::{rotation::outer, skew};

/// Error at which a body on tissue is right, as a multiple of that between bodies: 10 nm, less than a substep of a
/// thousandth of gravity.
const RIGHT: f64 = 10.0;

/// Error at which two tissues are right on each other, in parts of that of a hull on tissue: a tenth of a micrometre. Neither is a body that would show the errors of a thousand
/// points as a push, and light sheets on each other take hundreds of sweeps to become better.
const SOFT: f64 = 0.1;

/// Impulses of friction that change less than this, m, are let be: a thousandth of an atom.
const STILL: f64 = 1e-13;

/// So many contacts are worth room for four times as many.
const LEAST_ROOM: usize = 64;

/// A contact made ready.
#[derive(Clone, Copy, Debug)]
pub struct Touching {
    pub a: Ends,
    pub b: Ends,
    /// Impulse for each m of depth, N·s/m; 0 if nothing there can be moved.
    stiffness: f64,
    /// What the gap has to reach, m.
    target: f64,
    /// How much less for each N·s, m.
    give: f64,
    /// Error at which it is right, and one so small that it is let be, m.
    right: [f64; 2],
    rubbing: Option<Rubbing>,
}

/// What friction needs to know.
#[derive(Clone, Copy, Debug)]
struct Rubbing {
    /// From `a` to `b` at the start of the substep, m.
    apart: DVec3,
    /// Way of `b` against `a` for an impulse, what its surface yields included, m/(N·s), and its inverse.
    answer: DMat3,
    inverse: DMat3,
    /// Impulse for each m across the normal where the point answers most, N·s/m.
    firmness: f64,
    /// How much less far it has to move for each N·s along the normal, m.
    give: f64,
    /// How far `b` has to move against `a` along the normal, m.
    rise: f64,
}

impl Workspace {
    /// True if something presses on what joints join: bodies that touch each other, or tissue.
    pub(super) fn is_pressed(&self) -> bool {
        self.press.is_shared() || !self.contacts.is_empty()
    }

    /// Tells the rounds of the joints that contacts have moved what they join: what the last round left does not compare.
    pub(super) fn unsettle(&mut self) {
        for component in &mut self.plan.components {
            component.progress.error = f64::INFINITY;
        }
    }

    /// The same, and that the matrices they have are those of long ago.
    pub(super) fn renew(&mut self) {
        self.unsettle();
        for component in &mut self.plan.components {
            component.progress.stale = true;
        }
    }

    /// Makes contacts ready and starts from the impulses they had.
    pub(super) fn touch(
        &mut self,
        cast: &Cast<'_>,
        contacts: &mut [Contact],
        h: f64,
        budget: &Budget,
    ) {
        let level = Level::Position(h);
        self.contacts.clear();
        if self.contacts.capacity() < contacts.len() {
            // What slides on or is pressed deeper has a few times as many before long.
            self.contacts.reserve(4 * contacts.len().max(LEAST_ROOM));
        }
        for contact in contacts {
            let (a, b) = (cast.support(&contact.a), cast.support(&contact.b));
            let a = Ends::new(&mut self.movers, cast, &a, level);
            let b = Ends::new(&mut self.movers, cast, &b, level);
            let n = contact.normal;
            let give = contact.give / h;
            let bare = (a.answer(&self.movers, n) + b.answer(&self.movers, n)) * h;
            let compliance = if bare > 0.0 { bare + give } else { 0.0 };
            let apart = b.position(&self.movers) - a.position(&self.movers);
            let gap = n.dot(apart) - contact.distance;
            let target = (gap + contact.recovery.min(budget.recovery) * h).min(0.0);
            let rubbing = (contact.friction > 0.0)
                .then(|| Rubbing::new(&self.movers, (&a, &b), apart, (n, give), h))
                .flatten()
                .map(|rubbing| Rubbing {
                    rise: target - gap,
                    ..rubbing
                });
            // A hull that is led knows where it is; a body that rests or slides on a thousand points shows every error
            // of theirs as a push.
            let led = a.parts().iter().all(|p| self.movers[p.0].freedom == 0);
            let on_surface = |anchor: &Anchor| matches!(anchor.at, Local::Triangle(..));
            let soft = on_surface(&contact.a) && on_surface(&contact.b);
            let right = if led && rubbing.is_none() {
                [budget.depth; 2]
            } else if rubbing.is_none() && soft {
                [SOFT * budget.depth, STILL]
            } else {
                [RIGHT * budget.press, STILL]
            };
            self.contacts.push(Touching {
                a,
                b,
                right,
                give,
                // What can't be moved is not pushed.
                stiffness: if compliance > 0.0 {
                    1.0 / compliance
                } else {
                    0.0
                },
                target,
                rubbing,
            });
            // The normal may have turned since, and the point begun to slide.
            contact.rub -= n * n.dot(contact.rub);
            let most = contact.friction * contact.impulse;
            contact.rub = if rubbing.is_some() {
                contact.rub.clamp_length_max(most)
            } else {
                DVec3::ZERO
            };
            a.push(&mut self.movers, -contact.total());
            b.push(&mut self.movers, contact.total());
        }
        self.movers.refresh_all(level);
    }

    /// One sweep over all contacts; returns by how much the worst of them was wrong, m, and whether all were right.
    pub(super) fn sweep_contacts(&mut self, contacts: &mut [Contact], level: Level) -> (f64, bool) {
        let (mut greatest, mut all_right) = (0.0_f64, true);
        for (contact, row) in contacts
            .iter_mut()
            .zip(&self.contacts)
            .filter(|c| c.1.stiffness > 0.0)
        {
            let apart = row.b.ahead(&self.movers) - row.a.ahead(&self.movers);
            let [right, least] = row.right;
            let (change, error) = match &row.rubbing {
                None => {
                    let gap = contact.normal.dot(apart) - contact.distance;
                    let lack = row.target - gap - row.give * contact.impulse;
                    let wanted = (contact.impulse + lack * row.stiffness).max(0.0);
                    let change = wanted - contact.impulse;
                    let error = (change / row.stiffness).abs();
                    if error > least {
                        contact.impulse = wanted;
                    }
                    (contact.normal * change, error)
                }
                Some(rubbing) => {
                    let new = rubbing.impulse(contact, apart - rubbing.apart, row.stiffness);
                    let change = new - contact.total();
                    let error = (rubbing.answer * change).abs().max_element();
                    if error > least {
                        contact.impulse = contact.normal.dot(new).max(0.0);
                        contact.rub = new - contact.normal * contact.impulse;
                    }
                    (change, error)
                }
            };
            greatest = greatest.max(error);
            all_right &= error <= right;
            if error > least {
                row.a.push(&mut self.movers, -change);
                row.b.push(&mut self.movers, change);
                for ends in [row.a, row.b] {
                    for (m, _, _) in ends.parts() {
                        if self.movers[*m].dirty {
                            self.movers[*m].refresh(level);
                        }
                    }
                }
            }
        }
        (greatest, all_right)
    }
}

impl Rubbing {
    /// None if what touches there can't be moved in every direction.
    fn new(
        movers: &Movers,
        (a, b): (&Ends, &Ends),
        apart: DVec3,
        (n, give): (DVec3, f64),
        h: f64,
    ) -> Option<Self> {
        let answer = (answer(movers, a) + answer(movers, b)) * h + outer(n, n) * give;
        let inverse = answer.inverse();
        let along = n.dot(answer * n);
        let trace = answer.x_axis.x + answer.y_axis.y + answer.z_axis.z;
        // Sum and product of the two answers across the normal give the greater one.
        let sum = trace - along;
        let product = answer.determinant() * n.dot(inverse * n);
        let most = 0.5 * (sum + (sum * sum - 4.0 * product).max(0.0).sqrt());
        (inverse.is_finite() && most > 0.0).then_some(Self {
            apart,
            answer,
            inverse,
            firmness: 1.0 / most,
            give,
            rise: 0.0,
        })
    }

    /// The impulse on `b` that makes the contact right when `b` would move by `way` (m) against `a`; `stiffness` is that
    /// along the normal, N·s/m.
    ///
    /// What would stop all sliding is asked for first. If friction can hold it, the point sticks (B88: while
    /// |pₜ| ≤ μ pₙ). Else the normal impulse is made right, never to pull, and friction takes a step against the sliding
    /// that is left, cut at its limit (B89).
    fn impulse(&self, contact: &Contact, way: DVec3, stiffness: f64) -> DVec3 {
        let n = contact.normal;
        let now = contact.total();
        let lack = n * (self.rise - self.give * contact.impulse) - way;
        let wanted = now + self.inverse * lack;
        let along = n.dot(wanted);
        let across = wanted - n * along;
        let hold = contact.friction * along;
        if along > 0.0 && across.length_squared() <= hold * hold {
            return wanted;
        }
        let pressed = (contact.impulse + n.dot(lack) * stiffness).max(0.0);
        let way = way + self.answer * (n * (pressed - contact.impulse));
        let sliding = way - n * n.dot(way);
        let rub = contact.rub - sliding * self.firmness;
        n * pressed + rub.clamp_length_max(contact.friction * pressed)
    }
}

/// Change of a point's velocity (or of its place, for each second) for an impulse on it, 1/kg:
/// Σ w² (A − r̂ I⁻¹ r̂) over the nodes that bear it, with r̂ x = r × x.
fn answer(movers: &Movers, ends: &Ends) -> DMat3 {
    let parts = ends.parts().iter();
    parts.fold(DMat3::ZERO, |sum, (m, offset, weight)| {
        let mover = &movers[*m];
        let cross = skew(mover.orientation * *offset);
        sum + (mover.answer - cross * mover.inverse_inertia * cross) * (weight * weight)
    })
}
