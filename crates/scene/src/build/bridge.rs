//! Couples with membranes: ties between points of a membrane and nodes of nets or other membranes, bodies and places (K54 towards another kind of matter).
//!
//! A node of a net that follows is moved onto its master, as among nets. A membrane has a form of its own: where it follows it must lie there already.
//! When it tears, the ties follow what they were on.

use super::{
    Item, Model,
    check::Checker,
    couple::{check_free, is_led, is_taken, named},
    film, items,
    tissue::Drafts,
};
use crate::{
    file::{AnchorSpec, Couple, MembraneTissue, Ring},
    load::{Scene, SceneError},
};
use glam::DVec3;
use trocar_collide::{closest, on_triangle};
use trocar_dynamics::{Anchor, MatterId, Tie};
use trocar_soft::NodeFlags;

/// Farther than this from each other the ends of a couple would be flung together, m.
const NEAR: f64 = 1e-4;

/// A couple with a membrane, to be made when all matter is there.
pub struct Bridge<'a> {
    check: Checker<'a>,
    couple: &'a Couple,
    /// The nodes on the side of the net, if one side is a net.
    net: Option<(Side, MatterId, Vec<u32>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Master,
    Slave,
}

impl Bridge<'_> {
    /// True if this node of a net follows the membrane.
    pub fn is_led(&self, end: (MatterId, u32)) -> bool {
        self.has(Side::Slave, end)
    }

    /// True if this node of a net leads the membrane.
    pub fn is_leading(&self, end: (MatterId, u32)) -> bool {
        self.has(Side::Master, end)
    }

    fn has(&self, side: Side, (matter, node): (MatterId, u32)) -> bool {
        let net = self.net.as_ref();
        net.is_some_and(|(own, of, nodes)| (*own, *of) == (side, matter) && nodes.contains(&node))
    }
}

/// The membrane that one side of a couple names.
fn membrane<'a>(scene: &'a Scene, ring: &Ring) -> Option<Item<'a, MembraneTissue>> {
    let name = ring.tissue.as_deref()?;
    items(scene, |s| &s.file.membrane).find(|m| m.item.name == name)
}

/// True if one of the sides is a membrane.
pub fn is_bridge(scene: &Scene, couple: &Couple) -> bool {
    [&couple.master, &couple.slave]
        .iter()
        .any(|ring| membrane(scene, ring).is_some())
}

/// Notes a couple with a membrane. Nodes of a net that follow are moved onto their masters.
pub fn bridge<'a>(
    scene: &'a Scene,
    item: &Item<'a, Couple>,
    drafts: &mut Drafts<'a>,
    first: u32,
) -> Result<(), SceneError> {
    let check = || Checker {
        source: item.source,
        table: "couple",
        index: item.index,
    };
    let couple = item.item;
    let wrong = |key: &'static str, problem: String, remedy: &str| {
        check().error(&[key.into()], problem, remedy)
    };
    if couple.force_factor != 1.0 {
        return Err(wrong(
            "force_factor",
            "what is coupled to a membrane is tied to it: all of the force is given back".into(),
            "Leave `force_factor` out.",
        ));
    }
    if couple.slave.body.is_some() || couple.slave.world.is_some() {
        return Err(wrong(
            "slave",
            "a body does not follow a membrane, nor does a place".into(),
            "Let the body or the place lead.",
        ));
    }
    let sides = [(Side::Master, &couple.master), (Side::Slave, &couple.slave)];
    let mut net = None;
    for (side, ring) in sides {
        let other = ring.tissue.is_some() && membrane(scene, ring).is_none();
        if !other {
            continue;
        }
        let key = if side == Side::Master {
            "master"
        } else {
            "slave"
        };
        let nodes = named(&check(), &drafts.list, ring, key)?;
        let matter = MatterId(first + nodes.draft as u32);
        let list: Vec<u32> = nodes.nodes.iter().map(|n| *n as u32).collect();
        if side == Side::Master && list.iter().any(|n| is_led(drafts, (matter, *n))) {
            return Err(wrong(
                "master",
                format!(
                    "a node of {} follows another already, and what follows does not lead",
                    drafts.list[nodes.draft].name
                ),
                "Let what it follows lead the membrane, too.",
            ));
        }
        if side == Side::Slave {
            check_free(&check(), &drafts.list[nodes.draft], &nodes)?;
            for node in &list {
                if is_taken(drafts, (matter, *node)) {
                    return Err(wrong(
                        "slave",
                        format!(
                            "a node of {} follows or leads another already",
                            drafts.list[nodes.draft].name
                        ),
                        "Couple each node once.",
                    ));
                }
            }
            if let Some(master) = membrane(scene, &couple.master) {
                let at = |n: &u32| drafts.list[nodes.draft].at(*n);
                let from: Vec<DVec3> = list.iter().map(at).collect();
                let to = places(scene, &check(), &master, &couple.master, &from)?;
                let moves: Vec<(usize, DVec3)> = nodes.nodes.iter().copied().zip(to).collect();
                let draft = &mut drafts.list[nodes.draft];
                draft.place_nodes(&moves);
                nodes.nodes.iter().for_each(|n| draft.turn_anew(*n));
            }
        }
        let flag = match side {
            Side::Master => NodeFlags::MASTER,
            Side::Slave => NodeFlags::SLAVE,
        };
        let flags = &mut drafts.list[nodes.draft].parts.flags;
        nodes.nodes.iter().for_each(|n| flags[*n].set(flag, true));
        net = Some((side, matter, list));
    }
    drafts.bridges.push(Bridge {
        check: check(),
        couple,
        net,
    });
    Ok(())
}

/// Where the points of a membrane are that nodes at `from` are to follow, m.
fn places(
    scene: &Scene,
    check: &Checker<'_>,
    item: &Item<'_, MembraneTissue>,
    ring: &Ring,
    from: &[DVec3],
) -> Result<Vec<DVec3>, SceneError> {
    let own = Checker {
        source: item.source,
        table: "membrane",
        index: item.index,
    };
    // How long a step is makes no difference to where it lies.
    let built = film::build(scene, &own, item.item, 0.01)?;
    let rest = built.membrane.rest().position;
    if let Some(nodes) = &ring.nodes {
        let at = |n: &u32| {
            rest.get(*n as usize).copied().ok_or_else(|| {
                let problem = format!("{} has no node {n}", item.item.name);
                let remedy = format!("Its nodes are 0 to {}.", rest.len().saturating_sub(1));
                check.error(&["master".into()], problem, remedy)
            })
        };
        let found: Vec<DVec3> = nodes.iter().map(at).collect::<Result<_, _>>()?;
        return same_count(check, found, from.len());
    }
    let mut triangles = Vec::new();
    super::membrane::list_triangles(built.membrane.sheet(), &mut triangles);
    let wanted: Vec<DVec3> = match &ring.at {
        Some(at) => at.iter().map(|p| DVec3::from(*p)).collect(),
        None => from.to_vec(),
    };
    let nearest = |point: &DVec3| {
        let on = triangles.iter().map(|t| {
            let corners = t.map(|n| rest[n as usize]);
            closest::point(corners, on_triangle(*point, corners))
        });
        let nearer = |a: &DVec3, b: &DVec3| {
            let [a, b] = [a, b].map(|p| p.distance_squared(*point));
            a.total_cmp(&b)
        };
        on.min_by(nearer).unwrap_or(*point)
    };
    same_count(check, wanted.iter().map(nearest).collect(), from.len())
}

fn same_count(
    check: &Checker<'_>,
    list: Vec<DVec3>,
    count: usize,
) -> Result<Vec<DVec3>, SceneError> {
    if list.len() == count {
        return Ok(list);
    }
    Err(check.error(
        &["slave".into()],
        format!("{} points lead {count} nodes", list.len()),
        "Name as many points as nodes.",
    ))
}

impl Model {
    /// Ties of couples with membranes.
    pub(super) fn add_bridges(&mut self, bridges: &[Bridge<'_>]) -> Result<(), SceneError> {
        let mut taken: Vec<Anchor> = Vec::new();
        for bridge in bridges {
            let (check, couple) = (&bridge.check, bridge.couple);
            let net = |side: Side| match &bridge.net {
                Some((own, matter, nodes)) if *own == side => {
                    let anchor = |n: &u32| self.node_anchor((*matter, *n));
                    Some(nodes.iter().map(anchor).collect::<Vec<Anchor>>())
                }
                _ => None,
            };
            let at =
                |list: &[Anchor]| -> Vec<DVec3> { list.iter().map(|a| self.place_of(a)).collect() };
            let masters = match net(Side::Master) {
                Some(list) => Some(list),
                None => self.bridge_end(check, "master", &couple.master, None)?,
            };
            let slaves = match net(Side::Slave) {
                Some(list) => list,
                None => {
                    let near = masters.as_deref().map(at);
                    self.bridge_end(check, "slave", &couple.slave, near.as_deref())?
                        .ok_or_else(|| unnamed(check, "slave"))?
                }
            };
            let masters = match masters {
                Some(list) => list,
                None => {
                    let near = at(&slaves);
                    self.bridge_end(check, "master", &couple.master, Some(&near))?
                        .ok_or_else(|| unnamed(check, "master"))?
                }
            };
            if masters.len() != slaves.len() {
                return Err(check.error(
                    &["slave".into()],
                    format!("{} points lead {}", masters.len(), slaves.len()),
                    "Name as many points on both sides.",
                ));
            }
            for (master, slave) in masters.into_iter().zip(slaves) {
                let apart = self.place_of(&master).distance(self.place_of(&slave));
                if apart > NEAR {
                    return Err(check.error(
                        &["slave".into()],
                        format!("two points that are to be one lie {apart:.6} m from each other"),
                        "Let the membrane lie where it is coupled, or let it lead.",
                    ));
                }
                if master == slave || taken.contains(&slave) {
                    return Err(check.error(
                        &["slave".into()],
                        "a point follows itself, or two others",
                        "Couple each point once.",
                    ));
                }
                taken.push(slave);
                self.ties.push(Tie::point(master, slave));
            }
        }
        Ok(())
    }

    /// The points that one side of a couple names on a membrane, a body or in space. Where it names none they are those nearest to `near`; none if
    /// nobody knows yet where that is.
    fn bridge_end(
        &self,
        check: &Checker<'_>,
        key: &'static str,
        ring: &Ring,
        near: Option<&[DVec3]>,
    ) -> Result<Option<Vec<Anchor>>, SceneError> {
        if ring.ring.is_some() || ring.centres.is_some() {
            return Err(check.error(
                &[key.into()],
                "a membrane has neither rings nor central nodes",
                "Give `nodes`, points `at`, or none of them for the nearest points.",
            ));
        }
        let named = [
            ring.tissue.is_some(),
            ring.body.is_some(),
            ring.world.is_some(),
        ];
        let both = ring.nodes.is_some() && ring.at.is_some();
        if named.iter().filter(|x| **x).count() != 1 || both {
            return Err(unnamed(check, key));
        }
        let which = ring.nodes.is_some() || ring.at.is_some();
        if ring.world.is_some() && which || ring.body.is_some() && ring.nodes.is_some() {
            return Err(check.error(
                &[key.into()],
                "`world` is the points themselves, and a body has no nodes",
                "Leave out `nodes` and `at` beside `world`, and `nodes` beside `body`.",
            ));
        }
        if let Some(points) = &ring.world {
            check.points(points, key)?;
            let anchors = points.iter().map(|p| Anchor::world((*p).into()));
            return Ok(Some(anchors.collect()));
        }
        let spec = |point: &DVec3| AnchorSpec {
            tissue: ring.tissue.clone(),
            at: Some((*point).into()),
            ..AnchorSpec::default()
        };
        if let Some(nodes) = &ring.nodes {
            let node = |n: &u32| {
                let spec = AnchorSpec {
                    tissue: ring.tissue.clone(),
                    node: Some(crate::file::NodeName::Surface(*n)),
                    ..AnchorSpec::default()
                };
                self.anchor_at(check, key, &spec, None)
            };
            return nodes.iter().map(node).collect::<Result<_, _>>().map(Some);
        }
        let given: Option<Vec<DVec3>> = ring
            .at
            .as_ref()
            .map(|list| list.iter().map(|p| DVec3::from(*p)).collect());
        let Some(points) = given.as_deref().or(near) else {
            return Ok(None);
        };
        let anchor = |point: &DVec3| match &ring.body {
            // Held where it is, however far from the body.
            Some(body) => {
                let spec = AnchorSpec {
                    body: Some(body.clone()),
                    ..AnchorSpec::default()
                };
                self.anchor_at(check, key, &spec, Some((*point).into()))
            }
            None => self.anchor_at(check, key, &spec(point), None),
        };
        points
            .iter()
            .map(anchor)
            .collect::<Result<_, _>>()
            .map(Some)
    }
}

fn unnamed(check: &Checker<'_>, key: &'static str) -> SceneError {
    check.error(
        &[key.into()],
        "one side names points of a membrane, of a tissue, of a body or in space",
        "Give `nodes` or `at` on at least one side, and one of `tissue`, `body`, `world` on each.",
    )
}
