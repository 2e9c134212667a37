// A stand-in for the real server: speaks the whole protocol, simulates nothing. For work on the pages, and for
// tests of them. Results are made up, and forgotten when it stops.
//
//   npm run build && npm run fake [-- PORT]

import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";
import { describe, FRAMES_PER_SECOND, Operation } from "./fake/operation.mjs";
import { EXERCISES, MORE_EXERCISES, result as makeResult, records, SCENES } from "./fake/samples.mjs";

const DIST = join(dirname(fileURLToPath(import.meta.url)), "../dist/");

// As the real server must send it: what the page does beyond it shows as a console error.
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self' ws:; img-src 'self' data:; " +
  "object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

/**
 * Starts the server on a free port of the loopback, or the one given.
 * `empty`: nobody was here before. `many`: more exercises than there are. `dist`: where the built page is.
 */
export async function startFakeServer({ port = 0, empty = false, many = false, dist = DIST } = {}) {
  const store = new Store(empty);
  const exercises = many ? [...EXERCISES, ...MORE_EXERCISES] : EXERCISES;
  const state = { downUntil: 0 };

  const http = createServer(async (request, response) => {
    const url = new URL(request.url, "http://localhost");
    if (Date.now() < state.downUntil) {
      request.socket.destroy();
    } else if (url.pathname.startsWith("/api/")) {
      try {
        await answer(request, response, url, store, exercises);
      } catch (problem) {
        json(response, problem.status ?? 500, { error: problem.message });
      }
    } else {
      serveFile(response, url.pathname, dist);
    }
  });
  const sockets = new WebSocketServer({ noServer: true });
  http.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url, "http://localhost");
    const operation = store.operations.get(decodeURIComponent(url.pathname.replace(/^\/ws\//, "")));
    if (operation === undefined || Date.now() < state.downUntil) {
      socket.end("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (ws) => operation.join(ws, url.searchParams.has("watch")));
  });

  const timer = setInterval(() => {
    for (const operation of store.operations.values()) {
      if (operation.sockets.size > 0) {
        operation.tick();
      }
    }
  }, 1000 / FRAMES_PER_SECOND);

  await new Promise((resolve) => http.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}/`,
    store,
    /** Everything any page has said over a socket. */
    get received() {
      return [...store.operations.values()].flatMap((operation) => operation.received);
    },
    /** Cuts every connection and takes no other for a while, as a fallen network would. */
    drop(milliseconds = 0) {
      state.downUntil = Date.now() + milliseconds;
      for (const socket of sockets.clients) {
        socket.terminate();
      }
      http.closeAllConnections();
    },
    async close() {
      clearInterval(timer);
      for (const socket of sockets.clients) {
        socket.terminate();
      }
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

/** What the database holds. */
class Store {
  operations = new Map();

  constructor(empty) {
    const { profiles, results } = empty
      ? { profiles: [], results: [] }
      : records(Math.round(Date.now() / 1000));
    this.profiles = profiles;
    this.results = results;
    this.last = 1000;
  }

  next() {
    this.last += 1;
    return this.last;
  }

  profile(id) {
    return this.profiles.find((one) => one.id === Number(id)) ?? fail(404, "There is no such profile.");
  }

  result(id) {
    return this.results.find((one) => one.id === Number(id)) ?? fail(404, "There is no such result.");
  }

  describeProfile({ id, name, created }) {
    const mine = this.results.filter((one) => one.profile === id);
    return {
      id,
      name,
      created,
      results: mine.length,
      last: mine.length ? Math.max(...mine.map((one) => one.started)) : null,
    };
  }

  startOperation(wanted) {
    const id = this.next().toString(36);
    const about = { id, watching: 0, controlled: false, result: null, level: null, profile: null };
    if (wanted.kind === "exercise") {
      const profile = this.profile(wanted.profile);
      const exercise =
        EXERCISES.find((one) => one.id === wanted.exercise) ?? fail(404, "There is no such exercise.");
      const level =
        exercise.levels.find((one) => one.id === wanted.level) ?? fail(404, "There is no such level.");
      const info = {
        ...about,
        kind: "exercise",
        title: exercise.title,
        subject: exercise.id,
        level: level.title,
        profile: profile.name,
      };
      const keep = (ending, seconds) => {
        const skill = ending === "completed" ? 0.85 : 0.3;
        const made = makeResult(
          this.next(),
          profile.id,
          profile.name,
          level.id,
          skill,
          Math.round(Date.now() / 1000 - seconds),
        );
        Object.assign(made, ending === "completed" ? {} : { ending, passed: false, score: 12 });
        this.results.push(made);
        return made;
      };
      this.operations.set(id, new Operation(info, level.scene, keep));
    } else if (wanted.kind === "lab") {
      const scene = SCENES.find((one) => one.id === wanted.scene) ?? fail(404, "There is no such scene.");
      this.operations.set(
        id,
        new Operation({ ...about, kind: "lab", title: scene.name, subject: scene.id }, scene.id),
      );
    } else if (wanted.kind === "replay") {
      const of = this.result(wanted.result);
      if (!of.has_recording) {
        fail(409, "The recording of this result is missing.");
      }
      const info = {
        ...about,
        kind: "replay",
        title: of.exercise_title,
        subject: of.exercise,
        level: of.level_title,
        profile: of.profile_name,
        result: of.id,
      };
      this.operations.set(id, new Operation(info, `${of.exercise}:${of.level}`));
    } else {
      fail(400, "An operation is an exercise, a lab or a replay.");
    }
    return this.operations.get(id).info;
  }
}

const DETAILS = ["parts", "measures", "advice", "praise", "events", "trace", "realtime", "same_build"];
const rowOf = (result) =>
  Object.fromEntries(Object.entries(result).filter(([name]) => !DETAILS.includes(name)));

async function answer(request, response, url, store, exercises) {
  const [, , kind, id, file] = url.pathname.split("/").map(decodeURIComponent);
  const route = `${request.method} ${kind}${id === undefined ? "" : "/:id"}${file === undefined ? "" : `/${file}`}`;
  switch (route) {
    case "GET health":
      return json(response, 200, {
        status: "ok",
        protocol: 4,
        version: "0.1.0 (stand-in)",
        keeps: true,
        operations: store.operations.size,
      });
    case "GET exercises":
      return json(response, 200, exercises);
    case "GET scenes":
      return json(response, 200, SCENES);
    case "GET scenes/:id":
      return json(response, 200, describe(id) ?? fail(404, `There is no scene “${id}”.`));
    case "GET profiles":
      return json(
        response,
        200,
        store.profiles.map((one) => store.describeProfile(one)),
      );
    case "POST profiles": {
      const name = nameOf(await bodyOf(request), store);
      const profile = { id: store.next(), name, created: Math.round(Date.now() / 1000) };
      store.profiles.push(profile);
      return json(response, 201, store.describeProfile(profile));
    }
    case "PATCH profiles/:id": {
      const profile = store.profile(id);
      profile.name = nameOf(await bodyOf(request), store, profile.id);
      return json(response, 200, store.describeProfile(profile));
    }
    case "DELETE profiles/:id": {
      const profile = store.profile(id);
      store.profiles = store.profiles.filter((one) => one !== profile);
      store.results = store.results.filter((one) => one.profile !== profile.id);
      return json(response, 204);
    }
    case "GET profiles/:id/results.csv": {
      const mine = store.results.filter((one) => one.profile === Number(id));
      const lines = mine.map((one) =>
        [one.id, one.exercise, one.level, one.started, one.ending, one.score ?? "", one.seconds].join(","),
      );
      return attach(
        response,
        "results.csv",
        "text/csv",
        ["id,exercise,level,started,ending,score,seconds", ...lines].join("\n"),
      );
    }
    case "GET results": {
      const profile = url.searchParams.get("profile");
      const exercise = url.searchParams.get("exercise");
      const rows = store.results
        .filter(
          (one) =>
            (profile === null || one.profile === Number(profile)) &&
            (exercise === null || one.exercise === exercise),
        )
        .sort((a, b) => b.started - a.started);
      return json(response, 200, rows.map(rowOf));
    }
    case "GET results/:id":
      return json(response, 200, store.result(id));
    case "DELETE results/:id": {
      const result = store.result(id);
      store.results = store.results.filter((one) => one !== result);
      return json(response, 204);
    }
    case "GET results/:id/export.csv": {
      const { trace } = store.result(id);
      const names = Object.keys(trace);
      const lines = trace.time.map((_, i) => names.map((name) => trace[name][i]).join(","));
      return attach(response, `result-${id}.csv`, "text/csv", [names.join(","), ...lines].join("\n"));
    }
    case "GET results/:id/export.json":
      return attach(response, `result-${id}.json`, "application/json", JSON.stringify(store.result(id)));
    case "GET results/:id/recording":
      return attach(response, `result-${id}.trocrec`, "application/octet-stream", "TROCREC2");
    case "GET operations":
      return json(
        response,
        200,
        [...store.operations.values()].map((operation) => operation.info),
      );
    case "POST operations":
      return json(response, 201, store.startOperation(await bodyOf(request)));
    case "DELETE operations/:id":
      store.operations.get(id)?.sockets.forEach((_, socket) => {
        socket.close();
      });
      return store.operations.delete(id) ? json(response, 204) : fail(404, "There is no such operation.");
    default:
      return fail(404, `The server knows nothing of ${request.method} ${url.pathname}.`);
  }
}

function nameOf(body, store, self) {
  const name = String(body.name ?? "").trim();
  if (name === "") {
    fail(400, "A profile needs a name.");
  }
  if (store.profiles.some((one) => one.id !== self && one.name.toLowerCase() === name.toLowerCase())) {
    fail(409, `There is already a profile called “${name}”. Please choose another name.`);
  }
  return name;
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
  }
  try {
    return JSON.parse(text);
  } catch {
    return fail(400, "The request is not JSON.");
  }
}

function fail(status, message) {
  throw Object.assign(new Error(message), { status });
}

function json(response, status, body) {
  response.writeHead(status, { "content-type": "application/json", "content-security-policy": POLICY });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}

function attach(response, name, type, body) {
  response.writeHead(200, { "content-type": type, "content-disposition": `attachment; filename="${name}"` });
  response.end(body);
}

/** A file of the built page; for every other path its index, which finds the way itself. */
function serveFile(response, path, dist) {
  let file = join(dist, normalize(path));
  if (!file.startsWith(dist) || !existsSync(file) || !statSync(file).isFile()) {
    if (extname(path) !== "") {
      response.writeHead(404).end();
      return;
    }
    file = join(dist, "index.html");
  }
  response.writeHead(200, {
    "content-type": TYPES[extname(file)] ?? "application/octet-stream",
    "content-security-policy": POLICY,
  });
  createReadStream(file).pipe(response);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startFakeServer({
    port: Number(process.argv[2] ?? 8787),
    empty: process.argv.includes("--empty"),
    many: process.argv.includes("--many"),
  });
  console.log(`listening on ${url}`);
}
