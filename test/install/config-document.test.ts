import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRecord } from "../../src/data/parse-json.ts";
import { ConfigDocument } from "../../src/install/editing/config-document.ts";
import type { EditedFormat, EntryPlace, JsonRecord } from "../../src/install/editing/config-format.ts";

/** Opens texts of a format. */
const opener = (format: EditedFormat) => (text: string) => new ConfigDocument("a config", format, text);

/** The text after an edit that the layout must allow. */
function textOf(edited: ConfigDocument | undefined): string {
  if (edited === undefined) throw new Error("The edit was refused.");
  return edited.text;
}

/** A value without the objects and arrays of a path that are empty or that contain only such. */
function prune(value: unknown, [key, ...below]: readonly string[]): unknown {
  if (key === undefined || !isRecord(value) || !Object.hasOwn(value, key)) return value;
  const { [key]: inner, ...rest } = value;
  const kept = prune(inner, below) ?? {};
  return Object.keys(kept).length === 0 ? rest : { ...rest, [key]: kept };
}

/** What removing an added entry leaves: the same bytes, but for empty containers and a last line end. */
function expectRestored(
  open: (text: string) => ConfigDocument,
  left: string,
  original: string,
  path: readonly string[],
) {
  const before = open(original);
  if (JSON.stringify(prune(before.root, path)) !== JSON.stringify(before.root))
    expect(prune(open(left).root, path)).toEqual(prune(before.root, path));
  else if (!before.isBlank) expect(left.replace(/\r?\n$/, "")).toBe(original.replace(/\r?\n$/, ""));
  if (before.isBlank) expect(open(left).isBlank).toBe(true);
}

/** That an edit only added to a text, apart from an empty container or a null that it filled. */
function expectAddition(original: string, added: string) {
  let position = 0;
  for (let at = 0; at < added.length; at++) if (added[at] === original[position]) position++;
  if (!/\{\s*\}|: ~/.test(original)) expect(position).toBe(original.length);
}

const entry: JsonRecord = {
  type: "stdio",
  command: "/usr/bin/node",
  args: ["/x/cli.cjs", "start", "acme/jira/pm", "--cwd", "/a folder/$(x) \"'\\ü\u2028"],
  env: { TOKEN: "line\nbreak # no comment, {}[]: yes", EMPTY: "", TRUE: "true" },
  enabled: true,
  timeout: 300,
};

/** Adds an entry, alone and beside another, and removes it again. Returns the text with the entry. */
function expectRoundTrip(open: (text: string) => ConfigDocument, text: string, one: EntryPlace): string {
  const two = { ...one, key: "another" };
  const first = textOf(open(text).edit(one, entry));
  expect(open(first).get(one)).toEqual(entry);
  if (text.includes("\n")) {
    const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
    expect(first.split("\n").length).toBe(first.split(lineEnd).length);
  }
  expectAddition(text, first);
  expectRestored(open, textOf(open(first).edit(one)), text, one.container);

  const second = textOf(open(first).edit(two, { command: "b", args: [] }));
  expect(textOf(open(second).edit(two))).toBe(first);
  const withoutOne = textOf(open(second).edit(one));
  expect(open(withoutOne).get(one)).toBeUndefined();
  const empty = textOf(open(withoutOne).edit(two));
  expect(prune(open(empty).root, one.container)).toEqual(prune(open(text).root, one.container));
  return first;
}

test.each<[EditedFormat, string, string[]]>([
  ["jsonc", '{\r\n    "mcp": { },\r\n    "z": 1,\r\n}\r\n', ["mcp", "servers"]],
  ["jsonc", '{\n\t"amp": {"mcpServers": {}}\n}', ["amp.mcpServers"]],
  ["jsonc", "// mine\n{\n}\n", ["servers"]],
  ["jsonc", '{ "servers": { // none\n  } }', ["servers"]],
  ["toml", "", ["mcp_servers"]],
  ["tomlList", 'a = 1\n[[mcp_servers]]\nname = "q"\ncommand = "c"\n\n[z]\n', ["mcp_servers"]],
  ["tomlList", "", ["mcp_servers"]],
  ["yaml", "note: |\n  the end", ["extensions"]],
  ["yaml", "extensions:\n  # about a\n  a:\n    note: |\n      the end\n        ", ["extensions"]],
])("an added entry is removed again, alone and beside another: %s %j in %j", (format, text, container) => {
  expectRoundTrip(opener(format), text, { container, key: "my jira" });
});

test("an entry of a list takes the place of an empty array, and of no entry without a name", () => {
  const place = { container: ["mcp_servers"], key: "undefined" };
  const open = opener("tomlList");
  const text = textOf(open("mcp_servers = []\na = 1\n").edit(place, { command: "c" }));
  expect(text).toBe('a = 1\n\n[[mcp_servers]]\nname = "undefined"\ncommand = "c"\n');
  expect(open('[[mcp_servers]]\ncommand = "c"\n').get(place)).toBeUndefined();
  const big = '[[mcp_servers]]\nname = "undefined"\nbig = 9007199254740993\n';
  expect(textOf(open(big).edit(place, { command: "c" })).match(/mcp_servers/g)).toHaveLength(1);
});

describe("editing any JSON", () => {
  const noise = fc.constantFrom("", " ", "\n", "\n    ", " // c\n", " /* c */ ", "\t");
  /** JSON written in a wild way: comments and blanks wherever they may be. */
  const written = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.json({ maxDepth: 0 }),
      fc
        .tuple(
          fc.uniqueArray(fc.string(), { maxLength: 4 }),
          fc.array(tie("value"), { minLength: 4, maxLength: 4 }),
          fc.array(noise, { minLength: 9, maxLength: 9 }),
          fc.boolean(),
        )
        .map(([keys, values, gaps, trailing]) => {
          const members = keys.map(
            (key, index) => `${gaps[index]}${JSON.stringify(key)}${gaps[8 - index]}:${values[index]}`,
          );
          return `{${members.join(",")}${trailing && keys.length > 0 ? `${gaps[1]},` : ""}${gaps[0]}}`;
        }),
    ),
  })).value;

  test("removing an added entry restores any JSON", async () => {
    const open = opener("jsonc");
    await fc.assert(
      fc.property(
        fc.uniqueArray(fc.string(), { maxLength: 4 }),
        fc.array(written, { minLength: 4, maxLength: 4 }),
        fc.array(noise, { minLength: 10, maxLength: 10 }),
        fc.constantFrom("", "\uFEFF"),
        fc.constantFrom(undefined, "{}", "{ /* none yet */\n}", '{"q": 1}', '{\n  "q": {} // c\n}'),
        (keys, values, gaps, mark, own) => {
          fc.pre(!keys.includes("mcpServers") && (keys.length > 0 || own !== undefined));
          const members = keys.map(
            (key, index) => `${gaps[index]}${JSON.stringify(key)}:${gaps[9 - index]}${values[index]}`,
          );
          if (own !== undefined) members.splice(1, 0, `${gaps[7]}"mcpServers":${gaps[8]}${own}`);
          const text = `${mark}${gaps[5]}{${members.join(`${gaps[4]},`)}${gaps[0]}}${gaps[6]}`;
          const place = { container: ["mcpServers"], key: "k" };
          expectRoundTrip(open, text, place);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("editing any TOML or YAML", () => {
  const toml = [
    "\n",
    "# c\n",
    "a = 1\n",
    "b = 'x # y' # z\n",
    "c = [\n 1, # q\n 2\n]\n",
    'd = """\n[mcp_servers.z]\n"""\n',
    "mcp_servers.top.command = 'x'\n",
    "[x]\n",
    "[x.y] # t\nk = 1\n",
    "[mcp_servers.a]\ncommand = 'x' # c\n",
    "[mcp_servers.b]\nargs = [\n\"]\"\n]\n\n[mcp_servers.b.env]\nQ = '1'\n",
    "   # indented\n",
    "[mcp_servers]\n",
    '["q.r"]\nz=1\n',
    "[mcp_servers.\"my x\"]\ncommand='1'\n",
    "e = 2026-11-22 10:00:00Z  \n",
    "[f]  \n",
  ];
  const yaml = [
    "\n",
    "# c\n",
    "a: 1\n",
    "b:\n  - x\n  -   y: 1\n      z: 2\n",
    "mcp_servers:\n  e1:\n    k: v # c\n  # tail\n  e2: {a: 1}\n",
    "mcp_servers:\n",
    "mcp_servers: {}\n",
    "mcp_servers:\n\n    deep:\n        x: |+\n            keep\n\n    other: null\n",
    "mcp_servers:   # why\n  # inside\n  k1:\n    args: []\n",
    "c: |\n  text\n  # no comment\n\n",
    "j: |+\n  the end\n\n ",
    "k: >\n  the\n  end  ",
    "d: >-\n   folded\n   more\n",
    "e: 'it''s: x' # c\n",
    "g: &a {x: 1}\nh: *a\n",
    "i:\n- 1\n- 2\n",
    "mcp_servers:\n    x:\n        y: [1]\n",
    "mcp_servers: {} # none\n",
  ];
  const parts = (snippets: string[]) => fc.uniqueArray(fc.constantFrom(...snippets), { maxLength: 6 });

  test.each([
    ["toml", toml],
    ["yaml", yaml],
  ] as const)("removing an added entry and replacing one twice restores any %s", async (format, snippets) => {
    const open = opener(format);
    let edited = 0;
    const property = fc.property(
      parts([...snippets]),
      fc.boolean(),
      fc.boolean(),
      fc.constantFrom("", "\uFEFF"),
      (chosen, isCut, isWindows, mark) => {
        const joined = mark + (isCut ? chosen.join("").replace(/\n+$/, "") : chosen.join(""));
        const text = isWindows ? joined.replaceAll("\n", "\r\n") : joined;
        const place = { container: ["mcp_servers"], key: "k" };
        try {
          open(text).root;
        } catch {
          return;
        }
        const added = expectRoundTrip(open, text, place);
        const replaced = textOf(open(added).edit(place, { command: "z" }));
        expect(textOf(open(replaced).edit(place, entry))).toBe(added);
        edited++;
      },
    );
    fc.assert(property, { numRuns: 400 });
    // Four edits each; other combinations are not valid.
    expect(edited).toBeGreaterThan(80);
  });
});

describe("a config that cannot be edited safely", () => {
  const broken: [EditedFormat, string, RegExp, number?, number?][] = [
    ["json", '{"mcpServers": {"a": {', /not valid JSON/, 1, 23],
    ["json", '{"a": 1, "b": {"x": 1, "x": 2}}', /"x" twice/, 1, 24],
    ["json", '{"mcpServers": []}', /"mcpServers".* an array/, 1, 16],
    ["json", "[".repeat(100_000), /nested too deeply/],
    ["toml", "a = 1\nb = \n", /not valid TOML/, 2, 5],
    ["toml", "[[mcp_servers]]\na = 1\n", /"mcp_servers".* an array/, 1, 1],
    ["yaml", "a: 1\nmcp_servers: []\n", /"mcp_servers".* an array/, 2, 1],
    ["yaml", `# ${"x".repeat(16 << 20)}`, /more than 16 MiB/, 1, 1],
    ["yaml", "a: [1\n", /not valid YAML/, 2, 1],
    ["yaml", "a: 1\n---\nb: 2\n", /several documents/, 2, 1],
  ];

  test.each(broken)(
    "an edit rejects this %s, with the reason and the place: %.100s",
    async (format, text, reason, line, column) => {
      const open = opener(format);
      const container = format === "json" ? ["mcpServers"] : ["mcp_servers"];
      const edit = () => open(text).edit({ container, key: "a" }, entry);
      const args = { file: "a config", reason: expect.stringMatching(reason) };
      const problem = { code: "ClientConfigMalformed", args, ...(line && { line, column }) };
      expect(edit).toThrow(expect.objectContaining({ problem: expect.objectContaining(problem) }));
    },
  );

  test("an edit is rejected if it would have to change a YAML anchor or alias", async () => {
    const open = opener("yaml");
    const place = { container: ["extensions"], key: "x" };
    const text = "base: &b {a: {k: 1}}\nextensions: *b\n";
    expect(open(text).edit(place, entry)).toBeUndefined();
    const anchored = "extensions:\n  x: &x {k: 1}\n  y: *x\n";
    expect(open(anchored).edit(place)).toBeUndefined();
  });

  test.each([
    ["jsonc", "// nothing yet\n"],
    ["jsonc", "{} // nothing yet\n"],
    ["jsonc", '{ "mcpServers": null }'],
    ["jsonc", '{ "mcpServers": { /* none yet */ } }'],
    ["yaml", "{} # empty\n"],
    ["yaml", "{ a: 1 }\n"],
    ["yaml", "mcpServers: # none yet\n  {}\n"],
    ["yaml", "mcpServers: &a {}\n"],
    ["yaml", "mcpServers: { x: {}, b: {} }\n"],
    ["toml", "mcpServers = {} # none\n"],
    ["toml", 'mcpServers = { x = { command = "a" }, b = {} }\n'],
    ["tomlList", 'mcpServers = [{ name = "x" }, { name = "b" }]\n'],
    ["tomlList", '[[mcpServers]]\nname = "x"\nb = """\n[note]\n"""\n'],
    ["tomlList", '[[mcpServers]]\nname = "x"\nb = [\n ["a"]\n]\n'],
    ["tomlList", '[[mcpServers]]\nname = "x"\ncommand = "b"\n\n[[mcpServers]]\nname = "x"\n'],
  ] as const)("an edit of %s whose layout the editor does not handle is rejected: %s", (format, text) => {
    const open = opener(format);
    const place = { container: ["mcpServers"], key: "x" };
    expect(open(text).edit(place, entry)).toBeUndefined();
    if (text.includes("b")) expect(open(text).edit(place)).toBeUndefined();
  });
});
