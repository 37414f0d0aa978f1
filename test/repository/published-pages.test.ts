import { readFileSync } from "node:fs";
import { dirname, posix } from "node:path";
import packlist from "npm-packlist";
import { expect, test } from "vitest";
import { parseMarkdown } from "../docs/markdown.ts";
import { inRepository } from "../support/repository.ts";

const read = (path: string) => readFileSync(inRepository(path), "utf8");

async function filesOf(directory: string): Promise<Set<string>> {
  const folder = inRepository(directory);
  const manifest = JSON.parse(read(posix.join(directory, "package.json")));
  const tree = { path: folder, package: manifest, isProjectRoot: true, edgesOut: new Map() };
  return new Set(await packlist(tree));
}

/** Targets of a page's links and pictures within its package, as written. */
function relativeTargets(markdown: string): string[] {
  const prose = parseMarkdown(markdown)
    .filter((part) => typeof part === "string")
    .join("\n");
  const links = prose.matchAll(/\]\((?!#|[a-z]+:)([^)\s#]+)[^)]*\)/g);
  const pictures = prose.matchAll(/(?:src|srcset)="(?![a-z]+:)([^"]+)"/g);
  return [...links, ...pictures].map(([, target = ""]) => target);
}

test.each([".", "packages/scripting"])(
  "every link and picture of a page for users has a target in the package %s",
  async (directory) => {
    const files = await filesOf(directory);
    const pages = [...files].filter((file) => /^(?:(?:README|CHANGELOG|SECURITY)|docs\/.+)\.md$/.test(file));
    expect(pages).toContain("README.md");
    const dead = pages.flatMap((page) =>
      relativeTargets(read(posix.join(directory, page)))
        .map((target) => posix.join(dirname(page), target))
        .filter((target) => !files.has(target) && ![...files].some((file) => file.startsWith(`${target}/`)))
        .map((target) => `${page} → ${target}`),
    );
    expect(dead).toEqual([]);
  },
);

// npm's page resolves a README's pictures against the repository's address, which the package does not have yet.
test("no README shows a picture by a relative path", () => {
  for (const page of ["README.md", "packages/scripting/README.md"])
    expect(read(page)).not.toMatch(/<(?:img|source)\b|!\[/);
});
