// @vitest-environment jsdom
import { expect, it, vi } from "vitest";

vi.mock("uplot", () => ({ default: class {} }));

it("finds the sample nearest to a place", async () => {
  const { nearest } = await import("./Plot");
  const along = [0, 1, 2, 5];
  expect([-3, 0.4, 0.6, 1.5, 3.4, 3.6, 99].map((at) => nearest(along, at))).toEqual([0, 0, 1, 1, 2, 3, 3]);
  expect(nearest([], 1)).toBe(-1);
  expect(nearest([4], 1)).toBe(0);
});
