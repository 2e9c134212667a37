//! What the last step looked at, for those who look inside.

use super::Group;
use crate::insight::{BoxInsight, Insight};
use trocar_dynamics::{Anchor, BodyContact, Contact};

impl Group {
    /// Number of contacts in the last substep.
    pub fn contacts(&self) -> usize {
        self.contacts.len() + self.body_contacts().len() + self.touched_by_needles()
    }

    /// Contacts of bodies in the last substep.
    pub fn body_contacts(&self) -> &[BodyContact] {
        self.collisions.as_ref().map_or(&[], |c| &c.list)
    }

    /// Shows each contact of the last substep, and how long that was, s.
    pub fn see_contacts(&self, mut see: impl FnMut(&Contact, f64)) {
        for contact in &self.contacts {
            see(contact, self.h);
        }
        for contact in self.body_contacts() {
            let [a, b] = [(contact.a, 0), (contact.b, 1)]
                .map(|((matter, node), k)| Anchor::frame(matter, node, contact.at[k]));
            let total = contact.total + contact.blow;
            let impulse = contact.normal.dot(total);
            let shown = Contact {
                a,
                b,
                normal: contact.normal,
                distance: 0.0,
                friction: contact.friction,
                recovery: contact.recovery,
                give: 0.0,
                impulse,
                rub: total - contact.normal * impulse,
            };
            see(&shown, self.h);
        }
    }

    /// Adds what the search for contacts looked at in the last step.
    pub fn see_search(&self, insight: &mut Insight) {
        let Insight {
            boxes,
            search,
            near,
            ..
        } = insight;
        search.probes += self.probes.list.len() as u32;
        search.contacts += (self.contacts.len() + self.touched_by_needles()) as u32;
        for skin in &self.skins {
            let from = boxes.len();
            skin.patch.see_boxes(near, |level, bounds, is_near| {
                boxes.push(BoxInsight::new(bounds, is_near, level as u32));
            });
            search.boxes += (boxes.len() - from) as u32;
            search.pairs += skin.patch.pairs() as u32;
        }
        if let Some(folding) = &self.folding {
            let [pairs, folds] = folding.counts();
            search.fold_pairs += pairs as u32;
            search.folds += folds as u32;
            search.crossings += folding.crossings() as u32;
            let from = boxes.len();
            folding.see_boxes(near, |level, bounds, is_near| {
                boxes.push(BoxInsight::new(bounds, is_near, level as u32));
            });
            search.boxes += (boxes.len() - from) as u32;
        }
        if let Some(collisions) = &self.collisions {
            let (bounds, pairs) = collisions.search();
            let from = boxes.len();
            boxes.extend(bounds.iter().map(|b| BoxInsight::new(b, false, 0)));
            for pair in pairs {
                for i in [pair.a, pair.b] {
                    boxes[from + i as usize].is_near = true;
                }
                search.body_pairs += 1;
            }
            search.contacts += collisions.list.len() as u32;
        }
    }
}
