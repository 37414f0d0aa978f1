import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CatalogEntry } from "../../src/problems/entry.ts";
import { catalog, type ProblemContext, type Severity } from "../../src/problems/index.ts";
import { inRepository } from "../support/repository.ts";
import {
  alsoInValidation,
  lockCodes,
  needsCodes,
  operationalCodes,
  ownCodes,
  ownValidationCodes,
  publishCodes,
  validationCodes,
  writingCodes,
} from "./contract-codes.ts";

const pages = inRepository("docs/problems");
const brokenPacks = inRepository("fixtures/sample-plugins/broken");
const entries = Object.entries(catalog) as [string, CatalogEntry<Record<string, unknown>>][];
const codes = entries.map(([code]) => code);

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);

/** Validation codes that no fixture pack has yet. Empty when validation is done; a code never comes back here. */
const withoutBrokenPack: readonly string[] = namesIn(brokenPacks).length === 0 ? codes : [];

/** Every severity that a code can have. */
function severitiesOf({ severity }: CatalogEntry<Record<string, unknown>>): Set<Severity> {
  if (typeof severity !== "function") return new Set([severity]);
  const contexts: ProblemContext[] = ["operation", "validation", "bystander"];
  const args = [
    {},
    { isDeclared: true },
    { required: true },
    { answered: true },
    { allowed: true },
    { packages: [] },
    { isGuarded: true },
    { isExport: true },
    { isInFunction: true },
    { isPrivate: true },
    { isDefault: true },
    { cause: "git" },
  ];
  return new Set(contexts.flatMap((context) => args.map((arg) => severity(context, arg))));
}

const headings = ["What it means", "Example", "How to fix it"];

/** Verbs that the fix on a page starts with. */
const imperative =
  /^(?:Add|Avoid|Await|Build|Change|Check|Choose|Combine|Configure|Correct|Create|Declare|Delete|Follow|Give|Ignore|Install|Keep|Move|Name|Omit|Open|Pass|Read|Remove|Rename|Report|Run|Say|Set|Start|Use|Wait|Write) /;

/** The sections of a page by heading; the part before the first heading of level 2 is under "". */
function readSections(code: string): Map<string, string> {
  const text = readFileSync(join(pages, `${code}.md`), "utf8");
  const parts = text.split(/^## /m);
  return new Map(
    parts.map((part, index) => {
      const end = index === 0 ? 0 : part.indexOf("\n");
      return [part.slice(0, end), part.slice(end).trim()];
    }),
  );
}

describe("the pages of problems", () => {
  test("every code has one page, and there is an index", () => {
    expect(namesIn(pages)).toEqual([...codes.map((code) => `${code}.md`), "README.md"].sort());
  });

  describe.each(entries)("%s", (code, entry) => {
    const sections = readSections(code);
    const [heading = "", summary = "", ...rest] = (sections.get("") ?? "").split("\n\n");

    test(`the page ${code} starts with code, severity and title`, () => {
      expect(heading).toBe(`# ${code}`);
      const [, severity = "", title] = /^\*\*(.+)\*\* · (.+)$/.exec(summary) ?? [];
      expect(title).toBe(entry.title);
      const words = new Set(severity.match(/error|warning|info/g));
      expect(words).toEqual(severitiesOf(entry));
      expect(rest).toEqual([]);
    });

    test(`the page ${code} has a meaning, an example in a fence, and a fix that starts with an imperative`, () => {
      expect([...sections.keys()]).toEqual(["", ...headings]);
      const [meaning = "", example, fix] = headings.map((name) => sections.get(name));
      expect(meaning.length).toBeGreaterThan(80);
      expect(example).toMatch(/^```[a-z]+\n[\s\S]+\n```$/m);
      expect(fix).toMatch(imperative);
    });

    test(`the page ${code} has only valid JSON in its JSON examples`, () => {
      if (code === "InvalidDefinitionContents" || code === "MalformedPackageJson") return;
      const page = [...sections.values()].join("\n");
      for (const [, json = ""] of page.matchAll(/^```json\n([\s\S]*?)^```/gm)) {
        const text = json.trim().startsWith("{") ? json : `{${json}}`;
        expect(() => JSON.parse(text), json).not.toThrow();
      }
    });
  });

  test("the index lists every page with severity and title", () => {
    const readme = readFileSync(join(pages, "README.md"), "utf8");
    const rows = [...readme.matchAll(/^\| \[(\w+)\]\((\w+)\.md\) \| (.+?) \| (.+) \|$/gm)];
    expect(rows.map(([, code]) => code).sort()).toEqual([...codes].sort());
    for (const [, code = "", file, severity = "", title] of rows) {
      expect(file).toBe(code);
      const [, pageSummary = ""] = (readSections(code).get("") ?? "").split("\n\n");
      expect(`**${severity}** · ${title}`).toBe(pageSummary);
    }
  });
});

describe("codes and severities of the contract", () => {
  const decided = [
    ...ownCodes,
    ...ownValidationCodes,
    ...publishCodes,
    ...needsCodes,
    ...lockCodes,
    ...writingCodes,
  ];
  const inContract = new Set([
    ...Object.values(validationCodes).flat(),
    ...Object.values(operationalCodes).flat(),
  ]);

  test("every code of the catalog is in the contract or listed as an addition", () => {
    expect(codes.filter((code) => !inContract.has(code) && !decided.includes(code))).toEqual([]);
  });

  const severityIn = (code: string, context: ProblemContext, args: Record<string, unknown> = {}) => {
    const severity = entries.find(([name]) => name === code)?.[1].severity;
    return typeof severity === "function" ? severity(context, args) : severity;
  };
  const known = (table: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(table).flatMap(([severity, list]) =>
      list.filter((code) => codes.includes(code)).map((code) => [code, severity] as const),
    );

  test.each(known(validationCodes))("in validation, %s has the severity %s", (code, severity) => {
    expect(severityIn(code, "validation")).toBe(severity);
  });

  test.each(known(operationalCodes))("in an operation, %s has the severity %s", (code, severity) => {
    expect(severityIn(code, "operation")).toBe(severity);
  });

  test("an unknown key is an error in validation and a warning elsewhere", () => {
    expect(severityIn("UnknownExtensionKey", "validation")).toBe("error");
    expect(severityIn("UnknownExtensionKey", "operation")).toBe("warning");
    expect(severityIn("UnknownExtensionKey", "bystander")).toBe("warning");
  });

  test.each(["MalformedPackageJson", "PackageJsonTooLarge"])(
    "%s is only a warning for a package that the project does not declare",
    (code) => {
      expect(severityIn(code, "operation")).toBe("error");
      expect(severityIn(code, "validation")).toBe("error");
      expect(severityIn(code, "bystander")).toBe("warning");
    },
  );

  test("in validation, a missing pack is an error unless it is a declared dependency", () => {
    expect(severityIn("PackNotInstalled", "validation", { isDeclared: false })).toBe("error");
    expect(severityIn("PackNotInstalled", "validation", { isDeclared: true })).toBe("warning");
    expect(severityIn("PackNotInstalled", "operation", { isDeclared: true })).toBe("error");
  });

  test("titles of problems are unique, at most ten words long, and without a period", () => {
    const titles = entries.map(([, { title }]) => title);
    expect(new Set(titles).size).toBe(titles.length);
    for (const title of titles) {
      expect(title.split(" ").length, title).toBeLessThanOrEqual(10);
      expect(title, title).toMatch(/^[A-Z].*[^.]$/);
    }
  });
});

describe("the broken sample packs", () => {
  const inValidation = [
    ...Object.values(validationCodes).flat(),
    ...ownValidationCodes,
    ...publishCodes,
    ...needsCodes,
    ...alsoInValidation,
  ];
  const wanted = inValidation.filter((code) => codes.includes(code) && !withoutBrokenPack.includes(code));

  test("every code of validation has exactly one broken sample pack", () => {
    const found = namesIn(brokenPacks).filter((name) => existsSync(join(brokenPacks, name, "package.json")));
    expect(found).toEqual(wanted.sort());
  });
});
