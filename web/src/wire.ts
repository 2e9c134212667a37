// Made by `cargo xtask wire` from crates/serve/src/wire: change those files, not this one.

// The JSON half of the protocol between the server and the page.
// Lengths in m, angles in radians unless said otherwise, times in s. Colours are sRGB, 0 to 1.

export const PROTOCOL = 4;

/** Where the hand holds an instrument. */
export type Handle = {
  /** Swing to the side. */
  yaw: number;
  /** Swing up and down. */
  pitch: number;
  /** From the trocar to the hinge of the jaws. */
  depth: number;
  /** Turn about the shaft. */
  roll: number;
  /** Angle between the jaws. */
  jaw: number;
};

/** Where the camera hand holds the endoscope. */
export type EndoscopeHandle = {
  /** Swing to the side. */
  yaw: number;
  /** Swing up and down. */
  pitch: number;
  /** From the trocar to the tip. */
  depth: number;
  /** Turn of the optics about the shaft; the picture stays upright. */
  roll: number;
  /** Turn of the camera head: that of the picture. */
  horizon: number;
  /** 1 is the whole picture. */
  zoom: number;
};

/** How far each degree of freedom reaches: least and greatest value. */
export type Limits = {
  /** Swing to the side. */
  yaw: [number, number];
  /** Swing up and down. */
  pitch: [number, number];
  /** Depth. */
  depth: [number, number];
  /** Angle between the jaws. */
  jaw: [number, number];
};

/** How far the endoscope reaches: least and greatest value. */
export type EndoscopeLimits = {
  /** Swing to the side. */
  yaw: [number, number];
  /** Swing up and down. */
  pitch: [number, number];
  /** Depth. */
  depth: [number, number];
  /** Zoom. */
  zoom: [number, number];
};

/** What something looks like. */
export type Look = "plain" | "liver" | "gall_bladder" | "duct" | "vein" | "artery" | "fat" | "bowel" | "peritoneum" | "membrane" | "muscle" | "steel" | "plastic";

/** A tissue. Its vertices move with every frame. */
export type TissueDescription = {
  /** Its name. */
  name: string;
  /** Its colour. */
  colour: [number, number, number];
  /** What it looks like. */
  look: Look;
  /** How many vertices it has. */
  vertices: number;
  /** Three vertices a triangle, counter-clockwise from outside. */
  triangles: Array<number>;
  /** At rest, three numbers a vertex. */
  positions: Array<number>;
  /** The curve that is drawn on it. */
  path: PathDescription | null;
};

/** A curve that is drawn on a tissue where it lies at rest. */
export type PathDescription = {
  /** A circle: all points at a distance from a middle; none if it is a line. */
  circle: CircleDescription | null;
  /** A line through these points. */
  points: Array<[number, number, number]>;
  /** How wide it is drawn. */
  width: number;
  /** Its colour. */
  colour: [number, number, number];
};

/** All points at a distance from a middle. */
export type CircleDescription = {
  /** The middle. */
  centre: [number, number, number];
  /** The distance. */
  radius: number;
};

/** Something that is only seen. */
export type SceneryDescription = {
  /** Its name. */
  name: string;
  /** Its colour. */
  colour: [number, number, number];
  /** What it looks like. */
  look: Look;
  /** 0 to 1. */
  opacity: number;
  /** Three numbers a vertex. */
  positions: Array<number>;
  /** Three vertices a triangle. */
  triangles: Array<number>;
};

/** A rigid body. */
export type BodyDescription = {
  /** Its name. */
  name: string;
  /** Its colour. */
  colour: [number, number, number];
  /** Three numbers a vertex, in its frame. */
  positions: Array<number>;
  /** Three vertices a triangle. */
  triangles: Array<number>;
};

/** What an instrument is. */
export type InstrumentKind = "grasper" | "needle" | "forceps" | "scissors";

/** An instrument. */
export type InstrumentDescription = {
  /** Its name. */
  name: string;
  /** What it is. */
  kind: InstrumentKind;
  /** Angle at which the tip of a needle leaves the shaft; 0 for all others. */
  bend: number;
  /** Where it passes through the wall of the body. */
  trocar: [number, number, number];
  /** Radius of the shaft. */
  shaft_radius: number;
  /** Length of the shaft. */
  shaft_length: number;
  /** Length of a jaw, a blade or a tip. */
  jaw_length: number;
  /** Its radius. */
  jaw_radius: number;
  /** Its reach. */
  limits: Limits;
  /** Where it is held at the start. */
  handle: Handle;
};

/** The endoscope. */
export type EndoscopeDescription = {
  /** Where it passes through the wall of the body. */
  trocar: [number, number, number];
  /** Radius of the shaft. */
  radius: number;
  /** Angle between the shaft and the line of sight. */
  optics: number;
  /** Whole angle of the round picture at zoom 1. */
  field_of_view: number;
  /** Its reach. */
  limits: EndoscopeLimits;
  /** Where it is held at the start. */
  handle: EndoscopeHandle;
};

/** Where one looks from if there is no endoscope, or without it. */
export type CameraDescription = {
  /** The eye. */
  eye: [number, number, number];
  /** What it looks at. */
  target: [number, number, number];
  /** Which way is up in the picture. */
  up: [number, number, number];
  /** Vertical, in degrees. */
  field_of_view: number;
};

/** What does not change during a simulation. */
export type SceneDescription = {
  /** Its name. */
  name: string;
  /** What it is, in a sentence. */
  about: string;
  /** Changes with any byte of the scene; 16 hexadecimal digits. */
  hash: string;
  /** Every tissue names the source of its constants. */
  calibrated: boolean;
  /** Length of a step. */
  step: number;
  /** The tissues, in the order of a frame. */
  tissues: Array<TissueDescription>;
  /** What is only seen. */
  scenery: Array<SceneryDescription>;
  /** The bodies, in the order of a frame. */
  bodies: Array<BodyDescription>;
  /** The instruments, in the order of a frame. */
  instruments: Array<InstrumentDescription>;
  /** The endoscope, if there is one. */
  endoscope: EndoscopeDescription | null;
  /** Where one looks from without it. */
  camera: CameraDescription;
  /** Names of the stages of a step, in the order of a frame. */
  stages: Array<string>;
};

/** What a connection may do. */
export type Role = "controller" | "viewer";

/** A number of the scene that can be changed while it runs. */
export type Parameter = {
  /** `world`, or the name of a tissue or an instrument. */
  group: string;
  /** Its name. */
  name: string;
  /** Its unit. */
  unit: string;
  /** What it does. */
  about: string;
  /** The least value. */
  least: number;
  /** The greatest value. */
  greatest: number;
  /** The value now. */
  value: number;
  /** The value in the scene. */
  start: number;
  /** What its values 0, 1, 2 … mean; empty if it is a number. */
  choices: Array<string>;
};

/** How long the substeps of tissues that hang together may be, s; null if nothing bounds them. */
export type StepBound = {
  /** Their names. */
  tissues: string;
  /** A bound that holds in every configuration; substeps keep to it unless they adapt to the state. */
  safe: number | null;
  /** The bound for small motion about rest. */
  exact: number | null;
  /** Kuhn's own estimate. */
  kuhn: number | null;
  /** The shortest time constant of a node. */
  time_constant: number | null;
};

/** Attribute bits of a tissue that is a nodal net. */
export type FlagWord = {
  /** The name of the tissue. */
  tissue: string;
  /** Its bits now. */
  word: number;
};

/** What a mark is drawn as. */
export type MarkKind = "ball" | "ring" | "arrow" | "spot";

/** How far one is with a mark. */
export type MarkState = "next" | "now" | "reached";

/** Something of the task that is shown in the scene. */
export type Mark = {
  /** What it is drawn as. */
  kind: MarkKind;
  /** Where. */
  position: [number, number, number];
  /** Which way it points. */
  normal: [number, number, number];
  /** How large. */
  radius: number;
  /** How far one is with it. */
  state: MarkState;
  /** What is written beside it. */
  label: string;
};

/** What is to be done now. */
export type Task = {
  /** Which goal, counted from 0; as many as there are when all are reached. */
  goal: number;
  /** How many goals there are. */
  goals: number;
  /** What it is called. */
  title: string;
  /** What to do. */
  instruction: string;
  /** 0 to 1, of this goal. */
  progress: number;
  /** How long something still has to be held. */
  hold_left: number | null;
  /** Simulated time since the start. */
  elapsed: number;
  /** How long there is still time. */
  time_left: number | null;
  /** The greatest force one should use, N. */
  force_limit: number | null;
  /** What is shown in the scene. */
  marks: Array<Mark>;
};

/** What somebody is told. */
export type NoticeKind = "info" | "goal" | "hint" | "error";

/** Something that happened. */
export type Marker = {
  /** When, in simulated time. */
  time: number;
  /** What kind. */
  kind: NoticeKind;
  /** What. */
  text: string;
};

/** An operation that is seen again. */
export type Replay = {
  /** How long it is. */
  duration: number;
  /** The first time that differs from the recording, as far as it has been played. */
  differs_at: number | null;
  /** Recorded by this build of the program. */
  same_build: boolean;
  /** Recorded to its end. */
  complete: boolean;
  /** What happened. */
  events: Array<Marker>;
};

/** What the server says. */
export type ServerMessage = {
  "type": "hello";
  /** Version of the protocol. */
  protocol: number;
  /** What this connection may do. */
  role: Role;
  /** Which operation this is. */
  operation: OperationInfo;
  /** The scene. */
  scene: SceneDescription;
  /** What can be changed; in the Lab. */
  parameters: Array<Parameter>;
  /** How long substeps may be; in the Lab. */
  bounds: Array<StepBound>;
  /** Attribute bits of its nets; in the Lab. */
  flags: Array<FlagWord>;
  /** What is to be done; in an exercise. */
  task: Task | null;
  /** What is seen again; in a replay. */
  replay: Replay | null;
} | {
  "type": "error";
  /** What. */
  message: string;
} | {
  "type": "event";
  /** When, in simulated time. */
  time: number;
  /** What kind. */
  kind: NoticeKind;
  /** What. */
  text: string;
} | {
  "type": "task";
  /** The task. */
  task: Task;
} | {
  "type": "parameters";
  /** All of them. */
  parameters: Array<Parameter>;
  /** How long substeps may be now. */
  bounds: Array<StepBound>;
  /** Attribute bits of all nets now. */
  flags: Array<FlagWord>;
} | {
  "type": "picked";
  /** The name of it; null if nothing is there. */
  name: string | null;
} | {
  "type": "finished";
  /** The number of its result, if it is kept. */
  result: number | null;
  /** 0 to 100. */
  score: number;
  /** Good enough. */
  passed: boolean;
  /** Why it, or its recording, could not be kept. */
  problem: string | null;
};

/** What a client says. */
export type ClientMessage = {
  "type": "handle";
  /** Rises with every message; comes back in the frames once a step has used it. */
  sequence: number;
  /** Which instrument, counted from 0. */
  instrument: number;
  /** Swing to the side. */
  yaw: number;
  /** Swing up and down. */
  pitch: number;
  /** From the trocar to the hinge of the jaws. */
  depth: number;
  /** Turn about the shaft. */
  roll: number;
  /** Angle between the jaws. */
  jaw: number;
} | {
  "type": "endoscope";
  /** Counted together with those of the instruments. */
  sequence: number;
  /** Swing to the side. */
  yaw: number;
  /** Swing up and down. */
  pitch: number;
  /** From the trocar to the tip. */
  depth: number;
  /** Turn of the optics about the shaft. */
  roll: number;
  /** Turn of the picture. */
  horizon: number;
  /** 1 is the whole picture. */
  zoom: number;
} | {
  "type": "pause";
} | {
  "type": "resume";
} | {
  "type": "restart";
} | {
  "type": "finish";
} | {
  "type": "grab";
  /** Where the ray begins. */
  origin: [number, number, number];
  /** Which way it goes. */
  direction: [number, number, number];
} | {
  "type": "drag";
  /** Where the ray begins. */
  origin: [number, number, number];
  /** Which way it goes. */
  direction: [number, number, number];
} | {
  "type": "drop";
} | {
  "type": "change";
  /** Which one, counted from 0. */
  parameter: number;
  /** Its new value. */
  value: number;
} | {
  "type": "flags";
  /** Which one, counted from 0 among the nets; null for all. */
  tissue: number | null;
  /** All its bits. */
  word: number;
} | {
  "type": "watch";
  /** Nodes and what they are. */
  nodes: boolean;
  /** Elements and their forces. */
  elements: boolean;
  /** Contacts. */
  contacts: boolean;
  /** Forces on nodes. */
  forces: boolean;
  /** Both ends of what is tied or held. */
  anchors: boolean;
  /** Frames of bodies and central nodes. */
  frames: boolean;
  /** Normals of surfaces. */
  normals: boolean;
  /** Boxes around what may touch. */
  boxes: boolean;
  /** How deep contacts are, and the distance grids of bodies. */
  depths: boolean;
  /** Membranes: how near they are to tearing. */
  stress: boolean;
  /** Membranes: how far they are from rest. */
  displacement: boolean;
  /** Membranes: how much of their hold is left. */
  adhesion: boolean;
  /** Membranes: tears, and where they come off. */
  front: boolean;
} | {
  "type": "seek";
  /** Simulated time. */
  time: number;
} | {
  "type": "speed";
  /** Simulated seconds per second, 0.05 to 8. */
  factor: number;
};

/** What went wrong. */
export type Problem = {
  /** A sentence for the user. */
  error: string;
};

/** `GET /api/health`. */
export type Health = {
  /** `ok`. */
  status: string;
  /** Version of the protocol. */
  protocol: number;
  /** Version of the program. */
  version: string;
  /** False: nothing outlasts the program. */
  keeps: boolean;
  /** How many operations run. */
  operations: number;
};

/** A level of an exercise. */
export type LevelInfo = {
  /** Its name. */
  id: string;
  /** What it is called. */
  title: string;
  /** What makes it easy or hard. */
  about: string;
  /** For `/api/scenes/{id}`. */
  scene: string;
  /** From this score on it is passed, 0 to 100. */
  pass_mark: number;
  /** How long one has. */
  time_limit: number | null;
  /** What is to be done, one after another. */
  goals: Array<string>;
};

/** A part of a score. */
export type PartInfo = {
  /** What it is called. */
  title: string;
  /** Most points it can give; 0 for an error. */
  most: number;
  /** What an error can cost, % of the points got; 0 for other parts. */
  cost: number;
  /** What is measured. */
  measure: string;
  /** How. */
  formula: string;
  /** In this unit. */
  unit: string;
};

/** An exercise. */
export type ExerciseInfo = {
  /** Its name. */
  id: string;
  /** What it is called. */
  title: string;
  /** What it is. */
  about: string;
  /** What it trains. */
  skills: Array<string>;
  /** What to know before. */
  instructions: Array<string>;
  /** What the score is made of. */
  parts: Array<PartInfo>;
  /** From easy to hard. */
  levels: Array<LevelInfo>;
};

/** A scene of the Lab. */
export type SceneInfo = {
  /** For `/api/scenes/{id}`. */
  id: string;
  /** Its name. */
  name: string;
  /** What it is, in a sentence. */
  about: string;
  /** How many tissues it has. */
  tissues: number;
  /** How many nodes. */
  nodes: number;
  /** How many elements. */
  elements: number;
  /** How many instruments. */
  instruments: number;
};

/** Somebody who trains here. */
export type Profile = {
  /** Its number. */
  id: number;
  /** Its name. */
  name: string;
  /** Unix time, s. */
  created: number;
  /** How many results it has. */
  results: number;
  /** Unix time of the last of them, s. */
  last: number | null;
};

/** `POST /api/profiles` and `PATCH /api/profiles/{id}`. */
export type NewProfile = {
  /** Its name. */
  name: string;
};

/** `POST /api/operations`. */
export type NewOperation = {
  "kind": "exercise";
  /** Which exercise. */
  exercise: string;
  /** Which level. */
  level: string;
  /** For whom. */
  profile: number;
} | {
  "kind": "lab";
  /** Which scene. */
  scene: string;
} | {
  "kind": "replay";
  /** Of which result. */
  result: number;
};

/** What an operation is. */
export type OperationKind = "exercise" | "lab" | "replay";

/** An operation that runs. */
export type OperationInfo = {
  /** For `/ws/{id}`. */
  id: string;
  /** What it is. */
  kind: OperationKind;
  /** What it is called. */
  title: string;
  /** The exercise or the scene; of a replay, the exercise. */
  subject: string;
  /** The level of the exercise. */
  level: string | null;
  /** The name of who operates. */
  profile: string | null;
  /** Replay: of this result. */
  result: number | null;
  /** People who look on, the controller included. */
  watching: number;
  /** Somebody holds the instruments. */
  controlled: boolean;
};

/** How an operation ended. */
export type Ending = "completed" | "time_up" | "given_up" | "broken_off" | "running";

/** A result in a list. */
export type ResultRow = {
  /** Its number. */
  id: number;
  /** Whose it is. */
  profile: number;
  /** Whose it is, by name. */
  profile_name: string;
  /** Of which exercise. */
  exercise: string;
  /** What that is called. */
  exercise_title: string;
  /** At which level. */
  level: string;
  /** What that is called. */
  level_title: string;
  /** Unix time, s. */
  started: number;
  /** How it ended. */
  ending: Ending;
  /** 0 to 100; none if it was not scored. */
  score: number | null;
  /** Good enough. */
  passed: boolean;
  /** How long it took, simulated time. */
  seconds: number;
  /** It can be seen again. */
  has_recording: boolean;
  /** What was measured, by the names of the measures; missing if it was not scored. */
  values?: {
    [key in string]: number
  };
};

/** Which values of a measure are better. */
export type Better = "less" | "more";

/** What was measured. */
export type Measured = {
  /** Its name. */
  id: string;
  /** What it is called. */
  title: string;
  /** The value. */
  value: number;
  /** Its unit. */
  unit: string;
  /** How it is computed. */
  formula: string;
  /** Which values are better. */
  better: Better;
};

/** A part of a score. */
export type Part = {
  /** Its name. */
  id: string;
  /** What it is called. */
  title: string;
  /** Points reached; below 0 for an error. */
  points: number;
  /** Most points it can give; 0 for an error. */
  most: number;
  /** What an error can cost, % of the points got; 0 for other parts. */
  cost: number;
  /** The measure it is made of. */
  measure: string;
  /** Its value. */
  value: number;
  /** Its unit. */
  unit: string;
  /** From this value on there are all points. */
  best: number;
  /** From this value on there are none. */
  worst: number;
  /** What to do better. */
  advice: string | null;
};

/** What was sampled during an operation; all columns have the same length. */
export type Trace = {
  /** Simulated time. */
  time: Array<number>;
  /** The tip of the instrument. */
  x: Array<number>;
  /** The tip of the instrument. */
  y: Array<number>;
  /** The tip of the instrument. */
  z: Array<number>;
  /** Speed of the tip, m/s. */
  speed: Array<number>;
  /** Force at the tip, N. */
  force: Array<number>;
  /** Greatest stretch of the tissue, as a part of its length. */
  stretch: Array<number>;
  /** 1 while the tip is seen. */
  in_view: Array<number>;
  /** 1 while something is held. */
  holding: Array<number>;
  /** Which goal was next. */
  goal: Array<number>;
};

/** A result with everything about it. */
export type ResultDetail = {
  /** What the score is made of. */
  parts: Array<Part>;
  /** What was measured. */
  measures: Array<Measured>;
  /** What to do better. */
  advice: Array<string>;
  /** What was good. */
  praise: Array<string>;
  /** What happened. */
  events: Array<Marker>;
  /** What was sampled. */
  trace: Trace;
  /** Simulated seconds per second; below about 0.97 the machine was too slow for an honest time. */
  realtime: number;
  /** Made by this build of the program, so that a replay shows just what happened. */
  same_build: boolean;
  /** Its number. */
  id: number;
  /** Whose it is. */
  profile: number;
  /** Whose it is, by name. */
  profile_name: string;
  /** Of which exercise. */
  exercise: string;
  /** What that is called. */
  exercise_title: string;
  /** At which level. */
  level: string;
  /** What that is called. */
  level_title: string;
  /** Unix time, s. */
  started: number;
  /** How it ended. */
  ending: Ending;
  /** 0 to 100; none if it was not scored. */
  score: number | null;
  /** Good enough. */
  passed: boolean;
  /** How long it took, simulated time. */
  seconds: number;
  /** It can be seen again. */
  has_recording: boolean;
  /** What was measured, by the names of the measures; missing if it was not scored. */
  values?: {
    [key in string]: number
  };
};
