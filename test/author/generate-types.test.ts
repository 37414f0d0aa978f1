import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import {
  type DeclaredTool,
  declareTools,
  formatDeclarations as format,
  formatSchemaType,
} from "../../src/author/generate-types.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { findTypeErrors, messageOf } from "../support/type-errors.ts";

const tool = (name: string, fields: Partial<DeclaredTool> = {}): DeclaredTool => ({
  name,
  inputSchema: { type: "object", properties: {} },
  ...fields,
});

/** Of a project that has only the authors' package. */
const formatDeclarations = (tools: readonly DeclaredTool[]) => format(tools, ["@trailblaze/scripting"]);

/** A compiler is slow where several run. */
const timeout = 180_000;

/** What a strict compiler says of declarations and of code that uses them: one program, which is slow to make. */
function compile(files: Readonly<Record<string, string>>): string[] {
  const folder = makeTree({ "package.json": { type: "module" }, ...files });
  const paths = Object.keys(files).map((file) => join(folder, file));
  return findTypeErrors(paths, {
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    types: ["node"],
    typeRoots: [inRepository("node_modules/@types")],
    paths: {
      "@trailblaze/scripting": [inRepository("packages/scripting/src/index.ts")],
      "trailblaze/session": [inRepository("src/session.ts")],
    },
  }).map(messageOf);
}

/** A line that compiles all the same makes the comment above it an error. */
const refuse = (lines: readonly string[]) => lines.map((line) => `// @ts-expect-error\n${line}\n`).join("");

const usage = (body: string) => `import type { TrailblazeClient } from "@trailblaze/scripting";
declare const tools: TrailblazeClient["tools"];
${body}
`;

const issue = tool("jira_createIssue", {
  title: "Create issue",
  description: "Create an issue.",
  inputSchema: {
    type: "object",
    properties: {
      summary: { type: "string", description: "One line." },
      labels: { type: "array", items: { enum: ["bug", "task", null] } },
      parent: { $ref: "#/$defs/issue" },
      "due-date": { type: ["string", "null"] },
      estimate: { anyOf: [{ type: "integer" }, { const: "unknown" }] },
      fields: { type: "object", additionalProperties: { type: "number" } },
    },
    required: ["summary"],
    $defs: {
      issue: { type: "object", properties: { key: { type: "string" }, parent: { $ref: "#/$defs/issue" } } },
    },
  },
  outputSchema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
});

describe("generated declarations", () => {
  test("declarations let the compiler check names, arguments and results, of tools and of what a host calls", {
    timeout,
  }, () => {
    const good = usage(`
const made = await tools.jira_createIssue({
  summary: "x", labels: ["bug", null], parent: { key: "A-1", parent: {} }, "due-date": null, estimate: "unknown", fields: { points: 3 },
});
export const key: string | undefined = made.structuredContent?.key;
export const text = (await tools.ping()).content[0];
await tools.ping({});
`);
    const bad = [
      "await tools.jira_createIssue();",
      "await tools.jira_createIssue({});",
      "await tools.jira_createIssue({ summary: 1 });",
      'await tools.jira_createIssue({ summary: "x", sumary: "y" });',
      'await tools.jira_createIssue({ summary: "x", labels: ["nonsense"] });',
      'await tools.jira_createIssue({ summary: "x", parent: { key: 1 } });',
      'await tools.jira_createIssue({ summary: "x", fields: { points: "3" } });',
      'await tools.jira_createIsue({ summary: "x" });',
    ];
    const host = `import { openSession } from "trailblaze/session";
const session = await openSession({ config: { crash: "isolate", "x-own": 1 } });
const made = await session.callTool("jira_createIssue", { summary: "x" }, { onLog: ({ data }) => void data });
export const key: string | undefined = made.structuredContent?.key;
await session.callTool("ping");
declare const given: unknown;
for (const { name, description, inputSchema } of session.tools) {
  const tool: { description?: string; type: "object" } = { ...(description !== undefined && { description }), type: inputSchema.type };
  const { content } = await session.callTool(name, given);
  for (const block of content) if (block.type === "text") block.text.trim();
  void tool;
}
export const other: unknown = (await session.callTool("other", given)).structuredContent;
`;
    const badHost = [
      'await openSession({ config: { crsh: "isolate" } });',
      "await openSession({ config: { nameCollisions: 5 } });",
      'await session.callTool("jira_createIssue");',
      'await session.callTool("jira_createIssue", { summary: 1 });',
      'export const text: string = (await session.callTool("other", given)).structuredContent;',
    ];
    const errors = compile({
      "tools.d.ts": format([issue, tool("ping")], ["trailblaze/session", "@trailblaze/scripting"]),
      "use.ts": `${good}${refuse(bad)}`,
      "host.ts": `${host}${refuse(badHost)}`,
    });
    expect(errors).toEqual([]);
  });

  test("declarations add to the packages that the project has installed", () => {
    const manifest = (name: string) => ({ [`node_modules/${name}/package.json`]: { name } });
    const modulesOf = (tree: Parameters<typeof makeTree>[0]) =>
      [...declareTools({ tools: [] }, makeTree(tree)).declarations.matchAll(/^declare module "(.+)"/gm)].map(
        ([, name]) => name,
      );
    expect(modulesOf(manifest("trailblaze"))).toEqual(["trailblaze/session"]);
    expect(modulesOf(manifest("@trailblaze/scripting"))).toEqual(["@trailblaze/scripting"]);
    const both = ["trailblaze/session", "@trailblaze/scripting"];
    expect(modulesOf({ ...manifest("trailblaze"), ...manifest("@trailblaze/scripting") })).toEqual(both);
    expect(modulesOf({})).toEqual(both);
  });

  test("hostile names and descriptions stay inside strings and comments", { timeout }, () => {
    const hostile = [
      '"](): void; evil: never; "',
      "__proto__",
      "constructor",
      "a\u2028b\u202ec\\",
      "*/ evil(); /*",
      "}\n}\nexport const evil = 1;",
    ];
    const tools = hostile.map((text, index) =>
      tool(`${text}${index}`, {
        title: text,
        description: `${text}\n@ts-ignore\n@deprecated\r\n/// <reference path="/etc/x" />\u001b[2J`,
        inputSchema: {
          type: "object",
          properties: { [text]: { const: text, description: `${text} */` }, x: { enum: hostile } },
          required: [text, "missing", text],
        },
      }),
    );
    const declarations = formatDeclarations(tools);
    expect(compile({ "tools.d.ts": declarations, "use.ts": usage("export { tools };") })).toEqual([]);
    expect(membersOf(declarations)).toHaveLength(hostile.length);
    expect(/[\u0000-\u0009\u000b-\u001f\u202e\u2028]/.test(declarations)).toBe(false);
    expect(declarations).not.toMatch(/^\s*(\*|\/\*\*)\s*@/m);
  });
});

/** The members of the one interface; throws where the text is not what it should be. */
function membersOf(declarations: string): string[] {
  const source = ts.createSourceFile("x.d.ts", declarations, ts.ScriptTarget.Latest, true);
  const { parseDiagnostics } = source as unknown as { parseDiagnostics: unknown[] };
  expect(parseDiagnostics).toEqual([]);
  const [, tools, module] = source.statements;
  expect(source.statements).toHaveLength(3);
  expect(module && ts.isModuleDeclaration(module)).toBe(true);
  if (!(tools && ts.isInterfaceDeclaration(tools))) throw new Error();
  return tools.members.map((member) => member.name?.getText() ?? "");
}

describe("the type of a schema", () => {
  test.each<[object, string]>([
    [{}, "unknown"],
    [{ type: "string", enum: ["a", "b", "a"] }, '"a" | "b"'],
    [{ type: "array", items: { type: ["string", "number"] } }, "(string | number)[]"],
    [{ type: "array", prefixItems: [{ type: "string" }] }, "unknown[]"],
    [{ type: "object", additionalProperties: false }, "{ [key: string]: never }"],
    [{ type: "object", additionalProperties: { type: "boolean" } }, "{ [key: string]: boolean }"],
    [
      { properties: { a: { type: "null" } }, required: ["a"], additionalProperties: true },
      "{\n  a: null;\n  [key: string]: unknown;\n}",
    ],
    [{ allOf: [{ type: ["string", "number"] }, {}] }, "(string | number)"],
    [{ allOf: [{ type: ["string", "number"] }, { enum: [1, "b"] }] }, '(string | number) & (1 | "b")'],
    [{ $ref: "#" }, "unknown"],
    [{ $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "string" } } }, "string"],
    [{ $ref: "#/$defs/loop", $defs: { loop: { $ref: "#/$defs/loop" } } }, "unknown"],
    [{ $ref: "#/__proto__/constructor" }, "unknown"],
  ])("the type of %j is %s", (schema, type) => {
    expect(formatSchemaType(schema as Record<string, unknown>, "")).toBe(type);
  });

  test("the type of a deep or wide schema has a limited size", () => {
    let deep: object = { type: "string" };
    for (let depth = 0; depth < 5000; depth++) deep = { type: "array", items: deep };
    expect(formatSchemaType(deep as Record<string, unknown>, "")).toMatch(/^unknown(\[\])+$/);
    const branch = { type: "object", properties: { a: { $ref: "#/$defs/0" }, b: { $ref: "#/$defs/0" } } };
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        index,
        {
          type: "object",
          properties: { a: { $ref: `#/$defs/${index + 1}` }, b: { $ref: `#/$defs/${index + 1}` } },
        },
      ]),
    );
    expect(formatSchemaType({ ...branch, $defs }, "").length).toBeLessThan(200_000);
  });
});
