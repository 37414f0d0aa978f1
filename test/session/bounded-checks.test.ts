import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { makeProject, openForTest, toolPack } from "./support/session.ts";

/** Takes 2^30 steps for a value that does not fit. */
const $defs = Object.fromEntries(
  Array.from({ length: 31 }, (_, level) => [
    `d${level}`,
    level === 30 ? { const: "fits" } : { anyOf: [1, 2].map(() => ({ $ref: `#/$defs/d${level + 1}` })) },
  ]),
);
const exponential = { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs };
const wide = {
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`p${index}`, { type: "string" }]),
  ),
};
const repeated = { type: "object", properties: { a: { type: "string", pattern: "^(a+)+$", default: "aa" } } };

const list = { type: "object", properties: { l: { type: "array" } } };
const slow = "${{ request.arguments.l.all(i, request.arguments.l.all(j, (1 / 0 > 1) || true)) }}";
const entry = (name: string, more: object) => ({
  name,
  description: "An entry.",
  handler: "./handlers.js#echo",
  ...more,
});

const project = () =>
  makeProject({
    pack: toolPack(
      {
        echo: { inputSchema: exponential },
        output: { outputSchema: exponential },
        wide: { inputSchema: wide, handler: "./handlers.js#echo" },
        repeated: { inputSchema: repeated, handler: "./handlers.js#echo" },
      },
      "export const echo = (args) => args; export const output = () => ({ a: 'x' });",
      {
        "package.json": { trailblaze: { toolsets: ["Bundle", "Refused"], servers: ["all"] } },
        "trailblaze/toolsets/Bundle.json": {
          kind: "Mcp.Tools",
          metadata: { name: "Bundle" },
          entries: [entry("slow", { argumentsSchema: list, inputs: { all: slow } })],
        },
        "trailblaze/toolsets/Refused.json": {
          kind: "Mcp.Tools",
          metadata: { name: "Refused" },
          entries: [entry("entry", { argumentsSchema: exponential })],
        },
        "trailblaze/servers/all.json": { tools: ["wide"], toolsets: ["Bundle"] },
      },
    ),
  });

const refused = /can apply its schemas more than 1,000,000 times to one value/;

describe.each(["in-process", "process"] as const)("with isolation %s", (isolation) => {
  test("a schema that can take exponentially many steps is refused, and the host continues", async () => {
    const session = await openForTest(project(), { config: { isolation } });
    for (const name of ["echo", "output", "entry"]) {
      await expect(session.callTool(name, { a: "x" })).rejects.toThrow(refused);
    }
    expect((await session.callTool("wide", { p19999: "x" })).variant).toBe("Success");
  });

  test("strings are matched with a pattern that can backtrack exponentially", async () => {
    const session = await openForTest(project(), { config: { isolation } });
    expect((await session.callTool("repeated", {})).variant).toBe("Success");
    expect((await session.callTool("repeated", { a: "a".repeat(50) })).variant).toBe("Success");
    const { message } = await session.callTool("repeated", { a: `${"a".repeat(50)}!` });
    expect(message).toContain("/a must match the pattern");
  });

  test("expressions end at the timeout of their call", async () => {
    const session = await openForTest(project(), { config: { isolation } });
    const late = "timeout";
    const l = Array.from({ length: 1000 }, (_, index) => index);
    expect((await session.callTool("slow", { l }, { timeoutMs: 1 })).message).toContain(late);
    expect((await session.callTool("slow", { l: [1] })).variant).toBe("Success");
  });
});

test("a served tool is checked in the same way", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  const args = [inRepository("dist/cli/cli.cjs"), "start", "pack/all", "--cwd", project()];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: "ignore" }));
  onTestFinished(() => client.close());
  const answer = await client.callTool({ name: "wide", arguments: { p0: 1 } });
  expect(answer).toMatchObject({ content: [{ text: expect.stringContaining("/p0 must be string") }] });
});
