// References of composed servers to resources: of packs' servers, of the config's, and of a pack that stands for all its items.
import { expect, test } from "vitest";
import { startServer } from "../../src/serve.ts";
import { makeProject } from "../session/support/session.ts";
import { connectLegacy, serveForTest } from "../support/clients.ts";
import type { Tree } from "../support/tree.ts";

const resource = (name: string) => ({ name, description: `The ${name}.`, uri: `docs://${name}`, text: name });

const docs: Tree = {
  "package.json": { trailblaze: { resources: ["guide", "secret"], tools: ["open"] } },
  "trailblaze/resources.json": { guide: resource("guide"), secret: resource("secret") },
  "trailblaze/tools/open.json": { name: "docs_open", parameters: {}, handler: "./open.js" },
  "open.js": "export default () => 'opened';",
};

const project = (config: object, desk: object = { resources: ["own"] }) =>
  makeProject(
    {
      "@acme/docs": docs,
      "@acme/desk": {
        "package.json": { trailblaze: { servers: ["desk"], resources: ["own"] } },
        "trailblaze/servers/desk.json": desk,
        "trailblaze/resources/own.json": resource("own"),
      },
    },
    { "trailblaze.config.json": config },
  );

async function listResources(server: string, cwd: string): Promise<string[]> {
  const client = await connectLegacy((await serveForTest(server, { cwd })).url);
  const { resources } = await client.listResources();
  return resources.map(({ uri }) => uri);
}

test("a pack's server offers its own resources, and those of other packs by qualified name", async () => {
  const cwd = project({}, { resources: ["acme/docs/guide", "own", "acme/desk/own"] });
  expect(await listResources("acme/desk/desk", cwd)).toEqual(["docs://guide", "docs://own"]);
});

test("a pack without servers offers its resources, without those that the config denies", async () => {
  const cwd = project({ packs: { deny: ["acme/docs/secret"] } });
  expect(await listResources("acme/docs", cwd)).toEqual(["docs://guide"]);
});

test.each<[string, object, object | undefined, string, object]>([
  [
    "a missing resource of the pack",
    {},
    { resources: ["owm"] },
    "acme/desk/desk",
    { code: "ResourceNotFound", problem: { path: ["resources", 0], hint: "Did you mean own?" } },
  ],
  [
    "a denied resource",
    { servers: { all: { resources: ["acme/docs/secret"] } }, packs: { deny: ["acme/docs/secret"] } },
    undefined,
    "all",
    { code: "ResourceNotFound" },
  ],
])("a server that refers to %s does not start", async (_what, config, desk, server, error) => {
  const starting = startServer(server, { cwd: project(config, desk), transport: { port: 0 } });
  await expect(starting).rejects.toMatchObject(error);
});
