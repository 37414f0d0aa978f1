import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import { openForTest } from "./support/session.ts";

test("a server that a pack wraps as the guide shows is valid, and works", async () => {
  const guide = readFileSync(inRepository("docs/guides/writing-a-pack.md"), "utf8");
  const [, definition = ""] = /^```yaml\n(name: notes\n[\s\S]*?)^```$/m.exec(guide) ?? [];
  const root = makeTree({
    "package.json": {
      name: "@acme/notes",
      version: "1.0.0",
      description: "Notes as a knowledge graph",
      keywords: ["trailblaze-extension"],
      type: "module",
      files: ["trailblaze"],
      dependencies: { "@modelcontextprotocol/server-memory": "^2026.8.31" },
      trailblaze: { servers: [["notes", "Remember notes as a knowledge graph"]] },
    },
    "trailblaze/servers/notes.yaml": definition,
  });
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
