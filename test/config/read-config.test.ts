import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { failureOf } from "../support/failure-of.ts";
import { completeConfig } from "./complete-config.ts";
import { makeProject, readFrom, readObject } from "./configs.ts";

const defaults = {
  device: undefined,
  preferHostAgent: true,
  memory: new Map(),
  sensitiveMemory: [],
  packs: { allow: undefined, deny: [], transitive: [], onError: "skip", memory: "all", autoInstall: [] },
  lock: { frozen: false, workspace: false, unlocked: [] },
  options: new Map(),
  toolsets: new Map(),
  servers: [],
  builtIns: [],
  nameCollisions: undefined,
  crash: "fail",
  isolation: undefined,
  callback: {
    enabled: true,
    timeoutMs: 120_000,
    maxDepth: 16,
    maxBodyBytes: 1_048_576,
    bodyTimeoutMs: 10_000,
  },
  timeouts: { handshakeMs: 60_000, listMs: 60_000, callMs: 120_000, inputMs: 600_000 },
  logDir: undefined,
  subprocessServers: [],
  labels: [],
  problems: [],
};

/** What is read of a file, besides the values. */
const placeOf = (root: string, file: string) => ({
  file: join(root, file),
  text: expect.objectContaining({ file }),
  directory: root,
  project: root,
});

describe("a config without values equals the contract's defaults", () => {
  test("a project without a config file has the defaults", async () => {
    const root = makeProject();
    expect(await readFrom(root)).toEqual({ file: undefined, directory: root, project: root, ...defaults });
  });

  const nulls = Object.keys(completeConfig)
    .filter((key) => !key.startsWith("x-"))
    .map((key) => `${key}:\n`)
    .join("");
  test.each([
    ["trailblaze.config.yaml", ""],
    ["trailblaze.config.yaml", "\uFEFF---\n"],
    ["trailblaze.config.yaml", nulls],
    [
      "trailblaze.config.yaml",
      "packs: { allow: , memory: }\nlock: { frozen: , unlocked: }\ncallback: { maxDepth: }\ntimeouts: {}\n",
    ],
    ["trailblaze.config.json", '\uFEFF{ "$schema": "node_modules/trailblaze/schema/config.schema.json" }'],
  ])("the empty config %s, %j, has the defaults", async (file, text) => {
    const root = makeProject({ [file]: text });
    expect(await readFrom(root)).toEqual({ ...placeOf(root, file), ...defaults });
  });
});

/** What a server of the list has that sets nothing but its command. */
const serverDefaults = {
  args: [],
  cwd: ".",
  env: {},
  headers: {},
  configEnvFile: ".env",
  isListed: true,
  choices: { deny: [] },
};

/** What `completeConfig` becomes for a project in this folder. */
const complete = (root: string) => ({
  ...completeConfig,
  "x-team": undefined,
  trailblazeSubprocessToolsets: undefined,
  mcpServers: undefined,
  device: { ...completeConfig.device, platform: "WEB" },
  memory: new Map(Object.entries(completeConfig.memory)),
  packs: { ...completeConfig.packs, memory: { "acme/jira": ["userId"], notes: [] } },
  options: new Map<string, unknown>([
    ["acme/jira/createIssue", { maxResults: 10 }],
    ["myapp_login", { retries: null }],
  ]),
  toolsets: new Map(Object.entries(completeConfig.toolsets)),
  servers: [
    { name: "my-server", ...completeConfig.servers["my-server"], skills: [] },
    { name: "other", tools: [], toolsets: [], prompts: [], resources: [], skills: [] },
  ],
  builtIns: [
    {
      ...completeConfig.builtIns[0],
      inputSchema: { type: "object", properties: { user: { type: "string" } }, required: ["user"] },
    },
  ],
  logDir: join(root, "logs"),
  subprocessServers: [
    {
      ...serverDefaults,
      name: "My API tools",
      path: ["trailblazeSubprocessToolsets", 0],
      command: "node",
      cwd: "./tools",
      args: ["./my-mcp-server.js", ""],
      env: { API_BASE_URL: "https://api.example.com", EMPTY: "", TOKEN: { file: "./token" } },
      envFile: "own.env",
      legacyContext: false,
      protocol: "modern",
      results: { maxChars: 100 },
      timeouts: { handshakeMs: 1, listMs: 2, callMs: -1 },
      choices: { ...completeConfig.trailblazeSubprocessToolsets[0]?.tools, prefix: "api", toolset: "auth" },
    },
    { ...serverDefaults, name: "plain", path: ["trailblazeSubprocessToolsets", 1], command: "plain" },
    {
      ...serverDefaults,
      name: "my files",
      path: ["mcpServers", "my files"],
      command: "npx",
      args: ["-y", "files"],
      env: { ROOT: "." },
      isListed: false,
      context: true,
      legacyContext: false,
    },
  ],
  labels: ["My API tools", "plain", "off", "my files", "later"],
  problems: [],
});

describe("reading every key of a config", () => {
  test.each([
    ["trailblaze.config.yaml", stringify(completeConfig)],
    ["trailblaze.config.json", completeConfig],
  ])("every key is read from %s", async (file, content) => {
    const root = makeProject({ [file]: content });
    expect(await readFrom(root)).toEqual({ ...placeOf(root, file), ...complete(root) });
  });

  test("every key is read from an object, which is not modified", async () => {
    const given = structuredClone(completeConfig);
    const config = await readObject(given);
    expect(config).toEqual({ file: undefined, directory: "/work", project: "/work", ...complete("/work") });
    expect(given).toEqual(completeConfig);
    given.sensitiveMemory.push("userId");
    given.toolsets.auth.push("more");
    expect(config.sensitiveMemory).toEqual(["token"]);
    expect(config.toolsets.get("auth")).toHaveLength(3);
  });
});

describe("a config that is named by its path", () => {
  const files = {
    "trailblaze.config.yaml": "crash: no such thing",
    "configs/ci.yml": "crash: isolate\nlogDir: logs",
    "configs/CI.JSON": '{ "crash": "isolate", "logDir": "logs" }',
    "configs/other.yaml": "crash: isolate\nlogDir: logs",
  };

  test.each([
    ["configs/ci.yml", undefined],
    ["ci.yml", "configs"],
    ["./configs/other.yaml", "."],
  ])("relative paths in %s (given as %s) start from the config's folder", async (path, cwd) => {
    const root = makeProject(files);
    const config = await readFrom(root, path, cwd && join(root, cwd));
    expect(config).toMatchObject({ crash: "isolate", directory: join(root, "configs") });
    expect(config.logDir).toBe(join(root, "configs/logs"));
  });

  test("the path of a config may be absolute, outside the project, and a link", async () => {
    const real = makeProject({ "ci.yaml": "crash: isolate" });
    const elsewhere = makeProject();
    const link = join(elsewhere, "link.yaml");
    symlinkSync(join(real, "ci.yaml"), link);
    const config = await readFrom(makeProject(), link);
    expect(config).toMatchObject({ crash: "isolate", file: link, directory: elsewhere });
  });

  test.each([
    ["configs/ci.yaml", /does not exist/],
    ["folder.yaml", /folder/],
    ["large.json", /\b1048578\b/],
  ])("%s cannot be used as a config", async (path, words) => {
    const root = makeProject({ "folder.yaml/x": "", "large.json": `{}${" ".repeat(1 << 20)}` });
    const problem = await failureOf(readFrom(root, path));
    expect(problem).toMatchObject({ code: "InvalidConfig", file: path });
    expect(problem.args).toMatchObject({ reason: expect.stringMatching(words) });
  });
});

describe("two config files in one project", () => {
  test("two config files are an error unless a path selects one", async () => {
    const root = makeProject({
      "trailblaze.config.yaml": "crash: isolate",
      "trailblaze.config.json": { crash: "fail" },
    });
    expect(await failureOf(readFrom(root))).toMatchObject({
      code: "InvalidConfig",
      args: { reason: expect.stringMatching(/trailblaze.config.yaml.*trailblaze.config.json/) },
    });
    expect((await readFrom(root, "trailblaze.config.json")).crash).toBe("fail");
  });
});
