//! Tissues that touch themselves and each other.

use super::{Group, Stage, Sub, quarantine::PATIENCE, skin::can_move};
use trocar_dynamics::{Lock, MatterId, solve};

impl Group {
    /// Contacts of tissues with themselves and with each other.
    pub(super) fn add_folds(&mut self, stage: &Stage<'_>, sub: Sub) {
        let Self {
            folding: Some(folding),
            nodes,
            contacts,
            keys,
            warm,
            members,
            bad,
            ..
        } = self
        else {
            return;
        };
        let [_, most] = folding.counts();
        if contacts.capacity() - contacts.len() < most {
            // For a few times as many: what folds has more of them before long.
            contacts.reserve(4 * most);
            keys.reserve(4 * most);
            warm.reserve((contacts.len() + 4 * most).saturating_sub(warm.len()));
        }
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        let frozen = |m: MatterId| {
            let own = members.iter().zip(&*bad).find(|(own, _)| **own == m);
            own.is_some_and(|(_, bad)| *bad >= PATIENCE)
        };
        for folded in folding.contacts(stage.model, share, sub.h, stage.budget.recovery) {
            let mut contact = folded.contact;
            let sides = [contact.a.matter, contact.b.matter];
            let free = |(m, (corners, weights)): (MatterId, ([u32; 3], [f64; 3]))| {
                let masses = stage.model.matters[m.index()].masses();
                let is_free = |n: u32| masses.lock(n as usize) != Lock::Fixed;
                can_move(
                    corners
                        .into_iter()
                        .zip(weights)
                        .map(|(n, w)| (is_free(n), w)),
                )
            };
            let can_give_way = sides.into_iter().zip(folded.bears).any(free);
            if !can_give_way || sides.into_iter().any(frozen) {
                continue;
            }
            if let Ok(i) = warm.binary_search_by(|w| w.key.cmp(&folded.key)) {
                let growth = solve::growth(warm[i].h, sub.h);
                contact.impulse = warm[i].impulse * growth;
            }
            keys.push(folded.key);
            contacts.push(contact);
        }
    }
}
