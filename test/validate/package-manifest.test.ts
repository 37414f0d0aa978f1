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

test.each([
  ["name", '"name": "other"', 5],
  ["author", '"author": {},\n"author": {}', 6],
])("MalformedPackageJson is reported where %s is repeated in package.json", async (key, lines, line) => {
  const text = `{\n"name": "twice",\n"version": "1.0.0",\n"trailblaze": {},\n${lines}\n}\n`;
  const { problems, ok } = await validateExtension(makeTree({ "package.json": text }));
  const args = { reason: expect.stringContaining(`"${key}"`) };
  expect(problems.filter(({ code }) => code === "MalformedPackageJson")).toMatchObject([
    { severity: "error", args, file: "package.json", line, column: 1 },
  ]);
  expect(ok).toBe(false);
});
