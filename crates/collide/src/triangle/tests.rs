use super::{
    Contact, contact,
    suite::{Kind, PAIRS},
    touch,
};
use glam::DVec3;

fn kind(contact: &Contact) -> Kind {
    match contact {
        Contact::None => Kind::None,
        Contact::Point(_) => Kind::Point,
        Contact::Segment(_) => Kind::Segment,
        Contact::Polygon(_) => Kind::Polygon,
        Contact::Unknown => panic!("all of them can be told"),
    }
}

const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [0, 2, 1],
    [2, 1, 0],
    [1, 0, 2],
];

#[test]
fn forty_pairs_in_every_order_of_corners_give_what_is_expected() {
    for pair in &PAIRS {
        let [a, b] = pair.corners();
        for (i, j) in ORDERS
            .iter()
            .flat_map(|i| ORDERS.iter().map(move |j| (i, j)))
        {
            let (a, b) = (i.map(|k| a[k]), j.map(|k| b[k]));
            for (a, b) in [(a, b), (b, a)] {
                let found = contact(&a, &b);
                assert_eq!(kind(&found), pair.kind, "{}: {a:?} {b:?}", pair.name);
                assert_eq!(touch(&a, &b), found.exists(), "{}", pair.name);
            }
        }
    }
}

/// What the forty are: nobody may leave one out or change its kind without being seen.
#[test]
fn the_forty_pairs_are_these() {
    let count = |kind: Kind| PAIRS.iter().filter(|p| p.kind == kind).count();
    let counts = [Kind::None, Kind::Point, Kind::Segment, Kind::Polygon].map(count);
    assert_eq!((PAIRS.len(), counts), (40, [12, 11, 11, 6]));
    let mut names = PAIRS.map(|p| p.name);
    names.sort_unstable();
    assert!(names.is_sorted_by(|a, b| a < b), "each has its own name");
    for (start, wanted) in [
        ("in one plane", 14),
        ("a corner", 9),
        ("an edge", 6),
        ("a stab", 2),
    ] {
        let of = names.iter().filter(|n| n.starts_with(start)).count();
        assert_eq!(of, wanted, "{start}");
    }
}

#[test]
fn a_stab_has_the_ends_that_geometry_gives_it() {
    let a = [DVec3::ZERO, DVec3::X * 4.0, DVec3::Y * 4.0];
    let b = [
        DVec3::new(1.0, 1.0, 2.0),
        DVec3::new(1.0, 1.0, -2.0),
        DVec3::new(2.0, 1.0, -2.0),
    ];
    let Contact::Segment(mut ends) = contact(&a, &b) else {
        panic!("no segment")
    };
    ends.sort_by(|p, q| p.x.total_cmp(&q.x));
    assert_eq!(ends, [DVec3::new(1.0, 1.0, 0.0), DVec3::new(1.5, 1.0, 0.0)]);
}

#[test]
fn the_star_has_six_corners_that_go_round() {
    let star = PAIRS.iter().find(|p| p.name.contains("star")).unwrap();
    let [a, b] = star.corners();
    let Contact::Polygon(polygon) = contact(&a, &b) else {
        panic!("no polygon")
    };
    let corners = polygon.corners();
    assert_eq!(corners.len(), 6);
    for i in 0..6 {
        let [p, q, r] = [i, i + 1, i + 2].map(|k| corners[k % 6]);
        assert!((q - p).cross(r - q).z > 0.0, "{corners:?}");
    }
}

#[test]
fn what_is_no_number_may_touch_anything_and_breaks_nothing() {
    let a = [DVec3::ZERO, DVec3::X * 4.0, DVec3::Y * 4.0];
    // Of these every bit is set.
    let none = f64::from_bits(u64::MAX);
    for bad in [none, f64::NAN, -f64::NAN] {
        for corner in 0..3 {
            for axis in 0..3 {
                let mut b = a;
                b[corner][axis] = bad;
                assert!(touch(&a, &b) && touch(&b, &a) && touch(&b, &b));
                assert_eq!(contact(&a, &b), Contact::Unknown);
            }
        }
    }
    for far in [f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
        let b = a.map(|p| p + DVec3::new(0.0, 0.0, far));
        assert!(!touch(&a, &b) && !touch(&b, &a));
        contact(&a, &b);
    }
}
