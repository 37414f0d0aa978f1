// What `add` says before it asks: versions of a minimum age.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { addPacks } from "../../src/npm/add-packs.ts";
import type { PackPreview } from "../../src/npm/preview-packs.ts";
import { makeProject, useManagers } from "../npm/changeable-project.ts";
import { startRegistryProxy } from "../npm/registry-proxy.ts";
import { packManifest } from "../support/packs.ts";
import { publish } from "../support/publish.ts";

const publishPack = (name: string, version = "1.0.0") =>
  publish(inject("registry"), {
    "package.json": packManifest(name, { version, trailblaze: { prompts: ["hello"] } }),
    "trailblaze/prompts/hello.json": { name: "hello", description: "Says hello.", content: "Say hello." },
  });

beforeAll(async () => {
  await publishPack("tb-aged");
  await publishPack("tb-aged", "2.0.0");
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
    const shown: PackPreview[] = [];
    const { added } = await addPacks(["tb-aged"], {
      cwd: directory,
      consent: (previews) => shown.push(...previews) > 0,
    });
    expect(shown[0]?.pack.version).toBe("1.0.0");
    expect(added.map(({ version }) => version)).toEqual(["1.0.0"]);
  });
});
