CREATE TABLE profiles (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    -- The name in small letters: names are unique ignoring case.
    key TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL
);

CREATE TABLE results (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    profile INTEGER NOT NULL REFERENCES profiles (id) ON DELETE CASCADE,
    exercise TEXT NOT NULL,
    exercise_title TEXT NOT NULL,
    level TEXT NOT NULL,
    level_title TEXT NOT NULL,
    begun INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'broken_off')),
    ending TEXT,
    score REAL,
    passed INTEGER NOT NULL DEFAULT 0,
    seconds REAL,
    realtime REAL,
    recording TEXT,
    build TEXT NOT NULL,
    -- Parts, measures, advice, praise and events, as JSON.
    detail TEXT,
    -- Signals over time: a version, then postcard.
    trace BLOB
);

CREATE INDEX results_by_profile ON results (profile, exercise, begun);

-- Results as lists show them: without the large columns.
CREATE VIEW results_listed AS
SELECT
    id, profile, exercise, exercise_title, level, level_title, begun, state, ending, score, passed, seconds, realtime,
    recording, build
FROM results;

-- Recordings that are to be deleted: written with the deletion of their results, emptied when the files are gone.
CREATE TABLE condemned (
    recording TEXT PRIMARY KEY
);
