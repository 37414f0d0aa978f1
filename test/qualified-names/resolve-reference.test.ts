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

describe("a reference written by a user", () => {
  test("a user's reference to a built-in resolves to the built-in, whatever packs provide", () => {
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
  ])("%s resolves to the %s %s", (reference, kind, qualifiedName) => {
    expect(fromUser(reference)).toEqual({ kind, qualifiedName });
    expect(fromUser(reference, { kind: kind as Kind })).toEqual({ kind, qualifiedName });
  });

  test("an unknown short name fails, and the error names every item that ends in it", () => {
    const nearest = ["acme/jira/createIssue", "notes/createIssue"];
    expect(failureOf(() => fromUser("createIssue"))).toMatchObject({
      code: "ToolNotFound",
      severity: "error",
      args: { name: "createIssue", nearest },
    });
  });

  test("a reference to a server, toolset or prompt never resolves to a built-in, which is a tool", () => {
    expect(failureOf(() => fromUser("swipe", { kind: "server" })).code).toBe("ServerNotFound");
    expect(failureOf(() => fromUser("swipe", { kind: "toolset" })).code).toBe("ToolsetNotFound");
    expect(failureOf(() => fromUser("swipe", { kind: "prompt" })).code).toBe("PromptNotFound");
  });
});

describe("a reference in a pack's own definition", () => {
  test("a reference to the pack's own item resolves to its qualified name, before a built-in of that name", () => {
    expect(fromNotes("createNote")).toEqual(tool("notes/createNote"));
    expect(resolveReference("tap", { from: jira, packs, builtIns })).toEqual(tool("acme/jira/tap"));
  });

  test("a reference resolves to the pack's own item of the requested kind", () => {
    expect(fromNotes("tap", { kind: "toolset" })).toEqual({ kind: "toolset", qualifiedName: "notes/tap" });
    expect(fromNotes("tap", { kind: "tool" })).toEqual(tool("tap"));
  });

  test("an item of another pack is resolved only by its qualified name", () => {
    expect(fromNotes("acme/jira/getIssue")).toEqual(tool("acme/jira/getIssue"));
    expect(failureOf(() => fromNotes("getIssue"))).toMatchObject({
      code: "ToolNotFound",
      args: { nearest: ["acme/jira/getIssue"] },
    });
  });

  test("a qualified name of the pack itself resolves, even if the pack is not installed or is shadowed", () => {
    const own = pack("notes", "0.1.0", { tools: ["only-here"] }, true);
    for (const reference of ["only-here", "notes/only-here"])
      expect(resolveReference(reference, { from: own, packs, builtIns })).toEqual(tool("notes/only-here"));
    expect(failureOf(() => fromUser("notes/only-here")).code).toBe("ToolNotFound");
    expect(resolveReference("only-here", { from: own, packs: [], builtIns })).toEqual(
      tool("notes/only-here"),
    );
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
    ["acme/confluence@^2/page", { name: "@acme/confluence", range: "^2" }],
  ])("the reference to a missing pack of %s is reported: %j", (reference, args) => {
    expect(fail(reference)).toMatchObject({
      code: "PackNotInstalled",
      severity: "error",
      args,
    });
  });

  test("an error about a missing pack suggests no other package", () => {
    expect(fail("acme/jira")).toMatchObject({
      code: "InvalidQualifiedName",
      args: { name: "acme/jira", reason: expect.stringContaining("pack") },
    });
  });

  test.each([
    ["server", "ServerNotFound", "acme/jira/bord", "acme/jira/board"],
    ["tool", "ToolNotFound", "acme/jira/createIsue", "acme/jira/createIssue"],
  ] as const)(
    "a reference to a missing %s is %s and suggests the nearest name",
    (kind, code, reference, nearest) => {
      expect(fail(reference, kind)).toMatchObject({ code, args: { nearest: [nearest] } });
    },
  );

  test("a reference to an item of another kind is an error that names the kind", () => {
    const problem = fail("acme/jira/triage", "tool");
    expect(problem).toMatchObject({ code: "ToolNotFound", args: { otherKind: "toolset" } });
  });

  test("a name of two kinds is ambiguous until the kind is given", () => {
    const problem = fail("acme/jira/both");
    expect(problem.code).toBe("AmbiguousName");
    expect(problem.args).toEqual({ name: "acme/jira/both", kinds: ["toolset", "prompt"] });
    const context = { from, packs, builtIns };
    expect(resolveReference("acme/jira/both", { ...context, kind: "prompt" }).kind).toBe("prompt");
    expect(resolveReference("acme/jira/both", { ...context, kind: "toolset" }).kind).toBe("toolset");
  });
});

describe("a range in a reference", () => {
  test.each(["^2", "1.1.x", "<1.2.0", "1.2.1"])(
    "version 1.2.0 does not satisfy the range %s, and the error names the installed version",
    (range) => {
      const problem = failureOf(() => fromUser(`acme/jira@${range}/getIssue`));
      const args = { version: "1.2.0", range };
      expect(problem).toMatchObject({ code: "PackVersionMismatch", severity: "error", args });
    },
  );
});

test("kinds may be in the plural, and other words are errors", () => {
  expect(fromUser("swipe", { kind: "tools" as Kind })).toEqual(tool("swipe"));
  expect(failureOf(() => fromUser("swipe", { kind: "tol" as Kind }))).toMatchObject({
    code: "InvalidArguments",
    args: { reason: 'Unknown kind "tol"', hint: expect.stringContaining("tool") },
  });
});
