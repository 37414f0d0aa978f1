import { isRecord } from "../data/parse-json.ts";
import { stringsIn } from "../data/strings-in.ts";
import { listOf, type Path, quote } from "../problems/index.ts";
import { isPackageName } from "../qualified-names/item-name.ts";
import type { ConfigFault } from "./config-file.ts";
import { pastedServer } from "./config-schema.ts";
import { isDisabled, listServerEntries, type ServerEntry } from "./server-entries.ts";
import { formatPath } from "./shape-faults.ts";
import { findVariableFaults } from "./variables.ts";

const maximumLabel = 128;

/** Whether a text has unprintable characters. Compiling the expression takes longer than everything else here. */
const hasControls = (text: string) => !/^[ -~]*$/.test(text) && /\p{C}/u.test(text);

/** Finds faults of one label. `firstByCase` has the labels before it, by their lower case. */
function* findLabelFaults(
  { label, labelPath }: ServerEntry,
  firstByCase: Map<string, string>,
): Generator<ConfigFault> {
  if (typeof label !== "string") return;
  const other = firstByCase.get(label.toLowerCase());
  // Log files have these names, and some file systems ignore case.
  if (other !== undefined) {
    const reason =
      other === label
        ? `two servers have the name ${quote(label)}`
        : `the names ${quote(other)} and ${quote(label)} differ only in case`;
    yield { reason, path: labelPath, hint: "Rename or remove one of them." };
  }
  firstByCase.set(label.toLowerCase(), other ?? label);
  const name = labelPath.at(-1) === "name" ? `\`${formatPath(labelPath)}\`` : `the name ${quote(label, 40)}`;
  if (label.length > maximumLabel || hasControls(label)) {
    const reason = `${name} is longer than ${maximumLabel} characters or contains unprintable characters`;
    yield { reason, path: labelPath };
  } else if (label.includes("/")) {
    const hint = "Use another character: the slash separates the server from the tool in LABEL/TOOL.";
    yield { reason: `${name} contains a slash`, path: labelPath, hint };
  }
}

/** The keys that say how a server is reached; an entry has exactly one. */
const ways = ["command", "package", "url"];

/** The key that each value of `type` requires. */
const wayOfType: Readonly<Record<string, string>> = {
  stdio: "command",
  http: "url",
  "streamable-http": "url",
};

function* findPackageFaults(
  { package: name, bin }: Readonly<Record<string, unknown>>,
  path: Path,
): Generator<ConfigFault> {
  if (bin !== undefined && name === undefined) {
    const reason = `\`${formatPath(path)}\` has \`bin\` without \`package\``;
    yield { reason, path: [...path, "bin"], hint: "Add `package`, the npm package that has this command." };
  }
  if (typeof name !== "string" || name.trim() === "" || isPackageName(name)) return;
  const at = [...path, "package"];
  yield { reason: `\`${formatPath(at)}\` is not an npm name`, path: at, hint: "Write it without a version." };
}

function* findWayFaults({ values, path, isPasted }: ServerEntry): Generator<ConfigFault> {
  const where = `\`${formatPath(path)}\``;
  const present = ways.filter((key) => values[key] !== undefined);
  const [first, second] = present;
  if (first === undefined) {
    const reason = `${where} has none of ${listOf(ways.map((way) => `\`${way}\``))}`;
    yield { reason, path, hint: "Add the command that starts the server, or its npm package." };
    return;
  }
  if (second !== undefined) {
    const reason = `${where} has both \`${first}\` and \`${second}\``;
    yield { reason, path: [...path, second], hint: "Remove one of them." };
    return;
  }
  yield* findPackageFaults(values, path);
  const way = first === "package" ? "command" : first;
  const wanted = isPasted && typeof values.type === "string" ? wayOfType[values.type] : undefined;
  if (wanted !== undefined && wanted !== way) {
    const reason = `\`${formatPath([...path, "type"])}\` is ${values.type}, but the server has a \`${first}\``;
    const fitting = Object.keys(wayOfType).filter((type) => wayOfType[type] === way);
    yield { reason, path: [...path, "type"], hint: `Remove \`type\`, or use ${listOf(fitting)}.` };
  }
}

/** Finds faults of a URL. Messages omit the URL, which may contain secrets. */
function* findUrlFaults(url: unknown, path: Path): Generator<ConfigFault> {
  if (typeof url !== "string" || url.trim() === "") return;
  const where = `\`${formatPath(path)}\``;
  const [, authority] = /^https?:\/\/([^/?#\\]*)/i.exec(url) ?? [];
  if (authority?.includes("@")) {
    yield {
      reason: `${where} contains credentials`,
      path,
      hint: "Send them in `headers`, for example Authorization.",
    };
  } else if (authority === undefined ? !url.startsWith("${") : !url.includes("${") && !URL.canParse(url)) {
    yield { reason: `${where} is not an http or https URL`, path };
  }
}

/** Headers that frame a request or belong to a session. With a value of the user, requests fail or are misread. */
const reservedHeaders = new Set([
  ...["content-length", "transfer-encoding", "trailer", "te"],
  ...["upgrade", "expect", "keep-alive", "mcp-session-id"],
]);

function* findHeaderFaults(headers: unknown, path: Path): Generator<ConfigFault> {
  for (const [name, value] of Object.entries(isRecord(headers) ? headers : {})) {
    const at = [...path, name];
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      const hint = "Use letters, digits and hyphens, as in X-Api-Key.";
      yield { reason: `${quote(name)} is not a valid header name`, path: at, hint };
    } else if (reservedHeaders.has(name.toLowerCase())) {
      const reason = `\`${formatPath(at)}\` is a header that the connection controls`;
      yield { reason, path: at, hint: "Remove it." };
    } else if (typeof value === "string" && /[\r\n\0]/.test(value)) {
      yield { reason: `\`${formatPath(at)}\` contains a line break or a NUL character`, path: at };
    }
  }
}

/** Finds faults in the user's servers that the schema does not find. */
export function* findUserServerFaults(config: unknown): Generator<ConfigFault> {
  const firstByCase = new Map<string, string>();
  for (const entry of listServerEntries(config)) {
    const { path, values } = entry;
    yield* findLabelFaults(entry, firstByCase);
    yield* findWayFaults(entry);
    // Operating systems reject NUL characters.
    for (const key of ["command", "args", "cwd", "env"])
      for (const { text, path: at } of stringsIn(values[key], [...path, key]))
        if (text.includes("\0")) yield { reason: `\`${formatPath(at)}\` contains a NUL character`, path: at };
    yield* findUrlFaults(values.url, [...path, "url"]);
    yield* findHeaderFaults(values.headers, [...path, "headers"]);
    if (!isDisabled(entry)) yield* findVariableFaults(values, path);
    for (const variable of isRecord(values.env) ? Object.keys(values.env) : []) {
      if (variable !== "" && !/[=\0]/.test(variable)) continue;
      const reason = `${quote(variable)} is not a valid variable name`;
      yield { reason, path: [...path, "env", variable], hint: "Use letters, digits and underscores." };
    }
  }
}

/** The keys of `mcpServers` that have an effect. */
const pastedKeys = Object.keys(pastedServer.shape);

/** The keys that have no effect on a remote server. */
const programKeys = ["args", "cwd", "env", "legacyContext"];

/** Finds what leaves a valid config usable: keys without effect. The config may have nulls. */
export function* findUserServerNotes(config: unknown): Generator<ConfigFault> {
  for (const entry of listServerEntries(config)) {
    const { path, values, isPasted } = entry;
    const isRemote = typeof values.url === "string";
    const useless = isRemote ? programKeys : ["headers"];
    for (const key of Object.keys(values)) {
      const isOurs =
        !isPasted || (pastedKeys.includes(key) && !(key === "tools" && Array.isArray(values[key])));
      const isUseless = useless.includes(key) && values[key] !== null;
      if ((isOurs && !isUseless) || key.startsWith("x-")) continue;
      const kind = isRemote ? "a remote server" : "a server without `url`";
      const at = [...path, key];
      yield {
        reason: `\`${formatPath(at)}\` has no effect${isUseless ? ` on ${kind}` : ""}`,
        path: at,
        severity: "warning",
        hint: isUseless ? "Remove it." : "Remove it if no client reads this file.",
      };
    }
  }
}
