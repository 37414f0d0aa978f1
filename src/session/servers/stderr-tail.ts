/** Keeps the end of a text. */
export interface Tail {
  push(text: string): void;
  /** At most the given number of bytes of UTF-8, whole characters. */
  read(): string;
}

export function createTail(bytes: number): Tail {
  let kept = "";
  return {
    push(text) {
      kept = (kept + text).slice(-bytes);
    },
    read() {
      const encoded = Buffer.from(kept);
      let start = Math.max(0, encoded.length - bytes);
      // Not into the middle of a character, nor of a pair of surrogates, which was encoded as U+FFFD.
      while (start > 0 && ((encoded[start] ?? 0) & 0xc0) === 0x80) start++;
      const text = encoded.toString("utf8", start);
      return /^[\uDC00-\uDFFF]/.test(kept) && text.startsWith("\uFFFD") ? text.slice(1) : text;
    },
  };
}
