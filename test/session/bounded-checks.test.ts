import { expect, test } from "vitest";
import { makeProject, openForTest, toolPack } from "./support/session.ts";

/** Takes 2^30 steps for a value that does not fit. */
const $defs = Object.fromEntries(
  Array.from({ length: 31 }, (_, level) => [
    `d${level}`,
    level === 30 ? { const: "fits" } : { anyOf: [1, 2].map(() => ({ $ref: `#/$defs/d${level + 1}` })) },
  ]),
);
const exponential = { type: "object", properties: { a: { $ref: "#/$defs/d0" } }, $defs };
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
      },
      "export const echo = (args) => args; export const output = () => ({ a: 'x' });",
      {
        "package.json": { trailblaze: { toolsets: ["Bundle", "Refused"] } },
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
      },
    ),
  });

const refused = /can apply its schemas more than 1,000,000 times to one value/;

test("a schema that can take exponentially many steps is refused, and the host continues", async () => {
  const session = await openForTest(project());
  for (const name of ["echo", "output", "entry"]) {
    await expect(session.callTool(name, { a: "x" })).rejects.toThrow(refused);
  }
  expect(await session.callTool("slow", { l: [1] })).toMatchObject({ variant: "Success" });
});

test("expressions end at their limit of steps", async () => {
  const session = await openForTest(project());
  const l = Array.from({ length: 1000 }, (_, index) => index);
  expect((await session.callTool("slow", { l })).message).toContain("the limit of 20,000,000 steps");
});
