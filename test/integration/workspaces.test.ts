import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { type InstalledProject, installWith } from "../support/install.ts";
import { describeOrigins } from "../support/listing.ts";
import { packManifest } from "../support/packs.ts";

// Yarn 1 lays a workspace out as npm does.
const workspaceRange = { npm: "1.0.0", pnpm: "workspace:*" };

describe.each(["npm", "pnpm"] as const)("a workspace installed by %s", (manager) => {
  let project: InstalledProject;

  beforeAll(async () => {
    project = await installWith(manager, {
      registry: inject("registry"),
      dependencies: { "@acme/jira": "^1.2.0" },
      packageJson: packManifest("@acme/house", { private: true, trailblaze: { toolsets: ["everything"] } }),
      workspaces: {
        "packages/app": {
          name: "app",
          version: "1.0.0",
          private: true,
          dependencies: { "@acme/house-tools": workspaceRange[manager], "hello-tools": "^1.0.0" },
        },
        "packages/garden-tools": packManifest("tb-garden-tools", {
          trailblaze: { tools: ["water"] },
          dependencies: { "weather-tools": "^1.0.0" },
        }),
        "packages/house-tools": packManifest("@acme/house-tools", { trailblaze: { tools: ["lockDoor"] } }),
      },
    });
  });
  afterAll(() => project?.remove());

  const discoverFrom = async (folder: string) => {
    const cwd = join(project.directory, folder);
    const { project: found, packs, problems } = await discoverPacks({ cwd, all: true });
    expect(found).toBe(cwd);
    expect(problems).toEqual([]);
    return packs;
  };

  test.each([
    ["the root", ".", "self", "workspace", "direct", "transitive", "transitive"],
    ["a member", "packages/app", "workspace", "workspace", "direct", "direct", "transitive"],
    [
      "a member that is a pack",
      "packages/garden-tools",
      "workspace",
      "self",
      "direct",
      "transitive",
      "direct",
    ],
  ])(
    "%s of a workspace lists itself, the root, the members and what is installed",
    async (_, folder, ...origins) => {
      const [house, garden, jira, hello, weather] = origins.map((origin) =>
        origin === "transitive" ? "transitive on demand" : `${origin} enabled`,
      );
      const packs = await discoverFrom(folder);
      expect(describeOrigins(packs)).toEqual([
        `@acme/house@1.0.0 ${house}`,
        "@acme/house-tools@1.0.0 workspace enabled",
        `@acme/jira@1.2.0 ${jira}`,
        `hello-tools@1.0.0 ${hello}`,
        `tb-garden-tools@1.0.0 ${garden}`,
        `weather-tools@1.3.0 ${weather}`,
      ]);
      // In its own folder, not in the link to it.
      expect(packs.find(({ name }) => name === "@acme/house-tools")?.location).toBe(
        join(project.directory, "packages/house-tools"),
      );
    },
  );
});
