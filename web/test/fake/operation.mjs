// One operation of the stand-in: its world, who is connected, what they are told.

import { BOUNDS, EXERCISES, FLAGS, PARAMETERS, performance, SCENES } from "./samples.mjs";
import { depthOf, frameOf, HOME, insightOf, SCOPE_HOME, sceneOf, shaftOf } from "./scene.mjs";

export const FRAMES_PER_SECOND = 60;
const BALL = [0.008, 0.058, -0.004];
const RING = [0.012, 0.023, 0.006];

/** The scene of an id: a Lab scene's, or `exercise:level`. Null if there is none. */
export function describe(id) {
  const [exercise, level] = id.split(":");
  const known = EXERCISES.find((one) => one.id === exercise)?.levels.find((one) => one.id === level);
  if (known) {
    return sceneOf({
      id,
      name: `Grasp and lift, ${known.title.toLowerCase()}`,
      about: known.about,
      optics: level === "easy" ? 0 : 30,
    });
  }
  const scene = SCENES.find((one) => one.id === id);
  return scene ? sceneOf({ id, name: scene.name, about: scene.about, optics: null }) : null;
}

export class Operation {
  sockets = new Map(); // socket → { role, views }
  received = [];

  /** `info` as the API gives it; `keep(skill, ending)` stores a result and returns it. */
  constructor(info, sceneId, keep) {
    this.info = info;
    this.scene = describe(sceneId);
    this.keep = keep;
    this.parameters = structuredClone(PARAMETERS);
    if (info.kind === "replay") {
      const { seconds, events } = performance(7919 * info.result, 0.7);
      this.replay = { duration: seconds, differs_at: null, same_build: true, complete: true, events };
    }
    this.restart();
  }

  restart() {
    this.world = {
      frame: this.world?.frame ?? 0,
      time: 0,
      paused: false,
      slow: false,
      atEnd: false,
      rate: 1,
      sequence: 0,
      handle: { ...HOME },
      scope: { ...SCOPE_HOME },
      grasped: null,
      lift: 0,
    };
    this.factor = 1;
    this.goal = 0;
    this.held = 0;
    this.over = false;
  }

  get task() {
    if (this.info.kind !== "exercise") {
      return null;
    }
    const goals = ["Grasp", "Lift", "Hold"];
    const words = [
      "Close the jaws on the tissue in the ring.",
      "Lift it up to the ball.",
      "Keep it there for three seconds.",
    ];
    const { time } = this.world;
    const state = (i) => (this.goal > i ? "reached" : this.goal === i ? "now" : "next");
    return {
      goal: Math.min(this.goal, 2),
      goals: goals.length,
      title: goals[Math.min(this.goal, 2)],
      instruction: words[Math.min(this.goal, 2)],
      progress: this.goal === 2 ? this.held / 3 : Math.min(1, this.world.lift / 0.02),
      hold_left: this.goal === 2 ? Math.max(0, 3 - this.held) : null,
      elapsed: time,
      time_left: 240 - time,
      force_limit: 3,
      marks: [
        {
          kind: "ring",
          position: RING,
          normal: [0, 1, 0],
          radius: 0.008,
          state: state(0),
          label: "grasp here",
        },
        {
          kind: "ball",
          position: BALL,
          normal: [0, 1, 0],
          radius: 0.012,
          state: state(Math.max(1, Math.min(this.goal, 2))),
          label: "lift to here",
        },
      ],
    };
  }

  join(socket, watchOnly) {
    const taken = [...this.sockets.values()].some(({ role }) => role === "controller");
    const role = taken || watchOnly ? "viewer" : "controller";
    this.sockets.set(socket, { role, views: null });
    this.count();
    const { info, scene, parameters, task, replay = null } = this;
    send(socket, {
      type: "hello",
      protocol: 4,
      role,
      operation: info,
      scene,
      parameters,
      bounds: BOUNDS,
      flags: FLAGS,
      task,
      replay,
    });
    socket.on("close", () => {
      this.sockets.delete(socket);
      this.count();
    });
    socket.on("message", (bytes) => {
      const message = JSON.parse(bytes.toString());
      this.received.push({ role, message });
      if (message.type === "watch") {
        const views = this.sockets.get(socket);
        if (views) {
          views.views = message;
        }
      } else if (role === "controller") {
        this.obey(socket, message);
      }
    });
  }

  count() {
    this.info.watching = this.sockets.size;
    this.info.controlled = [...this.sockets.values()].some(({ role }) => role === "controller");
  }

  obey(socket, message) {
    const { world } = this;
    const { type, sequence, instrument: _, ...held } = message;
    if (type === "handle" && !this.replay) {
      world.sequence = sequence;
      world.handle = held;
    } else if (type === "endoscope" && !this.replay) {
      world.sequence = sequence;
      world.scope = held;
    } else if (type === "pause" || type === "resume") {
      world.paused = type === "pause";
    } else if (type === "restart") {
      if (this.info.kind === "exercise" && !this.over && world.time > 1) {
        this.keep("given_up", world.time);
      }
      this.restart();
      this.tell({ type: "event", time: 0, kind: "info", text: "Restarted" });
      this.tellTask();
    } else if (type === "finish" && !this.over) {
      this.finish("given_up");
    } else if (type === "seek") {
      world.time = Math.min(Math.max(0, held.time), this.replay?.duration ?? 0);
    } else if (type === "speed") {
      this.factor = Math.min(8, Math.max(0.05, held.factor));
    } else if (type === "change" && this.parameters[held.parameter]) {
      const parameter = this.parameters[held.parameter];
      parameter.value = Math.min(parameter.greatest, Math.max(parameter.least, held.value));
      this.tell({ type: "parameters", parameters: this.parameters, bounds: BOUNDS, flags: FLAGS });
    } else if (type === "grab") {
      send(socket, { type: "picked", name: "organ" });
    }
  }

  finish(ending) {
    this.over = true;
    this.world.paused = true;
    const kept = this.keep(ending, this.world.time);
    this.tell({ type: "finished", result: kept.id, score: kept.score, passed: kept.passed, problem: null });
  }

  /** One frame's worth of time. */
  tick() {
    const { world } = this;
    const before = this.goal;
    if (!world.paused && !this.over) {
      world.time += this.factor / FRAMES_PER_SECOND;
      world.rate = this.factor;
      this.replay ? this.play() : this.judge();
    }
    world.frame += 1;
    const frame = frameOf(world, this.scene);
    for (const [socket, { views }] of this.sockets) {
      if (socket.bufferedAmount < 1e6) {
        socket.send(frame);
        if (views && Object.values(views).some((on) => on === true)) {
          socket.send(insightOf(world, views));
        }
      }
    }
    if (this.goal !== before || world.frame % 6 === 0) {
      this.tellTask();
    }
  }

  play() {
    const { world, replay } = this;
    world.atEnd = world.time >= replay.duration;
    world.time = Math.min(world.time, replay.duration);
    const { time } = world;
    world.handle = {
      yaw: 0.12 * Math.sin(0.7 * time),
      pitch: 0.1 * Math.sin(0.9 * time + 1),
      depth: 0.1 + 0.03 * Math.sin(0.5 * time),
      roll: 0.3 * Math.sin(0.3 * time),
      jaw: 0.3 + 0.3 * Math.sin(0.4 * time),
    };
  }

  judge() {
    const { world } = this;
    const { tip } = shaftOf(world.handle);
    const closed = world.handle.jaw < 0.12;
    if (world.grasped === null && closed && depthOf(tip) > 0) {
      world.grasped = tip;
      this.tell({ type: "event", time: world.time, kind: "info", text: "Holding tissue" });
    } else if (world.grasped !== null && !closed) {
      world.grasped = null;
      this.tell({ type: "event", time: world.time, kind: this.goal > 0 ? "error" : "info", text: "Let go" });
    }
    world.lift = world.grasped ? Math.max(0, tip[1] - world.grasped[1]) : 0;
    if (this.info.kind !== "exercise") {
      return;
    }
    if (this.goal === 0 && world.grasped) {
      this.reach("Grasped");
    } else if (this.goal === 1 && world.lift > 0.015) {
      this.reach("Lifted");
    } else if (this.goal === 2) {
      this.held = world.lift > 0.012 ? this.held + this.factor / FRAMES_PER_SECOND : 0;
      if (this.held >= 3) {
        this.reach("Held");
        this.finish("completed");
      }
    }
  }

  reach(text) {
    this.goal += 1;
    this.tell({ type: "event", time: this.world.time, kind: "goal", text });
  }

  tellTask() {
    if (this.task) {
      this.tell({ type: "task", task: this.task });
    }
  }

  tell(message) {
    for (const socket of this.sockets.keys()) {
      send(socket, message);
    }
  }
}

function send(socket, message) {
  socket.send(JSON.stringify(message));
}
