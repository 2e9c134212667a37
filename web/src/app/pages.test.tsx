// @vitest-environment jsdom
// The pages as a reader meets them, against the stand-in server. Layout and contrast are for the browser test.

import axe from "axe-core";
import { createRoot, type Root } from "react-dom/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { startFakeServer } from "../../test/fake-server.mjs";

// Neither canvas nor WebGL is here.
vi.mock("uplot", () => ({
  default: class {
    over = document.createElement("div");
    valToPos = () => 0;
    setSize() {}
    redraw() {}
    destroy() {}
  },
}));
vi.mock("../theatre", () => ({ picture: () => Promise.reject(new Error("no WebGL")) }));

// Checking a whole page takes long in here, longer on a busy machine.
vi.setConfig({ testTimeout: 60_000 });

const { App } = await import("./App");

/** Does something, and lets React draw what comes of it. */
async function act(deed: () => unknown): Promise<void> {
  await deed();
  await new Promise((resolve) => setTimeout(resolve, 5));
}

type Server = Awaited<ReturnType<typeof startFakeServer>>;
let server: Server;
let root: Root;
const ask = globalThis.fetch;

beforeEach(() => {
  vi.stubGlobal("fetch", (path: string, { method, headers, body }: RequestInit = {}) =>
    ask(new URL(path, server.url).href, { method, headers, body }),
  );
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
  window.scrollTo = () => {};
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function () {
    this.open = false;
  };
});

afterEach(async () => {
  await act(async () => root.unmount());
  await server.close();
  document.body.replaceChildren();
  localStorage.clear();
  vi.unstubAllGlobals();
});

async function open(path: string, options: { empty?: boolean; profile?: number } = {}): Promise<void> {
  server = await startFakeServer({ empty: options.empty });
  if (options.profile !== undefined) {
    localStorage.setItem("trocar.profile", String(options.profile));
  }
  history.replaceState(null, "", path);
  document.documentElement.lang = "en";
  const place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
  await act(async () => root.render(<App />));
}

/** Waits until `find` finds something. */
async function soon<T>(find: () => T | null | undefined | false): Promise<T> {
  let found: T | null | undefined | false;
  await vi.waitFor(
    async () => {
      found = find();
      expect(found).toBeTruthy();
    },
    { timeout: 15_000, interval: 20 },
  );
  return found as T;
}

const words = () => document.body.textContent ?? "";
const heading = () => document.querySelector("h1")?.textContent ?? "";

function named<E extends HTMLElement>(kind: string, name: RegExp): E | undefined {
  return [...document.querySelectorAll<E>(kind)].find((element) => name.test(element.textContent ?? ""));
}

async function click(kind: string, name: RegExp): Promise<void> {
  const element = await soon(() => named(kind, name));
  await act(async () => element.click());
}

async function type(input: HTMLInputElement, text: string): Promise<void> {
  await act(async () => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, text);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

async function accessible(): Promise<void> {
  const { violations } = await axe.run(document, { rules: { "color-contrast": { enabled: false } } });
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`);
  expect(told).toEqual([]);
}

it.each([
  ["/", /Your latest results/, "Trocar"],
  ["/exercise/grasp-and-lift", /How the score is made/, "Grasp and lift · Trocar"],
  ["/result/13", /What happened/, /points, Grasp and lift · Trocar$/],
  ["/results", /Learning curve/, "Results of Anna · Trocar"],
  ["/watch", /Nobody operates/, "Watch · Trocar"],
  ["/about", /What it is not/, "About Trocar · Trocar"],
  ["/nowhere", /no such page/, "There is no such page · Trocar"],
])("%s can be used by everybody", async (path, text, title) => {
  await open(path, { profile: 1 });
  await soon(() => text.test(words()));
  await accessible();
  expect(document.title).toMatch(title);
  expect(document.querySelectorAll("h1")).toHaveLength(1);
  expect(words()).toContain("not a validated assessment, not a medical device");
});

it("leads a first visitor from a name to the exercise", async () => {
  await open("/", { empty: true });
  await soon(() => named("h3", /Grasp and lift/));
  await accessible();
  await click("button", /Begin/);
  expect(words()).toContain("Please type a name first.");
  await type(await soon(() => document.querySelector<HTMLInputElement>("form input")), " Maja ");
  await click("button", /Begin/);
  await soon(() => heading() === "Grasp and lift");
  expect(server.store.profiles.map(({ name }) => name)).toEqual(["Maja"]);
  // The heading of the new page takes the focus, so that it is read out.
  expect(document.activeElement?.tagName).toBe("H1");
  await click("button", /^Start/);
  await soon(() => location.pathname.startsWith("/operate/"));
  expect([...server.store.operations.values()][0].info.profile).toBe("Maja");
});

it("shows the server's words when a name is taken", async () => {
  await open("/");
  await type(await soon(() => document.querySelector<HTMLInputElement>("form input")), "anna");
  await click("button", /^Add/);
  await soon(() => /already a profile called “anna”/.test(words()));
});

it("says what goes with a profile before it deletes it", async () => {
  await open("/", { profile: 1 });
  await click("button", /Anna$/);
  await click("button", /^Delete Anna$/);
  expect(words()).toContain("all 21 results, and every recording that belongs to them");
  await accessible();
  const confirm = [...document.querySelectorAll<HTMLElement>("button.danger")].at(-1);
  await act(async () => confirm?.click());
  await soon(
    () => /Who operates\?/.test(words()) && !/Anna/.test(document.querySelector("main")?.textContent ?? ""),
  );
  expect(server.store.results).toEqual([]);
});

it("remembers the level", async () => {
  await open("/exercise/grasp-and-lift?level=easy", { profile: 1 });
  const medium = await soon(() => document.querySelector<HTMLInputElement>('input[value="medium"]'));
  await act(async () => medium.click());
  expect(localStorage.getItem("trocar.level.grasp-and-lift")).toBe("medium");
});

it("deletes one run, after asking", async () => {
  await open("/results", { profile: 1 });
  await soon(() => document.querySelector("tbody tr"));
  const before = document.querySelectorAll("tbody tr").length;
  await click("tbody tr button", /Delete the run/);
  expect(words()).toContain("and its recording");
  await click("button.danger", /Delete the run/);
  await soon(() => document.querySelectorAll("tbody tr").length === before - 1);
});

it("compares a run with an earlier one", async () => {
  await open("/result/13", { profile: 1 });
  const choice = await soon(() => document.querySelector<HTMLSelectElement>("select:has(option[value='2'])"));
  await act(async () => {
    choice.value = "2";
    choice.dispatchEvent(new Event("change", { bubbles: true }));
  });
  await soon(() => /against the compared run/.test(words()));
  expect(named("th", /Difference/)).toBeDefined();
});

it("is honest about a slow machine, a broken run, and a result that is gone", async () => {
  await open("/result/17", { profile: 1 });
  await soon(() => /ran at 81 % of the clock/.test(words()));
  await act(async () => root.unmount());
  await server.close();
  await open("/result/3", { profile: 1 });
  await soon(() => /broken off before its end/.test(words()) && /not scored/.test(words()));
  await act(async () => root.unmount());
  await server.close();
  await open("/result/999", { profile: 1 });
  await soon(() => /There is no such result/.test(words()));
});

it("comes back by itself when the server does", async () => {
  await open("/results", { profile: 1 });
  await soon(() => /Learning curve/.test(words()));
  await act(async () => root.unmount());
  document.body.replaceChildren();
  server.drop(300);
  const place = document.createElement("div");
  document.body.append(place);
  root = createRoot(place);
  await act(async () => root.render(<App />));
  await soon(() => /does not answer/.test(words()));
  await new Promise((resolve) => setTimeout(resolve, 400));
  await click("button", /Try again/);
  await soon(() => /Learning curve/.test(words()));
});
