// A pack of several modules, definitions and a dependency: without any of them, validation fails at the right place.
import { expect, test } from "vitest";
import type { Tree } from "../support/tree.ts";
import { greetTool, prompt, toolset, validateTree } from "./validate-tree.ts";

const tool = (name: string, handler: string, fields: Record<string, unknown> = {}) => ({
  ...greetTool(handler, fields),
  name: `hello_${name}`,
});

/** The files of the pack, with the problem that each one leaves when it is removed: code and place. */
const files: Record<string, [content: Tree[string], code: string, place: string]> = {
  "trailblaze/tools/greet.json": [
    tool("greet", "./lib/greet.js#greet", { initialize: "./lib/setup.mjs" }),
    "MissingDefinitionFile",
    "trailblaze/tools/greet.json",
  ],
  "trailblaze/tools/shout.yaml": [
    `${JSON.stringify(tool("shout", "./lib/index.cjs#shout"), null, 2)}\n`,
    "MissingDefinitionFile",
    "trailblaze/tools/shout.json",
  ],
  "trailblaze/tools/count.mjs": [
    `import { name } from "../../lib/names.js";\nexport default ${JSON.stringify(tool("count", "./lib/count.js"), null, 2)};\n`,
    "MissingDefinitionFile",
    "trailblaze/tools/count.json",
  ],
  "trailblaze/toolsets.json": [
    {
      polite: toolset("polite", { tools: ["greet"], toolsets: ["loud"] }),
      loud: toolset("loud", { tools: ["shout"] }),
    },
    "MissingDefinitionFile",
    "trailblaze/toolsets/polite.json",
  ],
  "trailblaze/prompts/hello.json": [
    prompt("hello", { handler: "./lib/prompt.js#hello" }),
    "MissingDefinitionFile",
    "trailblaze/prompts/hello.json",
  ],
  "trailblaze/servers/desk.json": [
    {
      description: "The desk.",
      tools: ["greet"],
      toolsets: ["loud"],
      prompts: ["hello"],
      initialize: "./lib/open.js",
    },
    "MissingDefinitionFile",
    "trailblaze/servers/desk.json",
  ],
  "trailblaze/servers/door.json": [
    { description: "The door.", script: "./server/door.js" },
    "MissingDefinitionFile",
    "trailblaze/servers/door.json",
  ],
  "trailblaze/servers/clock.json": [
    { description: "The clock.", command: "node", args: ["./clock.mjs"], cwd: "./server" },
    "MissingDefinitionFile",
    "trailblaze/servers/clock.json",
  ],
  "lib/greet.js": [
    'import "./words.js";\nimport "#text";\nexport { greet } from "./say.js";\n',
    "HandlerNotFound",
    "trailblaze/tools/greet.json handler",
  ],
  "lib/words.js": [
    'import data from "./words.json" with { type: "json" };\nexport const later = () => import("./later.js");\n',
    "HandlerNotFound",
    "trailblaze/tools/greet.json handler",
  ],
  "lib/words.json": ["{}", "HandlerNotFound", "trailblaze/tools/greet.json handler"],
  "lib/later.js": ["export {};\n", "HandlerNotFound", "trailblaze/tools/greet.json handler"],
  "lib/text.js": ["export {};\n", "HandlerNotFound", "trailblaze/tools/greet.json handler"],
  "lib/say.js": [
    'import base from "@acme/base";\nexport const greet = () => base;\n',
    "HandlerNotFound",
    "trailblaze/tools/greet.json handler",
  ],
  "lib/setup.mjs": [
    "export default () => {};\n",
    "HandlerNotFound",
    "trailblaze/tools/greet.json initialize",
  ],
  "lib/index.cjs": [
    'const { loud } = require("./loud.cjs");\nexports.shout = loud;\n',
    "HandlerNotFound",
    "trailblaze/tools/shout.yaml handler",
  ],
  "lib/loud.cjs": ["exports.loud = () => 1;\n", "HandlerNotFound", "trailblaze/tools/shout.yaml handler"],
  "lib/names.js": ["export const name = 1;\n", "InvalidDefinitionContents", "trailblaze/tools/count.mjs"],
  "lib/count.js": ["export default () => 1;\n", "HandlerNotFound", "trailblaze/tools/count.mjs handler"],
  "lib/prompt.js": [
    "export const hello = () => 1;\n",
    "HandlerNotFound",
    "trailblaze/prompts/hello.json handler",
  ],
  "lib/open.js": ["export default () => {};\n", "HandlerNotFound", "trailblaze/servers/desk.json initialize"],
  "server/door.js": [
    'import "./lock.js";\nimport extra from "extra";\n',
    "HandlerNotFound",
    "trailblaze/servers/door.json script",
  ],
  "server/lock.js": ["export {};\n", "HandlerNotFound", "trailblaze/servers/door.json script"],
  "server/clock.mjs": [
    'await import("./hands.js");\n',
    "HandlerNotFound",
    "trailblaze/servers/clock.json args.0",
  ],
  "server/hands.js": ["export {};\n", "HandlerNotFound", "trailblaze/servers/clock.json args.0"],
};

const extension = {
  tools: ["greet", "shout", "count"],
  toolsets: ["polite", "loud"],
  prompts: ["hello"],
  servers: ["desk", "door", "clock"],
};
const fields = {
  type: "module",
  dependencies: { "@acme/base": "^1.0.0" },
  optionalDependencies: { extra: "^1.0.0" },
  imports: { "#text": "./lib/text.js" },
  files: ["lib", "server", "trailblaze"],
};

const tree = (without?: string): Tree =>
  Object.fromEntries(
    Object.entries(files).flatMap(([path, [content]]) => (path === without ? [] : [[path, content]])),
  );

const judge = async (without?: string, change: Record<string, unknown> = {}) =>
  (await validateTree({ extension, files: tree(without), fields: { ...fields, ...change } })).map(
    ({ code, severity, file, path, line }) => ({
      found: `${severity} ${code} ${[file, path?.join(".")].filter(Boolean).join(" ")}`,
      line,
    }),
  );

test("the whole pack is valid", async () => {
  expect(await judge()).toEqual([]);
});

test.each(Object.entries(files).map(([path, [, code, place]]) => ({ path, code, place })))(
  "without $path, the pack has $code at $place",
  async ({ path, code, place }) => {
    const found = (await judge(path)).map((one) => one.found);
    expect(found.filter((one) => one.startsWith("error"))).toContainEqual(
      expect.stringContaining(`error ${code} ${place}`),
    );
  },
);

test.each([
  ["dependencies", { dependencies: {} }, "UndeclaredDependency lib/say.js", 1],
  ["optionalDependencies", { optionalDependencies: {} }, "UndeclaredDependency server/door.js", 2],
  ["imports", { imports: {} }, "UndeclaredDependency lib/greet.js", 2],
  [
    "lib in files",
    { files: ["server", "trailblaze"] },
    "FileNotPublished trailblaze/tools/greet.json",
    undefined,
  ],
  [
    "server in files",
    { files: ["lib", "trailblaze"] },
    "FileNotPublished trailblaze/servers/door.json",
    undefined,
  ],
  [
    "trailblaze in files",
    { files: ["lib", "server"] },
    "FileNotPublished trailblaze/tools/greet.json",
    undefined,
  ],
  ["its name", { name: undefined }, "InvalidPackageManifest package.json", 1],
  ["its version", { version: undefined }, "InvalidPackageManifest package.json", 1],
] as const)("without %s, the pack has an error at the place", async (_what, change, problem, line) => {
  const found = await judge(undefined, change);
  const errors = found.filter((one) => one.found.startsWith(`error ${problem}`));
  expect(errors).not.toEqual([]);
  if (line !== undefined) expect(errors[0]?.line).toBe(line);
});
