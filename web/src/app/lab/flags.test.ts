import { describe, expect, it } from "vitest";
import { asHex, readWord, tokensOf } from "./flags";

describe("attribute bits", () => {
  it("are read as hexadecimal and as decimal numbers", () => {
    expect(readWord("0x2050")).toBe(0x2050);
    expect(readWord(" 0X2050 ")).toBe(0x2050);
    expect(readWord("8272")).toBe(0x2050);
    expect(readWord("0xffffffff")).toBe(0xffffffff);
  });

  it("are refused if they are no word", () => {
    for (const typed of ["", "GRAV", "0x", "-1", "1.5", "0x1ffffffff", "2050 h"]) {
      expect(readWord(typed)).toBeNull();
    }
  });

  it("are shown as the source names them", () => {
    expect(asHex(0x2050)).toBe("0x2050");
    expect(tokensOf(0x2050)).toBe("MOVE, GRAV, CALC_NORM");
    expect(tokensOf(0)).toBe("none");
  });
});
