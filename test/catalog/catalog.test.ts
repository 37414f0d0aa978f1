import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildCatalog } from "../../src/catalog/build-catalog.ts";
import { html, jsonForScript, linkTo, readRepository } from "../../src/catalog/html.ts";
import { assignPages } from "../../src/catalog/page-paths.ts";
import { markerFile, writeSite } from "../../src/catalog/write-site.ts";
import { formatLock } from "../../src/lock/lock-file.ts";
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
  const read = (path: string) => files.get(path) ?? `no ${path}`;
  return {
    files,
    problems,
    read,
    page: read("packs/acme/desk.html"),
    json: JSON.parse(read("catalog.json")),
  };
};

describe("the pages of a catalog", () => {
  test("a pack's page shows its tool with arguments, origin, version and links", async () => {
    const manifest = {
      repository: { type: "git", url: "git+https://git.example.com/acme/desk.git" },
      homepage: "http://plain.example.com",
      trailblaze: { tools: ["greet"], needs: { network: ["api.example.com"], env: [] } },
    };
    const { page, json, read } = await build(makeProject(tool(), {}, manifest));
    expect(page).toContain('<article class="item" id="tool-greet"');
    expect(page).toContain("Whom to greet.");
    expect(page).toContain('<span class="required">required</span>');
    expect(page).toContain('<a href="https://git.example.com/acme/desk" rel="noreferrer noopener">');
    expect(page).not.toContain("plain.example.com");
    expect(page).toContain("api.example.com");
    expect(page).toContain("Dependency of the project, in <code><bdi>node_modules/@acme/desk</bdi></code>");
    expect(read("index.html")).toContain('<a href="packs/acme/desk.html">');
    expect(json.packs[0]).toMatchObject({
      name: "@acme/desk",
      page: "packs/acme/desk.html",
      location: "node_modules/@acme/desk",
      tools: [{ name: "greet", advertisedName: "desk_greet", page: "packs/acme/desk.html#tool-greet" }],
    });
  });

  test("inner properties follow their object, and a schema that is too deep says so", async () => {
    const nest = (depth: number): object =>
      depth === 0 ? { type: "string" } : { type: "object", properties: { inner: nest(depth - 1) } };
    const pageOf = async (depth: number) =>
      (await build(makeProject(tool({ inputSchema: nest(depth) })))).page;
    const fits = await pageOf(5);
    expect(fits).toContain(
      '<tr class="depth-2"><td><span class="depth"><code><bdi><span class="visually-hidden">inner.</span>inner</bdi>',
    );
    expect(fits.match(/<tr class="depth-/g)).toHaveLength(4);
    expect(fits).not.toContain("too deep");
    expect(await pageOf(6)).toContain("The table is not complete");
  });

  test("items have the state that trailblaze.lock gives them", async () => {
    const lock = (description: string, denied: string[] = []) => ({
      "trailblaze.lock": formatLock({
        lockfileVersion: 1,
        packs: {
          "@acme/desk": {
            version: "1.0.0",
            surface: "",
            ...(denied.length > 0 ? { denied } : {}),
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
      return { pack: json.packs[0].lock, tool: json.packs[0].tools[0].lock, page };
    };
    expect(await stateOf(lock("Greet somebody."))).toMatchObject({ pack: "approved", tool: "approved" });
    expect(await stateOf(lock("Another text."))).toMatchObject({ pack: "changed", tool: "changed" });
    expect(await stateOf(lock("Another text.", ["tool:greet"]))).toMatchObject({ tool: "denied" });
    const empty = formatLock({ lockfileVersion: 1, packs: {}, servers: {} });
    const unapproved = await stateOf({ "trailblaze.lock": empty });
    expect(unapproved).toMatchObject({ pack: "notApproved", tool: "notApproved" });
    expect(unapproved.page).toContain('<li class="badge warning">Not approved</li>');
    const { tool: none, page } = await stateOf({});
    expect(none).toBeUndefined();
    expect(page).toContain("The project has no lock");
  });

  test("a malformed lock is a problem of the project, and nothing counts as approved", async () => {
    const { problems, read, json } = await build(makeProject(tool(), { "trailblaze.lock": "{" }));
    expect(problems.map(({ code }) => code)).toContain("LockMalformed");
    expect(read("index.html")).toContain("LockMalformed");
    expect(json.packs[0].lock).toBeNull();
  });

  test("an item that sessions cannot use is shown with its problem, and parsing its module runs nothing", async () => {
    const ran = "node_modules/@acme/desk/ran.txt";
    const greet = `import { writeFileSync } from "node:fs"; writeFileSync(new URL("./ran.txt", import.meta.url), ""); export const other = 1;`;
    const cwd = makeProject(tool({ handler: "./greet.js#absent" }), {
      "node_modules/@acme/desk/greet.js": greet,
    });
    const { page, problems, json, read } = await build(cwd);
    expect(problems.map(({ code }) => code)).toEqual(["HandlerNotFound"]);
    expect(json.packs[0].problems).toMatchObject([
      { code: "HandlerNotFound", kind: "tool", item: "greet", file: "trailblaze/tools/greet.json" },
    ]);
    expect(page).toContain("docs/problems/HandlerNotFound.md");
    expect(read("index.html")).toContain('<li class="badge error">1 error</li>');
    expect(existsSync(join(cwd, ran))).toBe(false);
  });

  test("text that hides from readers is a problem on the page", async () => {
    const { problems, page } = await build(makeProject(tool({ description: "Greet.\u202eydobemos" })));
    expect(problems.map(({ code }) => code)).toEqual(["HiddenText"]);
    expect(page).toContain("docs/problems/HiddenText.md");
  });

  test("a copy that another one shadows is not checked, because no session uses it", async () => {
    const other = "node_modules/other/node_modules/@acme/desk";
    const { problems, json } = await build(
      makeProject(tool(), {
        "node_modules/other/package.json": { name: "other", dependencies: { "@acme/desk": "2.0.0" } },
        [`${other}/package.json`]: packManifest("@acme/desk", {
          version: "2.0.0",
          trailblaze: { tools: ["greet"] },
        }),
        [`${other}/trailblaze/tools/greet.json`]: tool({ handler: "./gone.js" }),
      }),
    );
    expect(json.packs).toHaveLength(2);
    expect(problems.map(({ code }) => code)).not.toContain("HandlerNotFound");
  });

  test("servers show the names of variables, never their values", async () => {
    const cwd = makeTree({
      "package.json": { name: "app", dependencies: { desk: "1.0.0" } },
      "trailblaze.config.json": {
        mcpServers: {
          files: { command: "/opt/bin/files", args: ["--key=sesame"], env: { FILES_TOKEN: "sesame" } },
          far: { url: "https://mcp.example.com/mcp?key=sesame", headers: { "X-Key": "sesame" } },
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
    const { files } = await build(cwd);
    const all = [...files.values()].join("\n");
    expect(all).not.toContain("sesame");
    expect(all).not.toContain("/opt/bin");
    for (const name of ["DESK_MODE", "DESK_TOKEN", "FILES_TOKEN", "X-Key", "https://mcp.example.com/mcp"])
      expect(all).toContain(name);
  });

  test("the sample packs are shown with everything that they refer to", async () => {
    const cwd = makeTree({});
    makeSampleProject(cwd, "app");
    const { files, problems, read, json } = await build(cwd);
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(json.packs.map((pack: { name: string }) => pack.name)).toEqual(
      samplePacks.map(({ name }) => name).sort(),
    );
    expect(read("packs/globex/release-desk.html")).toContain('href="../acme/jira.html#tool-createIssue"');
    expect(read("index.html")).toContain('href="packs/globex/release-desk.html"');
    // Every link leads to a page and an element of the catalog.
    for (const [path, text] of files) {
      if (!path.endsWith(".html")) continue;
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids).toEqual([...new Set(ids)]);
      for (const [, address = ""] of text.matchAll(/ href="(?!https:)([^"]*)"/g)) {
        const [target = "", id] = address.split("#");
        const file = target === "" ? path : new URL(target, `file:///${path}`).pathname.slice(1);
        expect(files.has(file), `${path} → ${address}`).toBe(true);
        if (id !== undefined) expect(files.get(file)).toContain(` id="${id}"`);
      }
    }
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
    expect([...one.files]).toEqual([...other.files]);
    expect([...one.files.values()].join("\n")).not.toContain(cwd);
    const copies = [...one.files.keys()].filter((path) => path.startsWith("packs/acme/"));
    expect(copies).toHaveLength(2);
    expect(copies).toContain("packs/acme/desk.html");
    expect(one.page).toContain('<bdi class="version">1.0.0</bdi>');
  });

  test("a definition over 64 KiB is cut with a note", async () => {
    const description = "lorem ipsum ".repeat(80_000);
    const { page, read } = await build(makeProject(tool({ description })));
    expect(page).toContain("Cut after 64 KiB of");
    expect(page).toContain("trailblaze inspect acme/desk/greet --kind tool --json");
    expect(page.length).toBeLessThan(200_000);
    expect(read("index.html").length).toBeLessThan(50_000);
  });

  test("10,000 tools of one pack make a page, and an index of at most 1 MiB", async () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `tool-number-${index}`);
    const { read } = await build(
      makeTree({
        "package.json": { name: "app", dependencies: { many: "1.0.0" } },
        "node_modules/many/package.json": packManifest("many", { trailblaze: { tools: names } }),
        "node_modules/many/trailblaze/tools.json": Object.fromEntries(
          names.map((name) => [name, tool({ name, description: `${name} does something. `.repeat(5) })]),
        ),
      }),
    );
    expect(read("packs/many.html").match(/<article class="item"/g)).toHaveLength(10_000);
    expect(Buffer.byteLength(read("index.html"))).toBeLessThanOrEqual(1 << 20);
    expect(read("index.html")).toContain("tool-number-9999");
  });

  test("without packs, the index says how to get some", async () => {
    const { read, files } = await build(makeTree({ "package.json": { name: "app" } }));
    expect(read("index.html")).toContain("No packs are installed in this project.");
    expect([...files.keys()]).toEqual(["catalog.json", "index.html"]);
  });
});

describe("texts of packs in pages", () => {
  const hostile = `</style></script><script>alert(1)</script><img src=x onerror=alert(1)> "' & \u202eevil`;

  test("markup is text, and bidirectional characters are marked", async () => {
    const inputSchema = {
      type: "object",
      properties: { [hostile]: { description: hostile, default: hostile } },
    };
    const { page, read } = await build(
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
    for (const text of [page, read("index.html")]) {
      expect(text).not.toMatch(/<script>alert|<img/);
      expect(text.match(/<script/g)?.length).toBe(text.match(/<\/script>/g)?.length);
      expect(text).not.toContain("\u202e");
      expect(text).not.toMatch(/<[^>]*javascript:/);
    }
    expect(page).toContain('<mark class="hidden-character">\\u{202e}</mark>');
    expect(read("catalog.json")).not.toContain("\u202e");
    expect(JSON.parse(read("catalog.json")).packs[0].description).toBe(hostile);
  });

  test("html escapes texts and attributes, and keeps markup of its own", () => {
    const { markup } = html`<p title="${'"><b>\u202e'}">${"<i>"}${[html`<b>${1}</b>`, false]}</p>`;
    expect(markup).toBe('<p title="&quot;&gt;&lt;b&gt;\\u{202e}">&lt;i&gt;<b>1</b></p>');
    // In a tag, a quote is escaped wherever the value is; between tags it means nothing.
    expect(html`<p class="a ${'"'}">${'"'}</p>`.markup).toBe('<p class="a &quot;">"</p>');
    expect(jsonForScript(["</script><!--"]).markup).toBe('["\\u003c/script\\u003e\\u003c!--"]');
  });

  test.each([
    ["https://example.com/a", true],
    ["http://example.com/a", false],
    ["javascript:alert(1)", false],
    ["https://user:pass@example.com/", false],
    ["//example.com", false],
  ])("linkTo makes of %s a link: %s", (address, isLink) => {
    expect(linkTo(address).markup.startsWith("<a ")).toBe(isLink);
  });

  test.each([
    ["github:acme/jira", "https://github.com/acme/jira"],
    [{ url: "git+https://github.com/acme/jira.git" }, "https://github.com/acme/jira"],
    ["git+ssh://git@github.com/acme/jira.git", undefined],
    ["javascript:alert(1)//a/b", undefined],
    [{ url: 7 }, undefined],
  ])("readRepository reads %j as %s", (written, address) => {
    expect(readRepository(written)).toBe(address);
  });
});

describe("the files of pages", () => {
  const pack = (name: string, fields: object = {}) => ({
    name,
    version: "1.0.0",
    location: name,
    shadowed: false,
    ...fields,
  });

  test("names become paths that every file system takes", () => {
    const pages = assignPages(
      [
        "@acme/jira",
        "hello",
        "../../evil",
        "con",
        "@aux/x",
        "Foo",
        "a.html",
        "@a.html/x",
        "…",
        "x".repeat(214),
      ].map((name) => pack(name)),
    );
    expect(pages.slice(0, 2)).toEqual(["packs/acme/jira.html", "packs/hello.html"]);
    for (const page of pages)
      expect(page).toMatch(/^packs\/(?:[a-z0-9_-][a-z0-9._-]*\/)?[a-z0-9_-][a-z0-9._-]*\.html$/);
    for (const page of pages.slice(2)) expect(page).toMatch(/-[0-9a-f]{8}\.html$/);
    expect(new Set(pages.map((page) => page.toLowerCase())).size).toBe(pages.length);
  });

  test("copies of a pack have hashes that do not depend on the others", () => {
    const used = pack("desk");
    const second = pack("desk", { version: "2.0.0", location: "b", shadowed: true });
    const third = pack("desk", { version: "3.0.0", location: "c", shadowed: true });
    const [plain, two, three] = assignPages([used, second, third]);
    expect(plain).toBe("packs/desk.html");
    expect(two).toMatch(/^packs\/desk-[0-9a-f]{8}\.html$/);
    expect(assignPages([third, used])).toEqual([three, plain]);
  });
});

describe("writing a catalog", () => {
  const site = (files: Record<string, string>) =>
    new Map(Object.entries({ "index.html": "index", ...files }));
  const list = (folder: string) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(folder.length + 1)
          .replaceAll("\\", "/"),
      )
      .sort();
  const refused = (write: () => unknown) =>
    expect(write).toThrow(expect.objectContaining({ code: "CatalogFolderTaken" }));

  test("a second catalog replaces the first one, and foreign files stay", () => {
    const folder = join(makeTree({}), "site");
    writeSite(folder, site({ "packs/acme/jira.html": "1", "packs/old.html": "1" }));
    writeFileSync(join(folder, "CNAME"), "example.com");
    mkdirSync(join(folder, "packs/mine"));
    writeFileSync(join(folder, "packs/mine/note.txt"), "mine");
    const { files, removed } = writeSite(folder, site({ "packs/new.html": "2" }));
    expect(removed).toEqual(["packs/acme/jira.html", "packs/old.html"]);
    expect(files).toEqual([
      { file: "index.html", changed: false },
      { file: "packs/new.html", changed: true },
    ]);
    expect(list(folder)).toEqual([
      markerFile,
      "CNAME",
      "index.html",
      "packs/mine/note.txt",
      "packs/new.html",
    ]);
    expect(existsSync(join(folder, "packs/acme"))).toBe(false);
  });

  test("a folder with other files is refused unchanged", () => {
    const folder = makeTree({ "notes.txt": "mine" });
    refused(() => writeSite(folder, site({})));
    expect(list(folder)).toEqual(["notes.txt"]);
    writeFileSync(join(folder, markerFile), "{}");
    refused(() => writeSite(folder, site({})));
    refused(() => writeSite(join(folder, "notes.txt"), site({})));
  });

  test("a foreign file in the place of a page is refused unchanged", () => {
    const folder = join(makeTree({}), "site");
    writeSite(folder, site({}));
    mkdirSync(join(folder, "packs"));
    writeFileSync(join(folder, "packs/desk.html"), "mine");
    refused(() => writeSite(folder, site({ "packs/desk.html": "ours" })));
    expect(readFileSync(join(folder, "packs/desk.html"), "utf8")).toBe("mine");
  });

  test("a marker with other paths deletes nothing", () => {
    const parent = makeTree({ "outside.html": "mine" });
    const folder = join(parent, "site");
    writeSite(folder, site({}));
    writeFileSync(join(folder, "mine.html"), "mine");
    const files = [
      "../outside.html",
      "packs/../../outside.html",
      join(parent, "outside.html"),
      "mine.html",
      7,
      "",
    ];
    writeFileSync(
      join(folder, markerFile),
      JSON.stringify({ madeBy: "trailblaze catalog", files: ["index.html", ...files] }),
    );
    expect(writeSite(folder, site({})).removed).toEqual([]);
    expect(existsSync(join(parent, "outside.html"))).toBe(true);
    expect(existsSync(join(folder, "mine.html"))).toBe(true);
  });

  test.skipIf(process.platform === "win32")("links in the folder are not followed", () => {
    const parent = makeTree({ "elsewhere/desk.html": "mine" });
    const folder = join(parent, "site");
    writeSite(folder, site({ "packs/other.html": "1" }));
    symlinkSync(join(parent, "elsewhere"), join(folder, "packs/linked"));
    const marker = JSON.parse(readFileSync(join(folder, markerFile), "utf8"));
    marker.files.push("packs/linked/desk.html");
    writeFileSync(join(folder, markerFile), JSON.stringify(marker));
    refused(() => writeSite(folder, site({ "packs/linked/desk.html": "ours" })));
    writeSite(folder, site({}));
    expect(readFileSync(join(parent, "elsewhere/desk.html"), "utf8")).toBe("mine");
  });

  test.skipIf(process.platform === "win32")("a page that became a link is replaced, not its target", () => {
    const parent = makeTree({ "page.txt": "mine" });
    const folder = join(parent, "site");
    mkdirSync(folder);
    symlinkSync(join(parent, "page.txt"), join(folder, "index.html"));
    writeFileSync(
      join(folder, markerFile),
      JSON.stringify({ madeBy: "trailblaze catalog", files: ["index.html"] }),
    );
    writeSite(folder, site({}));
    expect(readFileSync(join(parent, "page.txt"), "utf8")).toBe("mine");
    expect(lstatSync(join(folder, "index.html")).isFile()).toBe(true);
  });

  test("a write that fails leaves the old catalog and no new files", () => {
    const folder = join(makeTree({}), "site");
    writeSite(folder, site({ "packs/desk.html": "1" }));
    const before = list(folder);
    // The name of its draft is too long for a file system.
    const broken = site({
      "index.html": "new",
      "packs/desk.html": "2",
      [`packs/${"x".repeat(245)}.html`]: "2",
    });
    expect(() => writeSite(folder, broken)).toThrow(expect.objectContaining({ code: "InvalidArguments" }));
    expect(list(folder)).toEqual(before);
    expect(readFileSync(join(folder, "packs/desk.html"), "utf8")).toBe("1");
    const fresh = join(folder, "../fresh");
    expect(() => writeSite(fresh, broken)).toThrow(expect.objectContaining({ code: "InvalidArguments" }));
    expect(existsSync(fresh)).toBe(false);
  });
});
