/** The end of what a stream says. */
export interface OutputTail {
  add(chunk: Buffer): void;
  toString(): string;
}

/** How much of what a process wrote last is told. */
export const shownTailBytes = 4096;
/** How much is kept: what is told of it is cut off after it was looked through for secrets. */
export const keptTailBytes = 2 * shownTailBytes;

/** The end of a text: at most so many bytes, from the beginning of a character on. */
export function cutTail(text: string, limitBytes: number): string {
  const tail = createOutputTail(limitBytes);
  tail.add(Buffer.from(text));
  return tail.toString();
}

export function createOutputTail(limitBytes: number): OutputTail {
  let tail = Buffer.alloc(0);
  return {
    add(chunk) {
      tail = Buffer.concat([tail, chunk.subarray(-limitBytes)]).subarray(-limitBytes);
    },
    // What was cut in the middle of a character is left out.
    toString: () => tail.toString("utf8").replace(/^\uFFFD+/, ""),
  };
}
