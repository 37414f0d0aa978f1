/** The end of what a stream says. */
export interface OutputTail {
  add(chunk: Buffer): void;
  toString(): string;
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
