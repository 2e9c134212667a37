// Operations that run now: to look on, or to come back to one's own.

import { useEffect } from "react";
import { api } from "../api";
import { Badge, Card, Empty, LinkButton, Skeleton } from "../ui";
import type { OperationInfo } from "../wire";
import { Loaded, useLoad } from "./load";
import { Page } from "./Page";

/** Operations come and go: asked anew this often while the list is seen, ms. */
const REFRESH = 5000;

export function Watch() {
  return (
    <Page
      title="Watch"
      lead="Operations that run on this server now. Any number of people can look on; the one who operates is not disturbed."
    >
      <OperationList />
    </Page>
  );
}

/** The page of an operation; `watch` never takes the instruments. */
function addressOf(operation: OperationInfo, watch: boolean): string {
  const id = encodeURIComponent(operation.id);
  const query = watch ? "?watch=1" : "";
  switch (operation.kind) {
    case "exercise":
      return `/operate/${id}${query}`;
    case "lab":
      return `/lab/${id}${query}`;
    case "replay":
      return `/replay/${id}${operation.result === null ? "" : `?result=${operation.result}`}`;
  }
}

const KINDS: Record<OperationInfo["kind"], string> = { exercise: "Exercise", lab: "Lab", replay: "Replay" };

export function OperationList({ quietIfNone = false }: { quietIfNone?: boolean }) {
  const operations = useLoad((signal) => api.operations(signal), []);
  const { reload } = operations;
  useEffect(() => {
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), REFRESH);
    return () => clearInterval(timer);
  }, [reload]);

  if (quietIfNone && (operations.state !== "ready" || operations.value.length === 0)) {
    return null;
  }
  return (
    <section aria-labelledby="running" className="stack">
      <h2 id="running" className={quietIfNone ? undefined : "quietly"}>
        Running now
      </h2>
      <Loaded from={operations} waiting={<Skeleton height="6rem" />}>
        {(all) =>
          all.length === 0 ? (
            <Card>
              <Empty icon="eye" title="Nobody operates at the moment">
                <p>When somebody starts an exercise or opens the Lab, it appears here by itself.</p>
              </Empty>
            </Card>
          ) : (
            <ul className="operations card">
              {all.map((operation) => (
                <li key={operation.id}>
                  <span className="result-words">
                    <span>
                      {operation.title}
                      {operation.level && <span className="faint"> · {operation.level}</span>}
                    </span>
                    <span className="faint small">
                      {operation.profile ?? KINDS[operation.kind]}
                      {operation.watching > 1 && ` · ${operation.watching} connected`}
                    </span>
                  </span>
                  {operation.controlled ? (
                    <Badge tone="good">live</Badge>
                  ) : (
                    <Badge>nobody at the instruments</Badge>
                  )}
                  {!operation.controlled && (
                    <LinkButton href={addressOf(operation, false)} size="small" icon="hand">
                      Take over
                      <span className="quietly">: {operation.title}</span>
                    </LinkButton>
                  )}
                  <LinkButton href={addressOf(operation, true)} size="small" icon="eye">
                    Watch
                    <span className="quietly">: {operation.title}</span>
                  </LinkButton>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  );
}
