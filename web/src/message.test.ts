import { describe, expect, it } from "vitest";
import { parseMessage } from "./message";

const tissue = {
  name: "film",
  colour: [1, 1, 1],
  vertices: 3,
  positions: [0, 0, 0, 1, 0, 0, 0, 1, 0],
  triangles: [0, 1, 2],
};
const hello = (change: object = {}, protocol = 1) =>
  JSON.stringify({
    type: "hello",
    protocol,
    role: "viewer",
    scene: { tissues: [{ ...tissue, ...change }], scenery: [], bodies: [], instruments: [], stages: [] },
  });

describe("parseMessage", () => {
  it("takes a hello", () => {
    expect(parseMessage(hello())).toMatchObject({ type: "hello", role: "viewer" });
  });

  it.each([
    ["not JSON", "{", "not JSON"],
    ["no object", "null", "unknown type"],
    ["an unknown type", '{"type":"?"}', "unknown type"],
    ["another protocol", hello({}, 2), "protocol 2"],
    ["no scene", '{"type":"hello","protocol":1}', "no list of tissues"],
    ["an index out of range", hello({ triangles: [0, 1, 3] }), "outside its 3 vertices"],
    ["half a triangle", hello({ triangles: [0, 1] }), "incomplete"],
    ["a missing coordinate", hello({ vertices: 4 }), "4 vertices but 9 coordinates"],
    ["a position that is no number", hello({ positions: [null, 0, 0, 1, 0, 0, 0, 1, 0] }), "not a finite"],
  ])("refuses %s", (_, text, complaint) => {
    expect(() => parseMessage(text)).toThrow(complaint);
  });
});
