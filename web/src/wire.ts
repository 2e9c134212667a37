// Made by `cargo xtask wire` from crates/serve/src/wire.rs: change that file, not this one.

// The JSON half of the protocol between the server and the page.
// Lengths in m, angles in radians unless said otherwise, times in s. Colours are sRGB, 0 to 1.

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

/** A tissue. Its vertices move with every frame. */
export type TissueDescription = {
  /** Its name. */
  name: string;
  /** Its colour. */
  colour: [number, number, number];
  /** How many vertices it has. */
  vertices: number;
  /** Three vertices a triangle, counter-clockwise from outside. */
  triangles: number[];
  /** At rest, three numbers a vertex. */
  positions: number[];
};

/** Something that is only seen. */
export type SceneryDescription = {
  /** Its name. */
  name: string;
  /** Its colour. */
  colour: [number, number, number];
  /** 0 to 1. */
  opacity: number;
  /** Three numbers a vertex. */
  positions: number[];
  /** Three vertices a triangle. */
  triangles: number[];
};

/** A rigid box. */
export type BodyDescription = {
  /** Its name. */
  name: string;
  /** Its colour. */
  colour: [number, number, number];
  /** Half of its edges. */
  half_extents: [number, number, number];
};

/** An instrument. */
export type InstrumentDescription = {
  /** Its name. */
  name: string;
  /** Where it passes through the wall of the body. */
  trocar: [number, number, number];
  /** Radius of the shaft. */
  shaft_radius: number;
  /** Length of the shaft. */
  shaft_length: number;
  /** Length of a jaw. */
  jaw_length: number;
  /** Radius of a jaw. */
  jaw_radius: number;
  /** Its reach. */
  limits: Limits;
  /** Where it is held at the start. */
  handle: Handle;
};

/** Where one looks from. */
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
  /** Length of a step. */
  step: number;
  /** The tissues, in the order of a frame. */
  tissues: TissueDescription[];
  /** What is only seen. */
  scenery: SceneryDescription[];
  /** The bodies, in the order of a frame. */
  bodies: BodyDescription[];
  /** The instruments, in the order of a frame. */
  instruments: InstrumentDescription[];
  /** Where one looks from. */
  camera: CameraDescription;
  /** Names of the stages of a step, in the order of a frame. */
  stages: string[];
};

/** What a connection may do. */
export type Role = "controller" | "viewer";

/** What the server says. */
export type ServerMessage =
  | {
      type: "hello";
      /** Version of the protocol. */
      protocol: number;
      /** What this connection may do. */
      role: Role;
      /** The scene. */
      scene: SceneDescription;
    }
  | {
      type: "error";
      /** What. */
      message: string;
    }
  | {
      type: "event";
      /** When, in simulated time. */
      time: number;
      /** What. */
      text: string;
    };

/** What a client says. */
export type ClientMessage =
  | {
      type: "handle";
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
    }
  | { type: "pause" }
  | { type: "resume" }
  | { type: "restart" };
