import { expect, test } from "vitest";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { makeTree } from "../support/packs.ts";
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

test.each(["preinstall", "install", "postinstall"])(
  "LifecycleScript is reported for %s, which runs when the pack is installed",
  async (name) => {
    expect(await findCodes({ scripts: { [name]: "node setup.js" } })).toEqual(["LifecycleScript"]);
  },
);

test.each([[["mcp"]], [[]], ["trailblaze-extension"]])(
  "MissingKeyword is reported for the keywords %j",
  async (keywords) => {
    expect(await findCodes({ keywords })).toEqual(["MissingKeyword"]);
  },
);

test("ReservedCommand is reported for a command in `bin`, and not for other commands", async () => {
  const files = { "trailblaze/prompts/hello.json": prompt("hello"), "b.js": "" };
  const judge = (bin: object) =>
    validateTree({ extension: { prompts: ["hello"] }, files, fields: { bin } }, ["ReservedCommand"]);
  expect(await judge({ jira: "b.js", Node: "b.js" })).toMatchObject([
    { severity: "error", file: "package.json", line: expect.any(Number), args: { command: "node" } },
  ]);
  expect(await judge({ jira: "b.js", "trailblaze-jira": "b.js" })).toEqual([]);
});

const manifestWith = (lines: string) =>
  `{\n  "name": "twice",\n  "version": "1.0.0",\n  "keywords": ["trailblaze-extension"],\n${lines}\n}\n`;

test.each(["name", "dependencies", "author"])(
  "MalformedPackageJson is reported where %s is repeated in package.json",
  async (key) => {
    const value = { name: "other", version: "2.0.0", keywords: ["trailblaze-extension"], files: ["x"] };
    const again = JSON.stringify((value as Record<string, unknown>)[key] ?? {});
    const lines = `  "trailblaze": {},\n  "${key}": ${again}${key in { name: 1, version: 1, keywords: 1 } ? "" : `,\n  "${key}": ${again}`}`;
    const { problems, ok } = await validateExtension(makeTree({ "package.json": manifestWith(lines) }));
    const line = key in { name: 1, version: 1, keywords: 1 } ? 6 : 7;
    expect(problems.filter(({ code }) => code === "MalformedPackageJson")).toEqual([
      expect.objectContaining({
        severity: "error",
        args: expect.objectContaining({ reason: expect.stringContaining(`"${key}"`) }),
        file: "package.json",
        line,
        column: 3,
      }),
    ]);
    expect(ok).toBe(false);
  },
);
