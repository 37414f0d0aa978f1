import type { Random } from "../bench/support/random.ts";
import { ConfigDocument, loadEditor } from "../src/install/editing/config-document.ts";
import {
  type ConfigFormatName,
  ConfigSyntaxError,
  type EntryPlace,
} from "../src/install/editing/config-format.ts";
import { isSameValue, type JsonRecord, toPlain } from "../src/install/editing/config-value.ts";
import { mutateBytes } from "./support/mutate.ts";
import { Broken, expectThat, type Part } from "./support/part.ts";
import { makeText } from "./support/texts.ts";

/** In one step. */
const editsOfFormat = 5;
const formats = ["json", "jsonc", "toml", "yaml"] as const;

const container = "mcpServers";
/** Parts of configs; several of them make a file. */
const pieces: Readonly<Record<ConfigFormatName, readonly string[]>> = {
  json: [
    '"a": 1',
    `"${container}": {}`,
    `"${container}": {"x": {"command": "y"}}`,
    '"b": [1, {"c": null}]',
    '"d": "}{,"',
  ],
  jsonc: [
    '"a": 1 // one\n',
    `/* none */ "${container}": { // yet\n}`,
    `"${container}": {\n\t\t"x": {"command": "y"}, // why\n\t\t// end\n\t}`,
    '"b": [\n1,\n]',
    '// alone\n"d": "// no comment"',
  ],
  toml: [
    "a = 1 # one\n",
    "\n",
    "# alone\n",
    "text = '''\n[no.table]\n'''\n",
    "[x.y]\nk = 1\n",
    `[${container}.x]\ncommand = 'y' # why\n`,
    `[${container}.z]\nargs = [\n"]", # inside\n]\n\n[${container}.z.env]\nQ = '1'\n`,
    `[${container}]\n`,
    "[[list]]\nn = 2026-11-22 10:00:00Z\n",
    '["q.r"]\nz = "\\u0041"\n',
  ],
  yaml: [
    "a: 1 # one\n",
    "\n",
    "# alone\n",
    "b:\n  - x\n  -   y: 1\n      z: 2\n",
    `${container}:\n  x:\n    command: y # why\n  # end\n  z: {q: [1, 2]}\n`,
    `${container}:\n`,
    `${container}: {}\n`,
    `${container}: {x: {command: y}}\n`,
    "c: |\n  text\n  # no comment\n\n",
    "d: >-\n   folded\n   more\n",
    "g: &a {x: 1}\nh: *a\n",
    "'e f': \"it's: x\"\n",
  ],
};

function makeConfig(random: Random, format: ConfigFormatName): string {
  const some = Array.from({ length: random.between(0, 5) }, () => random.pick(pieces[format]));
  // A key that comes twice makes the file invalid, which is a case of its own.
  const chosen = random.chance(0.9) ? [...new Set(some)] : some;
  const isObject = format === "json" || format === "jsonc";
  const separator = random.pick([",", ", ", ",\n  "]);
  const body = isObject
    ? `{${random.pick(["", " ", "\n  "])}${chosen.join(separator)}${random.pick(["", "\n"])}}`
    : chosen.join("");
  const ended = body + random.pick(["", "", "\n"]);
  const lines = random.chance(0.3) ? ended.replaceAll("\n", "\r\n") : ended;
  const marked = random.chance(0.1) ? `\ufeff${lines}` : lines;
  if (random.chance(0.75)) return marked;
  return Buffer.from(mutateBytes(random, Buffer.from(marked))).toString("utf8");
}

const makeEntry = (random: Random): JsonRecord => ({
  command: random.pick(["node", "C:\\Program Files\\node.exe", "/usr/bin/env"]),
  args: Array.from({ length: random.between(0, 3) }, () => makeText(random, 6)),
  ...(random.chance(0.5) ? { env: { TOKEN: makeText(random, 4), "odd key.": "" } } : {}),
  ...(random.chance(0.3) ? { enabled: random.chance(0.5), timeout: random.between(0, 1e9) } : {}),
});

/** The config without an entry, and without its container if that is empty then. */
function without({ root }: ConfigDocument, key: string): unknown {
  const copy = structuredClone(toPlain(root as JsonRecord)) as Record<string, Record<string, unknown> | null>;
  const entries = copy[container];
  if (typeof entries !== "object" || entries === null) {
    if (entries === null) delete copy[container];
    return toPlain(copy as JsonRecord);
  }
  delete entries[key];
  if (Object.keys(entries).length === 0) delete copy[container];
  return toPlain(copy as JsonRecord);
}

function openOrRefuse(open: (text: string) => ConfigDocument, text: string): ConfigDocument | undefined {
  try {
    const opened = open(text);
    void opened.root;
    return opened;
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return undefined;
    throw error;
  }
}

/** Adds, replaces, puts back and removes an entry: `refused` if the editor says that it cannot. */
function editOnce(
  random: Random,
  open: (text: string) => ConfigDocument,
  text: string,
): "edited" | "refused" {
  const opened = openOrRefuse(open, text);
  if (opened === undefined) return "refused";
  const place: EntryPlace = {
    container: [container],
    key: random.pick(["mine", "x y.z", "ünï", "__proto__", "x\"'", "1"]),
    isList: false,
  };
  const show = () => JSON.stringify(text);
  let added: ConfigDocument;
  const entry = makeEntry(random);
  try {
    added = opened.set(place, entry);
  } catch (error) {
    if (error instanceof ConfigSyntaxError) return "refused";
    throw error;
  }
  const reopened = open(added.text);
  expectThat(
    isSameValue(reopened.get(place), toPlain(entry)),
    () => `the added entry reads otherwise in ${show()}`,
  );
  expectThat(
    isSameValue(without(reopened, place.key), without(opened, place.key)),
    () => `adding an entry changes another value of ${show()}`,
  );
  const raw = reopened.rawOf(place);
  const replaced = reopened.set(place, makeEntry(random));
  const restored = open(replaced.text).putBack(place, { raw, value: entry }).text;
  expectThat(
    raw === undefined || restored === added.text,
    () => `replacing and putting back changes ${show()}`,
  );
  let removed: string;
  try {
    removed = open(restored).remove(place, opened.traceContainer(place.container)).text;
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    throw new Broken(
      `an entry that was added cannot be removed from ${JSON.stringify(restored)}: ${error.reason}`,
    );
  }
  if (raw !== undefined)
    expectThat(removed === text, () => `adding and removing makes ${show()} ${JSON.stringify(removed)}`);
  return "edited";
}

/** Entries of configs in every format that are added, replaced, put back and removed, which must restore every byte. */
export const edits: Part = {
  steps: 20_000 / editsOfFormat,
  async open() {
    const editors = await Promise.all(formats.map((format) => loadEditor(format)));
    return {
      async step(random) {
        const counts: Record<string, number> = { refused: 0 };
        for (const [index, format] of formats.entries()) {
          const editor = editors[index];
          if (editor === undefined) continue;
          const open = (text: string) => new ConfigDocument(editor, text);
          for (let edit = 0; edit < editsOfFormat; edit++) {
            const done = editOnce(random, open, makeConfig(random, format));
            if (done === "refused") counts.refused = (counts.refused ?? 0) + 1;
          }
          counts[format] = editsOfFormat;
        }
        return counts;
      },
      close: async () => {},
    };
  },
};
