// The scenarios in docs/conformance.md, and whether a run of the suite matches them.

/** A scenario in a table of the page. */
export interface PromisedScenario {
  /** A name that ends with `*` stands for all that begin like it. */
  name: string;
  revisions: string;
  expected: "pass" | "left out";
  /** Why it is left out, or what it shows. */
  words: string;
}

/** One check of a scenario, as the suite writes it to `checks.json`. */
export interface SuiteCheck {
  name: string;
  status: string;
  errorMessage?: string;
}

export interface JudgedScenario {
  name: string;
  expected: PromisedScenario["expected"] | "nothing";
  result: "passed" | "failed" | "not run";
  /** Messages of the suite's failed checks. */
  complaints: readonly string[];
  /** How page and run differ; `undefined` if they match. */
  fault: string | undefined;
}

/** The scenarios in the page's tables: rows that begin with a name in backticks. */
export function readConformancePage(markdown: string): PromisedScenario[] {
  const [passed = "", leftOut = ""] = markdown.split("\n## Left out\n");
  const readRows = (table: string, expected: PromisedScenario["expected"]) =>
    [...table.matchAll(/^\| `([^`]+)` \| (\S+) \|(.*)\|$/gm)].map(
      ([, name = "", revisions = "", words = ""]) => ({ name, revisions, expected, words: words.trim() }),
    );
  return [...readRows(passed, "pass"), ...readRows(leftOut, "left out")];
}

export const isAbout = (promise: PromisedScenario, name: string): boolean =>
  promise.name.endsWith("*") ? name.startsWith(promise.name.slice(0, -1)) : name === promise.name;

/** A warning counts as a failure: a scenario must also meet recommendations. */
function judgeChecks(checks: readonly SuiteCheck[] | undefined) {
  if (checks === undefined) return { result: "not run" as const, complaints: [] };
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const hasSuccess = checks.some(({ status }) => status === "SUCCESS");
  const complaints = bad.map(({ name, errorMessage }) => `${name}: ${errorMessage ?? "no reason given"}`);
  return { result: bad.length === 0 && hasSuccess ? ("passed" as const) : ("failed" as const), complaints };
}

function findFault(
  [promise, another]: readonly PromisedScenario[],
  isKnown: boolean,
  result: JudgedScenario["result"],
): string | undefined {
  if (!isKnown) return "the suite has no such scenario";
  if (promise === undefined) return "the page does not have it";
  if (another !== undefined) return "the page has it twice";
  if (promise.words === "") return "the page gives no reason";
  if (result === "not run") return "it was not run to its end";
  if (promise.expected === "left out")
    return result === "passed" ? "it passes, so it need not be left out" : undefined;
  return result === "failed" ? "it has to pass" : undefined;
}

/** Every scenario of the suite or the page, in the suite's order. */
export function judgeRun(
  promised: readonly PromisedScenario[],
  suite: readonly string[],
  checks: ReadonlyMap<string, readonly SuiteCheck[]>,
): JudgedScenario[] {
  const missing = promised.filter((promise) => !suite.some((name) => isAbout(promise, name)));
  return [...suite, ...missing.map(({ name }) => name)].map((name) => {
    const promises = promised.filter((promise) => isAbout(promise, name) || promise.name === name);
    const judged = judgeChecks(checks.get(name));
    const expected = promises[0]?.expected ?? "nothing";
    return { name, expected, ...judged, fault: findFault(promises, suite.includes(name), judged.result) };
  });
}
