//! A row of the result, the table of all rows, and their JSON.

use crate::{machine::Machine, measure::Summary};
use anyhow::Result;
use serde::Serialize;

/// What a value is held against.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Against {
    /// The peer, the naive method or the source.
    pub name: String,
    /// Its value, in the unit of the row.
    pub value: f64,
}

/// How far repeats lie apart, in the unit of the row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The middle half of all repeats.
    pub quartiles: [f64; 2],
    /// One in a hundred lies above.
    pub p99: f64,
    /// How many there were.
    pub repeats: usize,
}

/// One number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// On what it was measured.
    pub case: String,
    /// What was measured.
    pub metric: String,
    /// The number; of repeats, the median.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
    /// Of repeats.
    pub spread: Option<Spread>,
    /// What it is held against.
    pub against: Option<Against>,
    /// The value divided by that.
    pub ratio: Option<f64>,
    /// A time below a millisecond as a number of square roots of the same run, for comparison between machines.
    pub square_roots: Option<f64>,
    /// What we want.
    pub aim: Option<String>,
    /// Whether we have it.
    pub met: Option<bool>,
}

impl Row {
    /// The median of repeats.
    pub fn new(case: &str, metric: &str, summary: Summary, unit: &'static str) -> Self {
        Self {
            spread: Some(Spread {
                quartiles: summary.quartiles,
                p99: summary.p99,
                repeats: summary.count,
            }),
            ..Self::single(case, metric, summary.median, unit)
        }
    }

    /// A number of which there is only one.
    pub fn single(case: &str, metric: &str, value: f64, unit: &'static str) -> Self {
        Self {
            case: case.into(),
            metric: metric.into(),
            value,
            unit,
            spread: None,
            against: None,
            ratio: None,
            square_roots: None,
            aim: None,
            met: None,
        }
    }

    /// Holds it against something.
    pub fn against(mut self, name: &str, value: f64) -> Self {
        self.ratio = (value != 0.0).then(|| self.value / value);
        self.against = Some(Against {
            name: name.into(),
            value,
        });
        self
    }

    /// We want no more than `limit`.
    pub fn at_most(self, limit: f64) -> Self {
        let met = self.value <= limit;
        self.wanting("≤", limit, met)
    }

    /// We want no less than `limit`.
    pub fn at_least(self, limit: f64) -> Self {
        let met = self.value >= limit;
        self.wanting("≥", limit, met)
    }

    /// We want less than `limit`.
    pub fn below(self, limit: f64) -> Self {
        let met = self.value < limit;
        self.wanting("<", limit, met)
    }

    fn wanting(mut self, relation: &str, limit: f64, met: bool) -> Self {
        self.aim = Some(
            format!("{relation} {} {}", number(limit), self.unit)
                .trim_end()
                .into(),
        );
        self.met = Some(met);
        self
    }

    /// Expresses a time in square roots of `nanoseconds` each.
    pub fn measure_by(&mut self, nanoseconds: f64) {
        let unit = match self.unit {
            "ns" => 1.0,
            "µs" => 1e3,
            // Milliseconds are a matter of clocks and frames, not of the processor.
            _ => return,
        };
        self.square_roots = Some(self.value * unit / nanoseconds);
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        let spread = self.spread.as_ref();
        [
            self.case.clone(),
            self.metric.clone(),
            number(self.value),
            self.unit.into(),
            spread.map_or_else(String::new, |s| s.quartiles.map(number).join("–")),
            spread.map_or_else(String::new, |s| number(s.p99)),
            self.against
                .as_ref()
                .map_or_else(String::new, |a| format!("{} {}", number(a.value), a.name)),
            self.ratio.map_or_else(String::new, number),
            self.square_roots.map_or_else(String::new, number),
            self.aim.clone().unwrap_or_default(),
            match self.met {
                Some(true) => "met".into(),
                Some(false) => "NOT MET".into(),
                None => String::new(),
            },
        ]
    }
}

/// Names of the table's columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 11] = [
    ("case", false),
    ("metric", false),
    ("value", true),
    ("unit", false),
    ("quartiles", true),
    ("p99", true),
    ("against", false),
    ("ratio", true),
    ("in √", true),
    ("aim", false),
    ("", false),
];

/// At least three digits of a number, and all of those before the point.
pub fn number(x: f64) -> String {
    let size = x.abs();
    let digits = match size {
        0.0 => 0,
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 0.09995 => 3,
        s if s >= 0.00995 => 4,
        _ => return format!("{x:.2e}"),
    };
    let text = format!("{x:.digits$}");
    // Whole numbers are counts and limits.
    if x.fract() == 0.0 {
        format!("{x:.0}")
    } else {
        text
    }
}

/// The rows as text, columns aligned; what is the same as above in the first column is left out.
pub fn table(rows: &[Row]) -> String {
    let mut lines = vec![COLUMNS.map(|c| c.0.to_string())];
    let mut case = "";
    for row in rows {
        let mut cells = row.cells();
        if row.case == case {
            cells[0].clear();
        }
        case = &row.case;
        lines.push(cells);
    }
    let width = |column: usize| {
        lines
            .iter()
            .map(|l| l[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let mut shown = String::new();
        for ((cell, width), (_, numeric)) in line.iter().zip(&widths).zip(COLUMNS) {
            let gap = " ".repeat(width - cell.chars().count());
            let (before, after) = if numeric {
                (&gap, "")
            } else {
                (&String::new(), &*gap)
            };
            shown.push_str(before);
            shown.push_str(cell);
            shown.push_str(after);
            shown.push_str("  ");
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

/// The rows and the machine they were measured on.
pub fn json(machine: &Machine, rows: &[Row]) -> Result<String> {
    #[derive(Serialize)]
    struct Report<'a> {
        machine: &'a Machine,
        rows: &'a [Row],
    }
    let mut text = serde_json::to_string_pretty(&Report { machine, rows })?;
    text.push('\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let summary = Summary::of([11.0, 12.0, 13.0]);
        vec![
            Row::new("net", "step µ", summary, "µs")
                .against("Kuhn", 6000.0)
                .at_most(12.0),
            Row::single("net", "frames dropped", 3.0, "").at_most(0.0),
        ]
    }

    #[test]
    fn the_columns_stand_under_each_other() {
        let text = table(&rows());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        let place = |line: &str, what: &str| {
            let byte = line
                .find(what)
                .unwrap_or_else(|| panic!("{what} in {line}"));
            line[..byte].chars().count()
        };
        assert_eq!(place(lines[0], "metric"), place(lines[1], "step µ"));
        assert_eq!(place(lines[0], "metric"), place(lines[2], "frames"));
        assert_eq!(place(lines[0], "aim"), place(lines[1], "≤ 12 µs"));
        assert_eq!(place(lines[0], "aim"), place(lines[2], "≤ 0"));
        assert!(lines[1].contains("11.5–12.5"), "{text}");
        assert!(lines[1].contains("6000 Kuhn  2.00e-3"), "{text}");
        assert!(
            lines[1].ends_with("met") && lines[2].ends_with("NOT MET"),
            "{text}"
        );
    }

    #[test]
    fn the_json_says_what_the_table_says() {
        let machine = crate::machine::describe();
        let text = json(&machine, &rows()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["machine"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(value["rows"].as_array().unwrap().len(), 2);
        let row = &value["rows"][0];
        assert_eq!(
            (row["case"].as_str(), row["metric"].as_str()),
            (Some("net"), Some("step µ"))
        );
        assert_eq!(
            (row["value"].as_f64(), row["unit"].as_str()),
            (Some(12.0), Some("µs"))
        );
        assert_eq!(row["against"]["name"], "Kuhn");
        assert_eq!(row["against"]["value"], 6000.0);
        assert_eq!(row["ratio"], 0.002);
        assert_eq!(
            (row["aim"].as_str(), row["met"].as_bool()),
            (Some("≤ 12 µs"), Some(true))
        );
        assert_eq!(row["spread"]["quartiles"][0], 11.5);
        assert!(value["rows"][1]["against"].is_null());
        assert_eq!(value["rows"][1]["met"], false);
    }

    #[test]
    fn times_are_told_in_square_roots_too() {
        let mut rows = rows();
        rows.iter_mut().for_each(|r| r.measure_by(6.0));
        assert_eq!(rows[0].square_roots, Some(2000.0));
        assert_eq!(rows[1].square_roots, None);
    }

    #[test]
    fn numbers_have_three_digits() {
        let shown = [0.0, 3.0, 1234.5, 12.34, 1.234, 0.1234, 0.01234, 0.001234];
        let wanted = [
            "0", "3", "1234", "12.3", "1.23", "0.123", "0.0123", "1.23e-3",
        ];
        assert_eq!(shown.map(number), wanted);
    }
}
