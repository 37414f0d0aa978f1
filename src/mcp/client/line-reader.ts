const newline = 0x0a;

export interface LineReader {
  /** False when a line has grown longer than allowed; nothing more is kept then. */
  push(chunk: Buffer): boolean;
}

/** Cuts a stream of bytes into lines, without their end (LF or CRLF), holding at most `limitBytes` of an unfinished one. */
export function createLineReader(limitBytes: number, onLine: (line: Buffer) => void): LineReader {
  let parts: Buffer[] = [];
  let held = 0;
  let isOver = false;

  return {
    push(chunk) {
      let start = 0;
      while (!isOver) {
        const end = chunk.indexOf(newline, start);
        const part = chunk.subarray(start, end === -1 ? chunk.length : end);
        if (held + part.length > limitBytes) {
          isOver = true;
          parts = [];
          break;
        }
        if (end === -1) {
          if (part.length > 0) parts.push(part);
          held += part.length;
          break;
        }
        const line = parts.length === 0 ? part : Buffer.concat([...parts, part]);
        parts = [];
        held = 0;
        start = end + 1;
        onLine(line.at(-1) === 0x0d ? line.subarray(0, -1) : line);
      }
      return !isOver;
    },
  };
}
