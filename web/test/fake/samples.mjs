// Believable exercises, people and results. The same at every start: the random numbers are counted out.

const GOALS = [
  "Bring the tip to the ring on the fundus",
  "Grasp the fundus",
  "Lift it to the ball",
  "Hold it there for three seconds",
  "Put it back and let go",
];

/** What counts, as the real exercise has it: `most` points to win, or `cost` points to lose by errors. */
const PARTS = [
  part(
    "goals",
    "Goals reached",
    "%",
    25,
    0,
    100,
    0,
    "100 · goals reached / goals.",
    "Reach every goal: each missing one costs most.",
  ),
  part(
    "time",
    "Time",
    "s",
    15,
    0,
    35,
    110,
    "Simulated time from the start to the end.",
    "Take the shortest way you feel safe with; speed comes with practice.",
  ),
  part(
    "economy",
    "Economy of movement",
    "%",
    20,
    0,
    80,
    15,
    "100 · shortest way / path of the tip (economy of movement; Cotin et al., MICCAI 2002).",
    "Look first, then move: aim at the ring before you push forward.",
  ),
  part(
    "smoothness",
    "Smoothness",
    "",
    15,
    0,
    -9,
    -18,
    "Log dimensionless jerk −ln(T³ / v_peak² · ∫ |d³p/dt³|² dt), mean over the ways to the goals.",
    "Move in one calm sweep rather than in many small corrections.",
  ),
  part(
    "greatest_force",
    "Greatest force",
    "N",
    25,
    0,
    2,
    4,
    "max F(k); F: the amount of the force at the tip, mean over 20 ms.",
    "Lift more slowly, and stop when the number at the tip turns amber.",
  ),
  part(
    "drops",
    "Drops",
    "",
    0,
    30,
    0,
    3,
    "How often tissue that was held as asked was lost.",
    "Take a fuller bite before you lift, so that the tissue does not slip.",
  ),
  part(
    "time_over_force",
    "Time above the force limit",
    "s",
    0,
    20,
    0,
    4,
    "Number of samples with F(k) above the limit of the goal, / 50 Hz.",
    "Ease off as soon as the force nears its limit.",
  ),
  part(
    "time_out_of_view",
    "Time out of view",
    "s",
    0,
    10,
    0.5,
    10,
    "Number of samples whose tip is outside the endoscope's round picture, / 50 Hz.",
    "Bring the camera along, or wait until the tip is in the picture.",
  ),
];

function part(id, title, unit, most, cost, best, worst, formula, advice) {
  return { id, title, unit, most, cost, best, worst, formula, advice };
}

export const EXERCISES = [
  {
    id: "grasp-and-lift",
    title: "Grasp and lift",
    about: "Take the gall bladder by its fundus, lift it up over the liver, hold it still, and put it back.",
    skills: ["Moving through the fulcrum", "Judging depth", "Gentle grasping", "Keeping the tip in view"],
    instructions: [
      "Bring the open jaws to the ring that shines on the fundus.",
      "Close the jaws softly. The force at the tip is shown at the edge of the picture.",
      "Lift the fundus up to the floating ball and hold it there for three seconds.",
      "Lower it until the tissue is slack, and open the jaws.",
    ],
    parts: PARTS.map(({ most, cost = 0, id, title, formula, unit }) => ({
      title,
      most,
      cost,
      measure: id,
      formula,
      unit,
    })),
    levels: [
      level("easy", "Easy", "A straight optic, a large target, and plenty of time.", 55, 240, 5),
      level("medium", "Medium", "A 30° optic, a smaller target, and a limit on the force.", 60, 150, 5),
      level(
        "hard",
        "Hard",
        "A 30° optic, the camera must be moved, and the tissue is more delicate.",
        70,
        90,
        5,
      ),
    ],
  },
];

/** To see how a page of many exercises looks. */
export const MORE_EXERCISES = [
  {
    ...EXERCISES[0],
    id: "camera",
    title: "Camera navigation",
    about: "Find eight marks around the liver with a 30° optic, and keep the horizon level.",
  },
  {
    ...EXERCISES[0],
    id: "transfer",
    title: "Hand to hand",
    about: "Pass a small ring from one instrument to the other without dropping it.",
  },
];

function level(id, title, about, pass_mark, time_limit, goals) {
  return {
    id,
    title,
    about,
    scene: `grasp-and-lift:${id}`,
    pass_mark,
    time_limit,
    goals: GOALS.slice(0, goals),
  };
}

export const SCENES = [
  {
    id: "gallbladder",
    name: "Gall bladder",
    about: "Liver bed, gall bladder with duct and vessels, one grasper.",
    tissues: 4,
    nodes: 2140,
    elements: 11830,
    instruments: 1,
  },
  {
    id: "pendulum",
    name: "Pendulum",
    about: "A chain of nodes on two fixed points: swings for ever if nothing is lost.",
    tissues: 1,
    nodes: 24,
    elements: 23,
    instruments: 0,
  },
  {
    id: "membrane",
    name: "Membrane",
    about: "A thin square of tissue held at its rim, to press and pull on.",
    tissues: 1,
    nodes: 900,
    elements: 5162,
    instruments: 1,
  },
];

export const FLAGS = [{ tissue: "organ", word: 0x2250 }];
export const BOUNDS = [{ tissues: "organ", safe: 0.004, exact: 0.006, kuhn: 0.005, time_constant: 0.012 }];

export const PARAMETERS = [
  parameter("world", "gravity y", "m/s²", "Acceleration of everything that has weight.", -20, 20, -9.81),
  parameter("organ", "stiffness", "N/m", "Of the springs of its net.", 1, 400, 80),
  parameter("organ", "damping", "N·s/m", "Takes motion out of the springs.", 0, 2, 0.15),
  parameter("organ", "mass", "kg", "Of the whole tissue.", 0.005, 0.2, 0.04),
  parameter("grasper", "grip force", "N", "More than this and the tissue slips.", 0.5, 20, 6),
];

function parameter(group, name, unit, about, least, greatest, value) {
  return { group, name, unit, about, least, greatest, value, start: value, choices: [] };
}

/** Random numbers that are the same at every start. */
function dice(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** Minimum-jerk progress from 0 to 1. */
const ease = (t) => t * t * t * (10 - 15 * t + 6 * t * t);

/** A whole operation; `skill` 0 to 1. */
export function performance(seed, skill) {
  const random = dice(seed);
  const way = [
    { to: [0.03, 0.05, 0.03], seconds: 5, goal: 0 },
    { to: [0.012, 0.024, 0.006], seconds: 7, goal: 0 },
    { to: [0.012, 0.022, 0.006], seconds: 3, goal: 1 },
    { to: [0.008, 0.052, -0.004], seconds: 9, goal: 2 },
    { to: [0.008, 0.053, -0.004], seconds: 4, goal: 3 },
    { to: [0.012, 0.025, 0.004], seconds: 7, goal: 4 },
    { to: [0.03, 0.055, 0.03], seconds: 4, goal: 4 },
  ];
  const trace = {
    time: [],
    x: [],
    y: [],
    z: [],
    speed: [],
    force: [],
    stretch: [],
    in_view: [],
    holding: [],
    goal: [],
  };
  const events = [];
  const slow = 2.6 - 1.7 * skill;
  const dropped = random() > 0.35 + 0.6 * skill;
  let from = [0.06, 0.075, 0.045];
  let time = 0;
  const wobble = [random() * 9, random() * 9, random() * 9];
  way.forEach((stretch, leg) => {
    const lasts = stretch.seconds * slow * (0.85 + 0.3 * random());
    const loops = Math.round((1 - skill) * 3 * random());
    const reach = 0.016 * (1 - skill) + 0.001;
    for (let t = 0; t < lasts; t += 0.02) {
      const share = ease(t / lasts);
      const sway = Math.sin((Math.PI * t) / lasts);
      const tip = from.map(
        (value, k) =>
          value +
          (stretch.to[k] - value) * share +
          reach * sway * Math.sin((2 * Math.PI * (loops + 1) * t) / lasts + wobble[k]) +
          0.00012 * (1.2 - skill) * Math.sin(31 * time + wobble[k] + leg),
      );
      const held = stretch.goal >= 1 && stretch.goal <= 3 ? 1 : stretch.goal === 4 && leg === 5 ? 1 : 0;
      const slipped = dropped && stretch.goal === 2 && share > 0.45 && share < 0.6 ? 0 : held;
      const lift = Math.max(0, tip[1] - 0.022);
      const touch = leg === 1 && share > 0.85 ? 0.7 * (1.4 - skill) * (share - 0.85) * 6 : 0;
      trace.time.push(round(time, 3));
      trace.x.push(round(tip[0], 6));
      trace.y.push(round(tip[1], 6));
      trace.z.push(round(tip[2], 6));
      const force = slipped
        ? 0.5 + 62 * lift * (1.25 - 0.4 * skill) + 0.35 * (1 - skill) * Math.abs(Math.sin(3.1 * time))
        : touch;
      trace.force.push(round(Math.max(0, force + 0.03 * (random() - 0.5)), 4));
      trace.stretch.push(round(slipped ? 11 * lift * (1.2 - 0.35 * skill) : 0.01 * random(), 4));
      trace.in_view.push(leg === 0 && share < 0.12 * (2 - skill) ? 0 : 1);
      trace.holding.push(slipped);
      trace.goal.push(stretch.goal);
      time += 0.02;
    }
    from = stretch.to;
  });
  const n = trace.time.length;
  for (let i = 0; i < n; i += 1) {
    const [a, b] = [Math.max(0, i - 1), Math.min(n - 1, i + 1)];
    const step = Math.hypot(trace.x[b] - trace.x[a], trace.y[b] - trace.y[a], trace.z[b] - trace.z[a]);
    trace.speed.push(round(step / Math.max(0.02, trace.time[b] - trace.time[a]), 5));
  }
  for (let i = 1; i < n; i += 1) {
    if (trace.goal[i] !== trace.goal[i - 1]) {
      events.push({ time: trace.time[i], kind: "goal", text: `${GOALS[trace.goal[i - 1]]}: done` });
    }
    if (trace.holding[i] < trace.holding[i - 1] && trace.goal[i] === 2) {
      events.push({ time: trace.time[i], kind: "error", text: "The tissue slipped out of the jaws" });
    }
    if (trace.holding[i] > trace.holding[i - 1] && trace.goal[i] === 2) {
      events.push({ time: trace.time[i], kind: "info", text: "Grasped again" });
    }
    if (trace.force[i] > 2.4 && trace.force[i - 1] <= 2.4 && !events.some((event) => event.kind === "hint")) {
      events.push({ time: trace.time[i], kind: "hint", text: "Pull more gently: the force is above 2.4 N" });
    }
  }
  events.push({ time: trace.time[n - 1], kind: "goal", text: `${GOALS[4]}: done` });
  events.sort((a, b) => a.time - b.time);
  return { trace, events, seconds: round(time, 2), ...scored(trace, dropped, skill, time) };
}

function scored(trace, dropped, skill, time) {
  const n = trace.time.length;
  let path = 0;
  for (let i = 1; i < n; i += 1) {
    path += Math.hypot(trace.x[i] - trace.x[i - 1], trace.y[i] - trace.y[i - 1], trace.z[i] - trace.z[i - 1]);
  }
  const held = trace.force.filter((_, i) => trace.holding[i]);
  const values = {
    goals: 100,
    time,
    economy: (100 * 0.21) / path,
    smoothness: -17 + 8.5 * skill,
    greatest_force: Math.max(...trace.force),
    drops: dropped ? 1 : 0,
    time_over_force: trace.force.filter((force) => force > 3).length / 50,
    time_out_of_view: trace.in_view.filter((seen) => seen === 0).length / 50,
  };
  const parts = PARTS.map(({ formula: _, ...part }) => {
    const value = values[part.id];
    const quality = Math.min(1, Math.max(0, (value - part.worst) / (part.best - part.worst)));
    const points = part.cost > 0 ? part.cost * (quality - 1) : part.most * quality;
    return {
      ...part,
      measure: part.id,
      value: round(value, 4),
      points: round(points, 2),
      advice: (part.most + part.cost) * (1 - quality) > 0.5 ? part.advice : null,
    };
  });
  const score = round(
    Math.max(
      0,
      parts.reduce((sum, { points }) => sum + points, 0),
    ),
    1,
  );
  const measures = [
    ...PARTS.map(({ id, title, unit, formula, best, worst }) => ({
      id,
      title,
      value: round(values[id], 4),
      unit,
      formula,
      better: best > worst ? "more" : "less",
    })),
    measured(
      "path",
      "Path of the tip",
      1000 * path,
      "mm",
      "Σ |p(k) − p(k−1)| over samples of the tip at 50 Hz.",
    ),
    measured("mean_force", "Mean force in contact", mean(held), "N", "Mean of F(k) while something is held."),
    measured(
      "greatest_stretch",
      "Greatest stretch",
      100 * Math.max(...trace.stretch),
      "%",
      "100 · max (length / length at rest − 1).",
    ),
  ];
  const advice = parts
    .filter((one) => one.advice)
    .sort((a, b) => b.most - b.points - (a.most - a.points))
    .map((one) => one.advice)
    .slice(0, 4);
  const praise = parts
    .filter((one) => one.most > 0 && one.points > 0.9 * one.most)
    .map((one) => `${one.title}: nearly all points.`)
    .slice(0, 3);
  return { parts, measures, advice, praise, score };
}

function measured(id, title, value, unit, formula) {
  return { id, title, value: round(value, 4), unit, formula, better: "less" };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
const round = (value, digits) => Number(value.toFixed(digits));

const DAY = 86_400;

/** The people and results at the start. `now` is Unix time, s. */
export function records(now) {
  const profiles = [
    { id: 1, name: "Anna", created: now - 30 * DAY },
    { id: 2, name: "Bertil", created: now - 3 * DAY },
  ];
  const plan = [
    ...Array.from({ length: 13 }, (_, i) => ["easy", 0.12 + 0.85 * (1 - Math.exp(-i / 5)), 26 - 1.6 * i]),
    ...Array.from({ length: 6 }, (_, i) => ["medium", 0.42 + 0.09 * i, 6.2 - i]),
    ["hard", 0.5, 0.3],
    ["hard", 0.72, 0.06],
  ];
  const results = plan.map(([level, skill, daysAgo], i) =>
    result(i + 1, 1, "Anna", level, Math.min(1, skill), Math.round(now - daysAgo * DAY)),
  );
  Object.assign(results[2], { ending: "broken_off", passed: false, score: null, realtime: 1 });
  Object.assign(results[5], { ending: "given_up", passed: false, score: round(results[5].score * 0.4, 1) });
  Object.assign(results[7], { has_recording: false });
  Object.assign(results[15], { same_build: false });
  Object.assign(results[16], { realtime: 0.81 });
  return { profiles, results };
}

export function result(id, profile, profile_name, level, skill, started) {
  const exercise = EXERCISES[0];
  const { title, pass_mark } = exercise.levels.find((one) => one.id === level) ?? exercise.levels[0];
  const done = performance(7919 * id, skill);
  return {
    id,
    profile,
    profile_name,
    exercise: exercise.id,
    exercise_title: exercise.title,
    level,
    level_title: title,
    started,
    ending: "completed",
    passed: done.score >= pass_mark,
    has_recording: true,
    realtime: 1,
    same_build: true,
    ...done,
  };
}
