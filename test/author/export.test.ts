import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const exportPack = (cwd: string, ...args: string[]) => runMain(["export", ...args], { cwd });
const readJson = (cwd: string, file: string) => JSON.parse(readFileSync(join(cwd, file), "utf8"));

/** A pack with a composed server that takes two variables of the user. */
const makeServerPack = (fields: object = {}, server: object = {}) =>
  makeTree({
    "package.json": packManifest("@acme/jira", {
      version: "1.2.0",
      mcpName: "io.github.acme/jira",
      author: "Ada <ada@acme.test>",
      homepage: "https://acme.test/jira",
      repository: { type: "git", url: "git+https://github.com/acme/jira.git" },
      bin: { jira: "bin/planning.mjs" },
      dependencies: { trailblaze: "^1.0.0" },
      files: ["trailblaze", "bin", "server.js"],
      trailblaze: { servers: [["planning", "Plans work."]] },
      ...fields,
    }),
    "trailblaze/servers/planning.json": {
      script: "./server.js",
      envPassthrough: ["JIRA_URL", "JIRA_TOKEN"],
      mcpServerName: "jira",
      ...server,
    },
    "server.js": "",
    "bin/planning.mjs": "",
  });

const npx = ["-y", "--package=@acme/jira@1.2.0", "jira"];

describe("the command export", () => {
  test("export bin writes a program and adds it to package.json, whose formatting stays", async () => {
    const manifest = `{
    "dependencies": {"zod": "^4.0.0"},
    "name": "@acme/jira",
    "version": "1.2.0",
    "license": "MIT", "keywords": ["trailblaze-extension"],
    "type": "module",
    "files": ["trailblaze", "server.js"],
    "trailblaze": { "servers": [["planning", "Plans work."]] }
}
`;
    const wanted = manifest
      .replace('{"zod": "^4.0.0"}', '{\n        "zod": "^4.0.0",\n        "trailblaze": "HOST"\n    }')
      .replace(
        '["trailblaze", "server.js"]',
        '[\n        "trailblaze",\n        "server.js",\n        "bin/planning.mjs"\n    ]',
      )
      .replace('work."]] }', 'work."]] },\n    "bin": {\n        "jira": "bin/planning.mjs"\n    }');
    const cwd = makeTree({
      "package.json": manifest,
      "trailblaze/servers/planning.json": { script: "./server.js" },
      "server.js": "",
    });
    const { stdout, stderr, exitCode } = await exportPack(cwd, "bin");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toBe("bin/planning.mjs: written\npackage.json: written\n");
    const program = join(cwd, "bin/planning.mjs");
    expect(readFileSync(program, "utf8")).toMatch(
      /^#!\/usr\/bin\/env node\n.*startServer\("acme\/jira\/planning"/s,
    );
    expect(statSync(program).mode & 0o111).toBe(0o111);
    const after = readFileSync(join(cwd, "package.json"), "utf8");
    expect(after.replace(/"trailblaze": "\^[\d.]+"/, '"trailblaze": "HOST"')).toBe(wanted);
    const again = await exportPack(cwd, "bin");
    expect(again.stdout).toBe("bin/planning.mjs: unchanged\n");
    expect(readFileSync(join(cwd, "package.json"), "utf8")).toBe(after);
  });

  /** What manifests of plugins take from package.json. */
  const ofPackage = {
    version: "1.2.0",
    description: "The pack @acme/jira.",
    author: { name: "Ada <ada@acme.test>" },
    homepage: "https://acme.test/jira",
    repository: "https://github.com/acme/jira",
    license: "MIT",
    keywords: ["trailblaze-extension"],
  };

  test("export agent-plugin writes a manifest and its servers, and reports variables without a place", async () => {
    const cwd = makeServerPack();
    const { stdout, stderr, exitCode } = await exportPack(cwd, "agent-plugin");
    expect(exitCode).toBe(0);
    expect(stdout).toBe("plugin.json: written\nmcp.json: written\npackage.json: written\n");
    expect(stderr.match(/warning EnvironmentNotExported/g)).toHaveLength(2);
    expect(readJson(cwd, "plugin.json")).toEqual({
      $schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
      name: "acme.jira",
      ...ofPackage,
      extensions: { "trailblaze.export": { server: "acme/jira/planning" } },
    });
    const args = ["-y", "--prefix", "${PLUGIN_DATA}", ...npx.slice(1)];
    expect(readJson(cwd, "mcp.json")).toEqual({
      $schema: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
      mcpServers: { jira: { type: "stdio", command: "npx", args } },
    });
    expect(readJson(cwd, "package.json").files.slice(3)).toEqual(["plugin.json", "mcp.json"]);
  });

  test("export claude-plugin asks for the variables and names the hosts", async () => {
    const needs = { env: ["JIRA_URL", "JIRA_TOKEN"], network: ["api.acme.test"] };
    const cwd = makeServerPack({ trailblaze: { servers: [["planning", "Plans work."]], needs } });
    const { stderr, exitCode } = await exportPack(cwd, "claude-plugin");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const plugin = readJson(cwd, ".claude-plugin/plugin.json");
    expect(plugin).toEqual({
      name: "acme-jira",
      ...ofPackage,
      network: { hosts: ["api.acme.test"] },
      mcpServers: {
        jira: {
          command: "npx",
          args: ["-y", "--prefix", "${CLAUDE_PLUGIN_DATA}", ...npx.slice(1)],
          env: { JIRA_URL: "${user_config.JIRA_URL}", JIRA_TOKEN: "${user_config.JIRA_TOKEN}" },
        },
      },
      userConfig: {
        JIRA_URL: { type: "string", title: "JIRA_URL", description: expect.any(String), sensitive: false },
        JIRA_TOKEN: { type: "string", title: "JIRA_TOKEN", description: expect.any(String), sensitive: true },
      },
    });
  });

  test("export server.json describes the package for the MCP registry", async () => {
    const cwd = makeServerPack();
    expect((await exportPack(cwd, "server.json", "planning")).exitCode).toBe(0);
    expect(readJson(cwd, "server.json")).toEqual({
      $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
      name: "io.github.acme/jira",
      description: "The pack @acme/jira.",
      version: "1.2.0",
      websiteUrl: "https://acme.test/jira",
      repository: { url: "https://github.com/acme/jira", source: "github" },
      packages: [
        {
          registryType: "npm",
          identifier: "@acme/jira",
          version: "1.2.0",
          runtimeHint: "npx",
          transport: { type: "stdio" },
          environmentVariables: [
            { name: "JIRA_URL", description: expect.any(String), isSecret: false },
            { name: "JIRA_TOKEN", description: expect.any(String), isSecret: true },
          ],
        },
      ],
    });
  });

  test.each([
    ["server.json", { mcpName: undefined }, "ExportNeedsMcpName"],
    ["server.json", { description: "x".repeat(101) }, "ExportDescriptionTooLong"],
    ["server.json", { bin: { plan: "bin/planning.mjs", other: "server.js" } }, "ExportNeedsBin"],
    ["claude-plugin", { bin: undefined }, "ExportNeedsBin"],
    ["claude-plugin", { name: "@acme/my_jira" }, "ExportNameUnusable"],
    ["agent-plugin", { name: "a".repeat(65) }, "ExportNameUnusable"],
    ["bin", { trailblaze: {} }, "ServerNotFound"],
  ])("export %s of a package with %j fails and writes nothing", async (format, fields, code) => {
    const cwd = makeServerPack(fields);
    const before = execFileSync("ls", ["-aR", cwd], { encoding: "utf8" });
    const { stderr, exitCode } = await exportPack(cwd, format);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(`error ${code}`) });
    expect(execFileSync("ls", ["-aR", cwd], { encoding: "utf8" })).toBe(before);
  });

  test("export refuses a pack that is invalid, and shows its errors", async () => {
    const cwd = makeServerPack({}, { script: "./gone.js" });
    const { stdout, exitCode } = await exportPack(cwd, "bin", "--json");
    expect(exitCode).toBe(1);
    const { files, problems } = JSON.parse(stdout);
    expect(files).toEqual([]);
    expect(problems.map(({ code }: { code: string }) => code)).toContain("HandlerNotFound");
    expect(existsSync(join(cwd, "server.json"))).toBe(false);
  });

  test("export replaces a file with other contents only with --force", async () => {
    const [format, file] = ["claude-plugin", ".claude-plugin/plugin.json"];
    const cwd = makeServerPack();
    expect((await exportPack(cwd, format)).exitCode).toBe(0);
    const written = readFileSync(join(cwd, file), "utf8");
    writeFileSync(join(cwd, file), written.replaceAll("\n", "\r\n"));
    expect((await exportPack(cwd, format)).exitCode).toBe(0);
    for (const text of [written.replace('"1.2.0"', '"1.1.0"'), "{", "theirs"]) {
      writeFileSync(join(cwd, file), text);
      const stderr = expect.stringContaining(`error ExportConflict  ${file}`);
      expect(await exportPack(cwd, format)).toMatchObject({ exitCode: 1, stderr });
      expect(readFileSync(join(cwd, file), "utf8")).toBe(text);
    }
    expect((await exportPack(cwd, format, "--force")).exitCode).toBe(0);
    expect(readFileSync(join(cwd, file), "utf8")).toBe(written);
  });

  test("export bin replaces no list of commands in package.json", async () => {
    const cwd = makeServerPack({ bin: ["cli.js"] });
    rmSync(join(cwd, "bin/planning.mjs"));
    const refused = await exportPack(cwd, "bin");
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('"bin.jira"') });
    expect(readJson(cwd, "package.json").bin).toEqual(["cli.js"]);
  });

  test("export refuses to write through a link", async () => {
    const cwd = makeServerPack();
    const target = join(makeTree({ "theirs.json": "{}" }), "theirs.json");
    symlinkSync(target, join(cwd, "server.json"));
    const refused = await exportPack(cwd, "server.json");
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("ExportConflict") });
    expect(readFileSync(target, "utf8")).toBe("{}");
  });

  test("export --dry-run shows a diff, --check fails for a missing file, and both write nothing", async () => {
    const cwd = makeServerPack();
    const dry = await exportPack(cwd, "server.json", "--dry-run");
    expect(dry.exitCode).toBe(0);
    expect(dry.stdout).toContain("--- /dev/null\n+++ server.json\n");
    const missing = await exportPack(cwd, "server.json", "--check");
    expect(missing.exitCode).toBe(1);
    expect(missing.stdout).toContain("server.json: is out of date\n");
    expect(existsSync(join(cwd, "server.json"))).toBe(false);
    await exportPack(cwd, "server.json");
    const done = await exportPack(cwd, "server.json", "--check");
    expect(done).toMatchObject({ stdout: "server.json: is up to date\n", exitCode: 0 });
  });
});
