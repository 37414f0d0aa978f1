import { parse, TomlError } from "smol-toml";
import { type ConfigEditor, ConfigSyntaxError, type EntryPlace } from "./config-format.ts";
import { type JsonRecord, type PlainValue, toPlain } from "./config-value.ts";
import { endOfLine, findLineEnd, type Splice } from "./splice.ts";
import { findStatements, type TomlStatement } from "./toml-statements.ts";
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

/** Whether a container is written as a value, `{ … }` or `[ … ]`, in which entries are not edited. */
const isInline = (statements: readonly TomlStatement[], container: readonly string[]) =>
  statements.some(
    ({ kind, path }) => kind === "value" && path.length === container.length && startsWith(path, container),
  );

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
  write: (place, entry) => writeTable(place, entry, "\n"),
  open(text) {
    const value = parseText(text);
    const statements = findStatements(text);
    const lineEnd = findLineEnd(text);
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
        if (isInline(statements, place.container)) return [];
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
      remove: (place) => (isInline(statements, place.container) ? [] : [cutRuns(place)]),
      replace(place, entry) {
        if (isInline(statements, place.container)) return [];
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
    };
  },
};
