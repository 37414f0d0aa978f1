import { isRecord } from "../data/parse-json.ts";
import { formatDefinition, proseKeys } from "./format-definition.ts";
import { formatLine, formatLineChanges, formatValue, linesOf } from "./format-lines.ts";
import type { EntryChange, FieldChange, ItemChange, Json, LockedItem } from "./types.ts";

const marks = { added: "+", removed: "-", changed: "~", same: " " };
const changes = { added: "new", removed: "removed", changed: "changed", same: "unchanged" };

/** Limit on two values that are shown on one line. */
const longestPair = 60;

const indent = (lines: readonly string[], by: string) => lines.map((line) => `${by}${line}`);

const formatPath = (path: readonly (string | number)[]) =>
  path
    .map((key) => (typeof key === "number" || /^[\w$@/-]+$/.test(key) ? String(key) : JSON.stringify(key)))
    .join(".");

const shortForm = (value: Json | undefined) => (value === undefined ? "not set" : formatValue(value));

function formatField({ path, from, to }: FieldChange, kind: ItemChange["kind"]): string[] {
  const [last] = path.slice(-1);
  const isProse = typeof last === "string" && proseKeys.has(last);
  const name = kind === "tool" && path.length === 1 && last === "name" ? "advertised name" : formatPath(path);
  const label = formatLine(name);
  const isBlock = isProse && [from, to].some((value) => Array.isArray(value));
  if (!isBlock && [from, to].every((value) => shortForm(value).length <= longestPair)) {
    return [`${label}: ${shortForm(from)} → ${shortForm(to)}`];
  }
  return [`${label}:`, ...indent(formatLineChanges(linesOf(from, isProse), linesOf(to, isProse)), "  ")];
}

/** The whole value of an added or removed item. */
function findWhole({ fields }: ItemChange, key: "from" | "to"): LockedItem | undefined {
  const whole = fields.find(({ path }) => path.length === 0)?.[key];
  return isRecord(whole) ? (whole as LockedItem) : undefined;
}

/** What differs in an item, below its title. */
function formatBody(item: ItemChange): string[] {
  if (item.change === "removed") return [];
  const whole = findWhole(item, "to");
  if (item.change === "added" && whole !== undefined) return formatDefinition(whole);
  return item.fields.flatMap((field) => formatField(field, item.kind));
}

function formatItem(item: ItemChange): string[] {
  const { kind, name, server, advertisedName, change } = item;
  const of = server === undefined ? "" : ` of server ${formatLine(server)}`;
  const shown =
    advertisedName === undefined || advertisedName === name
      ? ""
      : ` (advertised as ${formatLine(advertisedName)})`;
  const title = kind === "needs" ? "needs" : `${kind} ${formatLine(name)}${of}${shown}`;
  return [`${marks[change]} ${title}: ${changes[change]}`, ...indent(formatBody(item), "    ")];
}

function formatVersion({ version: { from, to }, change }: EntryChange): string {
  const [before, after] = [from, to].map((version) => (version === null ? "" : formatLine(version)));
  if (change === "added" || before === after) return after ?? "";
  if (change === "removed") return before ?? "";
  return `${before || "(no version)"} → ${after || "(no version)"}`;
}

/** One pack, or one server of the config; empty if not even its version differs. */
function formatEntry(entry: EntryChange, what: "pack" | "server"): string[] {
  const { name, change, version } = entry;
  if (change === "same" && version.from === version.to) return [];
  const title = [what, formatLine(name), formatVersion(entry)].filter((word) => word !== "").join(" ");
  const summary = change === "same" ? "same definitions in another version" : changes[change];
  const items = entry.items.filter((item) => item.change !== "same");
  // The launch of a server of the config is an item of its own name.
  const own = items.filter((item) => what === "server" && item.kind === "server");
  const others = items.filter((item) => !own.includes(item));
  const lines = [...own.flatMap(formatBody), ...others.flatMap(formatItem)];
  return [`${title}: ${summary}`, ...indent(lines, "  ")];
}

/**
 * Formats a difference between the lock and the installation for people: what changed in each pack and server. Long
 * values are cut, and say so. Empty if nothing differs. Pure.
 */
export function formatDifference(entries: {
  packs: readonly EntryChange[];
  servers: readonly EntryChange[];
}): string {
  return [
    ...entries.packs.map((entry) => formatEntry(entry, "pack")),
    ...entries.servers.map((entry) => formatEntry(entry, "server")),
  ]
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.trimEnd()).join("\n"))
    .join("\n\n");
}
