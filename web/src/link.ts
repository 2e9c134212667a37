// The connection to the server: keeps itself up, and never sends too much.

import { type Frame, parseFrame } from "./frame";
import { parseMessage } from "./message";
import type { ClientMessage, Handle, Role, SceneDescription } from "./wire";

/** The server accepts at most 120 messages a second; this leaves room for pause and restart. */
const HANDLE_INTERVAL = 1000 / 100;

const FIRST_DELAY = 250;
const LONGEST_DELAY = 8000;

/** What the link needs of a WebSocket; tests bring their own. */
export type Socket = Pick<
  WebSocket,
  "binaryType" | "onmessage" | "onclose" | "readyState" | "send" | "close"
>;

export interface LinkEvents {
  hello(role: Role, scene: SceneDescription): void;
  frame(frame: Frame): void;
  event(time: number, text: string): void;
  /** The connection is gone; the next attempt comes in `delay` ms. `reason` is the server's, if it gave one. */
  lost(delay: number, reason: string | null): void;
}

/** Delay before attempt `attempt` (0, 1, …) in ms: doubles up to 8 s, and spreads so that clients don't come back at once. */
export function backoff(attempt: number, random: number): number {
  const delay = Math.min(FIRST_DELAY * 2 ** attempt, LONGEST_DELAY);
  return delay * (0.8 + 0.4 * random);
}

export class Link {
  private socket: Socket | null = null;
  private role: Role | null = null;
  private reason: string | null = null;
  private attempt = 0;
  private sequence = 0;
  private lastSent = Number.NEGATIVE_INFINITY;
  private waiting: { instrument: number; handle: Handle } | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private readonly sentAt = new Float64Array(256);
  private closed = false;

  private readonly open: () => Socket;
  private readonly events: LinkEvents;

  constructor(open: () => Socket, events: LinkEvents) {
    this.open = open;
    this.events = events;
    this.connect();
  }

  /** True between the server's hello and the loss of the connection. */
  get connected(): boolean {
    return this.role !== null;
  }

  /** Sends the handle as soon as the rate allows; a newer one replaces one that still waits. */
  steer(instrument: number, handle: Handle): void {
    if (this.role !== "controller") {
      return;
    }
    this.waiting = { instrument, handle: { ...handle } };
    const delay = this.lastSent + HANDLE_INTERVAL - performance.now();
    if (delay <= 0) {
      this.sendWaiting();
    } else {
      this.timer ??= setTimeout(() => this.sendWaiting(), delay);
    }
  }

  /** Sends a command at once. */
  command(type: "pause" | "resume" | "restart"): void {
    if (this.role === "controller") {
      this.send({ type });
    }
  }

  /** How long ago the handle with this sequence was sent, ms; NaN when it is too long ago to know. */
  age(sequence: number): number {
    if (sequence === 0 || sequence > this.sequence || this.sequence - sequence >= this.sentAt.length) {
      return Number.NaN;
    }
    return performance.now() - this.sentAt[sequence % this.sentAt.length];
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.forget();
    this.socket?.close();
  }

  private connect(): void {
    const socket = this.open();
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => {
      try {
        this.receive(data as string | ArrayBuffer);
      } catch (error) {
        // A server that breaks the protocol is not to be trusted with the next message either.
        this.reason = error instanceof Error ? error.message : String(error);
        socket.close();
      }
    };
    socket.onclose = () => this.lose();
    this.socket = socket;
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== "string") {
      if (this.role !== null) {
        this.events.frame(parseFrame(data));
      }
      return;
    }
    const message = parseMessage(data);
    switch (message.type) {
      case "hello":
        this.attempt = 0;
        this.reason = null;
        this.sequence = 0;
        this.role = message.role;
        this.events.hello(message.role, message.scene);
        break;
      case "error":
        this.reason = message.message;
        break;
      case "event":
        this.events.event(message.time, message.text);
        break;
    }
  }

  private lose(): void {
    this.forget();
    if (this.closed) {
      return;
    }
    const delay = backoff(this.attempt, Math.random());
    this.attempt += 1;
    this.retry = setTimeout(() => this.connect(), delay);
    this.events.lost(delay, this.reason);
  }

  /** Nothing that belongs to the old connection may reach the new one. */
  private forget(): void {
    this.role = null;
    this.waiting = null;
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private sendWaiting(): void {
    this.timer = undefined;
    if (this.waiting === null) {
      return;
    }
    const { instrument, handle } = this.waiting;
    this.waiting = null;
    this.sequence += 1;
    this.lastSent = performance.now();
    this.sentAt[this.sequence % this.sentAt.length] = this.lastSent;
    this.send({ type: "handle", sequence: this.sequence, instrument, ...handle });
  }

  private send(message: ClientMessage): void {
    const OPEN = 1;
    if (this.socket?.readyState === OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  }
}
