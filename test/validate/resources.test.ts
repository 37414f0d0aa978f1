import { mkdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkResourceFiles } from "../../src/validate/checks/prompts-resources.ts";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { argumentTexts } from "../support/argument-texts.ts";
import { makeTree } from "../support/packs.ts";
import { makeFifo, makeLink } from "../support/special-files.ts";
import { makePack, validateTree } from "./validate-tree.ts";

const onPosix = test.skipIf(process.platform === "win32");

const resource = (name: string, fields: object) => ({ name, description: `The ${name}.`, ...fields });

/** Validates a pack with one resource `page`. */
const judge = async (fields: object, files: object = {}, more: object = {}) =>
  validateTree({
    extension: { resources: ["page"] },
    files: {
      "trailblaze/resources/page.json": resource("page", fields),
      "lib/pages.js": "export const read = () => 'x'; export const watch = () => {};",
      ...files,
    },
    ...more,
  });

test.each<[string, object]>([
  [
    "with all optional keys",
    {
      uri: "docs://page",
      title: "Page",
      mimeType: 'text/html;profile="mcp-app"; charset=utf-8',
      annotations: { audience: ["user"], priority: 1, lastModified: "2026-01-31T12:00:00.5+01:00" },
      _meta: { "example.com/rank": 1 },
      subscribe: "./lib/pages.js#watch",
      text: "Page",
    },
  ],
  ["with a file", { uri: "docs://page", file: "./docs/page.md" }],
  ["with a file of code that does not run", { uri: "docs://page", file: "./docs/example.js" }],
  [
    "with a template",
    {
      uriTemplate: "docs://{book}/{page}",
      handler: "./lib/pages.js#read",
      complete: { book: ["guide"], page: "./lib/pages.js#read" },
    },
  ],
])("validate accepts a resource %s", async (_what, fields) => {
  const files = { "docs/page.md": "# Page", "docs/example.js": "import './nowhere.js'; {" };
  expect(await judge(fields, files)).toEqual([]);
});

describe("an invalid resource", () => {
  const uri = "docs://page";
  const text = "Page";
  const uriTemplate = "docs://{page}";
  test.each<[object, (string | number)[], string]>([
    [{ uri, file: "./docs/page.md" }, ["file"], 'the package has no file "docs/page.md"'],
    [{ uri, file: "./lib" }, ["file"], "folder"],
  ])("%j is an InvalidResourceDefinition", async (fields, path, reason) => {
    const problems = await judge(fields);
    const code = "InvalidResourceDefinition";
    expect(problems).toMatchObject([{ code, severity: "error", item: "page", kind: "resource", path }]);
    expect(argumentTexts(problems[0]?.args ?? {})).toContain(reason);
  });

  test.each(["handler", "subscribe", "complete"])("the module in %s must exist", async (key) => {
    const missing = "./lib/pages.js#nothing";
    const value = key === "complete" ? { page: missing } : missing;
    const problems = await judge({ uriTemplate, ...(key === "handler" ? {} : { text }), [key]: value });
    expect(problems).toMatchObject([
      { code: "HandlerNotFound", path: key === "complete" ? ["complete", "page"] : [key] },
    ]);
  });
});

describe("the file of a resource", () => {
  onPosix("every unusable file is reported in one run", async () => {
    const outside = makeTree({ "secret.txt": "secret" });
    const names = ["pipe", "sparse", "outside", "above", "circle", "well", "large"];
    const folder = makePack({
      extension: { resources: names },
      files: {
        ...Object.fromEntries(
          names.map((name) => [
            `trailblaze/resources/${name}.json`,
            resource(name, { uri: `docs://${name}`, file: `./docs/${name}` }),
          ]),
        ),
        "trailblaze/resources/above.json": resource("above", {
          uri: "docs://above",
          file: "../../etc/passwd",
        }),
        "docs/well": "well",
        "docs/sparse": "",
        "docs/large": "",
      },
    });
    const at = (name: string) => join(folder, "docs", name);
    makeFifo(at("pipe"));
    truncateSync(at("sparse"), 10 * 2 ** 20 + 1);
    truncateSync(at("large"), 10 * 2 ** 20);
    makeLink(join(outside, "secret.txt"), at("outside"));
    makeLink("circle", at("circle"));
    mkdirSync(join(folder, "../../etc"), { recursive: true });
    const { problems } = await validateExtension(folder);
    const byItem = Object.fromEntries(
      problems.map(({ item, code, args }) => [item, `${code}: ${argumentTexts(args)}`]),
    );
    expect(byItem).toEqual({
      pipe: expect.stringMatching(/^InvalidResourceDefinition: .*\bpipe/),
      sparse: expect.stringMatching(/^InvalidResourceDefinition: .*10,485,761 bytes/),
      outside: expect.stringMatching(/^DefinitionOutsidePackage: /),
      above: expect.stringMatching(/^(?:DefinitionOutsidePackage|InvalidResourceDefinition): /),
      circle: expect.stringMatching(/^InvalidResourceDefinition: /),
    });
  });
});

test("a file of many resources is read once", () => {
  const read: string[] = [];
  const port = { readFile: (_: string, file: string) => ({ state: read.push(file) > 0 ? "absent" : "" }) };
  const item = { shape: "resource", definition: { file: "./page.md" } };
  const inspected = { items: [item, item, item], pack: { location: "/" } };
  expect([...(checkResourceFiles({ port, inspected } as never) as Iterable<unknown>)]).toHaveLength(3);
  expect(read).toEqual(["page.md"]);
});

test("two resources with one URI, or with templates that match the same URIs, are reported", async () => {
  const uris = { a: "docs://x", b: "docs://x", c: "docs://{one}", d: "docs://{two}", e: "docs://y" };
  const files = {
    "trailblaze/resources.json": Object.fromEntries(
      Object.entries(uris).map(([name, uri]) => [
        name,
        resource(name, { [uri.includes("{") ? "uriTemplate" : "uri"]: uri, text: "x" }),
      ]),
    ),
  };
  const problems = await validateTree({ extension: { resources: Object.keys(uris) }, files });
  expect(problems.map(({ code, item, path, args }) => [code, item, path?.at(-1), args])).toEqual([
    ["DuplicateResourceUri", "b", "uri", { uri: "docs://x", other: "a" }],
    ["DuplicateResourceUri", "d", "uriTemplate", { uri: "docs://{two}", other: "c" }],
  ]);
});

test("a server's reference to a missing resource is an InvalidReference", async () => {
  const problems = await validateTree({
    extension: { servers: ["desk"], resources: ["page"], tools: [] },
    files: {
      "trailblaze/servers/desk.json": { resources: ["page", "paeg"], prompts: ["page"] },
      "trailblaze/resources/page.json": resource("page", { uri: "docs://page", text: "x" }),
    },
  });
  expect(problems.map(({ code, path, hint }) => [code, path, hint])).toEqual([
    ["InvalidReference", ["prompts", 0], "Move it to `resources`."],
    ["InvalidReference", ["resources", 1], "Did you mean page?"],
  ]);
});
