import { expect, test } from "vitest";
import { entry, validateTool } from "./validate-tool.ts";
import { prompt, toolset, validateTree } from "./validate-tree.ts";

const codes = ["NameMismatch"] as const;

const definitions = {
  "servers/composed": (name: string) => ({ name, tools: [] }),
  "servers/process": (name: string) => ({ name, command: "node" }),
  "servers/document": (name: string) => ({ kind: "Mcp.HttpEndpoint", metadata: { name }, tools: [] }),
  "toolsets/list": (name: string) => toolset(name, { tools: [] }),
  "toolsets/bundle": (name: string) => ({ kind: "Mcp.Tools", metadata: { name }, entries: [entry()] }),
  "prompts/hello": (name: string) => prompt(name),
};

test.each(Object.entries(definitions))(
  "NameMismatch is reported if the definition of %s has another name than the item",
  async (place, define) => {
    const [key = "", item = ""] = place.split("/");
    const validate = (definition: unknown) =>
      validateTree(
        { extension: { [key]: [item] }, files: { [`trailblaze/${place}.json`]: definition } },
        codes,
      );
    expect(await validate(define(item))).toEqual([]);
    const definition = define("other");
    const path = "metadata" in definition ? ["metadata", "name"] : ["name"];
    const args = { name: "other", item };
    expect(await validate(definition)).toMatchObject([{ severity: "warning", item, path, args }]);
  },
);

test("NameMismatch is not reported for the advertised name of a tool", async () => {
  expect(await validateTool({ name: "anything_goes" }, codes)).toEqual([]);
});

test("NameMismatch is not reported for a server's definition without a name", async () => {
  const files = { "trailblaze/servers/desk.json": { tools: [] } };
  expect(await validateTree({ extension: { servers: ["desk"] }, files }, codes)).toEqual([]);
});
