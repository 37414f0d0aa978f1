import { rmSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { makeInstallPlace } from "./install-place.ts";

test("installs are listed with their current state", async () => {
  const place = makeInstallPlace();
  expect(await place.installs()).toEqual([]);
  const clients = ["cursor", "kiro", "opencode", "mistral-vibe", "goose"];
  const files = new Map<string, string>();
  for (const client of clients) files.set(client, (await place.install(client, "mine")).file);
  rmSync(files.get("kiro") ?? "");
  writeFileSync(files.get("cursor") ?? "", '{"mcpServers":{"mine":{"command":"else"}}}');
  writeFileSync(files.get("goose") ?? "", "[");
  const listed = await place.installs();
  expect(listed.map(({ client, state, project }) => [client, state, project])).toEqual([
    ["cursor", "edited", null],
    ["kiro", "missing", null],
    ["opencode", "installed", place.project],
    ["mistral-vibe", "installed", place.project],
    ["goose", "unreadable", null],
  ]);
});

test("an entry in a project's config belongs to that project", async () => {
  const place = makeInstallPlace();
  const { file } = await place.install("cursor", "mine", { scope: "project" });
  const listed = await place.installs();
  expect(listed).toMatchObject([{ file, state: "installed", project: place.project }]);
});
