import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { argumentTexts } from "../support/argument-texts.ts";
import { makeTree } from "../support/packs.ts";
import { makePack, validateFolder, validateTree } from "./validate-tree.ts";

const codes = ["HandlerNotFound", "DefinitionOutsidePackage", "InvalidServerDefinition"];
const files = {
  "lone.js": "run();",
  "desk/index.js": "run();",
  "server/main.js": "run();",
  "server/bin/start": "#!/bin/sh\n",
};

const find = (server: object) =>
  validateTree(
    { extension: { servers: ["desk"] }, files: { ...files, "trailblaze/servers/desk.json": { ...server } } },
    codes,
  );

async function judge(server: Record<string, unknown>): Promise<string[]> {
  const problems = await find(server);
  return problems.map(({ code, path, args }) => `${code} ${path?.join(".")}: ${argumentTexts(args)}`);
}

test.each([
  [{ command: "node", args: ["--no-warnings", "./main.js", "./not/of/the/package"], cwd: "./server" }],
  [{ command: "./bin/start", cwd: "server" }],
  [{ command: "node", args: ["--import", "not/looked/at.js", "server/main.js", "other.js"] }],
  [{ command: "node", args: ["/opt/elsewhere/main.js"] }],
  [{ command: "node", args: ["desk", "config.js"] }],
  [{ command: "node", args: ["-e", "import './a.js"] }],
  [{ command: "node", args: ["--print=1", "a.js"] }],
  [{ command: "node", args: ["-", "a.js"] }],
])("validate accepts the server %j", async (server) => {
  expect(await judge(server)).toEqual([]);
});

test.each([
  [{ script: "./server/start.js" }, 'script: .*"server/start.js"'],
  [{ command: "node", args: ["./main.js"] }, 'args.0: .*"main.js"'],
  [{ command: "node", args: ["--no-warnings", "dist/index.js"] }, 'args.1: .*"dist/index.js"'],
])("HandlerNotFound is reported for the server %j", async (server, reason) => {
  const found = await judge(server);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(new RegExp(`^HandlerNotFound ${reason}`));
});

test.each([
  ["./work", '"work"'],
  ["./server/main.js", '"server/main.js".*folder'],
])("InvalidServerDefinition is reported for the cwd %s", async (cwd, reason) => {
  const found = await judge({ script: "./server/main.js", cwd });
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(new RegExp(`^InvalidServerDefinition cwd: .*${reason}`));
});

describe("DefinitionOutsidePackage", () => {
  test.each([
    [{ script: "../server.js" }, "script"],
    [{ script: "./server/main.js", cwd: "/" }, "cwd"],
  ])("DefinitionOutsidePackage is reported for the server %j", async (server, key) => {
    const found = await judge(server);
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^DefinitionOutsidePackage ${key}: `)));
  });

  test.skipIf(process.platform === "win32")(
    "DefinitionOutsidePackage is reported for a folder that is a link out of the package",
    async () => {
      const folder = makePack({
        extension: { servers: ["desk"] },
        files: { ...files, "trailblaze/servers/desk.json": { script: "./linked/main.js", cwd: "./linked" } },
      });
      const outside = makeTree({ "main.js": "" });
      symlinkSync(outside, join(folder, "linked"));
      expect((await validateFolder(folder, codes)).map(({ code, path }) => [code, path])).toEqual([
        ["DefinitionOutsidePackage", ["cwd"]],
        ["DefinitionOutsidePackage", ["script"]],
      ]);
    },
  );
});

test("a missing program is called a program, and a similar path is suggested", async () => {
  const problem = async (server: object) => {
    const [found] = await find(server);
    expect(found).toMatchObject({ code: "HandlerNotFound", path: ["script"], args: { isProgram: true } });
    return found?.args;
  };
  const near = await problem({ script: "./server/mian.js" });
  expect(near).toMatchObject({
    handler: "./server/mian.js",
    reason: expect.stringContaining('"server/mian.js"'),
    hint: expect.stringContaining('"./server/main.js"'),
  });
  const { handler: _, ...far } = { handler: "", ...(await problem({ script: "./dist/whatever.js" })) };
  for (const text of [near, far]) expect(argumentTexts(text)).not.toMatch(/handler|#export|\?\./);
});
