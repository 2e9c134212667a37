// Reads the binary messages of the server: little endian, every field a multiple of four bytes.

/** A binary message that is not what the protocol says. */
export class FrameError extends Error {
  override name = "FrameError";
}

export class Reader {
  private readonly view: DataView;
  private readonly kind: string;
  private at = 0;

  /** `kind` names the message in complaints: "frame". */
  constructor(message: ArrayBuffer, kind: string) {
    this.view = new DataView(message);
    this.kind = kind;
  }

  u32(what: string): number {
    return this.view.getUint32(this.take(4, what), true);
  }

  f32(what: string): number {
    return this.finite(this.view.getFloat32(this.take(4, what), true), what);
  }

  f64(what: string): number {
    return this.finite(this.view.getFloat64(this.take(8, what), true), what);
  }

  /** Checks the first word. */
  magic(expected: number): void {
    const magic = this.u32("magic");
    if (magic !== expected) {
      throw new FrameError(
        `no ${this.kind}: it begins with 0x${magic.toString(16)}, not 0x${expected.toString(16)}`,
      );
    }
  }

  /** A count of things of at least `size` bytes: never more than the rest of the message can hold. */
  count(what: string, size: number): number {
    const count = this.u32(`number of ${what}`);
    if (count * size > this.view.byteLength - this.at) {
      throw new FrameError(`the ${this.kind} ends before its ${count} ${what}`);
    }
    return count;
  }

  /** A view, not a copy: all that precedes is a multiple of four bytes, and browsers are little endian. */
  floats(length: number, what: string): Float32Array {
    const floats = new Float32Array(this.view.buffer as ArrayBuffer, this.take(4 * length, what), length);
    for (let i = 0; i < length; i += 1) {
      this.finite(floats[i], what);
    }
    return floats;
  }

  /** Whole numbers; a view, too. */
  words(length: number, what: string): Uint32Array {
    return new Uint32Array(this.view.buffer as ArrayBuffer, this.take(4 * length, what), length);
  }

  end(): void {
    const left = this.view.byteLength - this.at;
    if (left > 0) {
      throw new FrameError(`the ${this.kind} has ${left} bytes too many`);
    }
  }

  private take(bytes: number, what: string): number {
    const start = this.at;
    if (start + bytes > this.view.byteLength) {
      throw new FrameError(`the ${this.kind} ends inside its ${what}, at byte ${this.view.byteLength}`);
    }
    this.at = start + bytes;
    return start;
  }

  private finite(value: number, what: string): number {
    if (!Number.isFinite(value)) {
      throw new FrameError(`the ${this.kind}'s ${what} is not a finite number`);
    }
    return value;
  }
}
