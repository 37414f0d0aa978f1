import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { inRepository } from "../support/repository.ts";
import { parseMarkdown } from "./markdown.ts";
import { pages } from "./pages.ts";

/** Targets of the links in a text, without those that lead out of the repository. */
function findRelativeLinks(markdown: string): string[] {
  const lines = parseMarkdown(markdown).filter((part) => typeof part === "string");
  return [...lines.join("\n").matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^(?:[a-z]+:|#)/.test(target));
}

/** The anchors that GitHub gives to the headings of a page. */
const findAnchors = (markdown: string) =>
  [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );

test.each(pages)("every link of %s has a target", (page) => {
  const links = findRelativeLinks(readFileSync(inRepository(page), "utf8"));
  const broken = links.filter((link) => {
    const [path = "", anchor] = link.split("#");
    const target = join(inRepository(dirname(page)), path);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !findAnchors(readFileSync(target, "utf8")).includes(anchor);
  });
  expect(broken).toEqual([]);
});
