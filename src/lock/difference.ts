import { formatJson } from "../data/json-values.ts";
import { formatLineDiff } from "../data/line-diff.ts";
import { keyOfKind, kinds } from "../kinds.ts";
import { printable } from "../problems/index.ts";
import { formatCount } from "../problems/text.ts";
import type { Skill } from "../skills/read-skill.ts";
import { instructionsFile } from "../skills/skill-folders.ts";
import { isSameJson, type Json, type LockedKind, type LockFile } from "./json.ts";

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

function* wholesOf({ packs, servers }: LockFile): Generator<Whole> {
  for (const [pack, entry] of Object.entries(packs)) {
    const { version, denied, needs } = entry;
    yield {
      pack,
      kind: "pack",
      name: pack,
      value: { ...(version && { version }), ...(denied && { denied }) },
    };
    if (needs !== undefined) yield { pack, kind: "needs", name: "needs", value: needs };
    for (const kind of kinds)
      for (const [name, value] of Object.entries(entry[keyOfKind[kind]] ?? {}))
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
  const lines = text.replace(/\n$/, "").split("\n");
  const others = files.flatMap(({ path }) => (path === instructionsFile ? [] : `  ${printable(path)}`));
  return [
    printable(`${owner} skill ${name}, ${instructionsFile}:`),
    ...lines.map((line) => `  ${formatLine(line)}`),
    ...(others.length === 0 ? [] : ["Its other files:", ...others]),
  ].join("\n");
}

const textOf = (value: Json | undefined) => (value === undefined ? undefined : `${formatJson(value, "")}\n`);

function formatChange(whole: Whole, from: Json | undefined, to: Json | undefined): string {
  const lines = formatLineDiff(titleOf(whole), textOf(from), textOf(to)).trimEnd().split("\n");
  return lines.map(formatLine).join("\n");
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
