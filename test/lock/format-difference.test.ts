import { describe, expect, test } from "vitest";
import { comparePacks, compareUserServers } from "../../src/lock/compare.ts";
import { formatDifference } from "../../src/lock/format-difference.ts";
import type { EntryChange, LockedItem, LockedPack, LockedServer } from "../../src/lock/types.ts";

const pack = (parts: Partial<LockedPack>): LockedPack => ({ version: "1.2.0", surface: "", ...parts });
const tool = (item: LockedItem) => pack({ tools: { createIssue: item } });

const format = (...packs: EntryChange[]) => formatDifference({ packs, servers: [] });
/** The lines of a difference between two packs, without indentation. */
const linesOf = (from: LockedPack | undefined, to: LockedPack | undefined) =>
  format(comparePacks("@acme/jira", from, to))
    .split("\n")
    .map((line) => line.trim());

const server = (item: LockedItem) => ({ ...item, lists: null }) as LockedServer;

describe("the summary of a difference", () => {
  test("a changed pack is shown with its versions, its items and their names", () => {
    const from = pack({
      tools: { createIssue: { name: "jira_createIssue" }, gone: { name: "gone" } },
      servers: { db: { command: "node", lists: { query: { description: ["Old."] } } } },
    });
    const to = pack({
      version: "1.3.0",
      needs: { network: ["a.example"] },
      tools: { createIssue: { name: "jira_create" }, deleteIssue: { name: "deleteIssue" } },
      servers: { db: { command: "sh", lists: { query: { description: ["New."] } } } },
    });
    const shown = format(comparePacks("@acme/jira", from, to)).split("\n");
    expect(shown[0]).toBe("pack @acme/jira 1.2.0 → 1.3.0: changed");
    expect(shown.filter((line) => /^ {2}\S/.test(line))).toEqual([
      "  + needs: new",
      "  ~ tool createIssue (advertised as jira_create): changed",
      "  + tool deleteIssue: new",
      "  - tool gone: removed",
      "  ~ server db: changed",
      "  ~ tool query of server db: changed",
    ]);
    expect(shown).toContain('      advertised name: "jira_createIssue" → "jira_create"');
  });

  test("new, removed and updated packs are told apart, and equal ones are not shown", () => {
    const one = tool({ description: ["Text."] });
    expect(linesOf(undefined, one)[0]).toBe("pack @acme/jira 1.2.0: new");
    expect(linesOf(one, undefined)).toEqual([
      "pack @acme/jira 1.2.0: removed",
      "- tool createIssue: removed",
    ]);
    expect(linesOf(one, { ...one, version: "2.0.0" })).toEqual([
      "pack @acme/jira 1.2.0 → 2.0.0: same definitions in another version",
    ]);
    expect(linesOf(one, { ...one })).toEqual([""]);
    const [a, b] = [comparePacks("a", undefined, one), comparePacks("b", undefined, one)];
    expect(format(a, b)).toContain("\n\npack b");
  });

  test("a server of the config is one heading with what differs", () => {
    const entry = (item: LockedItem) => server({ command: "node", ...item });
    const changed = compareUserServers("api", entry({ env: ["A"] }), entry({ env: ["A", "B"] }));
    expect(formatDifference({ packs: [], servers: [changed] })).toBe(
      'server api: changed\n  env: ["A"] → ["A","B"]',
    );
    const added = compareUserServers("api", undefined, entry({ args: ["./x.js", "a b"], env: ["A", "B"] }));
    expect(formatDifference({ packs: [], servers: [added] })).toBe(
      'server api: new\n  starts: node ./x.js "a b"\n  env: A, B',
    );
  });
});

describe("changed values", () => {
  test("lines of a text are shown as a line difference with what is around it", () => {
    const from = ["One", "Two", "Three", "Four", "Five", "Six", "Seven"];
    const to = ["One", "Two", "Three", "4", "Five", "Six", "New", "Seven"];
    expect(linesOf(tool({ description: from }), tool({ description: to })).slice(2)).toEqual([
      ...["description:", "… 2 unchanged lines", "Three", "- Four", "+ 4", "Five", "Six", "+ New", "Seven"],
    ]);
  });

  test("short values are shown on one line, and absent ones as not set", () => {
    const from = tool({ annotations: { readOnlyHint: true }, title: "Old" });
    const to = tool({ annotations: { readOnlyHint: false }, runs: "./a.js#b" });
    expect(linesOf(from, to).slice(2)).toEqual([
      "annotations.readOnlyHint: true → false",
      'runs: not set → "./a.js#b"',
      'title: "Old" → not set',
    ]);
  });

  test("values in schemas are shown with their paths", () => {
    const schema = (body: LockedItem, required: string[]) =>
      tool({ inputSchema: { type: "object", properties: { body, "a.b c": {} }, required } });
    const description =
      "The text of the issue, in which Markdown is allowed, of at most a thousand characters.";
    const to = schema({ type: "string", description }, []);
    (to.tools?.createIssue?.inputSchema as LockedItem).properties = {
      body: { type: "string", description },
      "a.b c": { type: "string" },
    };
    expect(linesOf(schema({ type: "integer" }, ["body"]), to).slice(2)).toEqual([
      'inputSchema.properties."a.b c".type: not set → "string"',
      "inputSchema.properties.body.description:",
      `+ ${description}`,
      'inputSchema.properties.body.type: "integer" → "string"',
      'inputSchema.required: ["body"] → []',
    ]);
  });

  test("blanks that are added at the end of a line are shown", () => {
    const shown = linesOf(tool({ description: ["Text."] }), tool({ description: ["Text.  "] }));
    expect(shown.slice(3)).toEqual(["- Text.", "+ Text. [2 blanks]"]);
  });
});

describe("new items", () => {
  test("a new tool is shown with its parameters and what it runs", () => {
    const item: LockedItem = {
      name: "jira_createIssue",
      title: "Create",
      description: ["Creates an issue.", "", "And more."],
      inputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: {
          body: { type: "string", description: "The text." },
          labels: { type: "array", items: { enum: ["a", "b"] } },
          constructor: true,
        },
        required: ["body"],
        additionalProperties: false,
      },
      annotations: { destructiveHint: false },
      runs: "./dist/tools.js#createIssue",
    };
    expect(linesOf(pack({}), tool(item)).slice(1)).toEqual([
      "+ tool createIssue (advertised as jira_createIssue): new",
      "title: Create",
      ...["description:", "| Creates an issue.", "|", "| And more."],
      ...[
        "parameters:",
        "body (string, required): The text.",
        'labels ("a" | "b"[])',
        "constructor (anything)",
      ],
      "additionalProperties: false",
      'annotations: {"destructiveHint":false}',
      "runs: ./dist/tools.js#createIssue",
    ]);
  });

  test("a new server is shown with its whole command", () => {
    const script = "console.log(1);".repeat(100);
    const servers = {
      a: server({
        command: "node",
        args: ["-e", script],
        env: { MODE: "x y" },
        envPassthrough: ["TOKEN", "HOME"],
      }),
      b: server({ package: "@acme/server", bin: "run", args: ["--all"], cwd: "data" }),
      c: server({ command: "node", script: "./server.js" }),
      d: server({ url: "https://acme.example/mcp", headers: ["Authorization"] }),
    };
    const shown = linesOf(pack({}), pack({ servers }));
    expect(shown.filter((line) => line.startsWith("starts"))).toEqual([
      `starts: node -e "${script}"`,
      "starts: the command run of package @acme/server, with --all",
      "starts: node ./server.js",
    ]);
    for (const line of [
      'env: MODE="x y"',
      "envPassthrough: TOKEN, HOME",
      "cwd: data",
      "headers: Authorization",
    ]) {
      expect(shown).toContain(line);
    }
    expect(shown).toContain("url: https://acme.example/mcp");
  });

  test("the instructions of a composed server and a prompt's content are shown as lines", () => {
    const to = pack({
      servers: { composed: { members: ["a/b", "a/c"], instructions: ["First.", "Second."] } },
      prompts: { review: { content: ["Review this.", "Now."] } },
    });
    const shown = linesOf(pack({}), to);
    for (const line of ["members: a/b, a/c", "| First.", "| Second.", "| Review this.", "| Now."]) {
      expect(shown).toContain(line);
    }
  });
});

describe("text of packs in a difference", () => {
  const hostile = "a\x1b[2K\u202eb\u200bc\r\nd\ne";

  test("every value is shown without control and invisible characters, and on its own lines", () => {
    const item = (text: string): LockedItem => ({
      name: text,
      title: text,
      description: [text, text],
      inputSchema: { type: text, properties: { [text]: { description: text, enum: [text] } }, [text]: text },
      annotations: { [text]: text },
      [text]: text,
    });
    const of = (text: string) =>
      pack({
        version: text,
        needs: { env: [text], network: [text, text, text, text] },
        tools: { [text]: item(text), t: item(text), u: { name: "u" } },
        servers: {
          [text]: { command: text, args: [text], env: { [text]: text }, lists: { [text]: item(text) } },
        },
        prompts: { p: { content: [text] } },
      });
    const nothing = pack({});
    for (const [from, to] of [
      [nothing, of(hostile)],
      [of(hostile), nothing],
      [of("x"), of(hostile)],
      [of(hostile), of(`${hostile}!`)],
    ] as const) {
      const text = formatDifference({
        packs: [comparePacks(hostile, from, to), comparePacks("u", undefined, of(hostile))],
        servers: [compareUserServers(hostile, undefined, server({ url: hostile, headers: [hostile] }))],
      });
      expect(text).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u200b\u202e]/);
      // A line feed is a line of its own only in a text, with a sign.
      expect(text.split("\n").filter((line) => /^ *[de]\b/.test(line))).toEqual([]);
    }
  });

  test("text behind blanks and blank lines is seen, and a text cannot pass for a heading", () => {
    const description = [
      "Safe.",
      ...Array(50).fill(""),
      `x${" ".repeat(500)}Hidden.`,
      "pack @acme/other 1.0.0: new",
    ];
    const heading = linesOf(pack({}), tool({ description }));
    expect(heading).toContain("| [50 blank lines]");
    expect(heading).toContain("| x [500 blanks] Hidden.");
    expect(heading).toContain("| pack @acme/other 1.0.0: new");
    const changed = linesOf(tool({ description: ["Safe."] }), tool({ description }));
    expect(changed).toContain("+ [50 blank lines]");
    expect(changed).toContain("+ x [500 blanks] Hidden.");
  });
});
