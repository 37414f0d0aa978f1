import { parse, TomlError } from "smol-toml";
import { isRecord } from "../../data/parse-json.ts";
import { type ConfigEditor, ConfigSyntaxError, type EntryPlace } from "./config-format.ts";
import { type JsonRecord, type PlainValue, toPlain } from "./config-value.ts";
import { endOfLine, findLineEnd, type Splice } from "./splice.ts";
import { findStatements, TomlScanner, type TomlStatement } from "./toml-statements.ts";
import { tomlKey, tomlTable, tomlValue } from "./toml-text.ts";

function offsetOfLine(text: string, line: number): number {
  let offset = 0;
  for (let current = 1; current < line; current++) {
    const newline = text.indexOf("\n", offset);
    if (newline < 0) break;
    offset = newline + 1;
  }
  return offset;
}

const startsWith = (path: readonly string[], prefix: readonly string[]) =>
  prefix.every((key, index) => path[index] === key);

/** The statements of an entry, in order. */
function findEntry(statements: readonly TomlStatement[], text: string, place: EntryPlace): TomlStatement[] {
  const { container, key, isList } = place;
  if (!isList) return statements.filter(({ path }) => startsWith(path, [...container, key]));
  const named = statements.find(
    ({ kind, path, valueStart, end }) =>
      kind === "value" &&
      path.length === container.length + 1 &&
      startsWith(path, container) &&
      path.at(-1) === "name" &&
      (parse(`name = ${text.slice(valueStart, end)}`) as { name: unknown }).name === key,
  );
  return statements.filter(({ path, element }) => element === named?.element && startsWith(path, container));
}

/** Joins consecutive statements. */
function findRuns(statements: readonly TomlStatement[], own: readonly TomlStatement[]): Splice[] {
  const runs: Splice[] = [];
  for (const [index, statement] of statements.entries()) {
    if (!own.includes(statement)) continue;
    const previous = statements[index - 1];
    const run = runs.at(-1);
    if (run !== undefined && previous !== undefined && own.includes(previous)) run.end = statement.end;
    else runs.push({ start: statement.start, end: statement.end, text: "" });
  }
  return runs;
}

/** The start of the blank lines before an offset. At most one of them belongs to an added table. */
function startOfGap(text: string, offset: number): number {
  let start = offset;
  for (let count = 0; count < 2 && text[start - 1] === "\n"; count++) {
    start -= text[start - 2] === "\r" ? 2 : 1;
  }
  return start;
}

const containerTable = (statements: readonly TomlStatement[], container: readonly string[]) =>
  statements.find(
    ({ kind, path }) => kind === "value" && path.length === container.length && startsWith(path, container),
  );

/** A container that is written as a value: `{ … }` or `[ … ]`. */
interface InlineContainer {
  isList: boolean;
  /** The range between its brackets. */
  start: number;
  end: number;
  members: readonly { start: number; end: number; key: unknown }[];
}

function nameOfMember(text: string, { start, end }: { start: number; end: number }): unknown {
  const { member } = parse(`member = ${text.slice(start, end)}`);
  return isRecord(member) ? member.name : undefined;
}

function findInline(
  text: string,
  statements: readonly TomlStatement[],
  container: readonly string[],
): InlineContainer | undefined {
  const statement = containerTable(statements, container);
  const bracket = statement && text[statement.valueStart];
  if (statement === undefined || (bracket !== "{" && bracket !== "[")) return undefined;
  const scanner = new TomlScanner(text, statement.valueStart);
  const start = statement.valueStart + 1;
  if (bracket === "[") {
    const { members, close } = scanner.readList();
    const named = members.map((member) => ({ ...member, key: nameOfMember(text, member) }));
    return { isList: true, start, end: close, members: named };
  }
  const { members, close } = scanner.readInlineTable();
  const keyed = members.map(({ start: from, end, path }) => ({
    start: from,
    end,
    key: path.length === 1 ? path[0] : undefined,
  }));
  return { isList: false, start, end: close, members: keyed };
}

const writeInline = ({ isList }: InlineContainer, key: string, entry: JsonRecord) =>
  isList ? tomlValue({ name: key, ...entry }) : `${tomlKey(key)} = ${tomlValue(entry)}`;

function addToInline(text: string, inline: InlineContainer, key: string, entry: JsonRecord): Splice[] {
  const { isList, start, end, members } = inline;
  const last = members.at(-1);
  const written = writeInline(inline, key, entry);
  if (last !== undefined) return [{ start: last.end, end: last.end, text: `, ${written}` }];
  // The comment in an empty array would be lost.
  if (text.slice(start, end).trim() !== "") return [];
  return [{ start, end, text: isList ? written : ` ${written} ` }];
}

function removeFromInline(text: string, { members }: InlineContainer, key: string): Splice[][] {
  const index = members.findIndex((member) => member.key === key);
  const [previous, own, next] = [members[index - 1], members[index], members[index + 1]];
  if (own === undefined) return [];
  if (previous !== undefined) return [[{ start: previous.end, end: own.end, text: "" }]];
  if (next === undefined) return [[{ start: own.start, end: own.end, text: "" }]];
  const hasComment = text.slice(own.end, next.start).includes("#");
  const end = hasComment ? text.indexOf(",", own.end) + 1 : next.start;
  return [[{ start: own.start, end, text: "" }]];
}

const isTable = (text: string, { start }: Splice) => text[start] === "[";

const headerOf = ({ container, key, isList }: EntryPlace) =>
  isList ? `[[${container.map(tomlKey).join(".")}]]` : `[${[...container, key].map(tomlKey).join(".")}]`;

function writeTable(place: EntryPlace, entry: JsonRecord, lineEnd: string): string {
  const value = place.isList ? { name: place.key, ...entry } : entry;
  return tomlTable(headerOf(place), value, lineEnd);
}

function parseText(text: string): PlainValue {
  try {
    return toPlain(parse(text, { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    const offset = offsetOfLine(text, error.line) + Math.max(0, error.column - 1);
    throw new ConfigSyntaxError(`it is not valid TOML (${reason})`, offset);
  }
}

function startOfNext(text: string, offset: number): number {
  let next = offset;
  while (text[next] === "\n" || text[next] === "\r") next++;
  return next;
}

export const tomlEditor: ConfigEditor = {
  maximumLength: 64 << 20,
  hasLists: true,
  // Tables create their containers implicitly; inline containers can be empty.
  emptyText: "",
  write: (place, entry) => writeTable(place, entry, "\n"),
  open(text) {
    const value = parseText(text);
    const statements = findStatements(text);
    const lineEnd = findLineEnd(text);
    const inlineOf = (container: readonly string[]) => findInline(text, statements, container);
    const runsOf = (place: EntryPlace) => findRuns(statements, findEntry(statements, text, place));
    /** Removes the statements of an entry with the blank lines around them. */
    const cutRuns = (place: EntryPlace) =>
      runsOf(place).map((run) => {
        const lineEndAt = endOfLine(text, run.end);
        const end = text.slice(run.end, lineEndAt).trim() === "" ? lineEndAt : run.end;
        const start = startOfGap(text, run.start);
        const isAtTop = start === 0 && text.slice(end).trim() !== "";
        return { start, end: isAtTop ? startOfNext(text, end) : end, text: "" };
      });
    return {
      value,
      offsetOf: (path) => statements.find((statement) => startsWith(statement.path, path))?.start ?? 0,
      add(place, entry) {
        const inline = inlineOf(place.container);
        if (inline !== undefined) return [addToInline(text, inline, place.key, entry)];
        const table = writeTable(place, entry, lineEnd);
        const last = statements.findLast(({ path }) => startsWith(path, place.container));
        const following = last && statements[statements.indexOf(last) + 1];
        // A value after the entry belongs to the table of the container and must not move into the entry's.
        const fits = following?.kind !== "value";
        const end = last !== undefined && fits ? last.end : text.trimEnd().length;
        // Trailing blanks stay on their line.
        const at = end === 0 ? 0 : endOfLine(text, end);
        if (at === 0) return [[{ start: 0, end: 0, text: table + (text === "" ? lineEnd : "") }]];
        return [[{ start: at, end: at, text: lineEnd + lineEnd + table }]];
      },
      remove(place) {
        const inline = inlineOf(place.container);
        return inline === undefined ? [cutRuns(place)] : removeFromInline(text, inline, place.key);
      },
      replace(place, entry) {
        const inline = inlineOf(place.container);
        if (inline !== undefined) {
          const own = inline.members.find(({ key }) => key === place.key);
          const written = writeInline(inline, place.key, entry);
          return own === undefined ? [] : [[{ start: own.start, end: own.end, text: written }]];
        }
        const [run, ...others] = runsOf(place);
        if (run === undefined) return [];
        const table = writeTable(place, entry, lineEnd);
        if (others.length === 0) {
          const written = isTable(text, run) ? table : `${tomlKey(place.key)} = ${tomlValue(entry)}`;
          return [[{ ...run, text: written }]];
        }
        const [first, ...rest] = cutRuns(place);
        if (first === undefined) return [];
        return [[{ ...first, text: (first.start === 0 ? "" : lineEnd + lineEnd) + table }, ...rest]];
      },
      rawEmpty(container) {
        const inline = inlineOf(container);
        const inner = inline && text.slice(inline.start, inline.end);
        return inner?.trim() === "" ? inner : undefined;
      },
      restoreEmpty(container, raw) {
        const inline = inlineOf(container);
        return inline === undefined ? [] : [[{ start: inline.start, end: inline.end, text: raw }]];
      },
    };
  },
};
