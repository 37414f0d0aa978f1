import { describe, expect, test } from "vitest";
import { formatEntryDiff } from "../../src/install/editing/config-document.ts";
import { isHarmless, isSecretName, looksSecret } from "../../src/install/secrets.ts";

describe("names of secrets", () => {
  test.each(
    "apiKey API_KEY --api-key x-authtoken Authorization GITHUB_PAT DB_PASS DB_PASS2 dbPass passWord PGPASSWORD clientSecret Set-Cookie MAX_TOKENS".split(
      " ",
    ),
  )("the name %s is the name of a secret", (name) => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each("PATH MODE --pass-through".split(" "))("the name %s is not the name of a secret", (name) => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe("values", () => {
  test.each([
    ..."true FALSE 0 -1.5 4096 fast info,debug en-US 127.0.0.1:8080 application/json www.example.com".split(
      " ",
    ),
    ...[
      "/data",
      "./a b/c.db",
      "~/.config/x",
      "../x",
      "C:\\Users\\me",
      "/home/user1/app2",
      "https://mcp.example.com/mcp/",
    ],
  ])("the value %s is plainly harmless", (text) => {
    expect(isHarmless(text)).toBe(true);
  });

  test.each([
    ..."ghp_0123456789abcdefghij0123456789abcdef hunter2 hunter2-hunter2 correct-horse-battery-staple-x a1b2 $HOME".split(
      " ",
    ),
    ...["-----BEGIN PRIVATE KEY-----", "c2VjcmV0c2VjcmV0", "/c2VjcmV0c2VjcmV0c2VjcmV0", "two words"],
    ...[
      "https://me:x@a.test/",
      "https://a.test/?k=v",
      "https://a.test/#x",
      "https://a.test/ZjE4NzQyNTktNDk1Ny",
    ],
  ])("the value %s may be a secret", (text) => {
    expect(isHarmless(text)).toBe(false);
  });
});

test.each([
  ["--config", '!{"apiKey":"s3cret", "mode": "fast"}'],
  ['!--config={"a":[{"password":5}]}'],
  ['!{"Authorization": "Bearer s3cret"}'],
  ["!postgres://me:s3cret@host/db"],
  ["postgres://me:${PW}@host/db", "mongodb://host:27017/a@b"],
  ["-c", "!API_TOKEN=s3cret node server.js --port 3"],
  ["-lc", "!node server.js --api-key 's3 c'"],
  ["-c", "TOKEN=$TOKEN npx x --token ${T}"],
  ["run", "-i", "--rm", "-e", "TOKEN", "-e", "!TOKEN=s3cret", "!-eAPI_KEY=s3cret", "image"],
  ["--token", "!s3cret", "--password", "!s3cret", "--api-key=${X}", "!--header=Authorization: Bearer s3cret"],
  ["--no-auth", "/data", "--auth", "--verbose"],
  ["-y", "@scope/server-everything@2025.11.25", "mcp-server-sqlite3-npx", "https://mcp.example.com/v1/mcp"],
  ["!sk-ant-api03-0123456789abcdefghij", "!https://a.test/s/ZjE4NzQyNTktNDk1Ny00YjU3/mcp"],
  ["!https://a.test/6f9619ff-8b86-d011-b42d-00c04fc964ff", "!https://h.test/?a=b&api_key=s3cret"],
])("only the arguments marked with ! look secret in %j", (...marked) => {
  const args = marked.map((arg) => arg.replace(/^!/, ""));
  expect(args.filter((_, index) => looksSecret(args)[index])).toEqual(
    marked.filter((arg) => arg.startsWith("!")).map((arg) => arg.slice(1)),
  );
});

describe("the diff of an entry", () => {
  const place = { container: ["mcp_servers"], key: "a" };
  const entry = {
    command: "x",
    args: ["--token", "s3cret", "plain"],
    env: { MODE: "s3cret", REF: "${X}", DEEP: Object.assign(Object.create(null), { a: "s3cret" }) },
    headers: { A: "Bearer ${X}", B: "s3cret" },
    oauth: { clientId: "me", clientSecret: "s3cret" },
  };

  test.each(["json", "yaml", "toml"] as const)(
    "a diff in %s hides secrets and shows references",
    async (format) => {
      const diff = formatEntryDiff("f", format, [{ place, before: undefined, after: entry }]);
      expect(diff).not.toContain("s3cret");
      expect(diff.match(/\*\*\*/g)).toHaveLength(5);
      expect(diff).toContain("${X}");
      expect(diff).toContain("plain");
    },
  );

  test("a hidden value that changes is marked", () => {
    const before = { ...entry, args: ["TOKEN=s3cret", "TOKEN=old"] };
    const after = { ...entry, args: ["TOKEN=s3cret", "TOKEN=n3w"], env: { ...entry.env, MODE: "n3w" } };
    const diff = formatEntryDiff("f", "json", [{ place, before, after }]);
    expect(diff).not.toMatch(/s3cret|old|n3w/);
    expect(diff.match(/^[-+] .*/gm)?.map((line) => line.slice(1).trim())).toEqual([
      '"***"',
      '"*** (changed)"',
      '"MODE": "***",',
      '"MODE": "*** (changed)",',
    ]);
  });
});
