import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, api, isAborted } from "./api";

afterEach(() => vi.unstubAllGlobals());

function answering(body: string, status = 200) {
  const fetch = vi.fn(
    async (_path: string, _init: RequestInit) => new Response(status === 204 ? null : body, { status }),
  );
  vi.stubGlobal("fetch", fetch);
  return fetch;
}

async function failure(request: Promise<unknown>): Promise<ApiError> {
  return request.then(
    () => expect.unreachable("it should have failed"),
    (problem: unknown) => {
      expect(problem).toBeInstanceOf(ApiError);
      return problem as ApiError;
    },
  );
}

describe("what is asked", () => {
  it("names profile and exercise only if they are wanted", async () => {
    const fetch = answering("[]");
    await api.results();
    await api.results({ profile: 0 });
    await api.results({ profile: 3, exercise: "a&b" });
    expect(fetch.mock.calls.map(([path]) => path)).toEqual([
      "/api/results",
      "/api/results?profile=0",
      "/api/results?profile=3&exercise=a%26b",
    ]);
  });

  it("escapes ids in the path", async () => {
    const fetch = answering("{}");
    await api.scene("lift:easy/../x");
    expect(fetch.mock.calls[0][0]).toBe("/api/scenes/lift%3Aeasy%2F..%2Fx");
  });

  it("sends JSON", async () => {
    const fetch = answering('{"id":1}', 201);
    expect(await api.createProfile("Åsa")).toEqual({ id: 1 });
    const [, init] = fetch.mock.calls[0];
    expect(init.method).toBe("POST");
    expect(init.body).toBe('{"name":"Åsa"}');
    expect(init.headers).toEqual({ "content-type": "application/json" });
  });

  it("takes an empty answer for done", async () => {
    answering("", 204);
    expect(await api.deleteProfile(1)).toBeUndefined();
  });
});

describe("what goes wrong", () => {
  it("is said in the server's own words", async () => {
    answering('{"error":"There is already a profile called “Anna”."}', 409);
    const problem = await failure(api.createProfile("Anna"));
    expect(problem.failure).toBe("refused");
    expect(problem.status).toBe(409);
    expect(problem.message).toBe("There is already a profile called “Anna”.");
  });

  it.each([
    [404, "missing"],
    [400, "refused"],
    [500, "broken"],
    [502, "broken"],
  ])("has words of its own if the server has none (%i)", async (status, kind) => {
    answering("<html>oops</html>", status);
    const problem = await failure(api.exercises());
    expect(problem.failure).toBe(kind);
    expect(problem.message).not.toContain("<html>");
    expect(problem.message.length).toBeGreaterThan(10);
  });

  it("is an answer that is no JSON", async () => {
    answering("<!doctype html>");
    expect((await failure(api.exercises())).failure).toBe("broken");
  });

  it("is a server that is gone", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("fetch failed")));
    const problem = await failure(api.exercises());
    expect(problem.failure).toBe("gone");
    expect(problem.message).toContain("does not answer");
  });

  it("is a server that takes too long", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new DOMException("", "TimeoutError")));
    expect((await failure(api.exercises())).message).toContain("too long");
  });

  it("is not said if the page itself gave up", async () => {
    const giveUp = new AbortController();
    vi.stubGlobal("fetch", () => Promise.reject(giveUp.signal.reason));
    giveUp.abort();
    const problem = await api.exercises(giveUp.signal).catch((reason: unknown) => reason);
    expect(isAborted(problem)).toBe(true);
  });
});
