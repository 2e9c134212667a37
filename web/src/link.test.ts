import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket as NodeSocket, WebSocketServer } from "ws";
import { addressOf, backoff, Link, type LinkEvents, type Socket } from "./link";

const HANDLE = { yaw: 0, pitch: 0, depth: 0, roll: 0, jaw: 0 };
const hello = (role = "controller", protocol = 4) =>
  JSON.stringify({
    type: "hello",
    protocol,
    role,
    bounds: [],
    flags: [],
    scene: { name: "", tissues: [], scenery: [], bodies: [], instruments: [], stages: [] },
  });

function listener() {
  return { message: vi.fn(), frame: vi.fn(), insight: vi.fn(), lost: vi.fn() } satisfies LinkEvents;
}

/** A socket in the hand of the test. */
class Puppet {
  binaryType: BinaryType = "blob";
  readyState = 1;
  sent: { type: string; sequence?: number; yaw?: number; instrument?: number }[] = [];
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  send(text: string) {
    this.sent.push(JSON.parse(text));
  }
  close() {
    this.readyState = 3;
    this.onclose?.call(this as never, {} as CloseEvent);
  }
  say(data: unknown) {
    this.onmessage?.call(this as never, { data } as MessageEvent);
  }
}

function puppetLink() {
  vi.useFakeTimers();
  const puppets: Puppet[] = [];
  const events = listener();
  const link = new Link(() => {
    puppets.push(new Puppet());
    return puppets[puppets.length - 1] as unknown as Socket;
  }, events);
  return { link, puppets, events };
}

afterEach(() => {
  vi.useRealTimers();
});

describe("backoff", () => {
  it("doubles up to eight seconds", () => {
    expect([0, 1, 2, 5, 6, 60].map((attempt) => backoff(attempt, 0.5))).toEqual([
      250, 500, 1000, 8000, 8000, 8000,
    ]);
  });

  it("spreads by a fifth either way", () => {
    expect(backoff(2, 0)).toBeCloseTo(800);
    expect(backoff(2, 1)).toBeCloseTo(1200);
  });
});

describe("Link", () => {
  it("waits longer after each failure, and begins anew after a hello", () => {
    const { puppets, events, link } = puppetLink();
    const delays: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      puppets[i].close();
      delays.push(events.lost.mock.lastCall?.[0]);
      vi.advanceTimersByTime(delays[i] + 1);
      expect(puppets).toHaveLength(i + 2);
    }
    expect(delays[3]).toBeGreaterThan(4 * delays[0]);
    puppets[4].say(hello());
    expect(link.connected).toBe(true);
    puppets[4].close();
    expect(link.connected).toBe(false);
    expect(events.lost.mock.lastCall?.[0]).toBeLessThan(310);
    link.close();
  });

  it("sends fewer messages a second than the server takes, and the last one is the newest", () => {
    const { puppets, link } = puppetLink();
    puppets[0].say(hello());
    for (let i = 1; i <= 1000; i += 1) {
      link.steer(0, { ...HANDLE, yaw: i });
      vi.advanceTimersByTime(1);
    }
    vi.advanceTimersByTime(100);
    const { sent } = puppets[0];
    expect(sent.length).toBeGreaterThan(60);
    expect(sent.length).toBeLessThanOrEqual(180);
    expect(sent[sent.length - 1].yaw).toBe(1000);
    expect(sent.map(({ sequence }) => sequence)).toEqual(sent.map((_, i) => i + 1));
    link.close();
  });

  it("sends nothing as a viewer, nor before the hello", () => {
    const { puppets, link } = puppetLink();
    link.steer(0, HANDLE);
    puppets[0].say(hello("viewer"));
    link.steer(0, HANDLE);
    link.look({ ...HANDLE, horizon: 0, zoom: 1 });
    vi.advanceTimersByTime(100);
    expect(puppets[0].sent).toEqual([]);
    link.close();
  });

  it("leaves a server that breaks the protocol, and says why", () => {
    const { puppets, events, link } = puppetLink();
    puppets[0].say(hello());
    puppets[0].say(new ArrayBuffer(3));
    expect(events.lost).toHaveBeenCalledOnce();
    expect(events.lost.mock.lastCall?.[1]).toContain("the frame ends inside its magic");
    link.close();
  });

  it("hands on the server's own reason", () => {
    const { puppets, events, link } = puppetLink();
    puppets[0].say(JSON.stringify({ type: "error", message: "the scene is broken" }));
    puppets[0].close();
    expect(events.lost.mock.lastCall?.[1]).toBe("the scene is broken");
    link.close();
  });

  it("lets no hand starve another", () => {
    const { puppets, link } = puppetLink();
    puppets[0].say(hello());
    for (let i = 1; i <= 300; i += 1) {
      link.steer(0, { ...HANDLE, yaw: i });
      link.steer(1, { ...HANDLE, yaw: -i });
      link.look({ yaw: i, pitch: 0, depth: 0, roll: 0, horizon: 0, zoom: 1 });
      link.drag({ origin: [0, 0, 0], direction: [0, 0, -1] });
      vi.advanceTimersByTime(2);
    }
    vi.advanceTimersByTime(100);
    const { sent } = puppets[0];
    expect(sent.length).toBeLessThan(120);
    const share = (want: (message: (typeof sent)[number]) => boolean) =>
      sent.filter(want).length / sent.length;
    expect(share(({ instrument }) => instrument === 0)).toBeGreaterThan(0.2);
    expect(share(({ instrument }) => instrument === 1)).toBeGreaterThan(0.2);
    expect(share(({ type }) => type === "endoscope")).toBeGreaterThan(0.2);
    expect(share(({ type }) => type === "drag")).toBeGreaterThan(0.2);
    link.close();
  });

  it("lets go at once, and drags no more", () => {
    const { puppets, link } = puppetLink();
    puppets[0].say(hello());
    link.drag({ origin: [0, 0, 0], direction: [0, 0, -1] });
    link.drag({ origin: [1, 0, 0], direction: [0, 0, -1] });
    link.command({ type: "drop" });
    vi.advanceTimersByTime(100);
    expect(puppets[0].sent.map(({ type }) => type)).toEqual(["drag", "drop"]);
    link.close();
  });

  it("tells frames from insights", () => {
    const { puppets, link, events } = puppetLink();
    puppets[0].say(hello());
    const insight = new Uint32Array([0x37495254, 1, ...new Array(21).fill(0)]);
    puppets[0].say(insight.buffer);
    expect(events.insight).toHaveBeenCalledOnce();
    expect(events.lost).not.toHaveBeenCalled();
    link.close();
  });

  it("comes back over a real socket", async () => {
    const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await new Promise((resolve) => server.once("listening", resolve));
    const received: string[] = [];
    server.on("connection", (socket) => {
      socket.send(hello());
      socket.on("message", (data) => received.push(data.toString()));
    });
    const events = listener();
    const { port } = server.address() as { port: number };
    const link = new Link(() => new NodeSocket(`ws://127.0.0.1:${port}`) as unknown as Socket, events);
    await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(1), 5000);
    for (const socket of server.clients) {
      socket.terminate();
    }
    await vi.waitFor(() => expect(events.message).toHaveBeenCalledTimes(2), 5000);
    expect(events.lost).toHaveBeenCalledOnce();
    link.steer(0, HANDLE);
    await vi.waitFor(() => expect(received).toHaveLength(1), 5000);
    link.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("addressOf", () => {
  it("is beside the page", () => {
    expect(addressOf("ab/c", false, "https://here:1/operate/x?y")).toBe("wss://here:1/ws/ab%2Fc");
    expect(addressOf("7", true, "http://here/lab")).toBe("ws://here/ws/7?watch=1");
  });
});
