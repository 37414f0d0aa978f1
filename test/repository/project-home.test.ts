import { readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import packlist from "npm-packlist";
import { describe, expect, test } from "vitest";
import { linkFiles, linkManifest, linkReadme } from "../../scripts/project-home.ts";
import { formatSarif } from "../../src/cli/report/report-formats.ts";
import { projectHome } from "../../src/home.ts";
import type { DetailedReport } from "../../src/validate/validate-target.ts";
import { parseMarkdown } from "../docs/markdown.ts";
import { inRepository } from "../support/repository.ts";

const home = "https://git.example/acme/trailblaze";
const read = (path: string) => readFileSync(inRepository(path), "utf8");
const manifests: [string, string | undefined][] = [
  ["package.json", undefined],
  ["packages/scripting/package.json", "packages/scripting"],
];

async function filesOf(directory: string): Promise<Set<string>> {
  const folder = inRepository(directory);
  const manifest = JSON.parse(read(posix.join(directory, "package.json")));
  const tree = { path: folder, package: manifest, isProjectRoot: true, edgesOut: new Map() };
  return new Set(await (packlist as unknown as (tree: object) => Promise<string[]>)(tree));
}

function relativeLinks(markdown: string): string[] {
  const prose = parseMarkdown(markdown).filter((part) => typeof part === "string");
  return [...prose.join("\n").matchAll(/\]\((?!#|[a-z]+:)([^)\s#]+)[^)]*\)/g)].map(
    ([, target = ""]) => target,
  );
}

const report = {
  report: {
    ok: false,
    problems: [{ code: "NoExtension", severity: "error", message: "It has no field.", args: { name: "x" } }],
  },
  location: "/x",
  texts: new Map(),
} as unknown as DetailedReport;
const helpUri = /"helpUri":"([^"]+)"/;

test.each(Object.entries(linkFiles(projectHome)))(
  "%s is what `npm run generate` creates",
  (path, content) => {
    expect(read(path)).toBe(content);
  },
);

describe("without a project home", () => {
  test.each(manifests)("without a home, %s has no field with a link", (path, directory) => {
    const fields = Object.keys(JSON.parse(linkManifest(read(path), undefined, directory)));
    expect(fields).toContain("version");
    for (const field of ["repository", "homepage", "bugs"]) expect(fields).not.toContain(field);
  });

  test("without a home, each rule of a SARIF report has a page of the published package as help", async () => {
    const sarif = JSON.stringify(await formatSarif([report], () => "/x", "1.2.3", undefined));
    const page = "docs/problems/NoExtension.md";
    expect(helpUri.exec(sarif)?.[1]).toBe(`https://unpkg.com/trailblaze@1.2.3/${page}`);
    expect(await filesOf(".")).toContain(page);
  });

  test.each([".", "packages/scripting"])(
    "every link of a page for users has a target in %s",
    async (directory) => {
      const files = await filesOf(directory);
      const pages = [...files].filter((file) =>
        /^(?:(?:README|CHANGELOG|SECURITY)|docs\/.+)\.md$/.test(file),
      );
      expect(pages).toContain("README.md");
      const dead = pages.flatMap((page) =>
        relativeLinks(read(posix.join(directory, page)))
          .map((link) => posix.join(dirname(page), link))
          .filter((target) => !files.has(target) && ![...files].some((file) => file.startsWith(`${target}/`)))
          .map((target) => `${page} → ${target}`),
      );
      expect(dead).toEqual([]);
    },
  );
});

describe("with a project home", () => {
  test.each(manifests)("with a home, the fields of %s link to it", (path, directory) => {
    const manifest = JSON.parse(linkManifest(read(path), home, directory));
    expect(manifest).toMatchObject({
      homepage: directory === undefined ? `${home}#readme` : `${home}/blob/HEAD/${directory}#readme`,
      bugs: `${home}/issues`,
      repository: { type: "git", url: `git+${home}.git` },
    });
    expect(manifest.repository.directory).toBe(directory);
  });

  test.each(manifests)(
    "%s stays the same when linked twice, and returns to its original without a home",
    (path, directory) => {
      const linked = linkManifest(read(path), home, directory);
      expect(linkManifest(linked, home, directory)).toBe(linked);
      expect(linkManifest(linked, undefined, directory)).toBe(linkManifest(read(path), undefined, directory));
    },
  );

  test("relative links of a README become absolute, and other links stay", () => {
    const text = "[a](../../docs/a.md#b) [c](#c) [d](https://d.example/)";
    const linked = `[a](${home}/blob/HEAD/docs/a.md#b) [c](#c) [d](https://d.example/)`;
    expect(linkReadme(text, home, "packages/scripting")).toBe(linked);
    expect(linkReadme(linked, home, "packages/scripting")).toBe(linked);
  });

  test("each rule of a SARIF report has its problem's page as help", async () => {
    const sarif = JSON.stringify(await formatSarif([report], () => "/x", "1.0.0", home));
    expect(helpUri.exec(sarif)?.[1]).toBe(`${home}/blob/HEAD/docs/problems/NoExtension.md`);
  });
});
