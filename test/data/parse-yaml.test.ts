import { describe, expect, test } from "vitest";
import { positionAt } from "../../src/data/line-index.ts";
import { DataSyntaxError } from "../../src/data/parse-json.ts";
import { createYamlLocator, parseYaml } from "../../src/data/parse-yaml.ts";
import { inRepository } from "../support/repository.ts";
import { runProcess } from "../support/run-process.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const read = (text: string) => parseYaml(bytes(text)).value;

function syntaxErrorOf(source: Uint8Array | string): DataSyntaxError {
  try {
    parseYaml(typeof source === "string" ? bytes(source) : source);
  } catch (error) {
    if (error instanceof DataSyntaxError) return error;
    throw error;
  }
  throw new Error("it was read");
}

/**
 * What becomes of texts, given as expressions, in a process of its own: a text that ends the process or keeps it busy
 * for ever must not do so to the tests.
 */
async function parseElsewhere(expressions: readonly string[]): Promise<string[]> {
  const script = `
    import { parseYaml } from ${JSON.stringify(inRepository("src/data/parse-yaml.ts"))};
    const report = (text) => process.stdout.write(text + "\\n");
    for (const text of [${expressions.join(", ")}]) {
      try {
        parseYaml(new TextEncoder().encode(text));
        report("read");
      } catch (error) {
        report(error.name + ": " + error.message);
      }
    }`;
  const args = ["--import", "tsx", "--input-type=module", "--eval", script];
  const options = { cwd: inRepository("."), env: process.env, timeoutMs: 25_000 };
  const { stdout, stderr, exitCode } = await runProcess(process.execPath, args, options);
  const results = stdout.trim().split("\n");
  return exitCode === 0 ? results : [...results, `exit code ${exitCode}: ${stderr.slice(0, 300)}`];
}

describe("parsing YAML", () => {
  test("YAML is read as version 1.2: no, off and dates are strings", () => {
    expect(read("[no, off, yes, 2026-01-31, 0o17, 017]")).toEqual(["no", "off", "yes", "2026-01-31", 15, 17]);
  });

  test("a byte order mark in YAML is accepted", () => {
    expect(read("\uFEFFa: 1")).toEqual({ a: 1 });
  });

  test.each([
    ["a: 1\nb: 2\na: 3\n", 3, 1],
    ["x:\n  {a: 1, b: 2, a: 3}\n", 2, 16],
    ['a: 1\n"a": 2\n', 2, 1],
  ])("a duplicate key is rejected at its place: %j", (text, line, column) => {
    const { offset, text: decoded } = syntaxErrorOf(text);
    expect(positionAt(decoded ?? "", offset ?? -1)).toEqual({ line, column });
  });

  test.each([
    ["a:\n\tb: 1", "Tabs are not allowed", 3],
    ["a: {b: ${{ c }}}", "flow-map-start", 8],
  ])("the syntax error of %j has its reason and place", (text, reason, offset) => {
    const error = syntaxErrorOf(text);
    expect(error.reason).toMatch(/^it is not valid YAML \(/);
    expect(error.reason).toContain(reason);
    expect([error.offset, error.text]).toEqual([offset, text]);
  });

  test.each([
    ["a: *x", "the alias *x has no anchor", 3],
    ["- &a {b: *a}", "the alias *a contains itself", 9],
    ["? [1]\n: 2", "a key is not a string", 2],
    ["a: 1\n---\nb: 2", "it contains several documents", 5],
    ["x:\n  1: a\n  '1': b", 'the key "1" is duplicated', 12],
  ])("%j is refused with its reason and place", (text, reason, offset) => {
    expect(syntaxErrorOf(text)).toMatchObject({ reason, offset, text });
  });

  test("__proto__ is an ordinary key in YAML", () => {
    const value = read("__proto__: {polluted: true}\n") as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect("polluted" in value).toBe(false);
  });
});

describe("limits of YAML", () => {
  const flow = (depth: number, inner = "") => "[".repeat(depth) + inner + "]".repeat(depth);
  const block = (depth: number) =>
    Array.from({ length: depth }, (_, level) => `${" ".repeat(level)}a:`).join("\n");

  test("201 levels of YAML are rejected", () => {
    expect(syntaxErrorOf(flow(201)).reason).toMatch(/deeper than 200/);
    expect(syntaxErrorOf(flow(201, "1")).reason).toMatch(/deeper than 200/);
    expect(syntaxErrorOf(block(201)).reason).toMatch(/deeper than 200/);
  });

  test("200 levels are accepted, as in JSON", () => {
    expect(read(flow(200, "1"))).toBeTruthy();
    expect(read(block(200))).toBeTruthy();
  });

  test("data that aliases nest deeper than 200 levels is rejected", () => {
    const lines = [`a0: &a0 ${flow(150)}`, `a1: ${flow(150, "*a0")}`];
    expect(() => parseYaml(bytes(lines.join("\n")))).toThrow("deeper than 200 levels");
    const nested = (depth: number) => `- &a ${flow(150)}\n- ${flow(depth, "*a")}`;
    expect(read(nested(49))).toHaveLength(2);
    expect(() => read(nested(50))).toThrow("deeper than 200 levels");
  });

  test("tens of uses of an alias are accepted, and hundreds are not", () => {
    const uses = (count: number) => `- &a [x]\n- [${Array(count).fill("*a").join(", ")}]`;
    expect(read(uses(90))).toHaveLength(2);
    expect(() => read(uses(110))).toThrow(/^it is not valid YAML \(/);
  });

  test("30,000 levels in any YAML syntax are rejected because of their depth, and the process survives", {
    timeout: 30_000,
  }, async () => {
    const results = await parseElsewhere([
      '"[".repeat(30000) + "]".repeat(30000)',
      '"[".repeat(30000)',
      '"{a: ".repeat(30000)',
      '"- ".repeat(30000) + "a"',
      '"? ".repeat(30000) + "a"',
      'Array.from({ length: 1400 }, (_, level) => " ".repeat(level) + "a:").join("\\n")',
    ]);
    expect(results).toEqual(
      Array(6).fill(expect.stringMatching(/^DataSyntaxError: it is nested deeper than 200 levels/)),
    );
  });
});

describe("finding a path in YAML", () => {
  const text = `# the config
packs:
  allow:
    - "acme/*"
    -   5
  deny: {a: 1, "b": [1, 2]}
1: number
`;
  const locate = createYamlLocator(text);

  test.each([
    [["packs"], 2, 1],
    [["packs", "allow"], 3, 3],
    [["packs", "allow", 0], 4, 7],
    [["packs", "deny", "b"], 6, 16],
    [["packs", "deny", "b", 1], 6, 25],
  ])("in YAML, the path %j is found at %i:%i", (path, line, column) => {
    expect(locate(path)).toEqual({ line, column });
  });

  test.each([
    [["packs", "transitive"], 2, 1],
    [["packs", "allow", 0, "deeper"], 4, 7],
  ])("in YAML, the missing path %j is placed at its nearest ancestor, %i:%i", (path, line, column) => {
    expect(locate(path)).toEqual({ line, column });
  });
});
