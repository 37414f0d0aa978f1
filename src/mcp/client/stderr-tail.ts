/** Keeps the end of a text. */
export interface Tail {
  push(text: string): void;
  /** At most the given number of bytes of UTF-8, whole characters. `edit` sees the text before it is cut to that. */
  read(edit?: (text: string) => string): string;
}

export function createTail(bytes: number): Tail {
  let kept = "";
  return {
    push(text) {
      // Twice as much, so that what `edit` looks for is whole where the cut will be.
      kept = (kept + text).slice(-2 * bytes);
    },
    read(edit = (text) => text) {
      const whole = edit(kept);
      const last = whole.slice(-bytes);
      const encoded = Buffer.from(last);
      let start = Math.max(0, encoded.length - bytes);
      // Not into the middle of a character, nor of a pair of surrogates, which was encoded as U+FFFD.
      while (start > 0 && ((encoded[start] ?? 0) & 0xc0) === 0x80) start++;
      const text = encoded.toString("utf8", start);
      return /^[\uDC00-\uDFFF]/.test(last) && text.startsWith("\uFFFD") ? text.slice(1) : text;
    },
  };
}
