import { describe, expect, test } from "vitest";
import { clients, findClient } from "../../src/install/clients/index.ts";
import { findCandidates } from "../../src/install/clients/locations.ts";
import { makeInstallPlace } from "./install-place.ts";

const linux = { platform: "linux", environment: {}, home: "/home/me" } as const;
const mac = { platform: "darwin", environment: {}, home: "/Users/me" } as const;
const windows = {
  platform: "win32",
  environment: { APPDATA: "C:\\Users\\me\\AppData\\Roaming" },
  home: "C:\\Users\\me",
} as const;

const userFile = (id: string, surroundings: Parameters<typeof findCandidates>[2]) =>
  findCandidates(findClient(id), "user", surroundings, "")[0];

describe("the data about clients", () => {
  test("at least 35 clients are supported, each with unique names", () => {
    expect(clients.length).toBeGreaterThanOrEqual(35);
    const names = clients.flatMap(({ id, aliases }) => [id, ...aliases]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    for (const name of names) expect(name).toMatch(/^[a-z][a-z0-9.-]*$/);
  });

  test.each(clients)("the data about $id has a source, a date and a config file", (client) => {
    expect(client.source.length).toBeGreaterThan(3);
    expect(client.checked).toMatch(/^20\d\d-\d\d$/);
    const paths = [linux, mac, windows].flatMap((one) => findCandidates(client, "user", one, ""));
    expect(paths.length + (client.project?.length ?? 0)).toBeGreaterThan(0);
    for (const path of paths) {
      expect(path).toMatch(/^(?:\/home\/me\/|\/Users\/me\/|C:\\Users\\me\\)/);
      expect(path).not.toMatch(/[~$]|\\\/|\/\//);
    }
    for (const path of client.project ?? []) expect(path).toMatch(/^\.\//);
    if (client.keyPattern !== undefined) expect(() => new RegExp(client.keyPattern ?? "", "u")).not.toThrow();
    if (client.reference !== undefined) expect(client.reference).toContain("NAME");
  });

  test.each([
    ["vscode", linux, "/home/me/.config/Code/User/mcp.json"],
    ["vscode", mac, "/Users/me/Library/Application Support/Code/User/mcp.json"],
    ["vscode", windows, "C:\\Users\\me\\AppData\\Roaming\\Code\\User\\mcp.json"],
    ["zed", mac, "/Users/me/.config/zed/settings.json"],
    ["goose", windows, "C:\\Users\\me\\AppData\\Roaming\\Block\\goose\\config\\config.yaml"],
    ["visual-studio", linux, undefined],
    ["visual-studio", windows, "C:\\Users\\me\\.mcp.json"],
  ] as const)(
    "the user config of %s has the path that the client uses on that system",
    (id, surroundings, path) => {
      expect(userFile(id, surroundings)).toBe(path);
    },
  );

  test.each([
    ["zed", "XDG_CONFIG_HOME", "/elsewhere/zed/settings.json"],
    ["codex", "CODEX_HOME", "/elsewhere/config.toml"],
    ["claude-code", "CLAUDE_CONFIG_DIR", "/elsewhere/.claude.json"],
  ])("the config of %s moves with %s, but only to an absolute path", (id, name, path) => {
    const usual = userFile(id, linux);
    expect(userFile(id, { ...linux, environment: { [name]: "/elsewhere" } })).toBe(path);
    expect(userFile(id, { ...linux, environment: { [name]: "" } })).toBe(usual);
    expect(userFile(id, { ...linux, environment: { [name]: "relative" } })).toBe(usual);
  });
});

describe("a client's name", () => {
  test.each([
    ["claude", "claude-code"],
    ["VS Code", "vscode"],
  ])("the name %s selects the client %s", (name, id) => {
    expect(findClient(name).id).toBe(id);
  });

  test("an unknown client name is an error with similar names", () => {
    const refusal = (args: object) =>
      expect.objectContaining({ code: "UnknownClient", problem: expect.objectContaining({ args }) });
    expect(() => findClient("cursr")).toThrow(refusal({ name: "cursr", nearest: ["cursor"] }));
    for (const name of ["__proto__", ""])
      expect(() => findClient(name)).toThrow(refusal(expect.objectContaining({ name })));
  });
});

test("clients are listed with their configs, and detected ones are marked", async () => {
  const place = makeInstallPlace({
    "home/.cursor/.keep": "",
    "home/.config/opencode/opencode.jsonc": "{}",
    "project/.mcp.json": "{}",
  });
  const listed = new Map((await place.clients()).map((client) => [client.id, client]));
  expect(listed.size).toBe(clients.length);
  expect(listed.get("cursor")).toEqual({
    id: "cursor",
    name: "Cursor",
    aliases: [],
    format: "json",
    userFile: `${place.home}/.cursor/mcp.json`,
    projectFile: `${place.project}/.cursor/mcp.json`,
    present: true,
  });
  expect(listed.get("opencode")).toMatchObject({
    present: true,
    userFile: `${place.home}/.config/opencode/opencode.jsonc`,
  });
  expect(listed.get("visual-studio")).toMatchObject({ present: false, userFile: null });
  expect(listed.get("claude-desktop")).toMatchObject({ present: false, projectFile: null });
  const here = [...listed.values()].filter(({ present }) => present).map(({ id }) => id);
  expect(here).toEqual(["cursor", "opencode"]);
});
