import { describe, expect, it } from "vitest";
import { withNotice } from "./useNotices";
import type { Notice } from "./useTheatre";

const notice = (id: number, text: string): Notice => ({ id, text, time: id, kind: "hint" });

describe("notices", () => {
  it("show the newest last", () => {
    expect(withNotice([notice(1, "a")], notice(2, "b")).map(({ id }) => id)).toEqual([1, 2]);
  });

  it("do not repeat themselves: the same words are one notice with the later time", () => {
    const shown = withNotice([notice(1, "gently"), notice(2, "b")], notice(3, "gently"));
    expect(shown.map(({ id }) => id)).toEqual([2, 3]);
  });

  it("are never more than can be read", () => {
    let shown: Notice[] = [];
    for (let i = 0; i < 10; i += 1) {
      shown = withNotice(shown, notice(i, String(i)));
    }
    expect(shown.map(({ id }) => id)).toEqual([7, 8, 9]);
  });
});
