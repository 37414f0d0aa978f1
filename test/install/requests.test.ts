import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { makeInstallPlace, script } from "./install-place.ts";

const server = "acme/jira/project-management";

describe("an invalid install request", () => {
  test.each([
    ["an unknown client", "cursr", server, {}, "UnknownClient"],
    ["a client without a project config", "claude-desktop", server, { scope: "project" }, "NoProjectScope"],
    ["a client of another operating system", "visual-studio", server, {}, "UnknownInstallLocation"],
    ["a server that does not exist", "cursor", "acme/jira/nothing", {}, "ServerNotFound"],
    ["a server that refers to a missing pack", "cursor", "weather/dangling", {}, "PackNotInstalled"],
    ["a server of the config that refers to a missing tool", "cursor", "broken", {}, "ToolNotFound"],
    ["a range that excludes the pack", "cursor", "acme/jira@^2/named", {}, "PackVersionMismatch"],
    ["a malformed name", "cursor", "a//b", {}, "InvalidQualifiedName"],
    ["an entry name with invisible characters", "cursor", server, { name: "a\u202Eb" }, "InvalidArguments"],
    ["a reserved entry name", "cursor", server, { name: "__proto__" }, "InvalidArguments"],
    ["an entry name that the client rejects", "codex", server, { name: "a b" }, "InvalidArguments"],
    ["a variable with an invalid name", "cursor", server, { env: ["A B=x"] }, "InvalidArguments"],
  ])("an install request with %s is rejected and writes nothing", async (_, client, name, options, code) => {
    const place = makeInstallPlace();
    const request = place.install(client as string, name as string, options as object);
    await expect(request).rejects.toMatchObject({ code });
    expect(readdirSync(place.root).sort()).toEqual(["home", "project"]);
    expect(readdirSync(place.home)).toEqual([".keep"]);
  });

  test("an install without a home folder fails unless a file is named", async () => {
    const place = makeInstallPlace();
    Object.assign(place.environment, { HOME: undefined, USERPROFILE: undefined });
    await expect(place.install("cursor", server)).rejects.toMatchObject({
      code: "UnknownInstallLocation",
      message: expect.stringContaining("HOME is not set"),
    });
    const file = join(place.home, "named.json");
    expect(await place.install("cursor", server, { file })).toMatchObject({ changed: true, file });
  });

  test("an install from npx's cache is rejected", async () => {
    const place = makeInstallPlace({ "project/_npx/1f/package.json": { name: "app" } });
    const cwd = join(place.project, "_npx/1f");
    mkdirSync(join(cwd, "node_modules"));
    symlinkSync(inRepository("."), join(cwd, "node_modules/trailblaze"));
    await expect(place.install("cursor", null, { cwd })).rejects.toMatchObject({
      code: "InvalidArguments",
      message: expect.stringContaining("npx's cache"),
    });
  });

  test.each([
    ["[]", { line: 1, column: 1 }],
    ['{\n  "mcpServers": []\n}', { line: 2, column: 17 }],
    ['{\n  "a": 1,\n  "a": 2\n}', { line: 3, column: 3 }],
  ])(
    "install and uninstall reject this broken config, with its place, and leave it unchanged: %s",
    async (text, found) => {
      const place = makeInstallPlace({ "home/.cursor/mcp.json": text });
      const file = join(place.home, ".cursor/mcp.json");
      for (const run of [place.install, place.uninstall]) {
        await expect(run("cursor", server)).rejects.toMatchObject({
          code: "ClientConfigMalformed",
          problem: { file, ...found },
        });
        expect(readFileSync(file, "utf8")).toBe(text);
      }
      expect(readdirSync(join(place.home, ".cursor"))).toEqual(["mcp.json"]);
    },
  );

  test("an install rejects a config that is not UTF-8 or not a file", async () => {
    const place = makeInstallPlace();
    const file = join(place.home, "odd");
    writeFileSync(file, Buffer.from([0xff, 0xfe, 0x7b, 0x00]));
    const code = "ClientConfigMalformed";
    await expect(place.install("cursor", server, { file })).rejects.toMatchObject({ code });
    mkdirSync(join(place.home, "folder"));
    await expect(place.install("cursor", server, { file: join(place.home, "folder") })).rejects.toMatchObject(
      { code },
    );
  });
});

describe("the entry of a server", () => {
  const entryOf = (file: string, key: string) => JSON.parse(readFileSync(file, "utf8")).mcpServers[key];

  test("an entry has the name that the server's author chose, adapted to the client", async () => {
    const place = makeInstallPlace();
    expect(await place.install("cursor", "acme/jira/named")).toMatchObject({ key: "Acme Jira" });
    expect(await place.install("claude-code", "acme/jira/named")).toMatchObject({ key: "Acme-Jira" });
    expect(await place.install("cursor", "weather/coded")).toMatchObject({ key: "Coded" });
    expect(await place.install("cursor", "own")).toMatchObject({ key: "own" });
  });

  test("an entry references environment variables, or omits them with a note", async () => {
    const place = makeInstallPlace();
    const cursor = await place.install("cursor", "acme/jira/program", { env: { OTHER: null, PLAIN: "x" } });
    expect(entryOf(cursor.file, "program").env).toEqual({
      PLAIN: "x",
      OTHER: "${env:OTHER}",
      JIRA_TOKEN: "${env:JIRA_TOKEN}",
    });
    const plan = await place.planInstall("claude-desktop", "acme/jira/program");
    expect(plan.entry).toMatchObject({ command: expect.anything() });
    expect(JSON.stringify(plan.entry)).not.toContain("JIRA_TOKEN");
    expect(plan.notes[0]).toMatch(/^Omitted.* JIRA_TOKEN\./);
    const two = await place.planInstall("claude-desktop", "acme/jira/program", { env: ["OTHER"] });
    expect(two.notes[0]).toMatch(/^Omitted.* OTHER, JIRA_TOKEN\..* to the entry/);
    const given = await place.planInstall("claude-desktop", "acme/jira/program", { env: ["JIRA_TOKEN=t"] });
    expect(given.entry).toMatchObject({ env: { JIRA_TOKEN: "t" } });
    expect(given.notes.join()).not.toContain("JIRA_TOKEN");
  });

  test("an entry of an HTTP server starts it over stdio", async () => {
    const place = makeInstallPlace();
    for (const name of ["weather/over-http", "web"]) {
      const { file, key } = await place.install("cursor", name);
      expect(entryOf(file, key).args.at(-1)).toBe("--stdio");
    }
  });

  test("an entry keeps the requested version range, and is uninstalled without it", async () => {
    const place = makeInstallPlace();
    const ranged = "@acme/jira@^1.2/project-management";
    const { file } = await place.install("cursor", ranged);
    expect(entryOf(file, "project-management").args).toEqual([
      script,
      "start",
      "acme/jira@^1.2/project-management",
      "--cwd",
      place.project,
    ]);
    expect(await place.uninstall("cursor", server)).toMatchObject({ changed: true, server });
  });
});

test("the plan of an install is applied to the current content of the file", async () => {
  const place = makeInstallPlace({ "home/.cursor/mcp.json": "{}" });
  const plan = await place.planInstall("cursor", "mine");
  writeFileSync(plan.file, '{ "other": 1 }');
  await place.apply(plan);
  expect(JSON.parse(readFileSync(plan.file, "utf8"))).toMatchObject({ other: 1, mcpServers: { mine: {} } });
  const again = await place.planInstall("cursor", server);
  writeFileSync(plan.file, '{"mcpServers":{"project-management":{"command":"theirs"}}}');
  await expect(place.apply(again)).rejects.toMatchObject({ code: "ClientConfigConflict" });
});
