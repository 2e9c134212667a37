//! Results for other programs.

use super::{ResultDetail, ResultRow, word};
use std::fmt::Write;

/// A result's signals as comma-separated values, a line a sample.
pub fn csv(detail: &ResultDetail) -> String {
    let mut out =
        String::from("time_s,x_m,y_m,z_m,speed_m_per_s,force_N,stretch,in_view,holding,goal\n");
    let t = &detail.trace;
    for k in 0..t.len() {
        // Writing to a string can't fail.
        let _ = writeln!(
            out,
            "{:.2},{},{},{},{},{},{},{},{},{}",
            t.time[k],
            t.x[k],
            t.y[k],
            t.z[k],
            t.speed[k],
            t.force[k],
            t.stretch[k],
            t.in_view[k],
            t.holding[k],
            t.goal[k]
        );
    }
    out
}

/// A result as JSON.
pub fn json(detail: &ResultDetail) -> String {
    // Nothing in it can fail to be written: keys are strings, numbers are numbers.
    serde_json::to_string_pretty(detail).unwrap_or_default()
}

/// A list of results as comma-separated values, a line a result.
pub fn results_csv(rows: &[ResultRow]) -> String {
    let mut out = String::from(
        "id,profile,exercise,exercise_title,level,level_title,begun_unix_s,state,ending,score,passed,seconds,realtime,recording,build\n",
    );
    let number = |x: Option<f64>| x.map_or_else(String::new, |x| x.to_string());
    for r in rows {
        let fields = [
            r.id.to_string(),
            r.profile.to_string(),
            quoted(&r.exercise),
            quoted(&r.exercise_title),
            quoted(&r.level),
            quoted(&r.level_title),
            r.begun.to_string(),
            word(&r.state),
            r.ending.as_ref().map(word).unwrap_or_default(),
            number(r.score),
            u8::from(r.passed).to_string(),
            number(r.seconds),
            number(r.realtime),
            quoted(r.recording.as_deref().unwrap_or_default()),
            quoted(&r.build),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}

/// Text as a field: in quotes where it needs them (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn commas_and_quotes_stay_inside_their_field() {
        assert_eq!(super::quoted("plain"), "plain");
        assert_eq!(super::quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
