import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff";
import { keyOfKind, kinds } from "../kinds.ts";
import { printable } from "../problems/index.ts";
import { formatCount } from "../problems/text.ts";
import type { Skill } from "../skills/read-skill.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import { formatJson, isSameJson } from "./json.ts";
import type { Json, LockedItem, LockedKind, LockFile } from "./types.ts";

/** What differs of a lock: an item of a pack, or a server of the config with what it lists. */
export interface LockDifferenceEntry {
  /** npm name. */
  pack?: string;
  /** Label. */
  server?: string;
  /** `pack`: what the lock says of the whole pack, which is its version and its denials. */
  kind: LockedKind | "pack";
  name: string;
  change: "added" | "removed" | "changed";
  /** Unified, for people: invisible characters are visible. */
  diff: string;
}

type Whole = Pick<LockDifferenceEntry, "pack" | "server" | "kind" | "name"> & { value: Json };

/** What a lock says of each item, in the order of the file. */
function* wholesOf({ packs, servers }: LockFile): Generator<Whole> {
  for (const [pack, entry] of Object.entries(packs)) {
    const { version, denied, needs } = entry;
    const own = Object.entries({ version, denied }).filter(([, value]) => value !== undefined);
    yield { pack, kind: "pack", name: pack, value: Object.fromEntries(own) as LockedItem };
    if (needs !== undefined) yield { pack, kind: "needs", name: "needs", value: needs };
    for (const kind of kinds)
      for (const [name, value] of Object.entries<LockedItem>(entry[keyOfKind[kind]] ?? {}))
        yield { pack, kind, name, value };
  }
  for (const [server, { surface: _, ...value }] of Object.entries(servers))
    yield { server, kind: "server", name: server, value };
}

const keyOf = ({ pack, server, kind, name }: Whole) => JSON.stringify([pack, server, kind, name]);

function titleOf({ pack, kind, name }: Whole): string {
  const item = kind === "needs" ? kind : `${kind} ${name}`;
  return printable(kind === "pack" ? name : pack === undefined ? item : `${pack} ${item}`);
}

/** A line of a difference, in which blanks hide nothing either. Nothing is cut, because all of it is approved. */
function formatLine(line: string): string {
  const start = line.search(/[^ +-]|$/);
  const blanks = /[\p{Zs}\u2800]{24,}/gu;
  const text = line.slice(start).replace(blanks, (run) => ` [${formatCount(run.length)} blanks] `);
  return `${line.slice(0, start)}${printable(text)}`;
}

/** What models read of a skill. Strings are hostile. */
export type ShownSkill = Pick<Skill, "name" | "text" | "files">;

/** A skill as models read it: all of SKILL.md, and the names of its other files. `owner`: a pack, or the label of a server. */
export function formatSkill(owner: string, { name, text, files }: ShownSkill): string {
  const others = files.flatMap(({ path }) => (path === instructionsFile ? [] : `  ${printable(path)}`));
  return [
    printable(`${owner} skill ${name}, ${instructionsFile}:`),
    ...text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => `  ${formatLine(line)}`),
    ...(others.length === 0 ? [] : ["Its other files:", ...others]),
  ].join("\n");
}

const textOf = (value: Json | undefined) => (value === undefined ? "" : `${formatJson(value, "")}\n`);

/** Limit on the edits that are searched for. Larger differences are shown as removed and added. */
const maximumEdits = 2000;
const context = 3;

const linesOf = (text: string) => text.split("\n").slice(0, -1);

/** One hunk that removes all lines and adds all others. */
const replaceAll = (from: readonly string[], to: readonly string[]) => ({
  oldStart: 1,
  oldLines: from.length,
  newStart: 1,
  newLines: to.length,
  lines: [...from.map((line) => `-${line}`), ...to.map((line) => `+${line}`)],
});

function formatChange(whole: Whole, from: Json | undefined, to: Json | undefined): string {
  const title = titleOf(whole);
  const names = [from, to].map((value) => (value === undefined ? "/dev/null" : title)) as [string, string];
  const [before, after] = [textOf(from), textOf(to)];
  const options = { context, maxEditLength: maximumEdits };
  const isChange = from !== undefined && to !== undefined;
  const patch = isChange ? structuredPatch(...names, before, after, "", "", options) : undefined;
  const hunks = patch?.hunks ?? [replaceAll(linesOf(before), linesOf(after))];
  const shown = hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.map(formatLine) }));
  const [oldFileName, newFileName] = names;
  const headers = { oldFileName, newFileName, oldHeader: undefined, newHeader: undefined };
  return formatPatch({ ...headers, hunks: shown }, FILE_HEADERS_ONLY).trimEnd();
}

/** What differs between two locks, item by item, as text that is safe to print. Pure. */
export function diffLocks(from: LockFile, to: LockFile): LockDifferenceEntry[] {
  const before = new Map([...wholesOf(from)].map((whole) => [keyOf(whole), whole]));
  const after = new Map([...wholesOf(to)].map((whole) => [keyOf(whole), whole]));
  return [...new Map([...before, ...after])].flatMap(([key, whole]) => {
    const [old, now] = [before.get(key)?.value, after.get(key)?.value];
    if (isSameJson(old, now)) return [];
    const { value: _, ...entry } = whole;
    const change = old === undefined ? "added" : now === undefined ? "removed" : "changed";
    return [{ ...entry, change, diff: formatChange(whole, old, now) } satisfies LockDifferenceEntry];
  });
}
