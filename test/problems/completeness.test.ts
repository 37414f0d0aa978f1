import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fastGlob from "fast-glob";
import { describe, expect, test } from "vitest";
import {
  catalog,
  createProblem,
  type ProblemCode,
  type ProblemContext,
  type Severity,
} from "../../src/problems/index.ts";
import { inRepository } from "../support/repository.ts";
import { samples } from "./samples.ts";

const page = inRepository("docs/problems.md");
const brokenPacks = inRepository("fixtures/sample-plugins/broken");
const entries = Object.entries(catalog) as [ProblemCode, (typeof catalog)[ProblemCode]][];

/** Every severity that a code can have. */
function severitiesOf(code: ProblemCode): Set<Severity> {
  const contexts: ProblemContext[] = ["operation", "validation", "bystander"];
  const problems = samples[code].flatMap((args) =>
    contexts.map((context) => createProblem(code, args as never, {}, context)),
  );
  return new Set(problems.map(({ severity }) => severity));
}

/** Verbs that a fix starts with. */
const imperative =
  /^(?:Add|Await|Avoid|Build|Change|Check|Choose|Combine|Configure|Correct|Create|Declare|Delete|Follow|Give|Ignore|Install|Keep|Move|Name|Omit|Open|Pass|Read|Remove|Rename|Report|Run|Say|Set|Start|Use|Write) /;

describe("docs/problems.md", () => {
  const [introduction = "", ...sections] = readFileSync(page, "utf8").split(/\n(?=## )/);
  const written = new Map(
    sections.map((section) => {
      const [, code = "", severity = "", explanation = ""] =
        /^## (\w+)\n\n\*\*(.+)\*\* · .*\n\n(?: {4}.*\n)+\n([\s\S]+)$/.exec(section) ?? [];
      return [code, { severity, explanation: explanation.trim() }] as const;
    }),
  );

  // Severity and explanation are written by hand; `-u` updates everything else.
  test("every code has an entry with its title and the sentences of a sample", async () => {
    const entriesOfPage = entries
      .map(([code, { title }]) => {
        const { severity = "", explanation = "" } = written.get(code) ?? {};
        const { message, hint } = createProblem(code, samples[code][0] as never);
        const example = hint === undefined ? message : `${message}\nhint: ${hint}`;
        return `## ${code}\n\n**${severity}** · ${title}\n\n${example.replaceAll(/^/gm, "    ")}\n\n${explanation}\n`;
      })
      .sort();
    await expect([introduction, ...entriesOfPage].join("\n")).toMatchFileSnapshot(page);
  });

  test.each(entries)("the entry of %s has every severity, a meaning and a fix", (code) => {
    const { severity = "", explanation = "" } = written.get(code) ?? {};
    expect(new Set(severity.match(/error|warning|info/g))).toEqual(severitiesOf(code));
    const [meaning = "", fix = ""] = explanation.split("\n**Fix:** ");
    expect(meaning.length).toBeGreaterThan(60);
    expect(fix).toMatch(imperative);
  });
});

describe("severities that depend on the context", () => {
  const severityIn = (code: ProblemCode, context: ProblemContext, args: object = {}) =>
    createProblem(code, { ...samples[code][0], ...args } as never, {}, context).severity;

  test("an unknown key is an error in validation and a warning elsewhere", () => {
    expect(severityIn("UnknownExtensionKey", "validation")).toBe("error");
    expect(severityIn("UnknownExtensionKey", "operation")).toBe("warning");
    expect(severityIn("UnknownExtensionKey", "bystander")).toBe("warning");
  });

  test.each(["MalformedPackageJson", "PackageJsonTooLarge"] as const)(
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
});

test("titles of problems are unique, at most ten words long, and without a period", () => {
  const titles = entries.map(([, { title }]) => title);
  expect(new Set(titles).size).toBe(titles.length);
  for (const title of titles) {
    expect(title.split(" ").length, title).toBeLessThanOrEqual(10);
    expect(title, title).toMatch(/^[A-Z].*[^.]$/);
  }
});

/** What the folders of validation name, but no pack that is validated can yield. */
const ofOthers: readonly ProblemCode[] = [
  "AliasedPack",
  "ExtensionNotFound",
  "InvalidArguments",
  "InvalidQualifiedName",
  "MalformedPackageJson",
  "PackageJsonTooLarge",
  "ProjectNotFound",
  "ServerPackageNotInstalled",
  "ShadowedPack",
  "UnsupportedLayout",
  "WorkspaceIncomplete",
];

test("every code that validation names has exactly one broken sample pack", () => {
  const folders = ["validate", "inspection", "discovery", "extension-schema", "json-schema", "expressions"];
  const source = folders
    .flatMap((folder) => fastGlob.sync(`${inRepository("src")}/${folder}/**/*.ts`))
    .map((file) => readFileSync(file, "utf8"))
    .join("");
  const named = entries.map(([code]) => code).filter((code) => source.includes(`"${code}"`));
  const isPack = (name: string) => existsSync(join(brokenPacks, name, "package.json"));
  const packs = readdirSync(brokenPacks).filter(isPack);
  expect([...packs, ...ofOthers].sort()).toEqual(named.sort());
});
