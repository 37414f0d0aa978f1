import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  catalog,
  createProblem,
  type ProblemCode,
  type ProblemContext,
  type Severity,
} from "../../src/problems/index.ts";
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
import { samples } from "./samples.ts";

const page = inRepository("docs/problems.md");
const brokenPacks = inRepository("fixtures/sample-plugins/broken");
const entries = Object.entries(catalog) as [ProblemCode, (typeof catalog)[ProblemCode]][];
const codes: string[] = entries.map(([code]) => code);

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder).sort() : []);

/** Validation codes that no fixture pack has yet. Empty when validation is done; a code never comes back here. */
const withoutBrokenPack: readonly string[] = namesIn(brokenPacks).length === 0 ? codes : [];

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

  const severityIn = (code: string, context: ProblemContext, args: object = {}) => {
    const sample = { ...samples[code as ProblemCode][0], ...args };
    return createProblem(code as ProblemCode, sample as never, {}, context).severity;
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
