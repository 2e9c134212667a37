//! Contacts of hulls with tissue, swept between the rounds of the joints (K108).

use super::{
    Budget, Workspace,
    mover::{Ends, Level},
};
use crate::{Cast, Contact};

/// A contact made ready.
#[derive(Clone, Copy, Debug)]
pub struct Touching {
    a: Ends,
    b: Ends,
    /// Impulse for each m of depth, N·s/m; 0 if nothing there can be moved.
    stiffness: f64,
    /// What the gap has to reach, m.
    target: f64,
}

impl Workspace {
    /// Makes contacts ready and starts from the impulses they had.
    pub(super) fn touch(&mut self, cast: &Cast<'_>, contacts: &[Contact], h: f64, budget: &Budget) {
        let level = Level::Position(h);
        self.contacts.clear();
        for contact in contacts {
            let (a, b) = (cast.support(&contact.a), cast.support(&contact.b));
            let a = Ends::new(&mut self.movers, cast, &a, level);
            let b = Ends::new(&mut self.movers, cast, &b, level);
            let n = contact.normal;
            let compliance = (a.answer(&self.movers, n) + b.answer(&self.movers, n)) * h;
            let apart = b.position(&self.movers) - a.position(&self.movers);
            let gap = n.dot(apart) - contact.distance;
            self.contacts.push(Touching {
                a,
                b,
                // What can't be moved is not pushed.
                stiffness: if compliance > 0.0 {
                    1.0 / compliance
                } else {
                    0.0
                },
                target: (gap + budget.recovery * h).min(0.0),
            });
            a.push(&mut self.movers, n * -contact.impulse);
            b.push(&mut self.movers, n * contact.impulse);
        }
        self.movers.refresh_all(level);
    }

    /// One sweep over all contacts; returns by how much the worst of them was wrong, m.
    pub(super) fn sweep_contacts(
        &mut self,
        contacts: &mut [Contact],
        level: Level,
        budget: &Budget,
    ) -> f64 {
        let mut greatest = 0.0_f64;
        for (contact, row) in contacts
            .iter_mut()
            .zip(&self.contacts)
            .filter(|c| c.1.stiffness > 0.0)
        {
            let apart = row.b.ahead(&self.movers) - row.a.ahead(&self.movers);
            let lack = row.target - (contact.normal.dot(apart) - contact.distance);
            let wanted = (contact.impulse + lack * row.stiffness).max(0.0);
            let change = wanted - contact.impulse;
            let error = (change / row.stiffness).abs();
            greatest = greatest.max(error);
            if error > budget.depth {
                contact.impulse = wanted;
                row.a.push(&mut self.movers, contact.normal * -change);
                row.b.push(&mut self.movers, contact.normal * change);
                for ends in [row.a, row.b] {
                    for (m, _, _) in ends.parts() {
                        if self.movers[*m].dirty {
                            self.movers[*m].refresh(level);
                        }
                    }
                }
            }
        }
        greatest
    }
}
