import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { answerOf as run } from "../support/main.ts";
import { makeTree } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";

/** A project with a server of its own config, and a home, which the environment names. */
function makePlace() {
  const root = makeTree({
    "home/.cursor/mcp.json": "{}",
    "home/.codex/config.toml": '# mine\nmodel = "x"\n',
    "home/.config/goose/config.yaml": "GOOSE_MODEL: x # mine\n",
    "project/package.json": { name: "app" },
    "project/trailblaze.config.yaml": "servers:\n  mine: { tools: [] }\n",
  });
  const home = join(root, "home");
  vi.stubEnv("HOME", home);
  vi.stubEnv("USERPROFILE", home);
  for (const name of ["XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME", "CLAUDE_CONFIG_DIR", "XDG_STATE_HOME"])
    vi.stubEnv(name, undefined);
  return { root, home, project: join(root, "project") };
}

const plain = { color: false, width: undefined };

describe("the command install", () => {
  test("`install` prints a JSON document, or text with the next steps", async () => {
    const { project, home } = makePlace();
    const file = join(home, ".cursor/mcp.json");
    const answer = await run(project, "install", "cursor", "mine", "--env", "A=1", "--env", "TOKEN");
    expect(answer.json).toEqual({
      client: "cursor",
      server: "mine",
      file,
      key: "mine",
      changed: true,
      backup: expect.stringContaining(join(home, ".local/state/trailblaze/backups")),
      diff: expect.stringContaining('+    "mine": {'),
    });
    const text = answer.formatText?.(plain);
    expect(text).toContain(`Installed mine in cursor as "mine": ${file}`);
    expect(text).toContain("Restart Cursor");
    const { args, env, command } = JSON.parse(readFileSync(file, "utf8")).mcpServers.mine;
    expect(command).toBe(process.execPath);
    expect(args).toEqual([inRepository("dist/cli/cli.cjs"), "start", "mine", "--cwd", project]);
    expect(env).toEqual({ A: "1", TOKEN: "${env:TOKEN}" });

    const again = await run(project, "install", "cursor", "mine", "--env", "A=1", "--env", "TOKEN");
    expect(again.formatText?.(plain)).toContain("Nothing to do");
    expect((await run(project, "uninstall", "cursor", "mine")).json).toMatchObject({ changed: true });
    expect(existsSync(file)).toBe(false);
  });

  test("`install --dry-run` prints the diff and writes nothing", async () => {
    const { project, home } = makePlace();
    const answer = await run(project, "install", "codex", "mine", "--dry-run");
    expect(answer.json).toMatchObject({ changed: true, backup: null });
    expect(answer.formatText?.(plain)).toContain("+[mcp_servers.mine]");
    expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toBe('# mine\nmodel = "x"\n');
    expect(existsSync(join(home, ".local"))).toBe(false);
  });

  test("`install --all` installs into every detected client and reports those whose config cannot be edited", async () => {
    const { project, home } = makePlace();
    for (const folder of [".kiro/settings", ".grok"]) mkdirSync(join(home, folder), { recursive: true });
    writeFileSync(join(home, ".kiro/settings/mcp.json"), "{");
    writeFileSync(join(home, ".grok/config.toml"), "mcp_servers = {}\n");
    const answer = await run(project, "install", "mine", "--all");
    const { results } = answer.json as { results: Record<string, unknown>[] };
    expect(results.map(({ client, changed }) => [client, changed])).toEqual([
      ["codex", true],
      ["cursor", true],
      ["goose", true],
      ["grok", undefined],
      ["kiro", undefined],
    ]);
    expect(results[4]).toMatchObject({ server: "mine", error: { code: "ClientConfigMalformed", line: 1 } });
    expect(answer.problems?.map(({ code, hint }) => [code, hint])).toEqual([
      ["ClientConfigUnwritable", expect.stringContaining("mine = {")],
      ["ClientConfigMalformed", expect.anything()],
    ]);
    writeFileSync(join(home, ".kiro/settings/mcp.json"), "");
    expect((await run(project, "uninstall", "mine", "--all")).problems).toEqual([]);
    expect(readFileSync(join(home, ".codex/config.toml"), "utf8")).toBe('# mine\nmodel = "x"\n');
    expect(readFileSync(join(home, ".config/goose/config.yaml"), "utf8")).toBe("GOOSE_MODEL: x # mine\n");
  });

  test("`install --all` writes nothing for an invalid request", async () => {
    const { project, home } = makePlace();
    // Codex rejects this name. Cursor, which comes after it, accepts it.
    const code = "InvalidArguments";
    await expect(run(project, "install", "mine", "--all", "--name", "a b")).rejects.toMatchObject({ code });
    await expect(run(project, "install", "absent", "--all")).rejects.toMatchObject({
      code: "ServerNotFound",
    });
    expect(readFileSync(join(home, ".cursor/mcp.json"), "utf8")).toBe("{}");
    expect(readFileSync(join(home, ".config/goose/config.yaml"), "utf8")).toBe("GOOSE_MODEL: x # mine\n");
  });

  test.each([
    [[]],
    [["cursor", "mine", "--all"]],
    [["mine", "--all", "--file", "x"]],
    [["cursor", "mine", "--scope", "global"]],
  ])("`install` rejects the arguments %j", async (args) => {
    const { project } = makePlace();
    await expect(run(project, "install", ...args)).rejects.toMatchObject({ code: "InvalidArguments" });
  });

  test("`install --all` without a server installs the session into every detected client", async () => {
    const { project } = makePlace();
    const { json } = await run(project, "install", "--all");
    const ofClient = (client: string) => ({ client, server: null, key: "trailblaze", changed: true });
    const results = ["codex", "cursor", "goose"].map(ofClient);
    expect(json).toMatchObject({ results });
    const removed = await run(project, "uninstall", "--all");
    expect(removed.json).toMatchObject({ results: results.map(() => ({ server: null, changed: true })) });
    vi.stubEnv("HOME", project);
    vi.stubEnv("USERPROFILE", project);
    await expect(run(project, "install", "nope", "--all")).rejects.toMatchObject({ code: "ServerNotFound" });
  });
});

test("`clients` lists the clients", async () => {
  const { project } = makePlace();
  const answer = await run(project, "clients");
  expect(answer.json).toMatchObject({
    clients: expect.arrayContaining([
      expect.objectContaining({ id: "goose", format: "yaml", present: true, projectFile: null }),
    ]),
  });
  expect(answer.formatText?.(plain)).toMatch(/^cursor +yes +Cursor +user, project +\S/m);
});
