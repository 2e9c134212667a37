// The picture as React sees it: one theatre for as long as a page shows one operation.

import { type RefObject, useCallback, useEffect, useRef, useState } from "react";
import { api } from "../../api";
import { theatreOptions, useSettings } from "../../settings";
import { type Status, Theatre } from "../../theatre";
import type { FlagWord, Marker, Parameter, ServerMessage, StepBound, Task } from "../../wire";

/** The first message of a connection. */
export type Hello = Extract<ServerMessage, { type: "hello" }>;
/** The last message of a run. */
export type Finished = Extract<ServerMessage, { type: "finished" }>;

/** A connection that is gone. */
export interface Lost {
  /** When it will be tried again, by `performance.now()`, ms. */
  again: number;
  reason: string | null;
}

/** A notice with a number of its own, so that the same words twice are two notices. */
export interface Notice extends Marker {
  id: number;
}

/** More than this are not remembered. */
const MOST_NOTICES = 100;

/** What a page knows about its operation. */
export interface Stage {
  /** The element that will hold the picture. */
  host: RefObject<HTMLDivElement | null>;
  theatre: Theatre | null;
  hello: Hello | null;
  status: Status | null;
  task: Task | null;
  finished: Finished | null;
  parameters: Parameter[];
  /** How long substeps may be; in the Lab. */
  bounds: StepBound[];
  /** Attribute bits of the nets; in the Lab. */
  flags: FlagWord[];
  /** What the mouse has taken hold of in the Lab: undefined until it has tried. */
  picked: string | null | undefined;
  lost: Lost | null;
  /** Something that can't be mended by waiting. */
  failure: string | null;
  /** What has happened, newest last; no more than the last hundred. */
  notices: readonly Notice[];
  /** Tries a lost connection again now. */
  retry(): void;
  /** Forgets the end of a run, because another one begins. */
  forgetEnd(): void;
}

/** Opens `operation` in the element `host`. `watchOnly` never takes the instruments. */
export function useTheatre(operation: string, watchOnly = false): Stage {
  const host = useRef<HTMLDivElement>(null);
  const [settings] = useSettings();
  const first = useRef(settings);
  const [theatre, setTheatre] = useState<Theatre | null>(null);
  const [hello, setHello] = useState<Hello | null>(null);
  const [status, setStatus] = useState<Status | null>(null);
  const [task, setTask] = useState<Task | null>(null);
  const [finished, setFinished] = useState<Finished | null>(null);
  const [parameters, setParameters] = useState<Parameter[]>([]);
  const [bounds, setBounds] = useState<StepBound[]>([]);
  const [flags, setFlags] = useState<FlagWord[]>([]);
  const [picked, setPicked] = useState<string | null | undefined>(undefined);
  const [lost, setLost] = useState<Lost | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [notices, setNotices] = useState<readonly Notice[]>([]);

  useEffect(() => {
    const place = host.current;
    if (place === null) {
      return;
    }
    // A canvas of its own for every theatre: a graphics context that was given back can't be had again.
    const canvas = document.createElement("canvas");
    place.append(canvas);
    let count = 0;
    let made: Theatre | null = null;
    try {
      made = new Theatre(
        canvas,
        {
          hello(message) {
            setHello(message);
            setTask(message.task);
            setParameters(message.parameters);
            setBounds(message.bounds);
            setFlags(message.flags);
            setLost(null);
            setFailure(null);
          },
          event(marker) {
            count += 1;
            const notice = { ...marker, id: count };
            setNotices((earlier) => [...earlier.slice(1 - MOST_NOTICES), notice]);
          },
          task: setTask,
          finished: setFinished,
          parameters(now, allowed, bits) {
            setParameters(now);
            setBounds(allowed);
            setFlags(bits);
          },
          picked: setPicked,
          lost: (delay, reason) => setLost({ again: performance.now() + delay, reason }),
          fail: setFailure,
          status: setStatus,
        },
        theatreOptions(first.current),
      );
      made.connect(operation, watchOnly);
      setTheatre(made);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      setFailure(`Trocar can't draw here: ${cause} Please use a browser with WebGL 2.`);
    }
    return () => {
      made?.dispose();
      canvas.remove();
      setTheatre(null);
      setHello(null);
      setStatus(null);
      setTask(null);
      setFinished(null);
      setLost(null);
      setFailure(null);
      setNotices([]);
    };
  }, [operation, watchOnly]);

  // A server that answers but does not know the operation won't know it later either.
  useEffect(() => {
    if (lost === null) {
      return;
    }
    const request = new AbortController();
    api.operations(request.signal).then(
      (all) => {
        if (!all.some(({ id }) => id === operation)) {
          setFailure("This operation is over: nobody was connected to it any more, or it was ended.");
        }
      },
      () => {},
    );
    return () => request.abort();
  }, [lost, operation]);

  useEffect(() => {
    theatre?.setOptions(theatreOptions(settings));
  }, [theatre, settings]);

  const retry = useCallback(() => {
    setLost(null);
    theatre?.connect(operation, watchOnly);
  }, [theatre, operation, watchOnly]);
  const forgetEnd = useCallback(() => setFinished(null), []);

  return {
    host,
    theatre,
    hello,
    status,
    task,
    finished,
    parameters,
    bounds,
    flags,
    picked,
    lost,
    failure,
    notices,
    retry,
    forgetEnd,
  };
}
