import { isRecord } from "../data/parse-json.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { findNearestNames } from "../qualified-names/nearest-names.ts";
import { describeWritten } from "./pointer.ts";

/** What a pack says it needs. An absent key is not declared; an empty array means none. Its strings are untrusted. */
export interface Needs {
  /** Environment variables that `envPassthrough` of its servers may name. */
  env?: readonly string[];
  /** Hosts, each with an optional port. Not enforced. */
  network?: readonly string[];
  /** Files and folders to read. Not enforced. */
  read?: readonly string[];
  /** Files and folders to write. Not enforced. */
  write?: readonly string[];
  /** Other tools that its code may call: names and patterns. */
  tools?: readonly string[];
}

export type NeedsKey = keyof Needs;

export const needsKeys: readonly NeedsKey[] = ["env", "network", "read", "write", "tools"];

/** The folders that a path starts with. */
const places = ["PROJECT", "PACK", "DATA", "HOME", "TMP"];

const path = new RegExp(`^\\$\\{(?:${places.join("|")})\\}(?:/(?!\\.\\.(?:/|$))[^/\\\\\\x00-\\x1f\\x7f]*)*$`);
const word = "[A-Za-z0-9_.~-]+";
const wildWord = "[A-Za-z0-9_.~*-]+";

/** The valid entries of each key but `network`; the JSON Schema has the same patterns. */
export const needsPatterns: Readonly<Record<Exclude<NeedsKey, "network">, RegExp>> = {
  env: /^[A-Za-z_][A-Za-z0-9_]*$/,
  read: path,
  write: path,
  // A name without a slash, a name or a pattern with up to three segments, or a name with a version range.
  tools: new RegExp(
    `^(?!\\*+$)(?=.{1,512}$)(?:${wildWord}|@?${wildWord}(?:/${wildWord}){1,2}|@?(?:${word}/)?${word}@[ -.0-~]+/${word})$`,
  ),
};

const label = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/;

function isHostName(name: string): boolean {
  const labels = name.replace(/^\*\./, "").split(".");
  // A last label that is a number would make the name an IP address.
  if (/^(?:[0-9]+|0[xX][0-9A-Fa-f]*)$/.test(labels.at(-1) ?? "")) {
    const isOctet = (text: string) => /^(?:0|[1-9][0-9]{0,2})$/.test(text) && Number(text) < 256;
    return name === labels.join(".") && labels.length === 4 && labels.every(isOctet);
  }
  return name.length < 256 && labels.every((one) => one.length < 64 && label.test(one));
}

const isIpv6 = (text: string) => /^[0-9A-Fa-f:.]+$/.test(text) && URL.canParse(`http://[${text}]`);

/** Whether an entry of `network` is valid. The pattern of the JSON Schema takes 50 ms to compile. */
function isHost(written: string): boolean {
  if (written.length > 300) return false;
  const [, start = "", port] = /^(.*?)(?::([0-9]+))?$/.exec(written) ?? [];
  if (start.includes(":") && !start.startsWith("[")) return isIpv6(written);
  if (port !== undefined && !(/^[1-9][0-9]{0,4}$/.test(port) && Number(port) < 65_536)) return false;
  const [, address] = /^\[(.*)\]$/.exec(start) ?? [];
  return address === undefined ? isHostName(start) : isIpv6(address);
}

const isValid = (key: NeedsKey, entry: string) =>
  key === "network" ? isHost(entry) : needsPatterns[key].test(entry);

/** Why a value is invalid; the hint is a sentence. */
export interface NeedsFault {
  reason: string;
  hint?: string | undefined;
  /** Inside `needs`. */
  path: Path;
}

type Explanation = Omit<NeedsFault, "path">;

function explainName(name: string): Explanation {
  const hint = /[=\s]/.test(name)
    ? "List only names, without values."
    : 'Use letters, digits and "_", not starting with a digit, for example "JIRA_TOKEN".';
  return { reason: `${quote(name)} is not the name of an environment variable`, hint };
}

function explainHost(host: string): Explanation {
  const reason = `${quote(host)} is not a host`;
  const example = 'Use names such as "api.atlassian.com", "*.atlassian.net:443", "localhost" or "127.0.0.1".';
  if (/^\*+$/.test(host)) return { reason: `${quote(host)} would mean every host`, hint: example };
  if (host.length > 300) return { reason, hint: example };
  const [, start = ""] = /^([a-z][a-z0-9+.-]*:\/\/)/i.exec(host) ?? [];
  const { host: found = "" } = start === "" ? {} : (parseAddress(host) ?? {});
  if (isHost(found)) return { reason, hint: `List only the host: "${found}".` };
  if (start === "" && /[^\0-\x7f]/.test(host)) {
    const ascii = parseAddress(`http://${host.replace(/^\*\./, "")}`)?.host ?? "";
    const wild = host.startsWith("*.") ? `*.${ascii}` : ascii;
    if (ascii.includes("xn--") && isHost(wild))
      return { reason: `${reason} in ASCII`, hint: `Write it as "${wild}".` };
  }
  return { reason, hint: example };
}

const parseAddress = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

function explainPath(written: string): Explanation {
  const starts = listOf(
    places.map((place) => `\${${place}}`),
    "or",
  );
  const start = /^\$\{([^{}]*)\}/.exec(written);
  const suggest = (replaced: string, from: RegExp): string | undefined => {
    const meant = written.length > 400 ? "" : written.replace(from, `\${${replaced}}/`);
    return needsPatterns.read.test(meant) ? `Did you mean ${quote(meant, 200)}?` : undefined;
  };
  if (start === null || !places.includes(start[1] ?? "")) {
    const [nearest] = findNearestNames(start?.[1] ?? "", places);
    const hint =
      start !== null
        ? nearest && suggest(nearest, /^\$\{[^{}]*\}\/?/)
        : (suggest("HOME", /^~\//) ?? suggest("PACK", /^\.\//));
    const reason = `${quote(written)} does not start with one of the known folders`;
    return { reason, hint: hint ?? `Start it with ${starts}.` };
  }
  const rest = written.slice(start[0].length);
  if (rest.includes("\\")) return { reason: `${quote(written)} contains "\\"`, hint: 'Use "/".' };
  if (rest.split("/").includes(".."))
    return { reason: `${quote(written)} contains ".."`, hint: `Use a path below ${starts}.` };
  if (!rest.startsWith("/"))
    return { reason: `${quote(written)} has no "/" after "${start[0]}"`, hint: 'Add "/".' };
  return { reason: `${quote(written)} contains a control character` };
}

function explainTool(name: string): Explanation {
  const hint =
    'Use names such as "acme/jira/createIssue" or "web_click", where "*" matches any part of a segment: "acme/jira/*".';
  const isAll = /^\*+$/.test(name);
  return { reason: isAll ? `${quote(name)} would mean every tool` : `${quote(name)} is not a tool`, hint };
}

const explanations: Readonly<Record<NeedsKey, (value: string) => Explanation>> = {
  env: explainName,
  network: explainHost,
  read: explainPath,
  write: explainPath,
  tools: explainTool,
};

/** The keys that the host enforces. An invalid value allows nothing. */
const enforcedKeys: readonly NeedsKey[] = ["env", "tools"];

/** Reads the value of `needs`: keeps every valid entry, and passes each fault to `report`. Pure. */
export function readNeeds(value: unknown, report: (fault: NeedsFault) => void): Needs {
  if (!isRecord(value)) {
    const hint = `Use an object with the keys ${listOf(
      needsKeys.map((key) => `\`${key}\``),
      "and",
    )}, which are optional.`;
    report({ reason: `it must be an object, but it is ${describeWritten(value)}`, hint, path: [] });
    return Object.fromEntries(enforcedKeys.map((key) => [key, []]));
  }
  for (const key of Object.keys(value)) {
    if (key.startsWith("x-") || needsKeys.some((known) => known === key)) continue;
    const [nearest] = findNearestNames(key, needsKeys);
    const hint =
      nearest === undefined
        ? `Use one of ${listOf(needsKeys, "or")}, or start a custom key with "x-".`
        : `Did you mean "${nearest}"?`;
    report({ reason: `it has an unknown key ${quote(key)}`, hint, path: [key] });
  }
  const needs: Needs = {};
  for (const key of needsKeys) {
    const list = Object.hasOwn(value, key) ? value[key] : undefined;
    if (list === undefined) continue;
    if (!Array.isArray(list)) {
      const reason = `\`needs.${key}\` must be an array of strings, but it is ${describeWritten(list)}`;
      report({ reason, path: [key] });
      if (enforcedKeys.includes(key)) needs[key] = [];
      continue;
    }
    const valid: string[] = [];
    for (const [index, entry] of list.entries()) {
      if (typeof entry === "string" && isValid(key, entry)) {
        valid.push(entry);
        continue;
      }
      const fault =
        typeof entry === "string"
          ? explanations[key](entry)
          : { reason: `an entry of \`needs.${key}\` must be a string, but it is ${describeWritten(entry)}` };
      report({ ...fault, path: [key, index] });
    }
    needs[key] = valid;
  }
  return needs;
}
