import { isIPv4, isIPv6 } from "node:net";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseExtension } from "../../src/extension-schema/parse-extension.ts";

/** The parsed `needs`, and the paths and arguments of what is wrong with them. */
function judge(needs: unknown) {
  const { extension, problems, usable } = parseExtension({ needs, tools: ["a"] }, "validation");
  for (const { code, severity } of problems) expect([code, severity]).toEqual(["InvalidNeeds", "error"]);
  expect(usable).toBe(true);
  expect(extension.tools).toHaveLength(1);
  return {
    needs: extension.needs,
    faults: problems.map(({ path = [], args }) => ({
      path: path.join("."),
      ...(args as { reason: string; hint?: string }),
    })),
  };
}

const pathsOf = (needs: unknown) => judge(needs).faults.map(({ path }) => path);

describe("valid needs", () => {
  test("a pack without `needs` declares nothing", () => {
    expect(parseExtension({}).extension.needs).toBeUndefined();
    expect(judge({})).toEqual({ needs: {}, faults: [] });
  });

  test("every key is optional, and an empty array differs from an absent key", () => {
    expect(judge({ env: [], "x-reason": { any: 1 } })).toEqual({ needs: { env: [] }, faults: [] });
  });

  test.each([
    ["env", ["A", "_a", "JIRA_TOKEN2"]],
    ["network", ["api.atlassian.com", "*.atlassian.net:443", "localhost", "localhost:1", "redis", "A.b-c.D"]],
    ["network", ["127.0.0.1", "10.0.0.255:65535", "::1", "[::1]", "[fe80::1]:8080", "::ffff:1.2.3.4"]],
    ["network", ["xn--mnchen-3ya.de", "*.xn--p1ai", `${"a".repeat(63)}.b`]],
    ["read", ["${PROJECT}", "${PACK}/", "${DATA}/a/b.txt", "${HOME}/.config/a b", "${TMP}/a..b/..c/é"]],
    ["write", ["${PROJECT}/out", "${TMP}"]],
    ["tools", ["web_click", "web_*", "acme/jira/createIssue", "@acme/jira/*", "notes/create", "*/*/search*"]],
    ["tools", ["acme/jira@^1.2/createIssue", "notes@1.x || >=2/create"]],
  ])("these entries of `%s` are valid: %j", (key, entries) => {
    expect(judge({ [key]: entries })).toEqual({ needs: { [key]: entries }, faults: [] });
  });
});

describe("invalid needs", () => {
  test.each([[null], [5], ["env"], [true], [[]], [["env"]]])(
    "`needs: %j` is invalid, and allows neither variables nor tools",
    (value) => {
      expect(pathsOf(value)).toEqual(["needs"]);
      expect(judge(value).needs).toEqual({ env: [], tools: [] });
    },
  );

  test.each([
    ["envs", "env"],
    ["Network", "network"],
    ["tool", "tools"],
    ["database", undefined],
  ])("the unknown key %s is reported with a suggestion: %s", (key, suggestion) => {
    const [fault, ...others] = judge({ [key]: [], env: ["A"] }).faults;
    expect(others).toEqual([]);
    expect(fault?.path).toBe(`needs.${key}`);
    expect(fault?.hint).toContain(suggestion === undefined ? "env, network" : `"${suggestion}"`);
  });

  test.each(["__proto__", "constructor", "toString", "X-own", "env\u0000"])(
    "the key %j is an unknown key and changes nothing",
    (key) => {
      const { needs, faults } = judge(JSON.parse(`{${JSON.stringify(key)}: ["A"], "env": ["B"]}`));
      expect(faults.map(({ path }) => path)).toEqual([`needs.${key}`]);
      expect(needs).toEqual({ env: ["B"] });
      expect(Object.getPrototypeOf(needs)).toBe(Object.prototype);
    },
  );

  test.each([
    ["env", { env: [] }],
    ["tools", { tools: [] }],
    ["network", {}],
    ["read", {}],
    ["write", {}],
  ])("`needs.%s` that is not an array leaves %j", (key, left) => {
    for (const value of [null, "A", 5, {}, { 0: "A", length: 1 }]) {
      expect(pathsOf({ [key]: value })).toEqual([`needs.${key}`]);
      expect(judge({ [key]: value }).needs).toEqual(left);
    }
  });

  test.each(["env", "network", "read", "write", "tools"])(
    "an entry of `%s` that is not a string is reported at its place, and the others are kept",
    (key) => {
      const good = { env: "A", network: "a.b", tools: "a/b" }[key] ?? "${TMP}";
      const { needs, faults } = judge({ [key]: [good, 5, null, ["A"], good] });
      expect(faults.map(({ path }) => path)).toEqual([1, 2, 3].map((index) => `needs.${key}.${index}`));
      expect(needs).toEqual({ [key]: [good, good] });
    },
  );

  test.each([
    ["env", ["", "1A", "A-B", "A B", "A=1", "Ä", "A\n", "A\u200b", "*", "$HOME"]],
    ["network", ["", "*", "**", "*.", ".a", "a.", "a..b", "a.*.b", "*.*.a", "*a.b", "a b", "a/b", "-a.b"]],
    [
      "network",
      ["https://a.b", "a.b/c", "user@a.b", "a.b:", "a.b:0", "a.b:65536", "a.b:080", "a.b:x", "*:443"],
    ],
    [
      "network",
      ["1.2.3", "1.2.3.256", "01.2.3.4", "*.1.2.3.4", "0x7f.1", "[::1", "::1]", "fe80::1%eth0", "[::g]"],
    ],
    ["network", ["münchen.de", "a\u200b.b", "a.b\n", `${"a".repeat(64)}.b`, `${"a.".repeat(127)}bc`]],
    ["read", ["", "*", "/etc", "./a", "a", "~/a", "C:/a", "$HOME/a", "${HOME}a", "${home}/a", "${OTHER}"]],
    ["read", ["${HOME}/..", "${HOME}/../a", "${TMP}/a/../b", "${PACK}/a/..", "${PACK}\\a", "${PACK}/..\\a"]],
    ["write", ["${TMP}/a\u0000", "${TMP}/a\nb", " ${TMP}", "${TMP", "TMP}"]],
    [
      "tools",
      ["", "*", "**", "a b", "a//b", "/a", "a/", "a/b/c/d", "acme/jira@/x", "acme/jira@^1/*", "a\u200bb"],
    ],
    ["tools", ["web_[a-z]+", "{a,b}", "a".repeat(513), "é", "a\\b"]],
  ])("these entries of `%s` are invalid and allow nothing: %j", (key, entries) => {
    const { needs, faults } = judge({ [key]: entries });
    expect(faults.map(({ path }) => path)).toEqual(entries.map((_, index) => `needs.${key}.${index}`));
    expect(needs).toEqual({ [key]: [] });
  });

  test.each([
    ["env", "TOKEN=secret", "without values"],
    ["network", "https://api.example.com:8443/v1", '"api.example.com:8443"'],
    ["network", "münchen.de", '"xn--mnchen-3ya.de"'],
    ["network", "*.münchen.de", '"*.xn--mnchen-3ya.de"'],
    ["read", "~/notes", '"${HOME}/notes"'],
    ["read", "./assets", '"${PACK}/assets"'],
    ["read", "${Projct}/src", '"${PROJECT}/src"'],
    ["write", "${TMP}\\a", '"/"'],
    ["write", "/var/log", "${PROJECT}"],
    ["tools", "*", '"acme/jira/*"'],
  ])("the hint for `%s: [%j]` helps: %s", (key, entry, words) => {
    expect(judge({ [key]: [entry] }).faults[0]?.hint).toContain(words);
  });
});

describe("why needs are invalid", () => {
  const reasonOf = (needs: unknown) => judge(needs).faults[0]?.reason;
  const hintOf = (needs: unknown) => judge(needs).faults[0]?.hint;

  test.each([
    [{ env: ["A B"] }, '"A B" is not the name of an environment variable'],
    [{ env: [5] }, "an entry of `needs.env` must be a string, but it is a number"],
    [{ env: 5 }, "`needs.env` must be an array of strings, but it is a number"],
    [{ envs: [] }, 'it has an unknown key "envs"'],
    [[], "it must be an object, but it is an array"],
    [{ network: ["a b"] }, '"a b" is not a host'],
    [{ network: ["*"] }, '"*" would mean every host'],
    [{ network: ["**"] }, '"**" would mean every host'],
    [{ network: ["*a"] }, '"*a" is not a host'],
    [{ network: ["a*"] }, '"a*" is not a host'],
    [{ network: ["münchen.de"] }, '"münchen.de" is not a host in ASCII'],
    [{ network: ["a/ü"] }, '"a/ü" is not a host'],
    [{ read: ["/etc"] }, '"/etc" does not start with one of the known folders'],
    [{ read: ["${home}/a"] }, '"${home}/a" does not start with one of the known folders'],
    [{ read: ["x${HOME}"] }, '"x${HOME}" does not start with one of the known folders'],
    [{ read: ["${HOME}/a\\b"] }, '"${HOME}/a\\b" contains "\\"'],
    [{ read: ["${HOME}/../a"] }, '"${HOME}/../a" contains ".."'],
    [{ read: ["${HOME}a"] }, '"${HOME}a" has no "/" after "${HOME}"'],
    [{ write: ["${TMP}/a\nb"] }, '"${TMP}/a b" contains a control character'],
    [{ tools: ["*"] }, '"*" would mean every tool'],
    [{ tools: ["**"] }, '"**" would mean every tool'],
    [{ tools: ["* a"] }, '"* a" is not a tool'],
    [{ tools: ["a *"] }, '"a *" is not a tool'],
  ])("the reason of %j is: %s", (needs, reason) => {
    expect(reasonOf(needs)).toBe(reason);
  });

  const hosts = 'Use names such as "api.atlassian.com", "*.atlassian.net:443", "localhost" or "127.0.0.1".';
  const folders = "${PROJECT}, ${PACK}, ${DATA}, ${HOME} or ${TMP}";

  test.each([
    [{ env: ["A=1"] }, "List only names, without values."],
    [{ env: ["A B"] }, "List only names, without values."],
    [{ env: ["1A"] }, expect.stringContaining('"JIRA_TOKEN"')],
    [{ network: ["a b"] }, hosts],
    [{ network: ["*"] }, hosts],
    [{ network: ["http://a b"] }, hosts],
    [{ network: ["git+ssh://a.b/c"] }, 'List only the host: "a.b".'],
    [{ network: ["HTTP://a.b"] }, 'List only the host: "a.b".'],
    [{ network: ["x http://a.b"] }, hosts],
    [{ network: ["http:a.b/c"] }, hosts],
    [{ network: ["ü.*.de"] }, hosts],
    [{ network: ["münchen.de:80443"] }, hosts],
    [{ network: [`${"a".repeat(301)}.ü`] }, hosts],
    [{ network: [`http://${"a.".repeat(150)}b`] }, hosts],
    [{ read: ["/etc"] }, `Start it with ${folders}.`],
    [{ read: ["~/a"] }, 'Did you mean "${HOME}/a"?'],
    [{ read: ["a/~/b"] }, `Start it with ${folders}.`],
    [{ read: ["a./b"] }, `Start it with ${folders}.`],
    [{ read: ["~/../a"] }, `Start it with ${folders}.`],
    [{ read: ["./a"] }, 'Did you mean "${PACK}/a"?'],
    [{ read: ["${HOM}"] }, 'Did you mean "${HOME}/"?'],
    [{ read: ["${HOM}/a"] }, 'Did you mean "${HOME}/a"?'],
    [{ read: ["${OTHERWISE}/a"] }, `Start it with ${folders}.`],
    [{ read: [`~/${"a".repeat(398)}`] }, expect.stringMatching(/^Did you mean "\$\{HOME\}\/a{192}…"\?$/)],
    [{ read: [`~/${"a".repeat(399)}`] }, `Start it with ${folders}.`],
    [{ read: ["${HOME}/a\\b"] }, 'Use "/".'],
    [{ read: ["${HOME}/a/.."] }, `Use a path below ${folders}.`],
    [{ read: ["${HOME}a"] }, 'Add "/".'],
    [{ write: ["${TMP}/a\nb"] }, undefined],
    [{ tools: ["a b"] }, expect.stringContaining('"acme/jira/*"')],
    [{ tools: [5] }, undefined],
    [[], "Use an object with the keys `env`, `network`, `read`, `write` and `tools`, which are optional."],
    [{ envs: [] }, 'Did you mean "env"?'],
    [{ database: [] }, 'Use one of env, network, read, write or tools, or start a custom key with "x-".'],
  ])("the hint for %j is: %s", (needs, hint) => {
    expect(hintOf(needs)).toEqual(hint);
  });
});

describe("IP addresses in `needs.network`", () => {
  const accepts = (host: string) => parseExtension({ needs: { network: [host] } }).problems.length === 0;
  const bracketed = (host: string) => accepts(`[${host}]:1`);

  test("exactly the IPv6 addresses without a zone are accepted in brackets", () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(bracketed(address)).toBe(true);
      }),
      { numRuns: 500 },
    );
    const parts = fc.array(fc.constantFrom(":", "::", "1", "ffff", "0", "1.2.3.4", "12345"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(parts, (list) => {
        expect(bracketed(list.join(""))).toBe(isIPv6(list.join("")));
      }),
      { numRuns: 3000 },
    );
  });

  test("names of numbers only are accepted exactly if they are IPv4 addresses", () => {
    const numbers = fc.array(fc.nat({ max: 300 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(numbers, (list) => {
        expect(accepts(list.join("."))).toBe(isIPv4(list.join(".")));
      }),
    );
  });
});

describe("hostile needs", () => {
  const megabyte = 1 << 20;

  test.each([
    ["env", "a".repeat(megabyte)],
    ["env", `${"a".repeat(megabyte)}-`],
    ["network", "a.".repeat(megabyte / 2)],
    ["network", "1:".repeat(megabyte / 2)],
    ["network", `http://${"ü".repeat(megabyte)}`],
    ["read", `\${HOME}${"/".repeat(megabyte)}`],
    ["read", `\${HOME}${"/a".repeat(megabyte / 2)}/..`],
    ["read", "~/".repeat(megabyte / 2)],
    ["tools", "*".repeat(megabyte)],
    ["tools", "a@".repeat(megabyte / 2)],
  ])("an entry of `%s` of a megabyte is read within a second, with a short message", (key, entry) => {
    const begun = performance.now();
    const { problems } = parseExtension({ needs: { [key]: [entry] } });
    expect(performance.now() - begun).toBeLessThan(1000);
    for (const { message, hint = "" } of problems) expect(message.length + hint.length).toBeLessThan(1000);
  });

  test("at most a thousand invalid entries are reported, and the valid ones are kept", () => {
    const tools = Array.from({ length: 10_000 }, (_, index) => (index % 2 === 0 ? "*" : `a/b${index}`));
    const { extension, problems } = parseExtension({ needs: { tools } });
    expect(problems).toHaveLength(1001);
    expect(problems.at(-1)).toMatchObject({ code: "MalformedExtension", path: [] });
    expect(extension.needs?.tools).toHaveLength(5000);
  });

  test("parsing does not change `needs` and shares nothing with them", () => {
    const needs = { env: ["A", 5], tools: ["*"] };
    const before = structuredClone(needs);
    const { extension } = parseExtension({ needs });
    expect(needs).toEqual(before);
    expect(extension.needs?.env).not.toBe(needs.env);
  });
});
