//! Sorting what is nearly in order.

use std::cmp::Ordering;

/// How far each item may have moved on average until it is no longer worth the while.
const MOVES: usize = 8;

/// Sorts as [`sort_unstable_by`](slice::sort_unstable_by) does; in linear time if nearly all is in its place already.
pub fn nearly_sorted<T: Copy>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let mut budget = MOVES * items.len();
    for at in 1..items.len() {
        let moving = items[at];
        let mut to = at;
        while to > 0 && compare(&items[to - 1], &moving).is_gt() {
            items[to] = items[to - 1];
            to -= 1;
        }
        items[to] = moving;
        budget = budget.saturating_sub(at - to);
        if budget == 0 {
            return items.sort_unstable_by(compare);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_sorts_whatever_it_is_given(mut items in prop::collection::vec(any::<u16>(), 0..300), reverse: bool) {
            let mut expected = items.clone();
            expected.sort_unstable();
            if reverse {
                items.clone_from(&expected);
                items.reverse();
            }
            nearly_sorted(&mut items, u16::cmp);
            prop_assert_eq!(items, expected);
        }
    }
}
