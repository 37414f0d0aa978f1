import { expect, test } from "vitest";
import { prompt, validateTree } from "./validate-tree.ts";

async function findCodes(fields: Record<string, unknown>) {
  const tree = {
    extension: { prompts: ["hello"] },
    files: { "trailblaze/prompts/hello.json": prompt("hello") },
    fields,
  };
  const problems = await validateTree(tree);
  return problems.map(({ code, severity, file, line }) => {
    expect({ severity, file }).toEqual({ severity: "warning", file: "package.json" });
    expect(line).toBeGreaterThan(1);
    return code;
  });
}

test("scripts that run at build time, and the keyword among others, are fine", async () => {
  const scripts = { build: "tsc", prepare: "tsc", prepublishOnly: "trailblaze validate", test: "true" };
  expect(await findCodes({ scripts, keywords: ["mcp", "trailblaze-extension"] })).toEqual([]);
});

test.each(["preinstall", "install", "postinstall"])(
  "%s runs on the machine of whoever installs the pack",
  async (name) => {
    expect(await findCodes({ scripts: { [name]: "node setup.js" } })).toEqual(["LifecycleScript"]);
  },
);

test.each([[["mcp"]], [[]], ["trailblaze-extension"]])(
  "keywords %j do not make the pack found",
  async (keywords) => {
    expect(await findCodes({ keywords })).toEqual(["MissingKeyword"]);
  },
);
