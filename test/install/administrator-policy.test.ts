import { describe, expect, test, vi } from "vitest";
import { checkHealth } from "../../src/install/check-health.ts";
import { planImport } from "../../src/install/import-servers.ts";
import { setPolicy } from "../support/machine-policy.ts";
import { makeInstallPlace } from "./install-place.ts";

vi.mock("../../src/files/policy-location.ts", () => import("../support/machine-policy.ts"));

const contact = "it@acme.example";
const config = "servers:\n  mine: { tools: [] }\nmcpServers:\n  own: { command: node, args: [own.mjs] }\n";
const makePlace = () =>
  makeInstallPlace({ "home/.cursor/mcp.json": "{}", "project/trailblaze.config.yaml": config });
const paste = (cwd: string, servers: object) =>
  planImport("-", {
    cwd,
    only: [],
    replace: false,
    scope: undefined,
    readInput: async () => Buffer.from(JSON.stringify({ mcpServers: servers })),
  });

describe("client configs and the project's config under an administrator's policy", () => {
  test("install: false does not keep servers from being installed into clients", async () => {
    const place = makePlace();
    setPolicy({ install: false });
    for (const server of [null, "mine", "own", "acme/jira/program"])
      expect(await place.install("cursor", server)).toMatchObject({ changed: true });
  });

  test("servers.config: deny refuses servers of the config, and no others", async () => {
    const place = makePlace();
    setPolicy({ servers: { config: "deny" }, contact });
    await expect(place.install("cursor", "own")).rejects.toMatchObject({
      code: "DeniedByPolicy",
      message: expect.stringContaining(contact),
    });
    for (const server of [null, "mine", "acme/jira/program"])
      expect(await place.install("cursor", server)).toMatchObject({ changed: true });
  });

  test("packs that the policy excludes are not installed into clients, and entries of them can be removed", async () => {
    const place = makePlace();
    await place.install("cursor", "acme/jira/program");
    setPolicy({ packs: { deny: ["@acme/jira"] } });
    await expect(place.install("cursor", "acme/jira/named")).rejects.toMatchObject({
      code: "DeniedByPolicy",
    });
    expect(await place.uninstall("cursor", "acme/jira/program")).toMatchObject({ changed: true });
  });

  test("servers.config: deny refuses imports, and allow does not", async () => {
    const { project } = makePlace();
    for (const server of [{ command: "node" }, { url: "https://mcp.example/" }]) {
      setPolicy({ servers: { config: "deny" } });
      await expect(paste(project, { other: server })).rejects.toMatchObject({
        code: "DeniedByPolicy",
        problem: { args: { what: "server", name: "other" } },
      });
      setPolicy({ servers: { config: "allow" } });
      expect(await paste(project, { other: server })).toMatchObject({ added: ["other"] });
    }
  });

  test("with a policy that cannot be used, nothing is installed, removed or imported", async () => {
    const place = makePlace();
    await place.install("cursor", null);
    setPolicy("[]");
    const rejection = { code: "PolicyMalformed" };
    for (const server of [null, "mine", "acme/jira/program"]) {
      await expect(place.install("cursor", server)).rejects.toMatchObject(rejection);
      await expect(place.uninstall("cursor", server)).rejects.toMatchObject(rejection);
    }
    await expect(paste(place.project, { other: { command: "node" } })).rejects.toMatchObject(rejection);
  });
});

describe("doctor and the administrator's policy", () => {
  const check = (project: string) => checkHealth({ cwd: project, config: { logDir: "logs" } });

  test("without a policy, doctor has no check of it", async () => {
    const { project } = makeInstallPlace();
    const { policy, checks } = await check(project);
    expect(policy).toEqual({ file: null, keys: [] });
    expect(checks.map(({ name }) => name)).not.toContain("policy");
  });

  test("doctor names the file and what it does", async () => {
    const { project } = makeInstallPlace();
    const file = setPolicy({
      packs: { allow: ["@acme/*", "left-pad@^1.3"], deny: ["@acme/legacy"] },
      servers: { config: "deny" },
      registries: ["https://npm.acme.example/"],
      lock: "surface",
      isolation: "process",
      requireConfinement: true,
      install: false,
      contact,
    });
    const { policy, checks } = await check(project);
    expect(policy).toEqual({
      file,
      keys: [
        "packs",
        "servers",
        "registries",
        "lock",
        "isolation",
        "requireConfinement",
        "install",
        "contact",
      ],
    });
    const summary =
      `${file}: allows only packages @acme/*, left-pad@^1.3; excludes packages @acme/legacy; ` +
      "excludes servers of the config; allows only registries https://npm.acme.example/; " +
      "forbids installing packages; requires the lock mode surface; runs packs in child processes; " +
      `requires confinement; contact: ${contact}`;
    expect(checks).toContainEqual({ name: "policy", ok: true, summary });
  });

  test.each([
    [{ packs: { allow: [] } }, "allows no packages"],
    [{}, "restricts nothing"],
  ])("doctor says what %j does", async (content, effect) => {
    const { project } = makeInstallPlace();
    const file = setPolicy(content);
    expect((await check(project)).checks).toContainEqual({
      name: "policy",
      ok: true,
      summary: `${file}: ${effect}`,
    });
  });

  test("a policy that cannot be used is an error with its file, and no server is started", async () => {
    const { project } = makePlace();
    const file = setPolicy('{ "instal": false }');
    const started: string[] = [];
    const health = await checkHealth({ cwd: project, onCommand: ({ label }) => started.push(label) });
    expect(started).toEqual([]);
    expect(health.policy).toEqual({ file, keys: [] });
    expect(health.checks.filter(({ ok }) => !ok)).toEqual([
      { name: "policy", ok: false, summary: `${file}: cannot be used, so nothing runs` },
      {
        name: "session",
        ok: false,
        summary: "not checked, because the administrator's policy cannot be used",
      },
    ]);
    const faults = health.problems.filter(({ code }) => code === "PolicyMalformed");
    expect(faults).toMatchObject([{ severity: "error", file, line: 1, column: 3 }]);
  });
});
