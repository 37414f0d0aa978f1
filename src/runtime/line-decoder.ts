const newline = 0x0a;
const carriageReturn = 0x0d;

interface LineListeners {
  onLine(line: Buffer): void;
  onTooLong(): void;
}

/**
 * Splits a stream of bytes into lines, without their ends (LF or CRLF), and holds at most `limitBytes` of an unfinished
 * line. A longer line is dropped: `onTooLong` is called once as soon as it exceeds the limit.
 */
export class LineDecoder {
  readonly #limitBytes: number;
  readonly #listeners: LineListeners;
  #parts: Buffer[] = [];
  #length = 0;
  #isSkipping = false;

  constructor(limitBytes: number, listeners: LineListeners) {
    this.#limitBytes = limitBytes;
    this.#listeners = listeners;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      this.#add(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      start = end + 1;
      this.#finish();
    }
  }

  #add(part: Buffer): void {
    if (this.#isSkipping || part.length === 0) return;
    this.#length += part.length;
    if (this.#length <= this.#limitBytes) {
      this.#parts.push(part);
      return;
    }
    this.#isSkipping = true;
    this.#parts = [];
    this.#listeners.onTooLong();
  }

  #finish(): void {
    const [part = Buffer.alloc(0)] = this.#parts;
    const line = this.#parts.length > 1 ? Buffer.concat(this.#parts) : part;
    const isWhole = !this.#isSkipping;
    this.#parts = [];
    this.#length = 0;
    this.#isSkipping = false;
    if (isWhole) this.#listeners.onLine(line.at(-1) === carriageReturn ? line.subarray(0, -1) : line);
  }
}
