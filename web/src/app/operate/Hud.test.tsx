import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import type { Status } from "../../theatre";
import type { SceneDescription, Task } from "../../wire";
import { ClockPanel, ForcePanel, MachinePanel, TaskPanel } from "./Hud";

const task: Task = {
  goal: 1,
  goals: 4,
  title: "Lift",
  instruction: "Lift it into the ball.",
  progress: 0.25,
  hold_left: null,
  elapsed: 65,
  time_left: 20,
  force_limit: 3,
  marks: [],
};

const status: Status = {
  time: 1,
  paused: false,
  slow: false,
  atEnd: false,
  rate: 1,
  framesPerSecond: 60,
  response: 20,
  stepCost: 500,
  stepBudget: 2000,
  stages: [],
  dearest: null,
  force: 1,
  holding: false,
  holds: true,
  instrument: 0,
  aimError: 0,
  aimIterations: 0,
  correctError: 0,
  contacts: 0,
  substeps: 1,
  energy: { kinetic: 0, gravity: 0, elastic: 0 },
  endoscope: { yaw: 0, pitch: 0, depth: 0, roll: 0, horizon: Math.PI / 12, zoom: 1.5 },
  optics: Math.PI / 6,
  tipInView: true,
  search: null,
};

describe("the task", () => {
  it("counts goals as people do", () => {
    expect(renderToStaticMarkup(<TaskPanel task={task} title="Grasp and lift" />)).toContain("Goal 2 of 4");
  });

  it("does not count beyond the last goal when all are reached", () => {
    const markup = renderToStaticMarkup(<TaskPanel task={{ ...task, goal: 4 }} title="" />);
    expect(markup).toContain("Goal 4 of 4");
  });

  it("shows a countdown while something has to be held", () => {
    const markup = renderToStaticMarkup(<TaskPanel task={{ ...task, hold_left: 2.4 }} title="" />);
    expect(markup).toContain("2.4 s");
    expect(markup).not.toContain("progressbar");
  });
});

describe("the clock", () => {
  it("warns when time runs short", () => {
    const markup = renderToStaticMarkup(<ClockPanel task={task} time={99} />);
    expect(markup).toContain("1:05");
    expect(markup).toContain('class="warn">0:20 left');
  });

  it("tells the time of a scene without a task", () => {
    expect(renderToStaticMarkup(<ClockPanel task={null} time={99} />)).toContain("1:39");
  });
});

describe("the force", () => {
  const panel = (force: number, limit: number | null, calibrated = false) =>
    renderToStaticMarkup(<ForcePanel status={{ ...status, force }} limit={limit} calibrated={calibrated} />);

  it("is called uncalibrated unless the scene gives its sources", () => {
    expect(panel(1, 3)).toContain("uncalibrated");
    expect(panel(1, 3, true)).not.toContain("uncalibrated");
  });

  it("warns near its limit, and more beyond it", () => {
    expect(panel(2, 3)).not.toMatch(/meter (warn|bad)/);
    expect(panel(2.5, 3)).toContain("meter warn");
    expect(panel(3.1, 3)).toContain("meter bad");
    expect(panel(50, null)).not.toMatch(/meter (warn|bad)/);
  });

  it("survives what is no number", () => {
    expect(panel(Number.NaN, 3)).toContain("scaleX(0)");
  });
});

describe("the camera and the machine", () => {
  const scene = { endoscope: { optics: Math.PI / 6 } } as SceneDescription;

  it("are told in degrees, times and per cent", () => {
    const markup = renderToStaticMarkup(<MachinePanel status={status} scene={scene} camera="endoscope" />);
    expect(markup).toContain("30°");
    expect(markup).toContain("1.5 ×");
    expect(markup).toContain("15°");
    expect(markup).toContain("25 %");
  });

  it("warn when a step costs more than it may", () => {
    const markup = renderToStaticMarkup(
      <MachinePanel status={{ ...status, stepCost: 2500 }} scene={scene} camera="free" />,
    );
    expect(markup).toContain('class="warn">125 %');
    expect(markup).not.toContain("Optics");
  });
});
