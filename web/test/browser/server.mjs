// The server under test: the real program with a data folder of its own, a running one, or the stand-in.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** A server that has said nothing for this long won't, ms. */
const PATIENCE = 60_000;

/** `which` is an address, the path of the program, or `--fake`. Gives its address and how to end it. */
export async function startServer(which) {
  if (which.startsWith("http://")) {
    return { url: which.replace(/\/$/, ""), end: async () => {} };
  }
  if (which === "--fake") {
    const { startFakeServer } = await import("../fake-server.mjs");
    const fake = await startFakeServer();
    return { url: fake.url, end: () => fake.close() };
  }
  return startProgram(which);
}

async function startProgram(program) {
  const records = mkdtempSync(join(tmpdir(), "trocar-browser-test-"));
  const child = spawn(program, ["serve", "--port", "0", "--data-dir", records], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the server did not say where it listens")), PATIENCE);
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the server ended before it listened")));
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = /listening on (http:\/\/\S+)/.exec(line);
      if (found) {
        clearTimeout(timer);
        resolve(found[1].replace(/\/$/, ""));
      }
    });
  });
  return {
    url,
    async end() {
      child.kill();
      await ended;
      rmSync(records, { recursive: true, force: true });
    },
  };
}
