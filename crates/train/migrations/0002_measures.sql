-- What was measured in each result, so that lists and learning curves need not read its details. A table of its own: a new
-- column would lie behind the signals, and all of them would be read on the way to it.
CREATE TABLE measures (
    result INTEGER NOT NULL REFERENCES results (id) ON DELETE CASCADE,
    measure TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (result, measure)
) WITHOUT ROWID;

INSERT INTO measures
SELECT results.id, measured.value ->> 'id', measured.value ->> 'value'
FROM results, json_each(results.detail, '$.measures') AS measured
WHERE measured.value ->> 'value' IS NOT NULL;

DROP VIEW results_listed;

-- Results as lists show them: without the large columns.
CREATE VIEW results_listed AS
SELECT
    id, profile, exercise, exercise_title, level, level_title, begun, state, ending, score, passed, seconds, realtime,
    recording, build,
    -- With all digits: by itself, JSON gets 15 of the 17 that a number can have.
    (
        SELECT json_group_object(measure, json(printf('%!.17g', value)))
        FROM measures WHERE result = results.id
    ) AS measured
FROM results;
