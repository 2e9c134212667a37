import { describe, expect, it } from "vitest";
import { parseMessage } from "./message";

const tissue = {
  name: "film",
  colour: [1, 1, 1],
  vertices: 3,
  positions: [0, 0, 0, 1, 0, 0, 0, 1, 0],
  triangles: [0, 1, 2],
};
const hello = (change: object = {}, protocol = 4) =>
  JSON.stringify({
    type: "hello",
    protocol,
    role: "viewer",
    bounds: [],
    flags: [],
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
    ["another protocol", hello({}, 1), "protocol 1"],
    ["no scene", '{"type":"hello","protocol":4}', "no list of tissues"],
    ["an index out of range", hello({ triangles: [0, 1, 3] }), "outside its 3 vertices"],
    ["half a triangle", hello({ triangles: [0, 1] }), "incomplete"],
    ["a missing coordinate", hello({ vertices: 4 }), "4 vertices but 9 coordinates"],
    ["a task without marks", '{"type":"task","task":{}}', "no list of marks"],
    [
      "a mark at no place",
      '{"type":"task","task":{"marks":[{"position":[0,0],"normal":[0,1,0],"radius":1}]}}',
      "a mark without a place",
    ],
    ["no parameters", '{"type":"parameters"}', "no list of parameters"],
    ["no bounds", '{"type":"parameters","parameters":[]}', "no list of parameters, bounds and flags"],
    ["a position that is no number", hello({ positions: [null, 0, 0, 1, 0, 0, 0, 1, 0] }), "not a finite"],
  ])("refuses %s", (_, text, complaint) => {
    expect(() => parseMessage(text)).toThrow(complaint);
  });
});
