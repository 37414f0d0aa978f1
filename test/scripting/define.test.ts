// What the `define…` functions return, as the host's inspection and sessions take it.
import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineTool, type StandardSchema, type ToolContext } from "../../packages/scripting/src/index.ts";
import { inspectItem, inspectPack } from "../../src/index.ts";
import { makeProject, openForTest } from "../session/support/session.ts";
import { inRepository } from "../support/repository.ts";
import { scriptingPackage } from "./support/scripting-package.ts";

const context = { signal: new AbortController().signal, options: {} } as unknown as ToolContext;

describe("defineTool", () => {
  test("defineTool returns the definition with only the handler replaced", () => {
    const source = {
      name: "jira_getIssue",
      title: "Get issue",
      inputSchema: { type: "object", properties: { issueKey: { type: "string" } } },
      handler: "./lib/tools.js#getIssue",
      _meta: { "trailblaze/toolset": "triage" },
    } as const;
    expect(defineTool(source)).toStrictEqual(source);
    const parameters = { issueKey: { type: "string", required: true } } as const;
    const short = defineTool({ name: "a_b", parameters, handler: function getIssue() {} });
    expect(Object.keys(short)).toEqual(["name", "parameters", "handler"]);
    expect(short.parameters).toBe(parameters);
    expect(short.handler).toHaveProperty("name", "getIssue");
  });

  test("defineTool converts a library's schemas to JSON Schema", () => {
    const tool = defineTool({
      name: "a_b",
      inputSchema: z.object({ text: z.string().describe("What."), count: z.number().default(3) }),
      outputSchema: z.object({ length: z.number() }),
      handler: ({ text, count }) => ({ length: text.length * count }),
    });
    expect(tool.inputSchema).toStrictEqual({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        text: { type: "string", description: "What." },
        count: { type: "number", default: 3 },
      },
      required: ["text"],
    });
    expect(Reflect.ownKeys(tool.inputSchema ?? {})).not.toContain("~standard");
    expect(tool.outputSchema).toMatchObject({ type: "object", required: ["length"] });
  });

  test("defineTool lets the schema library check and change the arguments, but not the context", async () => {
    const seen: unknown[] = [];
    const tool = defineTool({
      name: "a_b",
      inputSchema: z.strictObject({ when: z.string().transform((text) => new Date(text)) }),
      handler: (args) => void seen.push(args.when.getTime(), args._trailblazeContext, Object.keys(args)),
    });
    const run = tool.handler as unknown as (args: object, context: ToolContext) => Promise<unknown>;
    const envelope = { memory: {}, device: null };
    await run({ when: "1970-01-01T00:00:01Z", _trailblazeContext: envelope }, context);
    expect(seen).toEqual([1000, envelope, ["when"]]);
    await expect(run({ when: 7 }, context)).rejects.toThrow(/^\/when .*expected string/);
  });

  test("defineTool names schemas that it cannot convert", () => {
    const old = { "~standard": { version: 1, vendor: "zod", validate: () => ({ value: {} }) } } as const;
    const define = (inputSchema: StandardSchema) =>
      defineTool({ name: "a_b", inputSchema, handler: () => {} });
    expect(() => define(old)).toThrow("from 4.2");
    expect(() => define(z.string())).toThrow("`inputSchema` must be the schema of an object.");
    expect(() => define(z.object({ a: z.bigint() }))).toThrow("JSON Schema");
  });
});

describe("definitions made with the helpers, in a pack", () => {
  const imports = 'import { defineTool, definePrompt, defineServer } from "@trailblaze/scripting";\n';
  const project = () => {
    const folder = makeProject(
      {
        "@acme/code": {
          "package.json": {
            trailblaze: { tools: ["zod", "json"], prompts: ["weekly"], servers: ["all"] },
            dependencies: { "@trailblaze/scripting": "^1.0.0", zod: "^4.2.0" },
          },
          "trailblaze/tools/zod.mjs": `${imports}import { z } from "zod";
          export default defineTool({
            name: "code_zod", description: "Typed by zod.",
            inputSchema: z.object({ n: z.number().default(2) }),
            handler: function double({ n }) { return { twice: n * 2 }; },
          });`,
          "trailblaze/tools/json.mjs": `${imports}
          export default defineTool({
            name: "code_json", description: "Typed by JSON Schema.",
            parameters: { name: { type: "string", required: true } },
            handler: async ({ name }, { client, memory }) => {
              memory.set("name", name);
              return (await client.tools.code_zod({ n: name.length })).structuredContent;
            },
          });`,
          "trailblaze/prompts/weekly.mjs": `${imports}
          export default definePrompt({ name: "weekly", description: "Sums up.", handler: () => "Sum up." });`,
          "trailblaze/servers/all.mjs": `${imports}
          export default defineServer({ description: "All.", tools: ["zod", "json"], prompts: ["weekly"] });`,
        },
      },
      scriptingPackage,
    );
    // A link would lead out of what definitions may read.
    cpSync(inRepository("node_modules/zod"), join(folder, "node_modules/zod"), {
      recursive: true,
      filter: (path) => !/\.([cm]?ts|map)$|\/zod\/src$/.test(path),
    });
    return folder;
  };

  test("inspection finds no problems in definitions made with the helpers, and a session runs them", async () => {
    const cwd = project();
    const pack = await inspectPack("@acme/code", { cwd });
    expect(pack.problems).toEqual([]);
    const item = await inspectItem("acme/code/zod", { cwd });
    expect(item.definition).toEqual({
      name: "code_zod",
      description: "Typed by zod.",
      inputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { n: { default: 2, type: "number" } },
      },
      handler: { $function: "double" },
    });
    for (const isolation of ["in-process", "process"]) {
      const session = await openForTest(cwd, { config: { isolation } });
      const result = await session.callTool("code_json", { name: "Ada" });
      expect(result).toMatchObject({ variant: "Success", structuredContent: { twice: 6 } });
      expect(session.memory.get("name")).toBe("Ada");
      expect((await session.callTool("code_zod", {})).structuredContent).toEqual({ twice: 4 });
    }
  });
});
