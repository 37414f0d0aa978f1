import { describe, expect, test } from "vitest";
import { readPolicy, requirePolicy } from "../../src/config/administrator-policy.ts";
import { isPackageAllowed, isRegistryAllowed, mayPackageBeAllowed } from "../../src/config/policy-rules.ts";
import type { DiscoveryPort } from "../../src/files/discovery-port.ts";
import type { PolicyFileRead } from "../../src/files/policy-file.ts";

const file = "/etc/trailblaze/policy.json";

/** A port with only a policy: reading one needs nothing else. */
const portOf = (read: PolicyFileRead) => ({ readPolicyFile: () => read }) as unknown as DiscoveryPort;
const portWith = (content: unknown) => {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return portOf({ state: "read", file, bytes: Buffer.from(text) });
};

async function read(content: unknown) {
  const { policy, fault } = await readPolicy(portWith(content));
  if (policy === undefined) throw fault;
  return policy;
}

const problemOf = async (content: unknown) => (await readPolicy(portWith(content))).fault?.problem;

describe("reading the administrator's policy", () => {
  test("without a file, there is no policy", async () => {
    expect(await readPolicy(portOf({ state: "absent" }))).toEqual({});
    expect(await requirePolicy(portOf({ state: "absent" }))).toBeUndefined();
  });

  test("every key is read, and an empty policy restricts nothing", async () => {
    const settings = {
      packs: { allow: ["@acme/*"], deny: [] },
      servers: { config: "deny" },
      registries: ["https://npm.acme.example"],
      lock: "frozen",
      isolation: "process",
      requireConfinement: true,
      install: false,
      contact: "it@acme.example",
    };
    expect(await read(settings)).toMatchObject({
      file,
      settings,
      allowsConfigServers: false,
      registries: ["https://npm.acme.example/"],
      lock: "frozen",
      isolation: "process",
      requireConfinement: true,
      allowsInstall: false,
      contact: "it@acme.example",
    });
    expect(await read({})).toEqual({
      file,
      settings: {},
      contact: undefined,
      packs: { allow: undefined, deny: [] },
      allowsConfigServers: true,
      registries: undefined,
      lock: undefined,
      isolation: undefined,
      requireConfinement: false,
      allowsInstall: true,
    });
  });

  test.each(["surface", "code", "frozen"])("the lock mode %s is read", async (lock) => {
    expect((await read({ lock })).lock).toBe(lock);
  });

  test("values that are not stricter than the default are accepted", async () => {
    const policy = await read({ servers: { config: "allow" }, install: true, requireConfinement: false });
    expect(policy).toMatchObject({
      allowsConfigServers: true,
      allowsInstall: true,
      requireConfinement: false,
    });
  });

  test("a byte order mark is accepted", async () => {
    expect((await read('\uFEFF{"install":false}')).allowsInstall).toBe(false);
  });

  test.each([
    ["an unknown key", '{\n  "instal": false }', { line: 2, column: 3, hint: 'Did you mean "install"?' }],
    ["a key of extensions", '{ "x-note": "" }', { line: 1, column: 3 }],
    ["an unknown key of packs", '{ "packs": { "alow": [] } }', { path: ["packs", "alow"], column: 14 }],
    ["an unknown key of servers", '{ "servers": { "packs": "deny" } }', { path: ["servers", "packs"] }],
    ["a duplicate key", '{ "install": false,\n"install": true }', { line: 2, column: 1 }],
    ["a duplicate key inside", '{ "packs": { "deny": ["a"], "deny": [] } }', { line: 1, column: 29 }],
    ["a trailing comma", '{ "install": false, }', { line: 1, hint: expect.stringContaining("comma") }],
    ["a comment", "// policy\n{}", { line: 1 }],
    ["an array", "[]", {}],
    ["nothing", "", {}],
    ["null", "null", {}],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]).toString("latin1"), {}],
    ["packs that are an array", { packs: ["@acme/*"] }, { path: ["packs"] }],
    ["null in place of packs", { packs: null }, { path: ["packs"] }],
    ["allow that is a string", { packs: { allow: "@acme/*" } }, { path: ["packs", "allow"] }],
    ["a pattern that is a number", { packs: { deny: ["a", 1] } }, { path: ["packs", "deny", 1] }],
    ["a scope without @", { packs: { deny: ["acme/*"] } }, { path: ["packs", "deny", 0] }],
    ["a scope without a name", { packs: { deny: ["@acme"] } }, { path: ["packs", "deny", 0] }],
    ["the name of an item", { packs: { deny: ["@acme/jira/createIssue"] } }, {}],
    ["a regular expression", { packs: { deny: ["@acme/(a|b)"] } }, {}],
    ["an empty pattern", { packs: { allow: [""] } }, {}],
    ["an invalid range", { packs: { allow: ["left-pad@one"] } }, { path: ["packs", "allow", 0] }],
    ["a dist-tag", { packs: { allow: ["left-pad@latest"] } }, {}],
    ["an empty range", { packs: { allow: ["left-pad@"] } }, {}],
    ["another word for servers", { servers: { config: "denied" } }, { path: ["servers", "config"] }],
    ["a registry that is not a URL", { registries: ["npm.acme.example"] }, { path: ["registries", 0] }],
    ["a registry that is a file", { registries: ["file:///srv/npm"] }, { path: ["registries", 0] }],
    ["another lock mode", { lock: "off" }, { path: ["lock"] }],
    ["another isolation", { isolation: "in-process" }, { path: ["isolation"] }],
    ["a string in place of true", { requireConfinement: "true" }, { path: ["requireConfinement"] }],
    ["a number in place of false", { install: 0 }, { path: ["install"] }],
    ["a contact that is an array", { contact: ["it"] }, { path: ["contact"] }],
  ])("%s is PolicyMalformed", async (_, content, expected) => {
    expect(await problemOf(content)).toMatchObject({
      code: "PolicyMalformed",
      severity: "error",
      file,
      ...expected,
    });
    await expect(requirePolicy(portWith(content))).rejects.toMatchObject({ code: "PolicyMalformed" });
  });

  test("a policy that may be someone else's is PolicyUnsafe, and one that cannot be read is PolicyMalformed", async () => {
    const reason = "it is a symbolic link, not a regular file";
    await expect(requirePolicy(portOf({ state: "unsafe", file, reason }))).rejects.toMatchObject({
      code: "PolicyUnsafe",
      problem: { file, args: { policy: file, reason } },
    });
    const unreadable = portOf({ state: "unreadable", file, reason: "it cannot be read (EACCES)" });
    await expect(requirePolicy(unreadable)).rejects.toMatchObject({ code: "PolicyMalformed" });
  });
});

describe("the packages that a policy allows", () => {
  test.each([
    [["@acme/*"], "@acme/jira", "1.0.0", true],
    [["@acme/*"], "@acme-evil/jira", "1.0.0", false],
    [["@acme/*"], "acme", "1.0.0", false],
    [["left-pad"], "left-pad", null, true],
    [["left-pad"], "left-pads", "1.0.0", false],
    [["left-*"], "left-pad", "1.0.0", true],
    [["left-*"], "@left-pad/x", "1.0.0", false],
    [["*"], "left-pad", "1.0.0", true],
    [["*"], "@acme/jira", "1.0.0", true],
    [["left-pad@^1.3"], "left-pad", "1.3.1", true],
    [["left-pad@^1.3"], "left-pad", "1.2.9", false],
    [["left-pad@^1.3"], "left-pad", "2.0.0", false],
    [["left-pad@^1.3"], "left-pad", "1.4.0-beta.1", false],
    [["left-pad@^1.3"], "left-pad", null, false],
    [["left-pad@^1.3"], "left-pad", "newest", false],
    [["@acme/*@1.x || 3.x"], "@acme/jira", "3.1.0", true],
    [["@acme/*@1.x || 3.x"], "@acme/jira", "2.1.0", false],
    [[], "left-pad", "1.0.0", false],
  ])("allow %j lets in %s %s: %s", async (allow, name, version, expected) => {
    expect(isPackageAllowed(await read({ packs: { allow } }), name, version)).toBe(expected);
  });

  test.each([
    [["@acme/*"], "@acme/jira", "1.0.0", false],
    [["@acme/*"], "left-pad", "1.0.0", true],
    [["*"], "@acme/jira", "1.0.0", false],
    [["left-pad@<1.3"], "left-pad", "1.2.0", false],
    [["left-pad@<1.3"], "left-pad", "1.2.0-beta.1", false],
    [["left-pad@<1.3"], "left-pad", "1.3.0", true],
    // What is not known to be outside the range is excluded.
    [["left-pad@<1.3"], "left-pad", null, false],
    [["left-pad@<1.3"], "left-pad", "newest", false],
  ])("deny %j lets in %s %s: %s", async (deny, name, version, expected) => {
    expect(isPackageAllowed(await read({ packs: { deny } }), name, version)).toBe(expected);
  });

  test("deny takes precedence over allow", async () => {
    const policy = await read({ packs: { allow: ["@acme/*"], deny: ["@acme/jira"] } });
    expect(isPackageAllowed(policy, "@acme/jira", "1.0.0")).toBe(false);
    expect(isPackageAllowed(policy, "@acme/wiki", "1.0.0")).toBe(true);
  });

  test("before its version is known, a package is excluded only if every version is", async () => {
    const policy = await read({
      packs: { allow: ["left-pad@^1.3", "@acme/*"], deny: ["@acme/jira@<2", "@acme/old"] },
    });
    const allowed = ["left-pad", "@acme/jira", "@acme/old", "right-pad"].map((name) =>
      mayPackageBeAllowed(policy, name),
    );
    expect(allowed).toEqual([true, true, false, false]);
  });
});

describe("the registries that a policy allows", () => {
  test.each([
    ["https://npm.acme.example/", true],
    ["https://NPM.acme.example", true],
    ["https://user:secret@npm.acme.example/", true],
    ["https://npm.acme.example:443/", true],
    ["http://npm.acme.example/", false],
    ["https://npm.acme.example/mirror/", false],
    ["https://npm.acme.example.evil.example/", false],
    ["https://npm.acme.example:8443/", false],
    ["nonsense", false],
  ])("%s is allowed: %s", async (address, expected) => {
    const policy = await read({ registries: ["https://npm.acme.example"] });
    expect(isRegistryAllowed(policy, address)).toBe(expected);
  });

  test("without the key, every registry is allowed", async () => {
    expect(isRegistryAllowed(await read({}), "https://npm.acme.example/")).toBe(true);
  });
});
