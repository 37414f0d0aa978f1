import { StringDecoder } from "node:string_decoder";
import { carryIntegers, findInteger } from "../data/exact-integers.ts";
import { attempt } from "../files/file-errors.ts";

const redacted = "[redacted]";

/** At the end of a cut string, this many characters of a secret are enough to redact them. */
const tellingLength = 4;
/** Shorter secrets occur in too many other strings, so they are redacted only as whole strings. */
const shortestPart = 4;
/** Deeper data is replaced as a whole. */
const deepest = 1000;

/** The forms in which a program may print a secret: as it is, in JSON, in a URL. */
const formsOf = (secret: string): string[] => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  // A lone surrogate has no URL form.
  attempt(() => encodeURIComponent(secret)) ?? secret,
];

function prepare(secrets: readonly string[]) {
  const parts = secrets.filter((secret) => secret.length >= shortestPart);
  return {
    secrets,
    /** Longest first, so that the longest of several at one position is replaced. */
    forms: [...new Set(parts.flatMap(formsOf))].sort((a, b) => b.length - a.length),
    /** Secrets that are redacted only as whole strings. */
    whole: new Set(secrets.filter((secret) => secret !== "" && secret.length < shortestPart)),
  };
}

/** Not with a regular expression: secrets may exceed its maximum length. */
const replaceSecrets = (text: string, forms: readonly string[]): string =>
  forms.reduce((rest, form) => rest.replaceAll(form, redacted), text);

/** Up to where a text can be redacted before its next part is known: no secret may begin before it and end after it. */
function findEnd(text: string, forms: readonly string[]): number {
  let end = Math.max(0, text.length - (forms[0]?.length ?? 0) + 1);
  const isCutOff = (rest: string) => forms.some((form) => form.length > rest.length && form.startsWith(rest));
  while (end < text.length && !isCutOff(text.slice(end))) end++;
  for (let before = text.length + 1; end < before; ) {
    before = end;
    for (const form of forms) {
      const start = text.indexOf(form, Math.max(0, end - form.length + 1));
      if (start !== -1 && start < end) end = start;
    }
  }
  return end;
}

/**
 * Replaces secrets by `[redacted]`, the longest first, also in the forms of JSON and URLs. Ignores empty secrets.
 * Secrets of fewer than 4 characters are replaced only as whole strings, so never in a stream. `source`: secrets, or a function
 * that returns the current ones. It is called for each string, so it must be fast.
 */
export function createRedactor(source: readonly string[] | (() => readonly string[])) {
  let wanted = prepare([]);
  const look = () => {
    const secrets = typeof source === "function" ? source() : source;
    const { length } = wanted.secrets;
    const isSame = secrets.length === length && secrets.every((text, at) => text === wanted.secrets[at]);
    if (!isSame) wanted = prepare([...secrets]);
    return wanted;
  };

  const redact = (text: string): string => {
    const { forms, whole } = look();
    return whole.has(text) ? redacted : replaceSecrets(text, forms);
  };

  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return redact(value);
    if (typeof value === "number" || typeof value === "boolean") {
      return wanted.secrets.includes(String(value)) ? redacted : value;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth > deepest) return redacted;
    const isList = Array.isArray(value);
    const entries = Object.entries(value).map(([key, entry]) => {
      const integer = findInteger(value, key);
      const isSecret = integer !== undefined && wanted.secrets.includes(integer);
      return [isList ? key : redact(key), isSecret ? redacted : copy(entry, depth + 1)] as const;
    });
    return carryIntegers(value, isList ? entries.map(([, one]) => one) : Object.fromEntries(entries));
  };

  /** Redacts output that arrives in chunks. What becomes a secret later is redacted from then on. */
  const createStream = () => {
    let pending = "";
    const decoder = new StringDecoder("utf8");
    return {
      /** Returns redacted output. What may be the start of a secret, or of a character, is held back. */
      push(chunk: string | Buffer): string {
        const { forms } = look();
        const all = pending + decoder.write(chunk);
        const end = findEnd(all, forms);
        pending = all.slice(end);
        return replaceSecrets(all.slice(0, end), forms);
      },
      end(): string {
        const rest = replaceSecrets(pending, look().forms);
        const isCutOff = rest === pending && rest.length >= tellingLength;
        pending = "";
        return isCutOff ? redacted : rest;
      },
    };
  };
  return {
    redact,
    /** The same for a string that may end within a secret. */
    redactCut(text: string): string {
      const stream = createStream();
      return stream.push(text) + stream.end();
    },
    /** A redacted copy of JSON data, keys included. Numbers and booleans that look like a secret are replaced. */
    redactValue<Value>(value: Value): Value {
      const { forms, whole } = look();
      return forms.length === 0 && whole.size === 0 ? value : (copy(value, 0) as Value);
    },
    createStream,
  };
}

export type Redactor = ReturnType<typeof createRedactor>;
