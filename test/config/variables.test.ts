import { describe, expect, test } from "vitest";
import { expandVariables } from "../../src/config/variables.ts";
import { faultsOfYaml } from "./configs.ts";

const environment = { A: "1", _b2: "2", EMPTY: "" };
const place = { label: "a", path: ["args", 0] };
const expand = (text: string) => expandVariables(text, environment, place);

describe("references to variables", () => {
  test.each([
    ["${A}", "1"],
    ["${EMPTY:-full}", "full"],
    ["${NONE:-}", ""],
    ["${NONE:-a b:-$c{}", "a b:-$c{"],
    ["$$${A}", "$${A}"],
    ["$A $ {A} $1 $& %A% $", "$A $ {A} $1 $& %A% $"],
  ])("with its variables expanded, %s becomes %s", (text, expected) => {
    expect(expand(text)).toBe(expected);
  });

  test("variables in the values of variables are not expanded", () => {
    expect(expandVariables("${A}", { A: "${B}$${" }, place)).toBe("${B}$${");
  });

  test.each(["${NONE}", "${constructor}", "${__proto__}"])(
    "expanding %s is an error because it is not set",
    (text) => {
      expect(() => expand(text)).toThrow(expect.objectContaining({ code: "ServerStartFailed" }));
    },
  );
});

describe("unknown forms of ${", () => {
  test.each([
    ["${env:API_KEY}", "${env:API_KEY}", "${API_KEY}"],
    ["${input:api-key}", "${input:", "${api_key}"],
    ["${NAME:-${OTHER}}", "${NAME:", "${NAME}"],
    ["${workspaceFolder}/a", "${workspaceFolder}", "${NAME}"],
    ["$${fine} ${1}", "${1}", "${NAME}"],
  ])("the unknown form %s is an error of the config at its place, with a hint", async (text, named, hint) => {
    const problems = await faultsOfYaml(`mcpServers: { a: { command: b, env: { X: '${text}' } } }`);
    expect(problems).toMatchObject([
      {
        code: "InvalidConfig",
        severity: "error",
        path: ["mcpServers", "a", "env", "X"],
        line: 1,
        args: { reason: expect.stringContaining(named), hint: expect.stringContaining(hint) },
      },
    ]);
  });

  test("unknown forms are reported in every string of a server", async () => {
    const text = "${env:X}";
    const entry = { name: "a", command: text, args: ["b", text], cwd: text, env: { E: text } };
    const problems = await faultsOfYaml(
      JSON.stringify({
        trailblazeSubprocessToolsets: [entry],
        mcpServers: {
          b: { url: `https://a.b/${text}`, headers: { H: text } },
          off: { command: text, disabled: true },
        },
      }),
    );
    expect(problems.map(({ path }) => path?.slice(2).join("."))).toEqual([
      "command",
      "args.1",
      "cwd",
      "env.E",
      "url",
      "headers.H",
    ]);
  });
});
