import { rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { makeInstallPlace } from "./install-place.ts";

test("the entries in clients' configs are found by their command lines", async () => {
  const place = makeInstallPlace();
  expect(await place.installs()).toEqual([]);
  const clients = ["cursor", "kiro", "opencode", "mistral-vibe", "goose"];
  const files = new Map<string, string>();
  for (const client of clients) files.set(client, (await place.install(client, "mine")).file);
  rmSync(files.get("kiro") ?? "");
  writeFileSync(files.get("cursor") ?? "", '{"mcpServers":{"mine":{"command":"else"}}}');
  writeFileSync(files.get("goose") ?? "", "[");
  expect(await place.installs()).toEqual(
    ["mistral-vibe", "opencode"].map((client) => ({
      client,
      scope: "user",
      server: "mine",
      key: "mine",
      file: files.get(client),
      folder: place.project,
    })),
  );
});

test("an entry in a project's config belongs to that project", async () => {
  const place = makeInstallPlace();
  const { file } = await place.install("cursor", "mine", { scope: "project" });
  expect(await place.installs()).toMatchObject([{ file, scope: "project", folder: dirname(file) }]);
});
