import { describe, expect, test } from "vitest";
import {
  type Kind,
  type Problem,
  type ReferenceContext,
  type ResolvablePack,
  resolveReference,
  TrailblazeError,
} from "../../src/index.ts";

type Items = Partial<Record<"servers" | "tools" | "toolsets" | "prompts", readonly string[]>>;

function pack(name: string, version: string | null, items: Items, shadowed = false): ResolvablePack {
  const prefix = name.replace(/^@/, "");
  const list = (names: readonly string[] = []) =>
    names.map((item) => ({ name: item, qualifiedName: `${prefix}/${item}` }));
  return {
    name,
    version,
    shadowed,
    servers: list(items.servers),
    tools: list(items.tools),
    toolsets: list(items.toolsets),
    prompts: list(items.prompts),
  };
}

const jira = pack("@acme/jira", "1.2.0", {
  servers: ["board"],
  tools: ["createIssue", "getIssue", "tap"],
  toolsets: ["triage", "both"],
  prompts: ["issueText", "both"],
});
const notes = pack("notes", "0.3.1", { tools: ["createIssue", "createNote"], toolsets: ["tap"] });
const packs = [jira, notes];
const builtIns = ["tap", "swipe"];

const fromUser = (reference: string, context: Partial<ReferenceContext> = {}) =>
  resolveReference(reference, { from: "user", packs, builtIns, ...context });
const fromNotes = (reference: string, context: Partial<ReferenceContext> = {}) =>
  resolveReference(reference, { from: notes, packs, builtIns, ...context });

/** The problem with which a resolution fails. */
function failureOf(resolve: () => unknown): Problem {
  try {
    resolve();
  } catch (error) {
    if (error instanceof TrailblazeError) return error.problem;
    throw error;
  }
  throw new Error("it was resolved");
}

const tool = (qualifiedName: string) => ({ kind: "tool", qualifiedName });

describe("a user's reference", () => {
  test("to a built-in is the built-in, whatever packs bring", () => {
    expect(fromUser("tap")).toEqual(tool("tap"));
    expect(fromUser("swipe", { kind: "tool" })).toEqual(tool("swipe"));
  });

  test.each([
    ["acme/jira/createIssue", "tool", "acme/jira/createIssue"],
    ["@acme/jira/createIssue", "tool", "acme/jira/createIssue"],
    ["acme/jira@^1.2/createIssue", "tool", "acme/jira/createIssue"],
    ["acme/jira/tap", "tool", "acme/jira/tap"],
    ["acme/jira/board", "server", "acme/jira/board"],
    ["acme/jira/triage", "toolset", "acme/jira/triage"],
    ["acme/jira/issueText", "prompt", "acme/jira/issueText"],
    ["notes/createNote", "tool", "notes/createNote"],
  ])("%s is the %s %s", (reference, kind, qualifiedName) => {
    expect(fromUser(reference)).toEqual({ kind, qualifiedName });
    expect(fromUser(reference, { kind: kind as Kind })).toEqual({ kind, qualifiedName });
  });

  test("by a short name that is no built-in fails and names everything that ends in it", () => {
    const nearest = ["acme/jira/createIssue", "notes/createIssue"];
    expect(failureOf(() => fromUser("createIssue"))).toMatchObject({
      code: "ToolNotFound",
      severity: "error",
      args: { name: "createIssue", nearest },
    });
  });

  test("by a short name never means an item, even the only one of that name", () => {
    expect(failureOf(() => fromUser("createNote"))).toMatchObject({
      code: "ToolNotFound",
      args: { nearest: ["notes/createNote"] },
    });
    expect(failureOf(() => fromUser("triage", { kind: "toolset" }))).toMatchObject({
      code: "ToolsetNotFound",
      args: { nearest: ["acme/jira/triage"] },
    });
  });

  test("to a server, toolset or prompt is never a built-in, which is a tool", () => {
    expect(failureOf(() => fromUser("swipe", { kind: "server" })).code).toBe("ServerNotFound");
    expect(failureOf(() => fromUser("swipe", { kind: "toolset" })).code).toBe("ToolsetNotFound");
    expect(failureOf(() => fromUser("swipe", { kind: "prompt" })).code).toBe("PromptNotFound");
  });

  test("without built-ins knows none", () => {
    const resolve = () => resolveReference("tap", { from: "user", packs });
    expect(failureOf(resolve)).toMatchObject({
      code: "ToolNotFound",
      args: { nearest: expect.arrayContaining(["acme/jira/tap"]) },
    });
  });

  test("with a slash is no built-in, even if one were called so", () => {
    expect(failureOf(() => fromUser("some/tool", { builtIns: ["some/tool"] })).code).toBe("PackNotInstalled");
  });
});

describe("a reference in a pack's own definition", () => {
  test("to an own item comes back qualified, before a built-in of that name", () => {
    expect(fromNotes("createNote")).toEqual(tool("notes/createNote"));
    expect(resolveReference("tap", { from: jira, packs, builtIns })).toEqual(tool("acme/jira/tap"));
  });

  test("finds an own item of the kind that is wanted", () => {
    expect(fromNotes("tap", { kind: "toolset" })).toEqual({ kind: "toolset", qualifiedName: "notes/tap" });
    expect(fromNotes("tap", { kind: "tool" })).toEqual(tool("tap"));
  });

  test("to a built-in comes after the own items", () => {
    expect(fromNotes("swipe")).toEqual(tool("swipe"));
  });

  test("to another pack's item is always the qualified name", () => {
    expect(fromNotes("acme/jira/getIssue")).toEqual(tool("acme/jira/getIssue"));
    expect(failureOf(() => fromNotes("getIssue"))).toMatchObject({
      code: "ToolNotFound",
      args: { nearest: ["acme/jira/getIssue"] },
    });
  });

  test("may be the own item's qualified name", () => {
    expect(fromNotes("notes/createIssue")).toEqual(tool("notes/createIssue"));
  });

  test("means the pack it stands in, though that one is not installed or another copy counts", () => {
    const own = pack("notes", "0.1.0", { tools: ["only-here"] }, true);
    expect(resolveReference("only-here", { from: own, packs, builtIns })).toEqual(tool("notes/only-here"));
    expect(resolveReference("only-here", { from: own, packs: [], builtIns })).toEqual(
      tool("notes/only-here"),
    );
  });

  test("that is a slip suggests own items and built-ins", () => {
    for (const [slip, meant] of [
      ["creatNote", "createNote"],
      ["swip", "swipe"],
    ] as const)
      expect(failureOf(() => fromNotes(slip)).args).toMatchObject({
        nearest: expect.arrayContaining([meant]),
      });
  });
});

describe.each([
  ["user", "user" as const],
  ["pack", notes],
])("a failing reference of a %s", (_, from) => {
  const fail = (reference: string, kind?: Kind) =>
    failureOf(() => resolveReference(reference, { from, packs, builtIns, kind }));

  test.each([
    ["acme/confluence/page", { name: "@acme/confluence" }],
    ["confluence/page", { name: "confluence" }],
    ["acme/confluence@^2/page", { name: "@acme/confluence", range: "^2" }],
  ])("to the missing pack of %s says: %j", (reference, args) => {
    expect(fail(reference)).toMatchObject({
      code: "PackNotInstalled",
      severity: "error",
      args,
    });
  });

  test("that names a pack is not sent to another package", () => {
    expect(fail("acme/jira")).toMatchObject({
      code: "InvalidQualifiedName",
      args: { name: "acme/jira", reason: expect.stringContaining("pack") },
    });
  });

  test.each([
    ["server", "ServerNotFound", "acme/jira/bord", "acme/jira/board"],
    ["tool", "ToolNotFound", "acme/jira/createIsue", "acme/jira/createIssue"],
    ["toolset", "ToolsetNotFound", "acme/jira/triaje", "acme/jira/triage"],
    ["prompt", "PromptNotFound", "acme/jira/issuetext", "acme/jira/issueText"],
  ] as const)("to a missing %s is %s, with the nearest name", (kind, code, reference, nearest) => {
    expect(fail(reference, kind)).toMatchObject({ code, args: { nearest: [nearest] } });
  });

  test("to an item of another kind says of which", () => {
    const problem = fail("acme/jira/triage", "tool");
    expect(problem).toMatchObject({ code: "ToolNotFound", args: { otherKind: "toolset" } });
  });

  test("to a name of two kinds is ambiguous until the kind is said", () => {
    const problem = fail("acme/jira/both");
    expect(problem.code).toBe("AmbiguousName");
    expect(problem.args).toEqual({ name: "acme/jira/both", kinds: ["toolset", "prompt"] });
    const context = { from, packs, builtIns };
    expect(resolveReference("acme/jira/both", { ...context, kind: "prompt" }).kind).toBe("prompt");
    expect(resolveReference("acme/jira/both", { ...context, kind: "toolset" }).kind).toBe("toolset");
  });

  test.each([
    "",
    "acme//createIssue",
    "@acme/jira",
    "acme/jira@latest/createIssue",
    "a/b/c/d",
    "../../etc/passwd",
    "__proto__",
    "create issue",
    "con",
    "x".repeat(65),
    "\u001b[31m",
    "acme/jira/\u0000",
  ])("%j is no name at all", (reference) => {
    expect(fail(reference).code).toBe("InvalidQualifiedName");
  });

  test.each(["toString", "hasOwnProperty", "valueOf", "acme/jira/toString", "toString/x"])(
    "%s finds nothing that every object has",
    (reference) => {
      expect(["ToolNotFound", "PackNotInstalled"]).toContain(fail(reference).code);
    },
  );

  test.each([undefined, null, 5, {}, Object.create(null), Symbol("x")])(
    "a value that is no text",
    (value) => {
      expect(fail(value as unknown as string).code).toBe("InvalidQualifiedName");
    },
  );
});

describe("a range in a reference", () => {
  test.each(["^1.2", "1.x", ">=1 <2", "*", "1.2.0", "^1.2.0 || ^3"])("%s is satisfied by 1.2.0", (range) => {
    expect(fromUser(`acme/jira@${range}/getIssue`)).toEqual(tool("acme/jira/getIssue"));
  });

  test.each(["^2", "1.1.x", "<1.2.0", "1.2.1"])(
    "%s is not, and the message says what is installed",
    (range) => {
      const problem = failureOf(() => fromUser(`acme/jira@${range}/getIssue`));
      const args = { version: "1.2.0", range };
      expect(problem).toMatchObject({ code: "PackVersionMismatch", severity: "error", args });
    },
  );

  test("is checked before the item", () => {
    expect(failureOf(() => fromUser("acme/jira@^2/nothing")).code).toBe("PackVersionMismatch");
  });

  test("is not satisfied by a pack without a version, or with one that is none", () => {
    for (const version of [null, "newest"]) {
      const odd = pack("odd", version, { tools: ["a"] });
      expect(failureOf(() => fromUser("odd@*/a", { packs: [odd] })).code).toBe("PackVersionMismatch");
      expect(fromUser("odd/a", { packs: [odd] })).toEqual(tool("odd/a"));
    }
  });

  test("is checked against the copy that counts", () => {
    const copies = [
      pack("notes", "0.1.0", { tools: ["old"] }, true),
      pack("notes", "0.3.1", { tools: ["new"] }),
      pack("notes", "0.9.0", { tools: ["newest"] }, true),
    ];
    expect(fromUser("notes@0.3/new", { packs: copies })).toEqual(tool("notes/new"));
    expect(failureOf(() => fromUser("notes@0.1/old", { packs: copies })).code).toBe("PackVersionMismatch");
    expect(failureOf(() => fromUser("notes/newest", { packs: copies })).code).toBe("ToolNotFound");
  });
});

test("resolution changes nothing it is given", () => {
  const frozen = packs.map((one) => Object.freeze({ ...one, tools: Object.freeze([...one.tools]) }));
  expect(fromUser("notes/createNote", { packs: Object.freeze(frozen) })).toEqual(tool("notes/createNote"));
});

describe("the name of a built-in where no tool is wanted", () => {
  test.each(["prompt", "toolset", "server"] as const)("is told to be that of a tool, not of a %s", (kind) => {
    const { args } = failureOf(() => fromUser("swipe", { kind }));
    expect(args).toMatchObject({ name: "swipe", otherKind: "tool" });
  });

  test("is not suggested for a near name either", () => {
    const nearest = (kind: Kind) => failureOf(() => fromUser("swip", { kind })).args;
    expect(nearest("prompt")).toMatchObject({ nearest: [] });
    expect(nearest("tool")).toMatchObject({ nearest: ["swipe"] });
  });
});

describe("a caller without types", () => {
  const from = (name: string) => ({ from: name as "user" });

  test.each(["@acme/jira", "acme/jira"])("may name the pack that a reference stands in: %s", (name) => {
    expect(fromUser("getIssue", from(name))).toEqual(tool("acme/jira/getIssue"));
  });

  test("is told where there is no such pack", () => {
    expect(failureOf(() => fromUser("getIssue", from("@acme/nope")))).toMatchObject({
      code: "PackNotInstalled",
      pack: "@acme/nope",
    });
  });
});
