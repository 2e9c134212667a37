// What comes from the server: waiting for it, failing to get it, having it.

import { type DependencyList, type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { ApiError, isAborted } from "../api";
import { Button, Notice } from "../ui";

/** A server that is gone is asked again this often, ms. */
const AGAIN = 3000;

export type Loading<T> =
  | { state: "loading" }
  | { state: "failed"; problem: Error }
  | { state: "ready"; value: T };

/**
 * Fetches something now and whenever `about` changes. What is there stays while it is fetched again by `reload`.
 * A server that does not answer is asked again by itself.
 */
export function useLoad<T>(
  fetch: (signal: AbortSignal) => Promise<T>,
  about: DependencyList,
): Loading<T> & { reload(): void } {
  const [loading, setLoading] = useState<Loading<T>>({ state: "loading" });
  const [attempt, setAttempt] = useState(0);
  const seen = useRef<DependencyList | null>(null);
  const reload = useCallback(() => setAttempt((n) => n + 1), []);

  // `about` says when; `fetch` is new at every drawing
  useEffect(() => {
    const giveUp = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const other = seen.current === null || seen.current.some((value, i) => !Object.is(value, about[i]));
    seen.current = about;
    if (other) {
      setLoading({ state: "loading" });
    }
    fetch(giveUp.signal).then(
      (value) => {
        if (!giveUp.signal.aborted) {
          setLoading({ state: "ready", value });
        }
      },
      (problem: unknown) => {
        if (giveUp.signal.aborted || isAborted(problem)) {
          return;
        }
        setLoading({
          state: "failed",
          problem: problem instanceof Error ? problem : new Error(String(problem)),
        });
        if (problem instanceof ApiError && problem.failure === "gone") {
          timer = setTimeout(reload, AGAIN);
        }
      },
    );
    return () => {
      giveUp.abort();
      clearTimeout(timer);
    };
  }, [attempt, reload, ...about]);

  return { ...loading, reload };
}

/** Shows what was loaded, its shape while it is on its way, or what went wrong. */
export function Loaded<T>({
  from,
  waiting,
  children,
}: {
  from: Loading<T> & { reload(): void };
  /** Its shape while it is on its way. */
  waiting?: ReactNode;
  children(value: T): ReactNode;
}) {
  if (from.state === "loading") {
    return (
      <div aria-busy="true">
        <span className="quietly" role="status">
          Loading …
        </span>
        {waiting}
      </div>
    );
  }
  if (from.state === "failed") {
    return <Trouble problem={from.problem} retry={from.reload} />;
  }
  return <>{children(from.value)}</>;
}

/** A failure, in words, with a way on. */
export function Trouble({ problem, retry }: { problem: Error; retry?(): void }) {
  const gone = problem instanceof ApiError && problem.failure === "gone";
  return (
    <Notice tone={gone ? "warn" : "bad"}>
      <p>{problem.message}</p>
      {retry && (
        <Button size="small" icon="repeat" onClick={retry}>
          Try again
        </Button>
      )}
    </Notice>
  );
}
