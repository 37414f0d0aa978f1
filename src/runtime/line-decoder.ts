const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Splits a stream of bytes, which the returned function takes, into lines without their ends (LF or CRLF), and holds at most
 * `limitBytes` of an unfinished line. A longer line is dropped: `onTooLong` is called once as soon as it exceeds the limit.
 */
export function createLineDecoder(
  limitBytes: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  /** Of the line so far, also if it is dropped. */
  let length = 0;
  const add = (part: Buffer) => {
    const before = length;
    length += part.length;
    if (length <= limitBytes) {
      if (part.length > 0) parts.push(part);
    } else if (before <= limitBytes) {
      parts = [];
      onTooLong();
    }
  };
  const finish = () => {
    const [part = Buffer.alloc(0)] = parts;
    const line = parts.length > 1 ? Buffer.concat(parts) : part;
    const isWhole = length <= limitBytes;
    parts = [];
    length = 0;
    if (isWhole) onLine(line.at(-1) === carriageReturn ? line.subarray(0, -1) : line);
  };
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      add(chunk.subarray(start, end));
      start = end + 1;
      finish();
    }
    add(chunk.subarray(start));
  };
}
