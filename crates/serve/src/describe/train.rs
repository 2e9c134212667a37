//! Exercises, tasks, profiles and results, as the page is told about them.

use crate::wire::{
    Better, Ending, ExerciseInfo, LevelInfo, Mark, MarkKind, MarkState, Marker, Measured,
    NoticeKind, Part, PartInfo, Profile, ResultDetail, ResultRow, Task, Trace,
};
use trocar_scene::recording::BUILD;
use trocar_train::{
    self as train, Exercise,
    records::{self, ResultState},
};

/// An exercise.
pub fn exercise(exercise: &Exercise) -> ExerciseInfo {
    let level = |level: &train::Level| LevelInfo {
        id: level.name.clone(),
        title: level.title.clone(),
        about: level.about.clone(),
        scene: format!("{}:{}", exercise.id, level.name),
        pass_mark: level.pass_mark,
        time_limit: level.time_limit,
        goals: level.goals.iter().map(|g| g.title.clone()).collect(),
    };
    // The parts are the same at every level; only their bounds differ.
    let parts = exercise.levels.first().map_or(&[][..], |l| &l.score);
    let part = |part: &train::exercise::ScorePart| PartInfo {
        title: part.measure.title().into(),
        most: if part.costs { 0.0 } else { part.points },
        cost: if part.costs { part.points } else { 0.0 },
        measure: part.measure.id().into(),
        formula: part.measure.formula().into(),
        unit: part.measure.unit().into(),
    };
    ExerciseInfo {
        id: exercise.id.clone(),
        title: exercise.title.clone(),
        about: exercise.about.clone(),
        skills: exercise.skills.clone(),
        instructions: exercise.instructions.clone(),
        parts: parts.iter().map(part).collect(),
        levels: exercise.levels.iter().map(level).collect(),
    }
}

/// What is to be done.
pub fn task(task: train::Task) -> Task {
    Task {
        goal: task.goal as u32,
        goals: task.goals as u32,
        title: task.title,
        instruction: task.instruction,
        progress: task.progress,
        hold_left: task.hold_left,
        elapsed: task.elapsed,
        time_left: task.time_left,
        force_limit: task.force_limit,
        marks: task.marks.into_iter().map(mark).collect(),
    }
}

fn mark(mark: train::Mark) -> Mark {
    Mark {
        kind: match mark.kind {
            train::MarkKind::Ball => MarkKind::Ball,
            train::MarkKind::Ring => MarkKind::Ring,
            train::MarkKind::Arrow => MarkKind::Arrow,
            train::MarkKind::Spot => MarkKind::Spot,
        },
        position: mark.position,
        normal: mark.normal,
        radius: mark.radius,
        state: match mark.state {
            train::MarkState::Next => MarkState::Next,
            train::MarkState::Now => MarkState::Now,
            train::MarkState::Reached => MarkState::Reached,
        },
        label: mark.label,
    }
}

/// A message to the trainee.
pub fn notice(notice: train::Notice) -> Marker {
    Marker {
        time: notice.time,
        kind: kind(notice.kind),
        text: notice.text,
    }
}

fn kind(kind: train::NoticeKind) -> NoticeKind {
    match kind {
        train::NoticeKind::Info => NoticeKind::Info,
        train::NoticeKind::Goal => NoticeKind::Goal,
        train::NoticeKind::Hint => NoticeKind::Hint,
        train::NoticeKind::Error => NoticeKind::Error,
    }
}

/// Somebody who trains.
pub fn profile(profile: records::Profile) -> Profile {
    Profile {
        id: profile.id,
        name: profile.name,
        created: profile.created,
        results: profile.results,
        last: profile.last,
    }
}

/// A result in a list. `name` is that of its profile; `has_recording` whether the file is there.
pub fn result_row(row: &records::ResultRow, name: &str, has_recording: bool) -> ResultRow {
    let ending = match (row.state, row.ending) {
        (ResultState::Running, _) => Ending::Running,
        (ResultState::Done, Some(train::Ending::Completed)) => Ending::Completed,
        (ResultState::Done, Some(train::Ending::TimeUp)) => Ending::TimeUp,
        (ResultState::Done, Some(train::Ending::GivenUp)) => Ending::GivenUp,
        (ResultState::Done, _) | (ResultState::BrokenOff, _) => Ending::BrokenOff,
    };
    ResultRow {
        id: row.id,
        profile: row.profile,
        profile_name: name.into(),
        exercise: row.exercise.clone(),
        exercise_title: row.exercise_title.clone(),
        level: row.level.clone(),
        level_title: row.level_title.clone(),
        started: row.begun,
        ending,
        score: row.score,
        passed: row.passed,
        seconds: row.seconds.unwrap_or(0.0),
        has_recording,
        values: row.score.map(|_| row.values.clone()),
    }
}

/// A result with everything about it.
pub fn result_detail(detail: records::ResultDetail, has_recording: bool) -> ResultDetail {
    ResultDetail {
        row: result_row(&detail.row, &detail.profile_name, has_recording),
        parts: detail.parts.into_iter().map(part).collect(),
        measures: detail.measures.into_iter().map(measured).collect(),
        advice: detail.advice,
        praise: detail.praise,
        events: detail.events.into_iter().map(marker).collect(),
        trace: trace(detail.trace),
        realtime: detail.row.realtime.unwrap_or(1.0),
        same_build: detail.row.build == BUILD,
    }
}

fn part(part: train::Part) -> Part {
    Part {
        id: part.id.id().into(),
        title: part.title,
        points: part.points,
        most: part.most,
        cost: part.cost,
        measure: part.id.id().into(),
        value: part.value.unwrap_or(0.0),
        unit: part.unit,
        best: part.best,
        worst: part.worst,
        advice: part.advice,
    }
}

fn measured(measured: train::Measured) -> Measured {
    Measured {
        id: measured.id.id().into(),
        title: measured.title,
        value: measured.value,
        unit: measured.unit,
        formula: measured.formula,
        better: match measured.better {
            train::Better::Less => Better::Less,
            train::Better::More => Better::More,
        },
    }
}

/// Something that happened.
pub fn marker(marker: train::Marker) -> Marker {
    Marker {
        time: marker.time,
        kind: kind(marker.kind),
        text: marker.text,
    }
}

fn trace(trace: train::Trace) -> Trace {
    Trace {
        time: trace.time,
        x: trace.x,
        y: trace.y,
        z: trace.z,
        speed: trace.speed,
        force: trace.force,
        stretch: trace.stretch,
        in_view: trace.in_view,
        holding: trace.holding,
        goal: trace.goal,
    }
}
