import { cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { markerFile, writeSite } from "../../src/cli/commands/catalog.ts";
import { formatLock } from "../../src/lock/lock-file.ts";
import { readHttps } from "../../src/pages/describe-packs.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { makeSampleProject, samplePacks } from "../support/sample-packs.ts";

const tool = (fields: object = {}) => ({
  name: "desk_greet",
  description: "Greet somebody.",
  inputSchema: {
    type: "object",
    properties: { name: { type: "string", description: "Whom to greet." } },
    required: ["name"],
  },
  handler: "./greet.js",
  ...fields,
});

/** A project with one pack that has one tool. */
const makeProject = (
  definition: object = tool(),
  files: Record<string, unknown> = {},
  manifest: object = {},
) =>
  makeTree({
    "package.json": { name: "app", dependencies: { "@acme/desk": "1.0.0" } },
    "node_modules/@acme/desk/package.json": packManifest("@acme/desk", {
      trailblaze: { tools: ["greet"] },
      ...manifest,
    }),
    "node_modules/@acme/desk/trailblaze/tools/greet.json": definition,
    "node_modules/@acme/desk/greet.js": "export default () => 'hello';",
    ...files,
  });

const build = async (cwd: string) => {
  const { files, problems } = await buildCatalog({ cwd });
  const { "index.html": page, "catalog.json": data } = files;
  return { files, problems, page, data, json: JSON.parse(data) };
};

describe("the page of a catalog", () => {
  test("a pack has a card and a section, and its tool one with arguments", async () => {
    const manifest = {
      repository: { type: "git", url: "git+https://git.example.com/acme/desk.git" },
      homepage: "http://plain.example.com",
      trailblaze: { tools: ["greet"], needs: { network: ["api.example.com"], env: [] } },
    };
    const { files, page, json } = await build(makeProject(tool(), {}, manifest));
    expect(Object.keys(files)).toEqual(["catalog.json", "index.html"]);
    expect(page).toContain('<article class="item" id="tool:acme/desk/greet"');
    expect(page).toContain("Whom to greet.");
    expect(page).toContain(
      "<td><code><bdi>string</bdi></code></td><td>yes</td><td></td><td>Whom to greet.</td>",
    );
    expect(page).toContain('<a href="https://git.example.com/acme/desk" rel="noreferrer noopener">');
    expect(page).not.toContain("plain.example.com");
    expect(page).toContain("api.example.com");
    expect(page).toContain("direct, in <code><bdi>node_modules/@acme/desk</bdi></code>");
    expect(page).toContain('<h3><a href="#pack:acme/desk"><bdi>@acme/desk</bdi></a>');
    expect(page).toContain('<section class="pack" id="pack:acme/desk"');
    expect(Object.keys(json)).toEqual(["catalogVersion", "title", "generator", "packs", "problems"]);
    expect(json.packs[0]).toMatchObject({
      name: "@acme/desk",
      page: "index.html#pack:acme/desk",
      location: "node_modules/@acme/desk",
      tools: [{ name: "greet", advertisedName: "desk_greet", page: "index.html#tool:acme/desk/greet" }],
    });
  });

  test("packs have the state that trailblaze.lock gives them", async () => {
    const lock = (description: string) => ({
      "trailblaze.lock": formatLock({
        lockfileVersion: 1,
        packs: {
          "@acme/desk": {
            version: "1.0.0",
            surface: "",
            tools: {
              greet: {
                name: "desk_greet",
                description: [description],
                inputSchema: tool().inputSchema,
                runs: "./greet.js",
              },
            },
          },
        },
        servers: {},
      }),
    });
    const stateOf = async (files: Record<string, unknown>) => {
      const { json, page } = await build(makeProject(tool(), files));
      return [json.packs[0].lock, page];
    };
    const badge = (text: string) => expect.stringContaining(`<li class="badge">${text}</li>`);
    expect(await stateOf(lock("Greet somebody."))).toEqual(["approved", badge("Approved")]);
    expect(await stateOf(lock("Another text."))).toEqual(["changed", badge("Changed since approval")]);
    const free = { "trailblaze.config.yaml": "lock: { unlocked: ['pack:acme/desk'] }" };
    expect(await stateOf({ ...lock("Another text."), ...free })).toEqual(["notLocked", badge("Not locked")]);
    const empty = formatLock({ lockfileVersion: 1, packs: {}, servers: {} });
    expect(await stateOf({ "trailblaze.lock": empty })).toEqual(["notApproved", badge("Not approved")]);
    expect(await stateOf({})).toEqual([null, expect.anything()]);
  });

  test("a malformed lock is an error, so that nothing counts as approved", async () => {
    const built = build(makeProject(tool(), { "trailblaze.lock": "{" }));
    await expect(built).rejects.toMatchObject({ code: "LockMalformed" });
  });

  test("an item that sessions cannot use is shown with its problem, and parsing its module runs nothing", async () => {
    const ran = "node_modules/@acme/desk/ran.txt";
    const greet = `import { writeFileSync } from "node:fs"; writeFileSync(new URL("./ran.txt", import.meta.url), ""); export const other = 1;`;
    const cwd = makeProject(tool({ handler: "./greet.js#absent" }), {
      "node_modules/@acme/desk/greet.js": greet,
    });
    const { page, problems, json } = await build(cwd);
    expect(problems.map(({ code }) => code)).toEqual(["HandlerNotFound"]);
    expect(json.packs[0].problems).toMatchObject([
      { code: "HandlerNotFound", kind: "tool", item: "greet", file: "trailblaze/tools/greet.json" },
    ]);
    expect(page).toContain("docs/problems.md#handlernotfound");
    expect(page).toContain('<li class="badge">1 error</li>');
    expect(existsSync(join(cwd, ran))).toBe(false);
  });

  test("servers show the names of variables and the origin of an address, never values", async () => {
    const cwd = makeTree({
      "package.json": { name: "app", dependencies: { desk: "1.0.0" } },
      "trailblaze.config.json": {
        mcpServers: {
          files: { command: "/opt/bin/files", args: ["--key=sesame"], env: { FILES_TOKEN: "sesame" } },
          far: { url: "https://mcp.example.com/sesame?key=sesame", headers: { "X-Key": "sesame" } },
        },
      },
      "node_modules/desk/package.json": packManifest("desk", { trailblaze: { servers: ["main"] } }),
      "node_modules/desk/trailblaze/servers/main.json": {
        script: "./main.js",
        env: { DESK_MODE: "sesame" },
        envPassthrough: ["DESK_TOKEN"],
      },
      "node_modules/desk/main.js": "",
    });
    const { page, data } = await build(cwd);
    for (const text of [page, data]) {
      expect(text).not.toContain("sesame");
      expect(text).not.toContain("/opt/bin");
    }
    for (const name of ["DESK_MODE", "DESK_TOKEN", "<bdi>https://mcp.example.com</bdi>"])
      expect(page).toContain(name);
  });

  test("the sample packs are shown with everything that they refer to", async () => {
    const cwd = makeTree({});
    makeSampleProject(cwd, "app");
    const { problems, page, json } = await build(cwd);
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(json.packs.map((pack: { name: string }) => pack.name)).toEqual(
      samplePacks.map(({ name }) => name).sort(),
    );
    expect(page).toContain('href="#tool:acme/jira/createIssue"');
    // Every link leads to an element of the page.
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
    const targets = [...page.matchAll(/ href="(?!https:)([^"]*)"/g)].map(([, target]) => target);
    const isHere = (target = "") => target === "catalog.json" || ids.includes(target.slice(1));
    expect(targets.filter((target) => !isHere(target))).toEqual([]);
  });

  test("two builds give the same bytes wherever the project is, without the paths of this machine", async () => {
    const files = {
      "node_modules/broken/package.json": "{",
      "node_modules/other/package.json": { name: "other", dependencies: { "@acme/desk": "2.0.0" } },
      "node_modules/other/node_modules/@acme/desk/package.json": packManifest("@acme/desk", {
        version: "2.0.0",
        trailblaze: { tools: ["greet"] },
      }),
    };
    const cwd = makeProject(tool(), files);
    const elsewhere = join(makeTree({}), "a/deeper/folder");
    cpSync(cwd, elsewhere, { recursive: true });
    const [one, other] = [await build(cwd), await build(elsewhere)];
    expect(one.files).toEqual(other.files);
    expect(one.page + one.data).not.toContain(cwd);
    expect(one.json.packs).toMatchObject([
      { page: "index.html#pack:acme/desk", location: "node_modules/@acme/desk" },
    ]);
    expect(one.page).toContain('<bdi class="soft">1.0.0</bdi>');
  });

  test("5,000 tools make a page of at most 25 MB, which has all of them", async () => {
    const packs = Array.from({ length: 25 }, (_, index) => `pack-${index}`);
    const description = "Zählt „alles“. ".repeat(200);
    const files = packs.map((name) => {
      const names = Array.from({ length: 200 }, (_, index) => `${name}-tool-${index}`);
      return {
        [`node_modules/${name}/package.json`]: packManifest(name, { trailblaze: { tools: names } }),
        [`node_modules/${name}/trailblaze/tools.json`]: Object.fromEntries(
          names.map((one) => [one, tool({ name: one, description })]),
        ),
      };
    });
    const dependencies = Object.fromEntries(packs.map((name) => [name, "1.0.0"]));
    const { page } = await build(
      makeTree({ "package.json": { name: "app", dependencies }, ...Object.assign({}, ...files) }),
    );
    expect(page).not.toContain("No valid definition");
    expect(page.match(/<article class="item"/g)).toHaveLength(5000);
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(25_000_000);
    expect(page).toContain("the definitions of the last items are not shown");
  });

  test("elements of hostile and equal names have IDs of their own, and no pack has one of the page", async () => {
    const name = '"><b>';
    const { page, json } = await build(
      makeTree({
        "package.json": { name: "app", dependencies: { main: "1.0.0", theme: "1.0.0" } },
        "node_modules/main/package.json": packManifest("main", { trailblaze: { tools: [name, "a", "a"] } }),
        "node_modules/main/trailblaze/tools/a.json": tool({ handler: undefined }),
        "node_modules/theme/package.json": packManifest("theme"),
      }),
    );
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
    expect(json.packs.map((pack: { page: string }) => pack.page)).toEqual([
      "index.html#pack:main",
      "index.html#pack:theme",
    ]);
    expect(page).not.toContain("<b>");
  });
});

describe("texts of packs in the page", () => {
  const hostile = `</style></script><script>alert(1)</script><img src=x onerror=alert(1)> "' & \u202eevil`;

  test("markup is text, and bidirectional characters are marked", async () => {
    const inputSchema = {
      type: "object",
      properties: { [hostile]: { description: hostile, default: hostile } },
    };
    const { page, data, json } = await build(
      makeProject(
        tool({ title: hostile, description: hostile, inputSchema }),
        {},
        {
          description: hostile,
          repository: "javascript:alert(1)",
          homepage: "javascript:alert(1)",
        },
      ),
    );
    expect(page).not.toMatch(/<script>alert|<img/);
    expect(page.match(/<script/g)?.length).toBe(page.match(/<\/script>/g)?.length);
    expect(page).not.toContain("\u202e");
    expect(page).not.toMatch(/<[^>]*javascript:/);
    expect(page).toContain("\\u{202e}evil");
    expect(data).not.toContain("\u202e");
    expect(json.packs[0].description).toBe(hostile);
  });

  test.each([
    ["https://example.com/a", true],
    ["https://user:pass@example.com/", false],
    ["//example.com", false],
  ])("%s is an address to link to: %s", (address, isLink) => {
    expect(readHttps(address) !== undefined).toBe(isLink);
  });
});

describe("writing a catalog", () => {
  const site = (page = "page") => ({ "index.html": page, "catalog.json": "data" });
  const list = (folder: string) => readdirSync(folder).sort();
  const refused = (write: () => unknown) =>
    expect(write).toThrow(expect.objectContaining({ code: "CatalogFolderTaken" }));

  test("a second catalog replaces the first one, and foreign files stay", () => {
    const folder = join(makeTree({}), "deep/site");
    writeSite(folder, site());
    writeFileSync(join(folder, "CNAME"), "example.com");
    // As Git on Windows checks it out.
    const marker = readFileSync(join(folder, markerFile), "utf8");
    writeFileSync(join(folder, markerFile), marker.replaceAll("\n", "\r\n"));
    expect(writeSite(folder, site("new"))).toEqual([
      { file: "catalog.json", changed: false },
      { file: "index.html", changed: true },
    ]);
    expect(list(folder)).toEqual([markerFile, "CNAME", "catalog.json", "index.html"]);
    expect(readFileSync(join(folder, "index.html"), "utf8")).toBe("new");
  });

  test("a folder with other files is refused unchanged", () => {
    const folder = makeTree({ "notes.txt": "mine" });
    refused(() => writeSite(folder, site()));
    expect(list(folder)).toEqual(["notes.txt"]);
    writeFileSync(join(folder, markerFile), "{}");
    refused(() => writeSite(folder, site()));
    refused(() => writeSite(join(folder, "notes.txt"), site()));
  });

  test("a link in the place of the page is refused, and what it leads to stays", () => {
    const root = makeTree({ "mine.html": "mine" });
    const folder = join(root, "site");
    writeSite(folder, site());
    rmSync(join(folder, "index.html"));
    symlinkSync(join(root, "mine.html"), join(folder, "index.html"));
    refused(() => writeSite(folder, site("new")));
    expect(readFileSync(join(root, "mine.html"), "utf8")).toBe("mine");
  });
});
