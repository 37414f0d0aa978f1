import { expect, test } from "vitest";
import { greetTool, validateTree } from "./validate-tree.ts";

const strict = { type: "object", additionalProperties: false };

async function findRejected(
  server: Record<string, unknown>,
  offered: unknown,
  inputSchema: Record<string, unknown> = strict,
) {
  const { parameters: _, ...tool } = greetTool("./lib/greet.js");
  const extension = {
    servers: [{ name: "desk", description: "A desk.", tools: offered }],
    tools: ["greet", "other"],
  };
  const files = {
    "trailblaze/servers/desk.json": server,
    "trailblaze/tools.json": {
      greet: { ...tool, inputSchema },
      other: { ...tool, name: "other", inputSchema: strict },
    },
  };
  return validateTree({ extension, files }, ["LegacyContextRejected"]);
}

const script = { script: "./server.js" };

test.each([["hello_greet"], ["greet"], ["acme/sample/greet"]])(
  "LegacyContextRejected is reported for a strict tool that a subprocess server offers as %s",
  async (name) => {
    expect(await findRejected(script, [name])).toMatchObject([
      { severity: "info", kind: "tool", item: "greet", path: ["inputSchema", "additionalProperties"] },
    ]);
    expect(await findRejected({ command: "node", legacyContext: true }, [name])).toHaveLength(1);
  },
);

test("LegacyContextRejected is reported for a tool with a strict variant", async () => {
  const inputSchema = { type: "object", anyOf: [{ required: ["a"] }, { maxProperties: 0 }] };
  expect(await findRejected(script, ["greet"], inputSchema)).toMatchObject([
    { severity: "info", item: "greet", path: ["inputSchema"] },
  ]);
});

test("LegacyContextRejected is not reported if the server gets no context in arguments", async () => {
  expect(await findRejected({ ...script, legacyContext: false }, ["greet"])).toEqual([]);
});

test("LegacyContextRejected is not reported for a tool that accepts further arguments", async () => {
  expect(await findRejected(script, ["greet"], { type: "object" })).toEqual([]);
});

test("LegacyContextRejected is not reported for a tool that no subprocess server offers", async () => {
  expect(await findRejected(script, [])).toEqual([]);
  expect(await findRejected({ tools: ["greet"] }, ["greet"])).toEqual([]);
});
