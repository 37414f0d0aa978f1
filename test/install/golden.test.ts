// The config of each client after an install. golden.txt has each content once, below the clients and scopes that get
// it. Read its diff after `npx vitest run test/install/golden -u`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { clients, type Scope } from "../../src/install/clients/index.ts";
import { inRepository } from "../support/repository.ts";
import { makeInstallPlace, node, script } from "./install-place.ts";

const cases = clients.flatMap((client) => {
  const scopes: Scope[] = [];
  if (Object.keys(client.user).length > 0) scopes.push("user");
  if (client.project !== undefined) scopes.push("project");
  return scopes.map((scope) => ({ id: client.id, scope, isOfWindows: client.user.linux === undefined }));
});

describe("the config that install writes", () => {
  /** The clients and scopes that get a content. */
  const written = new Map<string, string[]>();

  test.each(cases)("install writes the $scope config of $id", async ({ id, scope, isOfWindows }) => {
    const place = makeInstallPlace();
    // Paths of Windows cannot be written here. The content does not depend on the path.
    const file = isOfWindows && scope === "user" ? join(place.home, ".mcp.json") : undefined;
    const before = readdirSync(place.project, { recursive: true });
    const options = {
      scope,
      env: ["JIRA_URL=https://jira.example", "JIRA_TOKEN"],
      file,
    };
    const result = await place.install(id, "acme/jira/project-management", options);
    const text = readFileSync(result.file, "utf8");
    const neutral = text
      .replaceAll(place.project, "/work/app")
      .replaceAll(script, "/opt/trailblaze/dist/cli/cli.cjs")
      .replaceAll(node, "/opt/node/bin/node");
    written.set(neutral, [...(written.get(neutral) ?? []), `${id}.${scope}`]);

    expect(text).toContain("start");
    if (scope === "project") {
      expect(text).toContain("require('trailblaze/cli')");
      expect(text).not.toContain("npx");
      for (const absolute of [node, script, place.root]) expect(text).not.toContain(absolute);
    } else {
      for (const absolute of [node, script, place.project]) expect(text).toContain(absolute);
    }
    expect((await place.uninstall(id, "acme/jira/project-management", options)).changed).toBe(true);
    expect(readdirSync(place.home, { recursive: true })).toEqual([".keep"]);
    expect(readdirSync(place.project, { recursive: true })).toEqual(before);
  });

  test("each client gets the form that it documents", async () => {
    const golden = [...written].map(([text, names]) => `== ${names.join(" ")}\n${text}`).join("\n");
    await expect(golden).toMatchFileSnapshot(inRepository("test/install/golden.txt"));
  });
});
