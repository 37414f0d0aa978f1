import { isDeepStrictEqual } from "node:util";
import { isRecord, isText } from "../data/parse-json.ts";
import { clients } from "./clients/index.ts";
import type { JsonRecord, JsonValue } from "./editing/config-format.ts";

/** Whether the name of an option, a variable, a header or a key suggests that its value is a secret. */
export const isSecretName = (name: string): boolean =>
  /token|key|secret|passw|passphrase|auth|cookie/i.test(name) ||
  /(?:^|[-_.])(?:pass|pat|pwd)\d*$/i.test(name.replace(/([a-z\d])([A-Z])/g, "$1_$2"));

/** Letters and digits that are mixed as in keys, and UUIDs. */
const keyShape =
  /(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{16,}|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|-----BEGIN /i;
const words = "(?:[A-Za-z]+|\\d+)(?:[-_.:,/](?:[A-Za-z]+|\\d+))*";
const harmless = [
  /^(?:true|false)$/i,
  /^[+-]?\d+(?:\.\d+)?$/,
  new RegExp(`^(?=.{1,24}$)${words}$`),
  new RegExp(`^https?://${words}/?$`, "i"),
];
const path = /^(?:~|\.{1,2}|[A-Za-z]:)?(?:[\\/][\w .@+-]{0,40})+$/;

/** Whether the value of a variable or a header is plainly no secret: a switch, a number, a path, or a few plain words. */
export const isHarmless = (text: string): boolean =>
  harmless.some((one) => one.test(text)) || (path.test(text) && !keyShape.test(text));

/** `name=value`, `name: value` and `--name value`, where the value is no reference to a variable. */
const assignment =
  /(?:([\w-]+)["']?\s*(?:=|:(?!\/\/))\s*|(?<![\w-])(-{1,2}(?!-|no-)[\w-]+)\s+)(?=["']?[^\s"'&$-])/g;

/** Which of the arguments of a command, or whether a URL, look like they have a secret. References to variables do not. */
export function looksSecret(args: readonly string[]): boolean[] {
  const hasSecret = (text: string) =>
    [...text.matchAll(assignment)].some(([, name, option]) => isSecretName(name ?? option ?? ""));
  return args.map((arg, index) => {
    const option = args[index - 1] ?? "";
    return (
      keyShape.test(arg) ||
      hasSecret(/^-{1,2}[\w-]+$/.test(option) ? `${option} ${arg}` : arg) ||
      /\b(?:Bearer|Basic) +[^\s$]/i.test(arg) ||
      /:\/\/[^\s/?#$]*:[^\s/$]+@/.test(arg)
    );
  });
}

/** The keys of variables and of headers in entries of any client. */
export const environmentKeys = ["env", ...clients.flatMap(({ shape }) => shape.environment ?? [])];
export const headerKeys = ["headers", "http_headers"];
const hiddenKeys = [...environmentKeys, ...headerKeys];
const reference = /\$?\{(?:env:)?\w+(?::-([^{}]*))?\}|\$[A-Za-z_]\w*/g;

/** Whether the value of a variable or a header consists of references to variables. */
function isReference(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const literal = value.replace(reference, (match, fallback: string | undefined) =>
    fallback === undefined || isHarmless(fallback) ? "" : match,
  );
  return /^(?:(?:Bearer|Basic) +)?$/i.test(literal);
}

const maskOf = (value: unknown, former: unknown) =>
  former === undefined || isDeepStrictEqual(former, value) ? "***" : "*** (changed)";

/**
 * An entry without secrets: the values of variables and headers, and others that look or are named like one. Those that differ from
 * a former entry's are marked.
 */
export function hideEntry(entry: JsonRecord, former: unknown = {}, isHidden = false): JsonRecord {
  const hide = (key: string, value: JsonValue): JsonValue => {
    const before = isRecord(former) && Object.hasOwn(former, key) ? former[key] : undefined;
    if (isReference(value)) return value;
    if (isHidden) return maskOf(value, before);
    if (isRecord(value)) return hideEntry(value as JsonRecord, before, hiddenKeys.includes(key));
    if (Array.isArray(value)) {
      const formers = Array.isArray(before) ? before : [];
      const secret = looksSecret(value.map((one) => (isText(one) ? one : "")));
      return value.map((one, index) => (secret[index] ? maskOf(one, formers[index]) : one));
    }
    if (!isText(value)) return value;
    return isSecretName(key) || looksSecret([value]).includes(true) ? maskOf(value, before) : value;
  };
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, hide(key, value)]));
}
