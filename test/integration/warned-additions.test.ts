// What `add` says before it asks: names that may be mistaken for others; and versions of a minimum age.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { installMissing, planAdd } from "../../src/npm/add-packs.ts";
import { openSession } from "../../src/session.ts";
import { makeProject, makeQuickProject, readState, useManagers } from "../npm/changeable-project.ts";
import { startRegistryProxy } from "../npm/registry-proxy.ts";
import { runMain } from "../support/main.ts";
import { packManifest } from "../support/packs.ts";
import { publish } from "../support/publish.ts";

const publishPack = (name: string, version = "1.0.0") =>
  publish(inject("registry"), {
    "package.json": packManifest(name, { version, trailblaze: { prompts: ["hello"] } }),
    "trailblaze/prompts/hello.json": { name: "hello", description: "Says hello.", content: "Say hello." },
  });

beforeAll(async () => {
  for (const name of ["tb-notes", "tb-note", "tb-nodes", "tb-aged"]) await publishPack(name);
  await publishPack("tb-aged", "2.0.0");
});

/** A project that has the pack `tb-notes`. */
const makeHost = () => makeQuickProject({ dependencies: { "tb-notes": "1.0.0" } });

describe("a name similar to that of an installed pack", () => {
  test("add --yes rejects a name similar to that of an installed pack unless --allow-similar is given", async () => {
    const { directory, home } = await makeHost();
    const before = readState(directory);
    const run = async (...args: string[]) => {
      const { exitCode, stdout, stderr } = await runMain(["add", "tb-note", "--yes", "--json", ...args], {
        cwd: directory,
        env: { HOME: home },
      });
      return { exitCode, answer: JSON.parse(stdout), stderr };
    };
    const refused = await run();
    expect(refused.exitCode).toBe(1);
    expect(refused.answer.error).toMatchObject({
      code: "SimilarName",
      args: { name: "tb-note", existing: "tb-notes", allowed: false },
    });
    expect(refused.stderr).not.toContain("Running npm");
    expect(readState(directory)).toEqual(before);

    const allowed = await run("--allow-similar");
    expect(allowed).toMatchObject({ exitCode: 0, answer: { added: [{ name: "tb-note" }] } });
    expect(allowed.stderr).toMatch(/warning SimilarName: .*tb-notes/);
    const codes = allowed.answer.problems.map(({ code }: { code: string }) => code);
    expect(codes).toContain("SimilarName");
  });

  test("a pack with a similar name is not installed for a session, unless the config names it exactly", async () => {
    const { directory } = await makeHost();
    const { problems } = await installMissing({ name: "tb-nodes", range: undefined }, { cwd: directory });
    expect(problems).toMatchObject([{ code: "SimilarName", severity: "error", pack: "tb-nodes" }]);
    for (const [pattern, installed] of [
      ["tb-*", ["tb-notes"]],
      ["tb-nodes", ["tb-nodes", "tb-notes"]],
    ] as const) {
      const packs = { autoInstall: [pattern], deny: ["tb-notes"] };
      const config = { packs, toolsets: { mine: ["tb-nodes/greet"] } };
      await using session = await openSession({ cwd: directory, config });
      expect(session.problems.some(({ code }) => code === "SimilarName")).toBe(installed.length === 1);
      expect(readState(directory).installed).toEqual(installed);
    }
  });
});

describe("the age of a version", () => {
  const dayMs = 86_400_000;

  /** A registry whose versions have the given ages, in days; the newest is tagged as the latest. */
  async function startRegistryOf(name: string, ages: Readonly<Record<string, number>>) {
    const proxy = await startRegistryProxy(inject("registry"));
    proxy.rewrite = (_path, document) => {
      if (document.name !== name || !("versions" in document)) return document;
      const { time: _, ...rest } = document;
      const times = Object.entries(ages).map(([version, age]) => [
        version,
        new Date(Date.now() - age * dayMs).toISOString(),
      ]);
      const latest = Object.keys(ages).at(-1);
      return { ...rest, "dist-tags": { latest }, time: Object.fromEntries(times) };
    };
    proxy.intercept = ({ path }, response) => {
      const isLatest = path.endsWith("/latest") && decodeURIComponent(path).includes(name);
      if (isLatest) response.writeHead(404).end("{}");
      return isLatest;
    };
    return proxy;
  }

  test("add shows and installs only versions of npm's minimum age", async () => {
    const proxy = await startRegistryOf("tb-aged", { "1.0.0": 30, "2.0.0": 1 });
    useManagers(proxy.url);
    const directory = await makeProject("npm", { registry: proxy.url });
    const npmVersion = execFileSync("npm", ["--version"], { encoding: "utf8" }).trim();
    const before = new Date(Date.now() - 3 * dayMs).toISOString();
    const setting = satisfies(npmVersion, ">=11.10.0") ? "min-release-age=3" : `before=${before}`;
    writeFileSync(join(directory, ".npmrc"), `${setting}\n`);
    const { previews, apply } = await planAdd([{ name: "tb-aged", text: "tb-aged" }], { cwd: directory });
    const { added } = await apply();
    expect(previews[0]?.pack.version).toBe("1.0.0");
    expect(added.map(({ version }) => version)).toEqual(["1.0.0"]);
  });
});
