// Plain JavaScript, because the child process of `isolation: process` uses it, too.
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Splits a stream of bytes into lines, without their ends (LF or CRLF), and holds at most `limitBytes` of an unfinished
 * line. A longer line is dropped: `onTooLong` is called once as soon as it exceeds the limit.
 */
export class LineDecoder {
  #limitBytes;
  #onLine;
  #onTooLong;
  #parts = [];
  #length = 0;
  #isSkipping = false;

  constructor(limitBytes, { onLine, onTooLong }) {
    this.#limitBytes = limitBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  push(chunk) {
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(newline, start);
      this.#add(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      start = end + 1;
      this.#finish();
    }
  }

  #add(part) {
    if (this.#isSkipping || part.length === 0) return;
    this.#length += part.length;
    if (this.#length <= this.#limitBytes) {
      this.#parts.push(part);
      return;
    }
    this.#isSkipping = true;
    this.#parts = [];
    this.#onTooLong();
  }

  #finish() {
    const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const isWhole = !this.#isSkipping;
    this.#parts = [];
    this.#length = 0;
    this.#isSkipping = false;
    if (isWhole) this.#onLine(line.at(-1) === carriageReturn ? line.subarray(0, -1) : line);
  }
}
