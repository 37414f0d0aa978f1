import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import MarkdownIt from "markdown-it";
import { describe, expect, test } from "vitest";
import { formatLock } from "../../src/lock/lock-file.ts";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const documentPack = async (cwd: string, ...args: string[]) => runMain(["docs", ...args], { cwd });

/** A pack with one tool. `fields` are those of its definition. */
const makeToolPack = (fields: object = {}, files: Record<string, unknown> = {}) =>
  makeTree({
    "package.json": packManifest("@acme/desk", { trailblaze: { tools: ["greet"] } }),
    "trailblaze/tools/greet.json": {
      name: "desk_greet",
      description: "Greet somebody.",
      inputSchema: { type: "object", properties: {} },
      handler: "./greet.js",
      ...fields,
    },
    "greet.js": "export default () => 'hello';",
    ...files,
  });

const section = (content: string, lineEnd = "\n") =>
  ["# Desk", "", "<!-- trailblaze:docs -->", content, "<!-- /trailblaze:docs -->", "", "After."].join(
    lineEnd,
  );

describe("the command docs", () => {
  test("docs lists the approved tools of a subprocess server", async () => {
    const server = {
      launch: { command: "node" },
      lists: { approved_tool: { inputSchema: { type: "object" } } },
    };
    const cwd = makeTree({
      "package.json": packManifest("@acme/desk", {
        trailblaze: { servers: [{ name: "main", tools: ["declared_tool"] }] },
      }),
      "trailblaze/servers/main.json": { script: "./main.js" },
      "main.js": "",
      "trailblaze.lock": formatLock({
        lockfileVersion: 1,
        packs: { "@acme/desk": { surface: "", servers: { main: server } } },
        servers: {},
      }),
    });
    const { stdout } = await documentPack(cwd);
    expect(stdout).toContain("Tools: `approved_tool`\n");
    expect(stdout).not.toContain("declared_tool");
  });

  test("docs escapes the texts of a pack for Markdown and HTML", async () => {
    const hostile =
      "<script>alert(1)</script> [x](javascript:alert) ![i](https://a.test/i.png) https://b.test *b* a|b";
    const cwd = makeToolPack({
      title: hostile,
      description: `${hostile}\n\n# Heading\n\n- point\n\n\`\`\`\n<!-- /trailblaze:docs -->\n\u202e`,
      inputSchema: {
        type: "object",
        properties: { [`a\`|<b> ${hostile}`]: { description: hostile, default: hostile } },
      },
    });
    const { stdout } = await documentPack(cwd);
    expect(stdout).not.toContain("\u202e");
    const html = new MarkdownIt({ html: true, linkify: true }).render(stdout);
    const elements = [...html.matchAll(/<\/?([a-z0-9!-]+)/gi)].map(([, name = ""]) => name);
    const expected = ["h2", "h3", "p", "code", "table", "thead", "tbody", "tr", "th", "td"];
    expect(elements.filter((name) => !expected.includes(name))).toEqual([]);
    expect(html.match(/<h\d>/g)).toHaveLength(2);
    // One row with its five cells.
    expect(html.match(/<td>/g)).toHaveLength(5);
    expect(html).toContain("# Heading");
  });

  test("docs writes between the markers and keeps everything else", async () => {
    const readme = `\uFEFF${section("old", "\r\n")}`;
    const cwd = makeToolPack({}, { "README.md": readme });
    const file = join(cwd, "README.md");
    chmodSync(file, 0o640);
    const first = await documentPack(cwd, "--write", "README.md");
    expect(first).toMatchObject({ stdout: "README.md: written\n", exitCode: 0 });
    const written = readFileSync(file, "utf8");
    expect(written.startsWith("\uFEFF# Desk\r\n\r\n<!-- trailblaze:docs -->\r\n\r\n## Tools\r\n")).toBe(true);
    expect(written.endsWith("\r\n<!-- /trailblaze:docs -->\r\n\r\nAfter.")).toBe(true);
    expect(written.replaceAll("\r\n", "")).not.toContain("\n");
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const again = await documentPack(cwd, "--write", "README.md");
    expect(again.stdout).toBe("README.md: unchanged\n");
    expect(readFileSync(file, "utf8")).toBe(written);
  });

  test.each([
    ["no markers", "# Desk"],
    ["markers twice", `${section("old")}\n${section("old")}`],
    ["reversed markers", "<!-- /trailblaze:docs -->\n<!-- trailblaze:docs -->\n"],
    ["nested markers", section("<!-- trailblaze:docs -->\n<!-- /trailblaze:docs -->")],
    ["markers in a code fence", `~~~md\n${section("old")}\n~~~\n`],
  ])("docs leaves a file with %s unchanged", async (_title, readme) => {
    const cwd = makeToolPack({}, { "README.md": readme });
    const { stderr, exitCode } = await documentPack(cwd, "--write", "README.md");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("error DocsMarkersMissing  README.md\n");
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe(readme);
  });

  test("docs --check compares and writes nothing", async () => {
    const readme = section("old");
    const cwd = makeToolPack({}, { "README.md": readme });
    const missing = await documentPack(cwd, "--check", "--out", "DOCS.md");
    expect(missing).toMatchObject({ stdout: "DOCS.md: is out of date\n", exitCode: 1 });
    const stale = await documentPack(cwd, "--check", "--write", "README.md", "--json");
    expect(stale.exitCode).toBe(1);
    expect(JSON.parse(stale.stdout)).toMatchObject({
      files: [{ file: "README.md", changed: true }],
      problems: [],
    });
    expect(readFileSync(join(cwd, "README.md"), "utf8")).toBe(readme);
    await documentPack(cwd, "--write", "README.md");
    await documentPack(cwd, "--out", "DOCS.md");
    for (const target of [
      ["--write", "README.md"],
      ["--out", "DOCS.md"],
    ]) {
      const { stdout, exitCode } = await documentPack(cwd, "--check", ...target);
      expect({ stdout, exitCode }).toEqual({ stdout: `${target[1]}: is up to date\n`, exitCode: 0 });
    }
  });

  test("docs shows the problems of a broken pack, and fails only with --strict", async () => {
    const cwd = makeTree({
      "package.json": packManifest("@acme/desk", { trailblaze: { tools: ["gone", "greet"] } }),
      "trailblaze/tools/greet.json": { name: "desk_greet", inputSchema: {}, handler: "./greet.js" },
    });
    const { stdout, stderr, exitCode } = await documentPack(cwd);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("### `gone`\n\nIts definition is missing or invalid.\n");
    expect(stdout).toContain("### `desk_greet`\n");
    expect(stderr).toContain("MissingDefinitionFile");
    expect((await documentPack(cwd, "--strict")).exitCode).toBe(1);
  });
});
