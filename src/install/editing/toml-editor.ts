import { parse, TomlError } from "smol-toml";
import { DataSyntaxError } from "../../data/parse-json.ts";
import { valueAt } from "../../extension-schema/pointer.ts";
import { attempt } from "../../files/file-errors.ts";
import {
  beforeLineEnd,
  type ConfigEditor,
  type EntryPlace,
  endOfLine,
  findLineEnd,
  type JsonRecord,
  type JsonValue,
  splice,
  toPlain,
} from "./config-format.ts";

const writeKey = (key: string) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : writeValue(key));

/** `value` must not contain null, which TOML does not have. */
function writeValue(value: JsonValue): string {
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  if (Array.isArray(value)) return `[${value.map(writeValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const members = writePairs(value);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

const writePairs = (value: JsonRecord) =>
  Object.entries(value).map(([key, member]) => `${writeKey(key)} = ${writeValue(member)}`);

/** A header and the lines below it, without blank lines and comments at the end. */
interface Section {
  path: string[];
  isElement: boolean;
  start: number;
  end: number;
}

/** The keys that lead to the only value of a parsed header. */
function pathOf(value: unknown): string[] {
  const inner: unknown = Array.isArray(value) ? value[0] : value;
  const [pair] = Object.entries(inner as object);
  return pair === undefined ? [] : [pair[0], ...pathOf(pair[1])];
}

/** The sections of a valid text. Lines of long strings and arrays may look like headers: edits are verified. */
function findSections(text: string): Section[] {
  const sections: Section[] = [];
  for (const line of text.matchAll(/^[ \t]*(\S[^\n]*?)?[ \t]*\r?$/gm)) {
    const [, written = ""] = line;
    const start = line.index;
    const header = written.startsWith("[") ? attempt(() => parse(written)) : undefined;
    if (header !== undefined)
      sections.push({ path: pathOf(header), isElement: written.startsWith("[["), start, end: start });
    const last = sections.at(-1);
    if (last !== undefined && written !== "" && !written.startsWith("#")) last.end = endOfLine(text, start);
  }
  return sections;
}

const startsWith = (path: readonly string[], prefix: readonly string[]) =>
  prefix.every((key, index) => path[index] === key);

function cut(text: string, { start, end }: Section): string {
  const from = beforeLineEnd(text, beforeLineEnd(text, start));
  const rest = text.slice(end);
  return text.slice(0, from) + (from === 0 && rest.trim() !== "" ? rest.replace(/^[\r\n]+/, "") : rest);
}

function parseText(text: string): unknown {
  try {
    return toPlain(parse(text, { integersAsBigInt: "asNeeded" }));
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.split("\n")[0]?.replace(/^Invalid TOML document: /, "") ?? "";
    const start = text.split("\n", error.line - 1).reduce((sum, line) => sum + line.length + 1, 0);
    throw new DataSyntaxError(`it is not valid TOML (${reason})`, text, start + error.column - 1);
  }
}

/** `isList`: containers are arrays of tables that have their keys as `name`. */
export function createTomlEditor(isList: boolean): ConfigEditor {
  const writeTable = ({ container, key }: EntryPlace, entry: JsonRecord, lineEnd: string) => {
    const path = [...container, ...(isList ? [] : [key])].map(writeKey).join(".");
    const [header, pairs] = isList ? [`[[${path}]]`, { name: key, ...entry }] : [`[${path}]`, entry];
    return [header, ...writePairs(pairs)].join(lineEnd);
  };
  return {
    isList,
    write: (place, entry) => writeTable(place, entry, "\n"),
    writeInline: (key, entry) =>
      isList ? writeValue({ name: key, ...entry }) : `${writeKey(key)} = ${writeValue(entry)}`,
    open(text) {
      const sections = findSections(text);
      const lineEnd = findLineEnd(text);
      const findOwn = ({ container, key }: EntryPlace) => {
        let name: unknown;
        return sections.filter(({ path, isElement, start, end }) => {
          if (!startsWith(path, container)) return false;
          if (!isList) return path[container.length] === key;
          const isFirst = isElement && path.length === container.length;
          if (isFirst)
            name = valueAt(
              attempt(() => parseText(text.slice(start, end))),
              [...container, 0, "name"],
            );
          return name === key;
        });
      };
      const remove = (own: readonly Section[]) => own.reduceRight(cut, text);
      return {
        value: parseText(text),
        offsetOf: (path) => sections.find((section) => startsWith(section.path, path))?.start ?? 0,
        edit(place, entry) {
          const own = findOwn(place);
          const [first, ...rest] = own;
          // Of several entries with one name, some may be of somebody else.
          if (own.filter(({ path }) => path.length === place.container.length).length > 1) return [];
          if (entry === undefined) return first === undefined ? [] : [remove(own)];
          const table = writeTable(place, entry as JsonRecord, lineEnd);
          if (first !== undefined) return [splice(remove(rest), first.start, first.end, table)];
          // An empty array, which Mistral Vibe writes at first, excludes tables.
          const empty = new RegExp(
            `^[ \\t]*${place.container.join(".")}[ \\t]*=[ \\t]*\\[[ \\t]*\\][ \\t]*\\r?\\n`,
            "m",
          );
          return (isList ? [text, text.replace(empty, "")] : [text]).map((whole) => {
            if (whole.trim() === "") return table + (whole || lineEnd);
            // Trailing blanks stay on their line.
            const at = endOfLine(whole, whole.trimEnd().length);
            return splice(whole, at, at, lineEnd + lineEnd + table);
          });
        },
      };
    },
  };
}
