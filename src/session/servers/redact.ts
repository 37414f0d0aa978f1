const replacement = "[redacted]";
/** Of a secret that was cut off at the end of the text, so many characters are taken for it. */
const tellingLength = 4;

export interface RedactingStream {
  /** What can be said by now of all that was pushed: the start of a secret is held back. */
  push(text: string): string;
  /** The rest. */
  end(): string;
}

export interface Redactor {
  /** The whole text with every secret replaced. */
  redact(text: string): string;
  /** The same of a text that may have been cut off within a secret. */
  redactCut(text: string): string;
  /** Also finds a secret that comes in pieces. */
  createStream(): RedactingStream;
}

/** As a program may print it: as it is, in JSON, in an address. */
function formsOf(secret: string): string[] {
  const forms = [secret, JSON.stringify(secret).slice(1, -1)];
  try {
    forms.push(encodeURIComponent(secret));
  } catch {
    // Half a character has no form in addresses.
  }
  return forms;
}

const plain: Redactor = {
  redact: (text) => text,
  redactCut: (text) => text,
  createStream: () => ({ push: (text) => text, end: () => "" }),
};

/** Replaces secrets by `[redacted]`. Empty ones count for nothing. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = [...new Set(secrets.filter((secret) => secret !== "").flatMap(formsOf))];
  if (forms.length === 0) return plain;
  // Where several begin at one place, the longest counts.
  forms.sort((a, b) => b.length - a.length);
  const longest = forms[0]?.length ?? 0;
  const pattern = new RegExp(
    forms.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")).join("|"),
    "g",
  );

  /** Where the start of a secret begins that the end of the text cuts off; the text's length where there is none. */
  const findHeld = (text: string, from: number): number => {
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
      const rest = text.slice(at);
      if (forms.some((form) => form.length > rest.length && form.startsWith(rest))) return at;
    }
    return text.length;
  };

  const createStream = (): RedactingStream => {
    let pending = "";
    return {
      push(text) {
        const all = pending + text;
        let out = "";
        let position = 0;
        let held = findHeld(all, 0);
        pattern.lastIndex = 0;
        for (let match = pattern.exec(all); match !== null; match = pattern.exec(all)) {
          // It may be the start of a longer one.
          if (match.index >= held) break;
          out += all.slice(position, match.index) + replacement;
          position = pattern.lastIndex;
          if (position > held) held = findHeld(all, position);
        }
        pending = all.slice(held);
        return out + all.slice(position, held);
      },
      end() {
        const rest = pending.replace(pattern, replacement);
        const isCutOff = rest === pending && rest.length >= tellingLength;
        pending = "";
        return isCutOff ? replacement : rest;
      },
    };
  };
  return {
    redact: (text) => text.replace(pattern, replacement),
    redactCut(text) {
      const stream = createStream();
      return stream.push(text) + stream.end();
    },
    createStream,
  };
}
