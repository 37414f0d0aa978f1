import { isRecord } from "../data/parse-json.ts";
import { formatJson, isSameJson } from "./canonical-json.ts";
import { collectTexts, findAddresses, findHiddenText, findInstructions, findNames } from "./text-marks.ts";
import type { ItemChange, Json, LockedItem, Signal } from "./types.ts";
import { isInputWidened } from "./widened-input.ts";

type Change = Omit<ItemChange, "signals">;

/** The recorded forms of an item, before and after. */
interface Items {
  from: LockedItem | undefined;
  to: LockedItem | undefined;
}

const read = (item: LockedItem | undefined, key: string): Json | undefined =>
  item !== undefined && Object.hasOwn(item, key) ? item[key] : undefined;

/** Keys of what is compared by itself, or is no definition. */
const separate = ["lists", "prompts", "resources", "version", "integrity", "denied"];
const launch = ["command", "script", "package", "bin", "args", "cwd", "url", "transport"];
/** Keys whose values are names and code rather than text. */
const names = ["name", "members", "runs", "initialize", "subscribe", "file", "envPassthrough", "headers"];

const isSeparate = new Set(separate);
const isNoText = new Set([...separate, ...launch, ...names, "env"]);

/** Names that an item may use for itself and for what it offers. */
function ownNames({ name, advertisedName }: Change, { from, to }: Items): Set<string> {
  const own = new Set([name, advertisedName ?? name]);
  for (const item of [from, to]) {
    const [shown, members, entries] = ["name", "members", "entries"].map((key) => read(item, key));
    if (typeof shown === "string") own.add(shown);
    for (const key of ["lists", "prompts", "resources"]) {
      const listed = read(item, key);
      for (const one of Object.keys(isRecord(listed) ? listed : {})) own.add(one);
    }
    for (const member of Array.isArray(members) ? members : []) {
      if (typeof member === "string") own.add(member.slice(member.lastIndexOf("/") + 1));
    }
    for (const entry of Array.isArray(entries) ? entries : []) {
      if (isRecord(entry) && typeof entry.name === "string") own.add(entry.name);
    }
  }
  return own;
}

/** Whether a search finds something in the new item that it does not find in the old one. */
function findsNew({ from, to }: Items, find: (item: LockedItem | undefined) => ReadonlySet<string>): boolean {
  const found = find(to);
  if (found.size === 0) return false;
  const known = find(from);
  return [...found].some((one) => !known.has(one));
}

function findTextSignals(change: Change, items: Items, toolNames: ReadonlySet<string>): Signal[] {
  const seen = (item: LockedItem | undefined) => {
    const { values, keys } = collectTexts(item, isSeparate);
    return [...values, ...keys];
  };
  const own = ownNames(change, items);
  const isOther = (name: string) => toolNames.has(name) && !own.has(name);
  const read = (item: LockedItem | undefined) => collectTexts(item, isNoText);
  const signals: Signal[] = [];
  if (findsNew(items, (item) => findAddresses(seen(item)))) signals.push("newUrl");
  if (findsNew(items, (item) => findNames(read(item).values, isOther))) signals.push("namesOtherTool");
  if (findsNew(items, (item) => findHiddenText(seen(item)))) signals.push("hiddenText");
  const findAddressed = (item: LockedItem | undefined) => {
    const { values, keys } = read(item);
    return findInstructions([...values, ...keys]);
  };
  if (findsNew(items, findAddressed)) signals.push("instruction");
  return signals;
}

/** Hints with the values that say least about what a tool can do, which are the defaults of MCP. */
const hints = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

function isAnnotationLoosened({ from, to }: Items): boolean {
  return Object.entries(hints).some(([key, loose]) => {
    const [before, after] = [from, to].map((item) => {
      const annotations = read(item, "annotations");
      const value = isRecord(annotations) && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
      return typeof value === "boolean" ? value : loose;
    });
    return before !== loose && after === loose;
  });
}

/** Variables with the values that a definition gives them, and names of variables and headers. */
function readEnvironment(item: LockedItem | undefined): Set<string> {
  const names = (["env", "envPassthrough", "headers"] as const).flatMap((key) => {
    const value = read(item, key);
    if (Array.isArray(value)) return value.map((name) => `${key} ${formatJson(name)}`);
    if (!isRecord(value)) return [];
    return Object.entries(value).map(([name, text]) => `${key} ${name}=${formatJson(text as Json)}`);
  });
  return new Set(names);
}

/** Whether an entry of needs lies in another: in its folder, or under its wildcard. */
function lies(entry: Json, within: Json): boolean {
  if (isSameJson(entry, within)) return true;
  if (typeof entry !== "string" || typeof within !== "string") return false;
  if (within.startsWith("${")) return entry.startsWith(`${within.replace(/\/$/, "")}/`);
  return within.startsWith("*.") && entry.endsWith(within.slice(1));
}

/** Whether needs allow more than before. What is not declared is not limited. */
function isNeedsWidened({ from, to }: Items): boolean {
  const keys = (item: LockedItem | undefined) =>
    Object.keys(item ?? {}).filter((key) => !key.startsWith("x-"));
  if (keys(from).some((key) => read(to, key) === undefined)) return true;
  return keys(to).some((key) => {
    const [before, after] = [from, to].map((item) => {
      const value = read(item, key);
      return Array.isArray(value) ? value : value === undefined ? [] : [value];
    });
    return after?.some((entry) => !before?.some((known) => lies(entry, known)));
  });
}

const shownName = (item: LockedItem, { name }: Change) => read(item, "name") ?? name;

function findServerSignals({ from, to }: Items): Signal[] {
  const isChanged = launch.some((key) => !isSameJson(read(from, key), read(to, key)));
  const known = readEnvironment(from);
  return [
    ...(from !== undefined && isChanged ? (["launchChanged"] as const) : []),
    ...([...readEnvironment(to)].some((one) => !known.has(one)) ? (["environmentWidened"] as const) : []),
  ];
}

/**
 * Finds facts about a change that reviewers should see. An added item is compared with nothing, so all its text is new.
 * `toolNames` has the names of all tools that models see. Pure.
 */
export function findSignals(
  change: Change,
  items: Items,
  context: { toolNames: ReadonlySet<string> },
): Signal[] {
  const { from, to } = items;
  if (change.change === "same") return [];
  if (change.kind === "needs") return isNeedsWidened(items) ? ["needsWidened"] : [];
  if (to === undefined) return [];
  const signals = findTextSignals(change, items, context.toolNames);
  if (from !== undefined) {
    if (isAnnotationLoosened(items)) signals.push("annotationLoosened");
    const schemas = [from, to].map((item) => read(item, "inputSchema"));
    if (isInputWidened(schemas[0], schemas[1])) signals.push("inputWidened");
  }
  if (change.kind === "server") signals.push(...findServerSignals(items));
  if (from !== undefined && shownName(from, change) !== shownName(to, change)) signals.push("renamed");
  return signals;
}

/** The added items whose definition is that of a removed one, except for the name and the code that runs. Pure. */
export function findRenames<One extends Change>(pairs: readonly (Items & { change: One })[]): Set<One> {
  const keyOf = ({ kind, server }: Change, { name: _, runs: __, ...definition }: LockedItem) =>
    Object.keys(definition).length === 0
      ? []
      : [`${kind} ${JSON.stringify(server ?? null)} ${formatJson(definition)}`];
  const removed = new Set(
    pairs.flatMap(({ change, from, to }) =>
      from !== undefined && to === undefined ? keyOf(change, from) : [],
    ),
  );
  if (removed.size === 0) return new Set();
  const added = pairs.filter(
    ({ change, from, to }) =>
      from === undefined && to !== undefined && keyOf(change, to).some((key) => removed.has(key)),
  );
  return new Set(added.map(({ change }) => change));
}
