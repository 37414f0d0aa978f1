// Programs that a subprocess server names, and variables in its definition.
import { describe, expect, test } from "vitest";
import { validateTree } from "./validate-tree.ts";

const base = {
  "node_modules/@acme/base/package.json": {
    name: "@acme/base",
    version: "1.2.0",
    bin: { "base-mcp": "./cli.js", docker: "./docker.js" },
  },
  "node_modules/@acme/base/cli.js": "",
  "node_modules/plain-mcp/cli.js": "",
  "node_modules/.bin/base-mcp": "",
  "node_modules/.bin/stray": "",
  "node_modules/plain-mcp/package.json": { name: "plain-mcp", version: "2.0.0", bin: "./cli.js" },
  "node_modules/stray/package.json": { name: "stray", version: "1.0.0", bin: "./cli.js" },
};
const fields = { dependencies: { "@acme/base": "^1.0.0" }, peerDependencies: { "plain-mcp": "2" } };

async function judge(server: Record<string, unknown>) {
  const problems = await validateTree({
    extension: { servers: ["desk"] },
    files: {
      ...base,
      "server/main.js": "run();",
      "bin/my server": "#!/bin/sh\n",
      "trailblaze/servers/desk.json": server,
    },
    fields,
  });
  return problems.map(({ code, severity, path = [], args }) => ({
    found: `${severity} ${code} ${path.join(".")}`,
    args: args as Record<string, unknown>,
  }));
}

describe("commands with arguments", () => {
  test("a command with arguments is an error whose hint shows the split", async () => {
    const words = ["node", "./server/main.js", "--verbose"];
    const problems = await judge({ command: words.join(" ") });
    expect(problems.map(({ found }) => found)).toEqual(["error InvalidServerDefinition command"]);
    for (const word of words) expect(problems[0]?.args.hint).toContain(JSON.stringify(word));
  });

  test("a path with arguments is HandlerNotFound with a hint to use `args`", async () => {
    const problems = await judge({ command: "./server/main.js --verbose" });
    expect(problems.map(({ found }) => found)).toEqual(["error HandlerNotFound command"]);
    expect(problems[0]?.args.hint).toContain("`args`");
  });

  test.each(["./bin/my server", "/opt/My Server/run", "C:\\Program Files\\nodejs\\node.exe"])(
    "a path with spaces is not split: %s",
    async (command) => {
      const codes = (await judge({ command })).map(({ found }) => found);
      expect(codes.filter((found) => found.includes("InvalidServerDefinition"))).toEqual([]);
    },
  );
});

describe("commands of a dependency", () => {
  test("the command of a dependency is an error that names the package", async () => {
    const problems = await judge({ command: "base-mcp", args: ["--stdio"] });
    expect(problems.map(({ found }) => found)).toEqual(["error InvalidServerDefinition command"]);
    expect(problems[0]?.args).toMatchObject({
      reason: expect.stringContaining('"@acme/base"'),
      hint: expect.stringContaining("`package: @acme/base` and `bin: base-mcp`"),
    });
  });

  test.each(["docker", "stray"])("the command %s is not attributed to a dependency", async (command) => {
    const found = (await judge({ command })).map((one) => one.found);
    expect(found.filter((one) => one.startsWith("error"))).toEqual([]);
  });
});

test.each([
  [{ command: "./node_modules/.bin/base-mcp" }, "command", "`package: @acme/base` and `bin: base-mcp`"],
  [
    { command: "node", args: ["node_modules/@acme/base/cli.js"] },
    "args.0",
    "`command` with `package: @acme/base`",
  ],
  [{ command: "./node_modules/.bin/stray" }, "command", "`package`"],
])("a program in node_modules is an error with a hint to use `package`: %j", async (server, path, keys) => {
  const problems = await judge(server);
  expect(problems.map(({ found }) => found)).toEqual([`error InvalidServerDefinition ${path}`]);
  expect(problems[0]?.args.hint).toContain(keys);
});

describe("programs outside the package", () => {
  test.each(["mcp-server-nope", "stray", "/opt/server/run"])(
    "HandlerUnchecked is reported for the program %s outside the package",
    async (command) => {
      const problems = await judge({ command });
      expect(problems.map(({ found }) => found)).toEqual(["info HandlerUnchecked command"]);
      expect(problems[0]?.args).toMatchObject({ handler: command });
    },
  );

  test.each([
    { command: "node", args: ["./server/main.js"] },
    { command: "npx", args: ["-y", "some-server"] },
    { command: "./bin/my server" },
    { script: "./server/main.js" },
  ])("validate accepts the server %j", async (server) => {
    expect(await judge(server)).toEqual([]);
  });
});

const node = { command: "node", args: ["./server/main.js"] };

describe("UnexpandedVariable", () => {
  test.each([
    [{ ...node, env: { TOKEN: "${TOKEN}" } }, "env.TOKEN", { variable: "${TOKEN}", name: "TOKEN" }],
    [{ command: "${SERVER}" }, "command", { variable: "${SERVER}", name: "SERVER" }],
    [{ ...node, cwd: "${PWD}" }, "cwd", { variable: "${PWD}", name: "PWD" }],
    [{ ...node, env: { A: "${env:TOKEN}" } }, "env.A", { variable: "${env:TOKEN}", name: "TOKEN" }],
    [
      { command: "node", args: ["./server/main.js", "--root=${workspaceFolder}"] },
      "args.1",
      { variable: "${workspaceFolder}", name: undefined },
    ],
  ])("UnexpandedVariable is reported once for %j", async (server, path, args) => {
    const problems = await judge(server);
    expect(problems.map(({ found }) => found)).toContain(`error UnexpandedVariable ${path}`);
    expect(problems.filter(({ found }) => found.includes(` ${path}`))).toHaveLength(1);
    expect(problems.find(({ found }) => found.includes("UnexpandedVariable"))?.args).toEqual(args);
  });

  test.each([
    { command: "sh", args: ["-c", "exec node ./server/main.js --home ${HOME}"] },
    { command: "node", args: ["-e", "console.error(`${process}`)"] },
    { ...node, env: { A: "$HOME", B: "$${HOME}", C: "{HOME}", D: "${{ a }}", E: "${a%b}", F: "${}" } },
  ])("UnexpandedVariable is not reported for %j", async (server) => {
    expect(await judge(server)).toEqual([]);
  });
});
