const newline = 0x0a;

/**
 * Cuts a stream of bytes into lines, without their end (LF or CRLF). Of a line that grows longer than the limit nothing
 * is kept: it is told at once, and the next one is cut as ever.
 */
export class LineCutter {
  readonly #limitBytes: number;
  readonly #onLine: (line: Buffer) => void;
  readonly #onTooLong: () => void;
  #parts: Buffer[] = [];
  #held = 0;
  #isSkipping = false;

  constructor(limitBytes: number, listeners: { onLine: (line: Buffer) => void; onTooLong: () => void }) {
    this.#limitBytes = limitBytes;
    this.#onLine = listeners.onLine;
    this.#onTooLong = listeners.onTooLong;
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
    if (this.#held + part.length <= this.#limitBytes) {
      this.#parts.push(part);
      this.#held += part.length;
      return;
    }
    this.#isSkipping = true;
    this.#parts = [];
    this.#held = 0;
    this.#onTooLong();
  }

  #finish(): void {
    const [first] = this.#parts;
    const line = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    const isWhole = !this.#isSkipping;
    this.#parts = [];
    this.#held = 0;
    this.#isSkipping = false;
    if (isWhole) this.#onLine(line.at(-1) === 0x0d ? line.subarray(0, -1) : line);
  }
}
