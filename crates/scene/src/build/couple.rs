//! Nodes of tissues that copy others, or that bodies hold (K54, K57).

use super::{
    Item,
    check::Checker,
    tissue::{Draft, Drafts},
};
use crate::{
    file::{Couple, Ring},
    load::SceneError,
};
use glam::DVec3;
use trocar_dynamics::{Lock, MatterId};
use trocar_soft::{Hyper, hyper};

/// Nodes that a file names: which tissue, its surface nodes, and whether they are a ring.
struct Named {
    draft: usize,
    points: Vec<usize>,
    ring: bool,
}

/// Couples nodes: moves the slaves onto their masters and pairs them. What a body holds is noted: ties do that.
pub fn couple<'a>(
    item: &Item<'a, Couple>,
    drafts: &mut Drafts<'a>,
    first: u32,
) -> Result<(), SceneError> {
    let check = || Checker {
        source: item.source,
        table: "couple",
        index: item.index,
    };
    let wrong = |key: &'static str, problem: String, remedy: &str| {
        check().error(&[key.into()], problem, remedy)
    };
    let couple = item.item;
    if !(0.0..=1.0).contains(&couple.force_factor) {
        return Err(wrong(
            "force_factor",
            "the factor lies between 0 and 1".into(),
            "1 keeps momentum.",
        ));
    }
    if couple.slave.body.is_some() {
        return Err(wrong(
            "slave",
            "a body does not follow nodes".into(),
            "Let the body lead, or join it by an element.",
        ));
    }
    let slave = named(&check(), &drafts.list, &couple.slave, "slave")?;
    check_free(&check(), &drafts.list[slave.draft], &slave)?;
    let matter = |draft: usize| MatterId(first + draft as u32);
    let node = |draft: &Draft<'_>, point: usize| (draft.parts.frames.len() + point) as u32;
    if let Some(body) = &couple.master.body {
        if couple.master.tissue.is_some() || couple.force_factor != 1.0 {
            return Err(wrong(
                "master",
                "a body that leads takes all the force, and no tissue leads beside it".into(),
                "Leave `tissue` and `force_factor` out.",
            ));
        }
        let draft = &drafts.list[slave.draft];
        for point in slave.points {
            let end = (matter(slave.draft), node(draft, point));
            drafts.held.push((check(), body, end.0, end.1));
        }
        return Ok(());
    }
    let master = named(&check(), &drafts.list, &couple.master, "master")?;
    if master.draft == slave.draft || master.points.len() != slave.points.len() {
        return Err(wrong(
            "slave",
            format!(
                "the rings have {} and {} nodes",
                master.points.len(),
                slave.points.len()
            ),
            "Couple two different tissues by equally many nodes.",
        ));
    }
    let at = |n: &Named| -> Vec<DVec3> {
        let points = &drafts.list[n.draft].parts.points;
        n.points.iter().map(|p| points[*p]).collect()
    };
    let (masters, slaves) = (at(&master), at(&slave));
    let pairs = if master.ring && slave.ring {
        hyper::matching(&masters, &slaves)
    } else {
        (0..masters.len()).collect()
    };
    let moves: Vec<(usize, DVec3)> = (pairs.iter().zip(&slave.points))
        .map(|(i, follows)| (*follows, masters[*i]))
        .collect();
    drafts.list[slave.draft].place(&moves);
    for (j, i) in pairs.into_iter().enumerate() {
        let (leads, follows) = (master.points[i], slave.points[j]);
        let pair = Hyper {
            master: (
                matter(master.draft),
                node(&drafts.list[master.draft], leads),
            ),
            slave: (
                matter(slave.draft),
                node(&drafts.list[slave.draft], follows),
            ),
            factor: couple.force_factor,
        };
        let led = |n| drafts.hypers.iter().any(|p: &Hyper| p.slave == n);
        let leading = |n| drafts.hypers.iter().any(|p: &Hyper| p.master == n);
        // A copy of a copy would lag behind and give its force to the wrong node.
        if led(pair.slave) || leading(pair.slave) || led(pair.master) {
            return Err(wrong(
                "slave",
                "a ring follows one other ring, and what follows does not lead".into(),
                "Let one ring lead all that are joined to it.",
            ));
        }
        let copy = &drafts.list[slave.draft].parts.nodes[pair.slave.1 as usize];
        drafts.loads.push((pair.master, pair.factor * copy.mass));
        drafts.hypers.push(pair);
    }
    Ok(())
}

fn named(
    check: &Checker<'_>,
    drafts: &[Draft<'_>],
    ring: &Ring,
    key: &'static str,
) -> Result<Named, SceneError> {
    let wrong = |problem: String, remedy: &str| check.error(&[key.into()], problem, remedy);
    let name = ring.tissue.as_deref().unwrap_or_default();
    let draft = drafts.iter().position(|d| d.name == name).ok_or_else(|| {
        wrong(
            format!("there is no tissue called \"{name}\""),
            "Name an organ or pipe and one of its rings.",
        )
    })?;
    let points = match (ring.ring, &ring.nodes) {
        (Some(r), None) => drafts[draft]
            .ring(r)
            .map(|range| range.collect::<Vec<_>>())
            .ok_or_else(|| {
                wrong(
                    format!("{name} has no ring {r}"),
                    "Name an organ or pipe and one of its rings.",
                )
            })?,
        (None, Some(nodes)) => {
            let count = drafts[draft].surface_nodes;
            let known = nodes.iter().all(|n| (*n as usize) < count);
            let mut once = nodes.clone();
            once.sort_unstable();
            once.dedup();
            if !known || once.len() != nodes.len() {
                return Err(wrong(
                    format!("a node of {name} is missing, or named twice"),
                    &format!("Its surface nodes are 0 to {}.", count.saturating_sub(1)),
                ));
            }
            nodes.iter().map(|n| *n as usize).collect()
        }
        _ => {
            return Err(wrong(
                "nodes are a ring or a list".into(),
                "Give either `ring` or `nodes`.",
            ));
        }
    };
    Ok(Named {
        draft,
        points,
        ring: ring.ring.is_some(),
    })
}

/// A slave copies its master, so it can't be held somewhere else at the same time.
fn check_free(check: &Checker<'_>, draft: &Draft<'_>, slave: &Named) -> Result<(), SceneError> {
    let first = draft.parts.frames.len();
    let fixed = draft.fixed()?;
    for point in &slave.points {
        let held = fixed.iter().any(|f| f.0 == first + point)
            || draft.parts.nodes[first + point].lock != Lock::Free;
        if held {
            return Err(check.error(
                &["slave".into()],
                format!(
                    "node {point} of {} is locked and can't follow another one as well",
                    draft.name
                ),
                "Let the tissue with the locked nodes lead, or free them.",
            ));
        }
    }
    Ok(())
}
