import { describe, expect, test } from "vitest";
import { resolveServer } from "../../src/install/resolve-server.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const tool = { name: "acme_say", description: "Says.", handler: "./handlers.js#say", parameters: {} };

function makeProject() {
  return makeTree({
    "package.json": { name: "app", dependencies: { "@acme/talk": "1.0.0" } },
    "trailblaze.config.yaml": `
servers:
  mine: { tools: [acme/talk/say], transport: http }
  broken: { tools: [acme/talk/shout] }
trailblazeSubprocessToolsets:
  - { name: own-process, command: node, args: [x.js] }
`,
    "node_modules/@acme/talk/package.json": packManifest("@acme/talk", {
      trailblaze: { tools: ["say"], servers: ["talk", "program", "dangling"] },
    }),
    "node_modules/@acme/talk/trailblaze/tools/say.json": tool,
    "node_modules/@acme/talk/handlers.js": "export const say = () => 'x';",
    "node_modules/@acme/talk/main.js": "",
    "node_modules/@acme/talk/trailblaze/servers/talk.json": { tools: ["say"], mcpServerName: "Acme Talk" },
    "node_modules/@acme/talk/trailblaze/servers/program.json": {
      script: "main.js",
      envPassthrough: ["TALK_TOKEN"],
      mcpServerName: "program-server",
    },
    "node_modules/@acme/talk/trailblaze/servers/dangling.json": { tools: ["say", "absent/pack/tool"] },
  });
}

describe("the server of an install request", () => {
  test("a server is found in a pack or in the config, with everything its entry needs", async () => {
    const project = makeProject();
    const resolve = (name: string) => resolveServer(name, { cwd: project });
    const known = { project, envPassthrough: [], transport: "stdio" };
    expect(await resolve("acme/talk/talk")).toEqual({ ...known, name: "talk", mcpServerName: "Acme Talk" });
    expect(await resolve("@acme/talk@^1/program")).toEqual({
      ...known,
      name: "program",
      mcpServerName: "program-server",
      envPassthrough: ["TALK_TOKEN"],
      reachedBy: expect.arrayContaining(["PATH", "TALK_TOKEN"]),
    });
    expect(await resolve("mine")).toMatchObject({ ...known, name: "mine", transport: "http" });
    expect(await resolve("own-process")).toMatchObject({ ...known, name: "own-process" });
  });

  test.each([
    ["acme/talk/dangling", "PackNotInstalled"],
    ["broken", "ToolNotFound"],
    ["acme/talk/absent", "ServerNotFound"],
    ["acme/talk/say", "ServerNotFound"],
    ["absent/pack/server", "PackNotInstalled"],
    ["acme/talk@^2/talk", "PackVersionMismatch"],
  ])("an install of %s is rejected with %s", async (name, code) => {
    await expect(resolveServer(name, { cwd: makeProject() })).rejects.toMatchObject({ code });
  });
});
