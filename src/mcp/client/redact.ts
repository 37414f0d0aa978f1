import { StringDecoder } from "node:string_decoder";

/** What stands for a secret wherever it would be written down. */
const redacted = "[redacted]";

/** Of a secret that was cut off at the end of the text, so many characters are taken for it. */
const tellingLength = 4;
/** Shorter secrets are part of too many other texts; they are taken out only where they are all there is. */
const shortestPart = 4;
/** Data that nests deeper is left out as a whole. */
const deepest = 1000;

/** Secrets, or where to ask for those of the moment; asked each time, so the list should be at hand. */
type SecretSource = readonly string[] | (() => readonly string[]);

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
  /** A copy of JSON data, keys included; a number or boolean that reads like a secret is one. */
  redactValue<Value>(value: Value): Value;
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

/** What to look for. */
interface Wanted {
  /** The longest first: where several begin at one place, it counts. */
  forms: readonly string[];
  /** Secrets that count only as a whole text. */
  whole: ReadonlySet<string>;
}

function prepare(secrets: readonly string[]): Wanted {
  const parts = secrets.filter((secret) => secret.length >= shortestPart);
  const forms = [...new Set(parts.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const whole = new Set(secrets.filter((secret) => secret !== "" && secret.length < shortestPart));
  return { forms, whole };
}

/** Start and end of each secret in a text. No pattern: secrets may be longer than those can be. */
function* findSecrets(text: string, forms: readonly string[]): Generator<[start: number, end: number]> {
  const nexts = forms.map((form) => text.indexOf(form));
  let position = 0;
  for (;;) {
    let [start, length] = [-1, 0];
    for (const [index, form] of forms.entries()) {
      let next = nexts[index] ?? -1;
      if (next !== -1 && next < position) {
        next = text.indexOf(form, position);
        nexts[index] = next;
      }
      if (next !== -1 && (start === -1 || next < start)) [start, length] = [next, form.length];
    }
    if (start === -1) return;
    position = start + length;
    yield [start, position];
  }
}

function replaceSecrets(text: string, forms: readonly string[]): string {
  let out = "";
  let position = 0;
  for (const [start, end] of findSecrets(text, forms)) {
    out += text.slice(position, start) + redacted;
    position = end;
  }
  return position === 0 ? text : out + text.slice(position);
}

/** Where the start of a secret begins that the end of the text cuts off; the text's length where there is none. */
function findHeld(text: string, forms: readonly string[], from: number): number {
  const longest = forms[0]?.length ?? 0;
  for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
    const rest = text.slice(at);
    if (forms.some((form) => form.length > rest.length && form.startsWith(rest))) return at;
  }
  return text.length;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one === other || (one.length === other.length && one.every((text, index) => text === other[index]));
}

/**
 * Replaces secrets by `[redacted]`: the longest first, also as JSON and addresses write them. Empty ones count for
 * nothing; ones shorter than 4 characters only where they are the whole text, and so never in a stream.
 */
export function createRedactor(source: SecretSource): Redactor {
  let known: readonly string[] = [];
  let wanted = prepare(known);
  const look = (): Wanted => {
    const secrets = typeof source === "function" ? source() : source;
    if (!isSame(known, secrets)) {
      known = [...secrets];
      wanted = prepare(known);
    }
    return wanted;
  };

  const redact = (text: string): string => {
    const { forms, whole } = look();
    return whole.has(text) ? redacted : replaceSecrets(text, forms);
  };

  const copy = (value: unknown, copies: Map<object, unknown>, depth: number): unknown => {
    if (typeof value === "string") return redact(value);
    if (typeof value === "number" || typeof value === "boolean") {
      return known.includes(String(value)) ? redacted : value;
    }
    if (typeof value !== "object" || value === null) return value;
    // What a handler logs may hold itself.
    if (copies.has(value)) return copies.get(value);
    if (depth > deepest) return redacted;
    const isList = Array.isArray(value);
    const made: Record<string, unknown> | unknown[] = isList ? [] : {};
    copies.set(value, made);
    for (const [key, entry] of Object.entries(value)) {
      const own = {
        value: copy(entry, copies, depth + 1),
        writable: true,
        enumerable: true,
        configurable: true,
      };
      // `__proto__` may be a key like any other.
      Object.defineProperty(made, isList ? key : redact(key), own);
    }
    return made;
  };

  const createStream = (): RedactingStream => {
    let pending = "";
    return {
      push(text) {
        const { forms } = look();
        const all = pending + text;
        let out = "";
        let position = 0;
        let held = findHeld(all, forms, 0);
        for (const [start, end] of findSecrets(all, forms)) {
          // It may be the start of a longer one.
          if (start >= held) break;
          out += all.slice(position, start) + redacted;
          position = end;
          if (position > held) held = findHeld(all, forms, position);
        }
        pending = all.slice(held);
        return out + all.slice(position, held);
      },
      end() {
        const rest = replaceSecrets(pending, look().forms);
        const isCutOff = rest === pending && rest.length >= tellingLength;
        pending = "";
        return isCutOff ? redacted : rest;
      },
    };
  };
  return {
    redact,
    redactCut(text) {
      const stream = createStream();
      return stream.push(text) + stream.end();
    },
    redactValue<Value>(value: Value): Value {
      const { forms, whole } = look();
      return forms.length === 0 && whole.size === 0 ? value : (copy(value, new Map(), 0) as Value);
    },
    createStream,
  };
}

/** Bytes of a program's output, as text without secrets, wherever chunks cut characters or secrets. */
export interface ByteRedactor {
  push(chunk: Buffer): string;
  /** What was held back. */
  end(): string;
}

/** For output that comes in chunks. What becomes a secret later is taken out from then on. */
export function createStreamRedactor(redactor: Redactor): ByteRedactor {
  const decoder = new StringDecoder("utf8");
  const stream = redactor.createStream();
  return {
    push: (chunk) => stream.push(decoder.write(chunk)),
    end: () => stream.push(decoder.end()) + stream.end(),
  };
}
