// The connection to an operation: keeps itself up, and never sends too much.

import { type Frame, parseFrame } from "./frame";
import { type Insight, isInsight, parseInsight } from "./insight";
import { parseMessage } from "./message";
import type { ClientMessage, EndoscopeHandle, Handle, Role, ServerMessage } from "./wire";

/** Between two messages of the hands. The server accepts 240 a second; this leaves room for everything else. */
const INTERVAL = 1000 / 150;

const FIRST_DELAY = 250;
const LONGEST_DELAY = 8000;

/** What the link needs of a WebSocket; tests bring their own. */
export type Socket = Pick<
  WebSocket,
  "binaryType" | "onmessage" | "onclose" | "readyState" | "send" | "close"
>;

export interface LinkEvents {
  frame(frame: Frame): void;
  insight(insight: Insight): void;
  /** Everything else that the server says, but its errors. */
  message(message: Exclude<ServerMessage, { type: "error" }>): void;
  /** The connection is gone; the next attempt comes in `delay` ms. `reason` is the server's, if it gave one. */
  lost(delay: number, reason: string | null): void;
}

/** A ray through the picture, m. */
export interface Ray {
  origin: [number, number, number];
  direction: [number, number, number];
}

/** Delay before attempt `attempt` (0, 1, …) in ms: doubles up to 8 s, and spreads so that clients don't come back at once. */
export function backoff(attempt: number, random: number): number {
  const delay = Math.min(FIRST_DELAY * 2 ** attempt, LONGEST_DELAY);
  return delay * (0.8 + 0.4 * random);
}

/** Where the socket of an operation is, seen from the page at `page`. */
export function addressOf(operation: string, watchOnly: boolean, page: string): string {
  const address = new URL(`/ws/${encodeURIComponent(operation)}`, page.replace(/^http/, "ws"));
  if (watchOnly) {
    address.searchParams.set("watch", "1");
  }
  return address.href;
}

/** What the hands want sent. A newer message of the same hand replaces one that still waits. */
type Wish =
  | ({ type: "handle"; instrument: number } & Handle)
  | ({ type: "endoscope" } & EndoscopeHandle)
  | ({ type: "drag" } & Ray);

export class Link {
  private socket: Socket | null = null;
  private role: Role | null = null;
  private reason: string | null = null;
  private attempt = 0;
  private sequence = 0;
  private lastSent = Number.NEGATIVE_INFINITY;
  /** In the order in which they came, so that no hand starves another. */
  private readonly waiting = new Map<string, Wish>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private readonly sentAt = new Float64Array(512);
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

  /** Sends the handle of an instrument as soon as the rate allows. */
  steer(instrument: number, handle: Handle): void {
    this.wish(`handle ${instrument}`, { type: "handle", instrument, ...handle });
  }

  /** Sends the handle of the endoscope as soon as the rate allows. */
  look(handle: EndoscopeHandle): void {
    this.wish("endoscope", { type: "endoscope", ...handle });
  }

  /** Moves what the mouse has hold of, as soon as the rate allows. */
  drag(ray: Ray): void {
    this.wish("drag", { type: "drag", ...ray });
  }

  /** Sends a command at once. Whether a mere viewer may give it is the server's to say. */
  command(message: ClientMessage): void {
    if (this.role === null) {
      return;
    }
    if (message.type === "drop") {
      this.waiting.delete("drag");
    }
    this.send(message);
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
      if (this.closed) {
        return; // what was under way when we left
      }
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
      if (this.role === null) {
        return;
      }
      if (isInsight(data)) {
        this.events.insight(parseInsight(data));
      } else {
        this.events.frame(parseFrame(data));
      }
      return;
    }
    const message = parseMessage(data);
    if (message.type === "error") {
      this.reason = message.message;
      return;
    }
    if (message.type === "hello") {
      this.attempt = 0;
      this.reason = null;
      this.sequence = 0;
      this.role = message.role;
    }
    this.events.message(message);
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
    this.waiting.clear();
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private wish(hand: string, message: Wish): void {
    if (this.role !== "controller") {
      return;
    }
    this.waiting.set(hand, message);
    const delay = this.lastSent + INTERVAL - performance.now();
    if (delay <= 0) {
      this.sendWaiting();
    } else {
      this.timer ??= setTimeout(() => this.sendWaiting(), delay);
    }
  }

  private sendWaiting(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [hand, message] of this.waiting) {
      this.waiting.delete(hand);
      this.lastSent = performance.now();
      if (message.type === "drag") {
        this.send(message);
      } else {
        this.sequence += 1;
        this.sentAt[this.sequence % this.sentAt.length] = this.lastSent;
        this.send({ ...message, sequence: this.sequence });
      }
      break;
    }
    if (this.waiting.size > 0) {
      this.timer = setTimeout(() => this.sendWaiting(), INTERVAL);
    }
  }

  private send(message: ClientMessage): void {
    const OPEN = 1;
    if (this.socket?.readyState === OPEN) {
      this.socket.send(JSON.stringify(message));
    }
  }
}
