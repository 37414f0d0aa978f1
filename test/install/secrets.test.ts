import { describe, expect, test } from "vitest";
import { ConfigDocument, loadEditor } from "../../src/install/editing/config-document.ts";
import { tomlEditor } from "../../src/install/editing/toml-editor.ts";
import { formatDiff } from "../../src/install/format-diff.ts";
import { isSecretName, SecretHider } from "../../src/install/secrets.ts";

describe("names of secrets", () => {
  test.each([
    ..."apiKey API_KEY --api-key x-authtoken Authorization accesskey apikey APIkey GITHUB_PAT DB_PASS PGPASSWORD".split(
      " ",
    ),
    ..."passwd pass_word clientSecret Set-Cookie keyboardToken oauth --key MAX_API_KEY API_TOKENS TOKEN_1 LIMIT_TOKEN".split(
      " ",
    ),
  ])("the name %s is the name of a secret", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each([
    ..."--keyboard monkey keywords TOKENIZERS_PARALLELISM author keyframeRate --pass-through PATH MODE".split(
      " ",
    ),
    ..."MAX_TOKENS maxTokens max_output_tokens --max-tokens maxtokens TOKEN_LIMIT tokens-per-minute".split(
      " ",
    ),
  ])("the name %s is not the name of a secret", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe("the arguments of a server", () => {
  const hide = (...args: string[]) =>
    new SecretHider({ label: "db", hide: (name) => `<${name}>`, convert: (text) => text }).args(args);

  test.each([
    [
      ["--config", '{"apiKey":"s3cret", "mode": "fast", "big": 12345678901234567890}'],
      ["--config", '{"apiKey":"<apiKey>", "mode": "fast", "big": 12345678901234567890}'],
    ],
    [['--config={"a":[{"password":5}]}'], ['--config={"a":[{"password":"<password>"}]}']],
    [
      ['{"headers":"{\\"Authorization\\":\\"Bearer s3cret\\"}"}'],
      ['{"headers":"{\\"Authorization\\":\\"<Authorization>\\"}"}'],
    ],
    [["postgres://me:s3cret@host/db?sslkey=s3"], ["postgres://me:<db_PASSWORD>@host/db?sslkey=<sslkey>"]],
    [["postgres://me:${PW}@host/db"], ["postgres://me:${PW}@host/db"]],
    [["mongodb://host:27017/a@b"], ["mongodb://host:27017/a@b"]],
    [
      ["--keyboard", "qwerty", "{not json"],
      ["--keyboard", "qwerty", "{not json"],
    ],
    [
      ["-c", "API_TOKEN=s3cret node server.js --port 3 --api-key 's3 c' && echo \"${X}\""],
      ["-c", "API_TOKEN=<API_TOKEN> node server.js --port 3 --api-key '<--api-key>' && echo \"${X}\""],
    ],
    [
      ["-lc", "npx x --header 'Authorization: Bearer s3cret' TOKEN=\"s3 c\" it's"],
      ["-lc", "npx x --header 'Authorization: <Authorization: >' TOKEN=\"<TOKEN>\" it's"],
    ],
    [
      ["-c", "TOKEN=$TOKEN npx x --token ${T}"],
      ["-c", "TOKEN=$TOKEN npx x --token ${T}"],
    ],
    [
      ["/c", "node server.js"],
      ["/c", "node server.js"],
    ],
    [
      ["run", "-i", "--rm", "-e", "TOKEN", "-e", "TOKEN=s3cret", "image"],
      ["run", "-i", "--rm", "-e", "TOKEN", "-e", "TOKEN=<TOKEN>", "image"],
    ],
  ])("only the secrets are hidden in the arguments %j", (args, expected) => {
    expect(hide(...args)).toEqual(expected);
  });
});

describe("secrets in diffs", () => {
  const diff = async (format: "json" | "toml" | "yaml", before: string, after: string) => {
    const editor = await loadEditor(format);
    return formatDiff("f", new ConfigDocument(editor, before), new ConfigDocument(editor, after));
  };
  const added = { json: '{\n  "z": 1,', toml: "z = 1\n", yaml: "z: 1\n" };

  test.each([
    [
      "json",
      '{\n  "mcpServers": { "a": { "env": { "MODE": "s3cret", "REF": "${X}", "D_KEY": "${Y:-s3cret}" },\n  "args": ["--token", "s3cret", "plain"], "headers": { "A": "Bearer ${X}" } } }\n}\n',
    ],
    [
      "yaml",
      'mcpServers:\n  a:\n    env: { MODE: s3cret, REF: "${X}" }\n    args: [--token, s3cret, plain]\n',
    ],
    [
      "toml",
      '[mcp_servers.a]\nargs = ["--token", "s3cret", "plain"]\nenv = { MODE = "s3cret", REF = "${X}" }\n',
    ],
    ["toml", "[mcp_servers.a]\nargs = ['plain']\nmcp.env.MODE = '''\ns3cret'''\n"],
    ["yaml", "a:\n  env:\n    MODE: |\n      s3cret\nb: plain\n"],
  ] as const)("a diff of %s hides secrets in the lines around a change", async (format, text) => {
    const shown = await diff(
      format,
      text,
      format === "json" ? text.replace("{\n", `${added.json}\n`) : added[format] + text,
    );
    expect(shown).not.toContain("s3cret");
    expect(shown).toContain("***");
    expect(shown.includes("${X}")).toBe(text.includes("${X}"));
    expect(shown.match(/^\+/gm)).toHaveLength(2);
  });

  test("a diff marks a secret that changes", async () => {
    const before = "env: { A: s3cret }\n";
    expect((await diff("yaml", before, "env: { A: s3crets }\n")).split("\n").slice(3, 5)).toEqual([
      '-env: { A: "***" }',
      '+env: { A: "*** (changed)" }',
    ]);
  });

  test("a diff keeps the order of lines after a value with several lines", async () => {
    const text = "env:\n  A: >\n    s3cret\n    s3cret\nlast: 1\n";
    const shown = await diff("yaml", text, `${text}more: 2\n`);
    expect(shown).toContain("@@ -3,3 +3,4 @@");
    expect(shown).toMatch(/ last: 1\n\+more: 2\n$/);
    expect(shown).not.toContain("s3cret");
  });

  test("a diff shows numbers that JavaScript cannot represent", () => {
    const document = new ConfigDocument(tomlEditor, "big = 9223372036854775807\n");
    expect(formatDiff("f", undefined, document)).toContain("+big = 9223372036854775807");
  });
});
