import { describe, expect, test } from "vitest";
import { validateExtension } from "../../src/validate/validate-extension.ts";
import { samplePack } from "../support/sample-packs.ts";
import { validateTree } from "../validate/validate-tree.ts";

const validateBundle = (file: string, text: string) =>
  validateTree(
    {
      extension: { toolsets: [["Searching", "Search in a list of words"]] },
      files: { [`trailblaze/toolsets/${file}`]: text, "lib/find.js": "export const find = () => [];\n" },
    },
    ["InvalidExpression"],
  );

const yaml = `kind: Mcp.Tools
metadata: { name: Searching }
entries:
  - name: words_find
    description: Find a word.
    argumentsSchema: { type: object, properties: {} }
    handler: ./lib/find.js#find
    inputs:
      query: \${{ request.arguments.query }}
      all:
        - fine
        - "\${{ result.all }} and \${{ request.user }}"
    result:
      content:
        - type: text
          text: >-
            Found \${{ result + }}
    catches:
      - code: NONE
        when: error.code == 'NONE'
        error: { code: -32001, message: "\${{ result }}" }
`;

describe("validate", () => {
  test("tells every expression that does not compile or sees no such variable, with its line and column", async () => {
    const problems = await validateBundle("Searching.yaml", yaml);
    expect(
      problems.map(({ line, column, path, message }) => [`${line}:${column}`, path?.join("."), message]),
    ).toEqual([
      [
        "12:11",
        "entries.0.inputs.all.1",
        'The expression "result.all" does not compile: there is no variable result here, only request (character 1).',
      ],
      [
        "12:11",
        "entries.0.inputs.all.1",
        'The expression "request.user" does not compile: there is no user here, only arguments, meta, name, session (character 9).',
      ],
      [
        "16:11",
        "entries.0.result.content.0.text",
        'The expression "result +" does not compile: unexpected token: EOF (character 9).',
      ],
      [
        "20:9",
        "entries.0.catches.0.when",
        "The expression \"error.code == 'NONE'\" does not compile: a condition is one ${{ … }} and nothing else.",
      ],
      [
        "21:32",
        "entries.0.catches.0.error.message",
        'The expression "result" does not compile: there is no variable result here, only error, request (character 1).',
      ],
    ]);
  });

  test("in JSON, too", async () => {
    const entry = {
      name: "words_find",
      description: "Find.",
      handler: "./lib/find.js#find",
      inputs: { q: "${{ x }}" },
    };
    const bundle = { kind: "Mcp.Tools", metadata: { name: "Searching" }, entries: [entry] };
    const problems = await validateBundle("Searching.json", JSON.stringify(bundle, undefined, 2));
    expect(problems).toMatchObject([{ line: 12, column: 9, path: ["entries", 0, "inputs", "q"] }]);
  });

  test("writes nothing that a terminal would obey", async () => {
    const [problem] = await validateBundle("Searching.yaml", yaml.replace("result +", "a['\u202e'].\u202e"));
    expect(JSON.stringify(problem)).not.toContain("\u202e");
  });

  test("answers in time whatever is written", async () => {
    const bombs = [
      "!".repeat(10_000),
      "[".repeat(10_000),
      "a.".repeat(10_000),
      "1+".repeat(10_000),
      "'x'.matches('(a{9}){9}{9}')",
    ];
    const text = yaml.replace("request.arguments.query", bombs.join(" }} ${{ "));
    expect((await validateBundle("Searching.yaml", text)).length).toBeGreaterThan(bombs.length);
  });

  test("finds nothing in the weather of two bundles behind one endpoint", async () => {
    const { ok, problems } = await validateExtension(samplePack("weather-tools").folder, { strict: true });
    expect({ ok, problems }).toEqual({ ok: true, problems: [] });
  });
});
