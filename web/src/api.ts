// The server's HTTP side, typed. Every failure is an {@link ApiError} with a sentence that can be shown.

import type {
  ExerciseInfo,
  Health,
  NewOperation,
  OperationInfo,
  Profile,
  ResultDetail,
  ResultRow,
  SceneDescription,
  SceneInfo,
} from "./wire";

/** Longer than any answer of a server on the same machine or network takes, ms. */
const PATIENCE = 15_000;

/** Why a request failed: nobody answered; it is not there; it was refused; the server is in trouble. */
export type Failure = "gone" | "missing" | "refused" | "broken";

export class ApiError extends Error {
  override name = "ApiError";
  readonly failure: Failure;
  readonly status: number;

  constructor(failure: Failure, message: string, status = 0) {
    super(message);
    this.failure = failure;
    this.status = status;
  }
}

/** True if the caller itself gave the request up: nothing to show. */
export function isAborted(problem: unknown): boolean {
  return problem instanceof DOMException && problem.name === "AbortError";
}

/** One request. `signal` gives it up. */
async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const patience = AbortSignal.timeout(PATIENCE);
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      signal: signal ? AbortSignal.any([signal, patience]) : patience,
      headers: body === undefined ? undefined : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    text = await response.text();
  } catch (problem) {
    if (signal?.aborted) {
      throw new DOMException("given up", "AbortError");
    }
    if (problem instanceof DOMException && problem.name === "TimeoutError") {
      throw new ApiError(
        "gone",
        "The server takes too long to answer. It may be very busy: please try again.",
      );
    }
    throw new ApiError(
      "gone",
      "The server does not answer. If Trocar was closed, start it again; this page comes back by itself.",
    );
  }
  if (!response.ok) {
    throw refusal(response.status, text);
  }
  if (response.status === 204 || text === "") {
    return undefined as T;
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new ApiError(
      "broken",
      "The server answered with something this page does not understand. Reload the page; if that does not help, page and server are of different versions.",
      response.status,
    );
  }
}

function refusal(status: number, text: string): ApiError {
  const failure: Failure = status === 404 ? "missing" : status >= 500 ? "broken" : "refused";
  return new ApiError(failure, sentenceOf(text) ?? fallback(status), status);
}

/** The sentence of `{ "error": "…" }`, if the body is that. */
function sentenceOf(text: string): string | null {
  try {
    const body: unknown = JSON.parse(text);
    const sentence = (body as { error?: unknown } | null)?.error;
    return typeof sentence === "string" && sentence !== "" ? sentence : null;
  } catch {
    return null;
  }
}

function fallback(status: number): string {
  if (status === 404) {
    return "This is not (or no longer) there.";
  }
  // What a proxy says while the server behind it is away.
  if (status === 502 || status === 503 || status === 504) {
    return "The server can't be reached at the moment. Please try again.";
  }
  return `The server refused this (${status}).`;
}

const id = encodeURIComponent;

export const api = {
  health: (signal?: AbortSignal) => ask<Health>("GET", "/api/health", undefined, signal),
  exercises: (signal?: AbortSignal) => ask<ExerciseInfo[]>("GET", "/api/exercises", undefined, signal),
  scenes: (signal?: AbortSignal) => ask<SceneInfo[]>("GET", "/api/scenes", undefined, signal),
  /** `scene` is a scene's id, or `exercise:level`. */
  scene: (scene: string, signal?: AbortSignal) =>
    ask<SceneDescription>("GET", `/api/scenes/${id(scene)}`, undefined, signal),

  profiles: (signal?: AbortSignal) => ask<Profile[]>("GET", "/api/profiles", undefined, signal),
  createProfile: (name: string) => ask<Profile>("POST", "/api/profiles", { name }),
  renameProfile: (profile: number, name: string) =>
    ask<Profile>("PATCH", `/api/profiles/${profile}`, { name }),
  deleteProfile: (profile: number) => ask<void>("DELETE", `/api/profiles/${profile}`),

  /** Newest first. */
  results: (wanted: { profile?: number; exercise?: string } = {}, signal?: AbortSignal) => {
    const query = new URLSearchParams();
    if (wanted.profile !== undefined) {
      query.set("profile", String(wanted.profile));
    }
    if (wanted.exercise !== undefined) {
      query.set("exercise", wanted.exercise);
    }
    const words = query.toString();
    return ask<ResultRow[]>("GET", words ? `/api/results?${words}` : "/api/results", undefined, signal);
  },
  result: (result: number, signal?: AbortSignal) =>
    ask<ResultDetail>("GET", `/api/results/${result}`, undefined, signal),
  deleteResult: (result: number) => ask<void>("DELETE", `/api/results/${result}`),

  operations: (signal?: AbortSignal) => ask<OperationInfo[]>("GET", "/api/operations", undefined, signal),
  startOperation: (wanted: NewOperation) => ask<OperationInfo>("POST", "/api/operations", wanted),
  endOperation: (operation: string) => ask<void>("DELETE", `/api/operations/${id(operation)}`),
};

/** Where files are fetched from. */
export const files = {
  csv: (result: number) => `/api/results/${result}/export.csv`,
  json: (result: number) => `/api/results/${result}/export.json`,
  recording: (result: number) => `/api/results/${result}/recording`,
  allResults: (profile: number) => `/api/profiles/${profile}/results.csv`,
};
