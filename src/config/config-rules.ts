// What a schema cannot say about values of a config: what is wrong with them continues after their path.

import { stringsIn } from "../data/json-values.ts";
import { isRecord } from "../data/parse-json.ts";
import type { Breach } from "../extension-schema/shape-faults.ts";
import { servedKeys } from "../extension-schema/shapes.ts";
import { listOf, quote } from "../problems/index.ts";
import { listServerEntries } from "./server-entries.ts";
import { explainReference } from "./variables.ts";

type Fields = Readonly<Record<string, unknown>>;

export function explainLabel(label: string): string | Breach | undefined {
  if (label.length > 128 || /\p{C}/u.test(label))
    return "is longer than 128 characters or contains unprintable characters";
  const hint = "Use another character: the slash separates the server from the tool in LABEL/TOOL.";
  return label.includes("/") ? { words: `is ${quote(label)}, which contains a slash`, hint } : undefined;
}

/** Finds servers with the name of another. Log files have these names, and some file systems ignore case. */
export function findSameLabels(config: Fields): Breach[] {
  const firsts = new Map<string, string>();
  return listServerEntries(config).flatMap(({ label, path: at, isPasted }) => {
    if (typeof label !== "string") return [];
    const name = label.toLowerCase();
    const first = firsts.get(name);
    if (first === undefined) firsts.set(name, label);
    if (first === undefined) return [];
    const path = isPasted ? at : [...at, "name"];
    const words = `has the name of another server, ${quote(first)}; case does not count`;
    return [{ words, path, hint: "Rename or remove one of them." }];
  });
}

export const sse = "is sse, a deprecated transport that is not supported";
export const sseHint = "Use the URL of the server's streamable HTTP endpoint, without `type`.";

/** The keys that say how a server is reached, of which an entry has one. */
const ways = ["command", "package", "url"];

export function findServerBreaches(server: Fields): Breach[] {
  const [way, second] = ways.filter((key) => server[key] !== undefined);
  if (way === undefined) {
    const words = `has none of ${listOf(ways.map((key) => `\`${key}\``))}`;
    return [{ words, hint: "Add the command that starts the server, or its npm package." }];
  }
  if (second !== undefined)
    return [{ words: `and \`${way}\` are both present`, path: [second], hint: "Remove one of them." }];
  const isUsed = server.enabled !== false && server.disabled !== true;
  return [...findSignInBreaches(server), ...(isUsed ? findVariableBreaches(server) : [])];
}

/** Whether a remote server has credentials in its own headers, and needs no others. */
export const hasCredentials = (headers: unknown): boolean =>
  isRecord(headers) && Object.keys(headers).some((name) => name.toLowerCase() === "authorization");

function findSignInBreaches({ url, headers, oauth }: Fields): Breach[] {
  if (!isRecord(oauth)) return [];
  const { clientId, clientSecret, grant, redirectUrl, callbackPort } = oauth;
  const breaches: Breach[] = [];
  const refuse = (words: string, hint: string, ...path: string[]) =>
    breaches.push({ words, hint, path: ["oauth", ...path] });
  if (url === undefined)
    refuse("is present without `url`", "Remove it: only remote servers are signed in to.");
  if (hasCredentials(headers)) refuse("and an Authorization header are both present", "Remove one of them.");
  if (redirectUrl !== undefined && callbackPort !== undefined)
    refuse("and `redirectUrl` are both present", "Remove one of them.", "callbackPort");
  if (clientSecret !== undefined && clientId === undefined)
    refuse("is present without `clientId`", "Add `clientId`.", "clientSecret");
  if (grant === "client_credentials" && (clientId === undefined || clientSecret === undefined))
    refuse("is client_credentials without `clientId` and `clientSecret`", "Add both.", "grant");
  return breaches;
}

export const explainRedirect = (url: string): Breach | undefined =>
  URL.canParse(url) ? undefined : { words: "is not a URL", hint: "Use http://127.0.0.1:PORT/callback." };

/** The keys of a server whose strings may refer to variables. */
const expandedKeys = ["command", "args", "cwd", "env", "url", "headers", "oauth"];

const findVariableBreaches = (server: Fields): Breach[] =>
  expandedKeys.flatMap((key) =>
    [...stringsIn(server[key], [key])].flatMap(({ text, path }) => {
      const breach = explainReference(text);
      return breach === undefined ? [] : [{ ...breach, path }];
    }),
  );

/** Explains a URL without showing it, because it may contain secrets. */
export function explainUrl(url: string): string | Breach | undefined {
  const [, authority] = /^https?:\/\/([^/?#\\]*)/i.exec(url) ?? [];
  if (authority?.includes("@"))
    return { words: "contains credentials", hint: "Send them in `headers`, for example Authorization." };
  const isUrl = authority === undefined ? url.startsWith("${") : url.includes("${") || URL.canParse(url);
  return isUrl ? undefined : "is not an http or https URL";
}

export const explainEmptyServer = (server: Fields): Breach | undefined =>
  servedKeys.some((key) => server[key] !== undefined)
    ? undefined
    : { words: "serves nothing", hint: "Add `tools`, `toolsets`, `prompts`, `resources` or `skills`." };
