import { expect, test } from "vitest";
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

test("validation reports every expression that does not compile or names an unknown variable, with line and column", async () => {
  const problems = await validateBundle("Searching.yaml", yaml);
  expect(problems.map(({ code }) => code)).toEqual(problems.map(() => "InvalidExpression"));
  expect(
    problems.map(({ line, column, path, args }) => [`${line}:${column}`, path?.join("."), args]),
  ).toEqual([
    [
      "12:11",
      "entries.0.inputs.all.1",
      { expression: "result.all", reason: expect.stringMatching(/\bresult\b.*\brequest\b.*\b1\b/) },
    ],
    [
      "12:11",
      "entries.0.inputs.all.1",
      {
        expression: "request.user",
        reason: expect.stringMatching(/\buser\b.*\barguments, meta, name, session\b.*\b9\b/),
      },
    ],
    [
      "16:11",
      "entries.0.result.content.0.text",
      { expression: "result +", reason: expect.stringMatching(/\bEOF\b.*\b9\b/) },
    ],
    [
      "20:9",
      "entries.0.catches.0.when",
      { expression: "error.code == 'NONE'", reason: expect.stringContaining("${{ … }}") },
    ],
    [
      "21:32",
      "entries.0.catches.0.error.message",
      { expression: "result", reason: expect.stringMatching(/\bresult\b.*\berror, request\b.*\b1\b/) },
    ],
  ]);
});
