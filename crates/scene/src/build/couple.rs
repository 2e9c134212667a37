//! Nodes of tissues that copy others, or that bodies hold (K54, K57).

use super::{
    Item,
    check::Checker,
    tissue::{Draft, Drafts},
};
use crate::{
    file::{CentreName, Couple, NodeName, Ring},
    load::SceneError,
};
use glam::DVec3;
use trocar_dynamics::{Lock, MatterId};
use trocar_soft::{Hyper, NodeFlags, hyper};

/// Nodes that a file names: which tissue, which of its nodes, and whether they are a ring or central ones.
pub(super) struct Named {
    pub draft: usize,
    pub nodes: Vec<usize>,
    ring: bool,
    central: bool,
}

/// Couples nodes: moves the slaves onto their masters and pairs them. Surface nodes become copies; what a body holds and central nodes that
/// follow are noted: ties do that.
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
    if couple.slave.body.is_some() || couple.slave.world.is_some() {
        return Err(wrong(
            "slave",
            "a body does not follow nodes, nor does a place".into(),
            "Let the body lead, or join it by an element.",
        ));
    }
    let slave = named(&check(), &drafts.list, &couple.slave, "slave")?;
    check_free(&check(), &drafts.list[slave.draft], &slave)?;
    let matter = |draft: usize| MatterId(first + draft as u32);
    if let Some(points) = &couple.master.world {
        check().points(points, "master")?;
        let alone = couple.master.tissue.is_none() && couple.master.body.is_none();
        if !alone || points.len() != slave.nodes.len() {
            return Err(wrong(
                "master",
                format!(
                    "{} points lead {} nodes, and nothing leads beside them",
                    points.len(),
                    slave.nodes.len()
                ),
                "Give as many points as slaves, and neither `tissue` nor `body`.",
            ));
        }
        for node in &slave.nodes {
            let end = (matter(slave.draft), *node as u32);
            if is_led(drafts, end) || is_held(drafts, end) {
                return Err(held_twice(&check(), &drafts.list[slave.draft], *node));
            }
            if is_leading(drafts, end) {
                return Err(wrong(
                    "slave",
                    format!(
                        "{} of {} leads another node already, which stands where it was",
                        called(&drafts.list[slave.draft], *node),
                        drafts.list[slave.draft].name
                    ),
                    "Couple it to its place before others are coupled to it.",
                ));
            }
        }
        drafts.list[slave.draft].anchor(&slave.nodes, points);
        return Ok(());
    }
    if let Some(body) = &couple.master.body {
        if couple.master.tissue.is_some() || couple.force_factor != 1.0 {
            return Err(wrong(
                "master",
                "a body that leads takes all the force, and no tissue leads beside it".into(),
                "Leave `tissue` and `force_factor` out.",
            ));
        }
        for node in slave.nodes {
            let end = (matter(slave.draft), node as u32);
            if is_led(drafts, end) || is_held(drafts, end) {
                return Err(held_twice(&check(), &drafts.list[slave.draft], node));
            }
            drafts.held.push((check(), body, end.0, end.1));
        }
        return Ok(());
    }
    let master = named(&check(), &drafts.list, &couple.master, "master")?;
    if master.draft == slave.draft || master.nodes.len() != slave.nodes.len() {
        return Err(wrong(
            "slave",
            format!(
                "the rings have {} and {} nodes",
                master.nodes.len(),
                slave.nodes.len()
            ),
            "Couple two different tissues by equally many nodes.",
        ));
    }
    if slave.central && couple.force_factor != 1.0 {
        return Err(wrong(
            "force_factor",
            "a central node that follows gives all of its force".into(),
            "Leave `force_factor` out, or let surface nodes follow.",
        ));
    }
    let at = |n: &Named| -> Vec<DVec3> {
        let draft = &drafts.list[n.draft];
        n.nodes.iter().map(|node| draft.at(*node as u32)).collect()
    };
    let (masters, slaves) = (at(&master), at(&slave));
    let pairs = if master.ring && slave.ring {
        hyper::matching(&masters, &slaves)
    } else {
        (0..masters.len()).collect()
    };
    let moves: Vec<(usize, DVec3)> = (pairs.iter().zip(&slave.nodes))
        .map(|(i, follows)| (*follows, masters[*i]))
        .collect();
    let draft = &mut drafts.list[slave.draft];
    draft.place_nodes(&moves);
    if slave.central {
        slave.nodes.iter().for_each(|z| draft.turn_anew(*z));
    }
    for (j, i) in pairs.into_iter().enumerate() {
        let pair = Hyper {
            master: (matter(master.draft), master.nodes[i] as u32),
            slave: (matter(slave.draft), slave.nodes[j] as u32),
            factor: couple.force_factor,
        };
        if is_held(drafts, pair.slave) {
            let node = slave.nodes[j];
            return Err(held_twice(&check(), &drafts.list[slave.draft], node));
        }
        // A copy of a copy would lag behind and give its force to the wrong node.
        if is_led(drafts, pair.slave)
            || is_leading(drafts, pair.slave)
            || is_led(drafts, pair.master)
        {
            return Err(wrong(
                "slave",
                "a ring follows one other ring, and what follows does not lead".into(),
                "Let one ring lead all that are joined to it.",
            ));
        }
        if slave.central {
            for ((_, node), draft, flag) in [
                (pair.master, master.draft, NodeFlags::MASTER),
                (pair.slave, slave.draft, NodeFlags::SLAVE),
            ] {
                drafts.list[draft].parts.flags[node as usize].set(flag, true);
            }
            drafts.tied.push(pair);
            continue;
        }
        let copy = &drafts.list[slave.draft].parts.nodes[pair.slave.1 as usize];
        drafts.loads.push((pair.master, pair.factor * copy.mass));
        drafts.hypers.push(pair);
    }
    Ok(())
}

impl Draft<'_> {
    /// Moves nodes to points in space and fixes them there: their masters never move (K54).
    fn anchor(&mut self, nodes: &[usize], points: &[[f64; 3]]) {
        let moves: Vec<(usize, DVec3)> = (nodes.iter().zip(points))
            .map(|(node, point)| (*node, DVec3::from(*point)))
            .collect();
        self.place_nodes(&moves);
        for node in nodes {
            self.turn_anew(*node);
            self.parts.nodes[*node].lock = Lock::Fixed;
            let flags = &mut self.parts.flags[*node];
            flags.set(NodeFlags::SLAVE, true);
        }
    }
}

/// True if a node follows or leads another or a membrane, or a body holds it.
pub(super) fn is_taken(drafts: &Drafts<'_>, end: (MatterId, u32)) -> bool {
    is_led(drafts, end) || is_leading(drafts, end) || is_held(drafts, end)
}

/// True if a node follows another, or a membrane.
pub(super) fn is_led(drafts: &Drafts<'_>, end: (MatterId, u32)) -> bool {
    let mut pairs = drafts.hypers.iter().chain(&drafts.tied);
    pairs.any(|pair| pair.slave == end) || drafts.bridges.iter().any(|b| b.is_led(end))
}

/// True if a node leads another, or a membrane.
fn is_leading(drafts: &Drafts<'_>, end: (MatterId, u32)) -> bool {
    let mut pairs = drafts.hypers.iter().chain(&drafts.tied);
    pairs.any(|pair| pair.master == end) || drafts.bridges.iter().any(|b| b.is_leading(end))
}

/// True if a body holds a node.
fn is_held(drafts: &Drafts<'_>, (matter, node): (MatterId, u32)) -> bool {
    drafts
        .held
        .iter()
        .any(|(_, _, m, n)| (*m, *n) == (matter, node))
}

fn called(draft: &Draft<'_>, node: usize) -> String {
    match node.checked_sub(draft.parts.frames.len()) {
        Some(point) => format!("node {point}"),
        None => format!("central node {node}"),
    }
}

/// A node that is to go where two others go.
fn held_twice(check: &Checker<'_>, draft: &Draft<'_>, node: usize) -> SceneError {
    let called = called(draft, node);
    check.error(
        &["slave".into()],
        format!(
            "{called} of {} follows something already and can't follow this as well",
            draft.name
        ),
        "Couple each node once; let the body hold the nodes that lead.",
    )
}

pub(super) fn named(
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
    let of = &drafts[draft];
    let first = of.parts.frames.len();
    if ring.at.is_some() {
        return Err(wrong(
            "points are `at` places on membranes only".into(),
            "Name nodes of a net by `ring`, `nodes` or `centres`.",
        ));
    }
    let nodes = match (ring.ring, &ring.nodes, &ring.centres) {
        (Some(r), None, None) => of
            .ring(r)
            .map(|range| range.map(|point| first + point).collect::<Vec<_>>())
            .ok_or_else(|| {
                wrong(
                    format!("{name} has no ring {r}"),
                    "Name an organ or pipe and one of its rings.",
                )
            })?,
        (None, Some(list), None) => {
            // Added nodes are counted after those of the surface, and can be coupled like them (K22).
            let count = of.parts.points.len();
            let known = list.iter().all(|n| (*n as usize) < count);
            if !known || !are_different(list) {
                return Err(wrong(
                    format!("a node of {name} is missing, or named twice"),
                    &format!(
                        "Its nodes are 0 to {}, added ones after those of the surface.",
                        count.saturating_sub(1)
                    ),
                ));
            }
            list.iter().map(|n| first + *n as usize).collect()
        }
        (None, None, Some(list)) => {
            if !are_different(list) {
                return Err(wrong(
                    format!("a central node of {name} is named twice"),
                    "Name it once.",
                ));
            }
            let centre = |c: &u32| {
                let centre = NodeName::Central(CentreName { centre: *c });
                of.node(centre, &[key.into()])
                    .map_err(|e| wrong(e.problem, &e.remedy))
            };
            list.iter().map(centre).collect::<Result<_, _>>()?
        }
        _ => {
            return Err(wrong(
                "nodes are a ring, a list of surface nodes or one of central nodes".into(),
                "Give one of `ring`, `nodes` and `centres`.",
            ));
        }
    };
    Ok(Named {
        draft,
        nodes,
        ring: ring.ring.is_some(),
        central: ring.centres.is_some(),
    })
}

fn are_different(list: &[u32]) -> bool {
    let mut once = list.to_vec();
    once.sort_unstable();
    once.dedup();
    once.len() == list.len()
}

/// A slave copies its master, so it can't be held somewhere else at the same time.
pub(super) fn check_free(
    check: &Checker<'_>,
    draft: &Draft<'_>,
    slave: &Named,
) -> Result<(), SceneError> {
    let first = draft.parts.frames.len();
    let fixed = draft.fixed()?;
    for node in &slave.nodes {
        let held = fixed.iter().any(|f| f.0 == *node)
            || draft.parts.nodes[*node].lock != Lock::Free
            || (slave.central && !draft.parts.mobile);
        if held {
            let called = match node.checked_sub(first) {
                Some(point) => format!("node {point}"),
                None => "a central node".into(),
            };
            return Err(check.error(
                &["slave".into()],
                format!(
                    "{called} of {} is locked and can't follow another one as well",
                    draft.name
                ),
                "Let the tissue with the locked nodes lead, or free them.",
            ));
        }
    }
    Ok(())
}
