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

  const discoverFrom = (folder: string) => discoverPacks({ cwd: join(project.directory, folder), all: true });

  test("the root of a workspace lists itself, the members' packs and what is installed", async () => {
    const { project: found, packs, problems } = await discoverFrom(".");

    expect(found).toBe(project.directory);
    expect(describeOrigins(packs)).toEqual([
      "@acme/house@1.0.0 self enabled",
      "@acme/house-tools@1.0.0 workspace enabled",
      "@acme/jira@1.2.0 direct enabled",
      "hello-tools@1.0.0 transitive on demand",
      "tb-garden-tools@1.0.0 workspace enabled",
      "weather-tools@1.3.0 transitive on demand",
    ]);
    expect(problems).toEqual([]);
  });

  test("a member of a workspace lists its own and the root's dependencies as direct, and the root and siblings as workspace", async () => {
    const { project: found, packs } = await discoverFrom("packages/app");

    expect(found).toBe(join(project.directory, "packages/app"));
    expect(describeOrigins(packs)).toEqual([
      "@acme/house@1.0.0 workspace enabled",
      "@acme/house-tools@1.0.0 workspace enabled",
      "@acme/jira@1.2.0 direct enabled",
      "hello-tools@1.0.0 direct enabled",
      "tb-garden-tools@1.0.0 workspace enabled",
      "weather-tools@1.3.0 transitive on demand",
    ]);
    // In its own folder, not in the link to it.
    expect(packs.find(({ name }) => name === "@acme/house-tools")?.location).toBe(
      join(project.directory, "packages/house-tools"),
    );
  });

  test("a member of a workspace that is a pack lists itself", async () => {
    const { packs } = await discoverFrom("packages/garden-tools");

    expect(describeOrigins(packs)).toEqual([
      "@acme/house@1.0.0 workspace enabled",
      "@acme/house-tools@1.0.0 workspace enabled",
      "@acme/jira@1.2.0 direct enabled",
      "hello-tools@1.0.0 transitive on demand",
      "tb-garden-tools@1.0.0 self enabled",
      "weather-tools@1.3.0 direct enabled",
    ]);
  });
});
