// npm packages as they are published, each with a tool or a server in a copy of its folder: none of their modules is
// reported.
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { greetTool } from "./validate-tree.ts";

/** Copies an installed package without its dependencies, and adds an extension with one definition. */
function makeCopy(
  name: string,
  extension: Record<string, string[]>,
  file: string,
  definition: object,
): string {
  const source = inRepository(`node_modules/${name}`);
  const folder = makeTree({ [file]: definition });
  cpSync(source, folder, {
    recursive: true,
    // Of what does not run, there are thousands of files.
    filter: (path) =>
      !relative(source, path).split(sep).includes("node_modules") && !/\.([cm]?ts|map)$/.test(path),
  });
  const manifest = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  const { files, scripts: _, ...fields } = manifest;
  const changed = {
    ...fields,
    ...(files === undefined ? {} : { files: [...files, "trailblaze"] }),
    keywords: ["trailblaze-extension"],
    trailblaze: extension,
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(changed));
  return folder;
}

test.each([
  ["@modelcontextprotocol/sdk", "./dist/esm/server/mcp.js#McpServer"],
  ["jsonc-parser", "./lib/umd/main.js#parse"],
  ["yaml", "./dist/index.js#parse"],
  ["zod", "./index.js#string"],
])("validating %s with the handler %s reports neither errors nor warnings", async (name, handler) => {
  const folder = makeCopy(name, { tools: ["greet"] }, "trailblaze/tools/greet.json", greetTool(handler));
  const { problems } = await validateExtension(folder, { strict: true });
  expect(problems.filter(({ severity }) => severity !== "info")).toEqual([]);
});

describe("published servers", () => {
  const validateServer = (name: string) => {
    const definition = { description: "A server.", script: "./dist/index.js" };
    const folder = makeCopy(name, { servers: ["desk"] }, "trailblaze/servers/desk.json", definition);
    return validateExtension(folder, { strict: true });
  };

  test("validating a published server reports neither errors nor warnings", async () => {
    const report = await validateServer("@modelcontextprotocol/server-everything");
    expect(report).toMatchObject({ ok: true, problems: [] });
  });

  test("validating a published server that does not declare zod reports that", async () => {
    const { problems } = await validateServer("@modelcontextprotocol/server-memory");
    expect(problems).toMatchObject([{ code: "UndeclaredDependency", args: { name: "zod" } }]);
  });
});
