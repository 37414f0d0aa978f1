import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { openForTest } from "./support/session.ts";

test("the pack of the guide to wrapping a server is valid, and its server works", async () => {
  const guide = readFileSync(inRepository("docs/guides/wrapping-a-server.md"), "utf8");
  const blocks = [...guide.matchAll(/^```\w+ title="([^"]+)"\n([\s\S]*?)^```$/gm)];
  const files = Object.fromEntries(blocks.map(([, file = "", text = ""]) => [file, text]));
  const root = makeTree(files);
  mkdirSync(join(root, "node_modules"));
  symlinkSync(
    inRepository("node_modules/@modelcontextprotocol"),
    join(root, "node_modules/@modelcontextprotocol"),
  );
  expect((await validateExtension(root)).problems).toEqual([]);

  const session = await openForTest(root);
  expect(session.problems).toEqual([]);
  const result = await session.callTool("read_graph");
  expect(result.variant).toBe("Success");
});
