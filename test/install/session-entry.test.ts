import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { packManifest } from "../support/packs.ts";
import type { Tree } from "../support/tree.ts";
import { makeInstallPlace, node, script } from "./install-place.ts";

const prompt = { name: "say", description: "Says hello.", content: "Say hello." };

/** Packs without servers, and one whose only server has a name of its own. */
const packs: Tree = {
  "project/package.json": {
    name: "app",
    dependencies: { "@acme/jira": "*", "@acme/notes": "*", "@acme/words": "*", solo: "*", mine: "*" },
  },
  "project/node_modules/@acme/words/package.json": packManifest("@acme/words", {
    trailblaze: { prompts: ["say"] },
  }),
  "project/node_modules/@acme/words/trailblaze/prompts/say.json": prompt,
  "project/node_modules/solo/package.json": packManifest("solo", {
    trailblaze: { servers: ["only"], prompts: ["say"] },
  }),
  "project/node_modules/solo/trailblaze/servers/only.json": { prompts: ["say"], mcpServerName: "The Only" },
  "project/node_modules/solo/trailblaze/prompts/say.json": prompt,
  "project/node_modules/mine/package.json": packManifest("mine", { trailblaze: { prompts: ["say"] } }),
  "project/node_modules/mine/trailblaze/prompts/say.json": prompt,
};

describe("the entry of a project's session", () => {
  test("an entry without a server starts the session under the key trailblaze, and is removed without a trace", async () => {
    const before = '{ "theme": "dark" }';
    const place = makeInstallPlace({ "home/.cursor/mcp.json": before });
    const installed = await place.install("cursor", null);
    expect(installed).toMatchObject({ server: null, key: "trailblaze", changed: true });
    expect(JSON.parse(readFileSync(installed.file, "utf8")).mcpServers.trailblaze).toEqual({
      command: node,
      args: [script, "start", "--cwd", place.project],
    });
    expect(await place.install("cursor", null)).toMatchObject({ changed: false });
    const removed = await place.uninstall("cursor", null);
    expect(removed).toMatchObject({ server: null, key: "trailblaze", changed: true });
    expect(readFileSync(installed.file, "utf8")).toBe(before);
    expect(await place.uninstall("cursor", null)).toMatchObject({ changed: false });
  });

  test("the key of the session's entry can be chosen, and servers keep entries of their own", async () => {
    const place = makeInstallPlace({ "home/.cursor/mcp.json": "{}" });
    const { file } = await place.install("cursor", null, { name: "everything" });
    await place.install("cursor", "mine");
    const keys = () => Object.keys(JSON.parse(readFileSync(file, "utf8")).mcpServers ?? {});
    expect(keys()).toEqual(["everything", "mine"]);
    expect(await place.uninstall("cursor", null)).toMatchObject({ key: "everything", changed: true });
    expect(keys()).toEqual(["mine"]);
  });
});

describe("the entry of a pack", () => {
  test("a pack with one server means that server, by its npm name too", async () => {
    const place = makeInstallPlace({ "home/.cursor/mcp.json": "{}", ...packs });
    const installed = await place.install("cursor", "@acme/notes");
    expect(installed).toMatchObject({ server: "acme/notes/project-management", key: "project-management" });
    expect(await place.install("cursor", "solo")).toMatchObject({ server: "solo/only", key: "The Only" });
    const { mcpServers } = JSON.parse(readFileSync(installed.file, "utf8"));
    expect(mcpServers["project-management"].args).toContain("acme/notes/project-management");
    expect(await place.uninstall("cursor", "acme/notes")).toMatchObject({
      server: "acme/notes/project-management",
      changed: true,
    });
  });

  test("a pack without servers is started itself, under its last segment", async () => {
    const place = makeInstallPlace({ "home/.cursor/mcp.json": "{}", ...packs });
    const installed = await place.install("cursor", "acme/words");
    expect(installed).toMatchObject({ server: "acme/words", key: "words" });
    const { mcpServers } = JSON.parse(readFileSync(installed.file, "utf8"));
    expect(mcpServers.words.args).toEqual([script, "start", "acme/words", "--cwd", place.project]);
    expect(await place.uninstall("cursor", "@acme/words")).toMatchObject({ key: "words", changed: true });
  });

  test("the entry of a pack without servers is removed by its key, unless a server has that name", async () => {
    const place = makeInstallPlace({ "home/.cursor/mcp.json": "{}", ...packs });
    await place.install("cursor", "acme/words");
    await place.install("cursor", "acme/notes", { name: "solo" });
    expect(await place.uninstall("cursor", "solo")).toMatchObject({ changed: false });
    expect(await place.uninstall("cursor", "words")).toMatchObject({ server: "acme/words", changed: true });
  });
});
