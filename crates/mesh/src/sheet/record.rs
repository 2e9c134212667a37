//! A sheet as plain data: for snapshots. What is read is checked before anything walks along it.

use serde::{Deserialize, Serialize};

use super::slots::{NONE, Slots, Stored};
use super::{Edge, Fault, Node, Sheet, Triangle};

/// A version beyond this comes from no sheet; counting on must not overflow.
const MOST_EDITS: u64 = 1 << 53;

/// Everything of a sheet that its edits have made and nobody could find again: names and free places included, so that edits after it give the
/// same names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SheetRecord {
    nodes: Stored<Node>,
    edges: Stored<Edge>,
    triangles: Stored<Triangle>,
    version: u64,
    least_quality: f64,
}

impl Sheet {
    /// The sheet as plain data.
    pub fn record(&self) -> SheetRecord {
        SheetRecord {
            nodes: self.nodes.store(),
            edges: self.edges.store(),
            triangles: self.triangles.store(),
            version: self.version,
            least_quality: self.least_quality,
        }
    }

    /// The sheet of a record, wherever that came from: one that breaks an invariant is refused.
    pub fn from_record(record: SheetRecord) -> Result<Self, Fault> {
        let wrong = |what| Fault { what, slot: 0 };
        let lists = "places and free places contradict each other";
        let mut sheet = Self {
            nodes: Slots::restore(record.nodes).ok_or(wrong(lists))?,
            edges: Slots::restore(record.edges).ok_or(wrong(lists))?,
            triangles: Slots::restore(record.triangles).ok_or(wrong(lists))?,
            steps: Vec::new(),
            holes: Vec::new(),
            version: record.version,
            least_quality: 0.0,
        };
        if record.version >= MOST_EDITS {
            return Err(wrong("more edits than anybody has made"));
        }
        if !(1e-12..=1.0).contains(&record.least_quality) {
            return Err(wrong("no least quality"));
        }
        sheet.least_quality = record.least_quality;
        sheet.check_places()?;
        sheet.check()?;
        sheet.nodes.begin();
        sheet.edges.begin();
        sheet.triangles.begin();
        Ok(sheet)
    }

    /// Whether everything points at a place that there is, and siblings go round: what [`Sheet::check`] takes for granted.
    fn check_places(&self) -> Result<(), Fault> {
        let halves = 3 * self.triangles.len() as u32;
        let demand = |holds: bool, what, slot| match holds {
            true => Ok(()),
            false => Err(Fault { what, slot }),
        };
        for t in self.triangles.live() {
            let Triangle {
                nodes,
                opposite,
                edges,
            } = self.triangles.get(t);
            let known = nodes.iter().all(|n| self.nodes.is_live(*n))
                && edges.iter().all(|e| self.edges.is_live(*e))
                && opposite
                    .iter()
                    .all(|h| *h == NONE || (*h < halves && self.triangles.is_live(*h / 3)));
            demand(known, "a triangle of parts that are not there", t)?;
        }
        for e in self.edges.live() {
            demand(self.edges.get(e).half < halves, "an edge of nothing", e)?;
        }
        let mut led = vec![false; self.nodes.len()];
        for n in self.nodes.live() {
            let node = self.nodes.get(n);
            let known = node.leaving < halves && self.nodes.is_live(node.sibling);
            demand(known, "a node of nothing", n)?;
            // Every node is led to by one: a way along siblings then always comes back.
            let again = std::mem::replace(&mut led[node.sibling as usize], true);
            demand(!again, "siblings that do not go round", n)?;
            let numbers = node.texture.is_finite() && node.attributes.iter().all(|a| a.is_finite());
            demand(numbers && node.rest.is_finite(), "no number", n)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive::HexagonalShape;
    use crate::sheet::Event;

    fn torn() -> Sheet {
        let mut sheet = Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap();
        let mut event = Event::default();
        for k in 0..3 {
            let edge = sheet.edges().nth(300 + 40 * k).unwrap();
            sheet.edit(&mut event, |edit| edit.open(edge)).unwrap();
            let edge = sheet.edges().nth(500 + 40 * k).unwrap();
            let [a, b] = sheet.ends(edge);
            // Not every edge may collapse; some places become free.
            let _ = sheet.edit(&mut event, |edit| edit.collapse(a, b));
        }
        assert!(sheet.node_slots() > sheet.node_count());
        sheet
    }

    #[test]
    fn a_sheet_comes_back_as_it_was_and_goes_on_alike() {
        let mut sheet = torn();
        let mut back = Sheet::from_record(sheet.record()).unwrap();
        assert_eq!(back, sheet);
        let (mut one, mut two) = (Event::default(), Event::default());
        let edge = sheet.edges().nth(700).unwrap();
        sheet
            .edit(&mut one, |edit| edit.split_edge(edge, 0.3))
            .unwrap();
        back.edit(&mut two, |edit| edit.split_edge(edge, 0.3))
            .unwrap();
        assert_eq!((one, sheet), (two, back));
    }

    #[test]
    fn damaged_records_are_refused() {
        let good = torn().record();
        let spoil = |change: &dyn Fn(&mut Slots<Node>, &mut Slots<Triangle>)| {
            let mut nodes = Slots::restore(good.nodes.clone()).unwrap();
            let mut triangles = Slots::restore(good.triangles.clone()).unwrap();
            change(&mut nodes, &mut triangles);
            Sheet::from_record(SheetRecord {
                nodes: nodes.store(),
                triangles: triangles.store(),
                ..good.clone()
            })
        };
        assert!(spoil(&|_, _| {}).is_ok());
        assert!(spoil(&|_, t| t.change(5).nodes[1] = 1_000_000).is_err());
        assert!(spoil(&|_, t| t.change(5).opposite[0] = 77).is_err());
        assert!(spoil(&|_, t| t.change(5).opposite[0] = NONE - 1).is_err());
        assert!(spoil(&|_, t| t.change(5).edges[2] = 0).is_err());
        assert!(spoil(&|_, t| t.free(9)).is_err());
        assert!(spoil(&|n, _| n.change(20).sibling = 21).is_err());
        assert!(spoil(&|n, _| n.change(20).leaving = NONE).is_err());
        assert!(spoil(&|n, _| n.change(20).rest.x = f64::NAN).is_err());
        assert!(spoil(&|n, _| n.change(20).rest = n.get(21).rest).is_err());
        let mut old = good.clone();
        old.version = u64::MAX - 1;
        assert!(Sheet::from_record(old).is_err());
        let mut poor = good.clone();
        poor.least_quality = f64::NAN;
        assert!(Sheet::from_record(poor).is_err());
    }
}
