import { readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { type InstalledProject, installWith } from "../support/install.ts";
import { describePacks } from "../support/listing.ts";
import { packageManagers } from "../support/package-managers.ts";

describe.each(packageManagers)("packs installed by %s", (manager) => {
  let project: InstalledProject;

  beforeAll(async () => {
    project = await installWith(manager, {
      registry: inject("registry"),
      dependencies: {
        "@acme/jira": "^1.2.0",
        "@acme/notes": "^2.0.0",
        "@globex/release-desk": "^3.0.0",
        "is-number": "^7.0.0",
      },
      packageJson: {
        devDependencies: { "@globex/calculator": "~1.1.0" },
        optionalDependencies: { "weather-tools": "1.3.0" },
      },
    });
  });
  afterAll(() => project?.remove());

  test("the declared packs are listed, and with all: true every installed one, with origin and items", async () => {
    const { project: found, packs, problems } = await discoverPacks({ cwd: project.directory, all: true });

    expect(found).toBe(project.directory);
    expect(describePacks(packs)).toEqual([
      "@acme/jira@1.2.0 direct enabled | servers: project-management" +
        " | tools: createIssue, getIssue, searchIssues | toolsets: triage | prompts: issueText",
      "@acme/notes@2.0.1 direct enabled | servers: notebook | tools: addNote, listNotes, exportNotes" +
        " | toolsets: reading, everything | prompts: meetingMinutes, weeklySummary",
      "@globex/calculator@1.1.0 direct enabled | servers: arithmetic, statistics",
      "@globex/release-desk@3.0.0 direct enabled | servers: release-desk | tools: draftNotes" +
        " | toolsets: announcing | prompts: goNoGo",
      "@globex/text@1.0.0 transitive on demand | servers: writing-desk" +
        " | tools: titleCase, countWords, slugify | toolsets: formatting | prompts: review",
      "hello-tools@1.0.0 transitive on demand | tools: greet",
      "weather-tools@1.3.0 direct enabled | servers: McpHttp, McpStdio | tools: forecast" +
        " | toolsets: WeatherTools, StationTools",
    ]);
    expect(problems).toEqual([]);
    expect(packs.flatMap((pack) => pack.problems)).toEqual([]);
    const declared = await discoverPacks({ cwd: project.directory });
    expect(declared.packs).toEqual(packs.filter(({ origin }) => origin === "direct"));
    for (const { name, version, location } of packs) {
      expect(realpathSync(location)).toBe(location);
      const manifest = JSON.parse(readFileSync(join(location, "package.json"), "utf8"));
      expect(manifest).toMatchObject({ name, version });
    }
  });
});
