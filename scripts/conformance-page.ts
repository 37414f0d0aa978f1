// The scenarios in docs/conformance.md, and whether a run of the suite matches them.

/** `untested`: it passes, but only because the suite does not find what it would test. */
type Expectation = "pass" | "untested" | "left out";

/** A scenario in a table of the page. */
export interface PromisedScenario {
  name: string;
  /** The heading of the page's section: which revisions it is about. */
  section: string;
  expected: Expectation;
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
  expected: Expectation | "nothing";
  result: "passed" | "failed" | "not run";
  /** Number of checks that succeeded. */
  successes: number;
  /** Messages of the suite's failed checks. */
  complaints: readonly string[];
  /** How page and run differ; `undefined` if they match. */
  fault: string | undefined;
}

const headings: Readonly<Record<string, Expectation>> = {
  Passed: "pass",
  "Passed without a test": "untested",
  "Left out": "left out",
};

/** The scenarios in the page's tables: rows that begin with a name in backticks. */
export function readConformancePage(markdown: string): PromisedScenario[] {
  const promised: PromisedScenario[] = [];
  let section = "";
  let expected: Expectation = "pass";
  for (const line of markdown.split("\n")) {
    section = /^## (.+)$/.exec(line)?.[1]?.trim() ?? section;
    expected = headings[/^### (.+)$/.exec(line)?.[1]?.trim() ?? ""] ?? expected;
    const [, name, words = ""] = /^\| `([^`]+)` \|(.*)\|$/.exec(line) ?? [];
    if (name === undefined) continue;
    promised.push({ name, section, expected, words: words.trim() });
  }
  return promised;
}

/** A warning counts as a failure: a scenario must also meet recommendations. */
function judgeChecks(checks: readonly SuiteCheck[] | undefined) {
  if (checks === undefined) return { result: "not run" as const, successes: 0, complaints: [] };
  const bad = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const successes = checks.filter(({ status }) => status === "SUCCESS").length;
  const complaints = bad.map(({ name, errorMessage }) => `${name}: ${errorMessage ?? "no reason given"}`);
  const result = bad.length === 0 && successes > 0 ? ("passed" as const) : ("failed" as const);
  return { result, successes, complaints };
}

function findFault(
  promises: readonly PromisedScenario[],
  isKnown: boolean,
  result: JudgedScenario["result"],
): string | undefined {
  const [promise, another] = promises;
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
  const known = new Set(suite);
  const names = new Set([...suite, ...promised.map(({ name }) => name)]);
  return [...names].map((name) => {
    const promises = promised.filter((promise) => promise.name === name);
    const judged = judgeChecks(checks.get(name));
    const [promise] = promises;
    const expected = promise?.expected ?? "nothing";
    return { name, expected, ...judged, fault: findFault(promises, known.has(name), judged.result) };
  });
}
