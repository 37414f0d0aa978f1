import { describe, expect, test } from "vitest";
import { checkDefinition } from "../../src/extension-schema/check-definition.ts";
import type { DefinedKind } from "../../src/kinds.ts";

type Fields = Record<string, unknown>;

/** The faults of a definition: the path, the reason and the hint of each. */
function faultsOf(kind: DefinedKind, content: unknown) {
  return checkDefinition(kind, content).problems.map(({ path = [], args }) => {
    const { reason, hint } = args as { reason: string; hint?: string };
    return { place: path.join("."), reason, hint };
  });
}
const placesOf = (kind: DefinedKind, content: unknown) => faultsOf(kind, content).map(({ place }) => place);

const run = "./lib/a.js#run";
const tool = (fields: Fields) => ({ name: "greet", inputSchema: {}, handler: run, ...fields });
const short = (parameters: unknown, fields: Fields = {}) => ({
  ...{ name: "greet", handler: run },
  ...{ parameters, ...fields },
});
const prompt = (fields: Fields) => ({ name: "one", content: "Hello", ...fields });
const says = (content: unknown, role: unknown = "user") => prompt({ content: [{ role, content }] });
const resource = (fields: Fields) => ({ name: "page", uri: "docs://page", text: "", ...fields });
const template = (uriTemplate: string, fields: Fields = {}) =>
  resource({ uri: undefined, uriTemplate, ...fields });
const bundle = (fields: Fields) => ({
  kind: "Mcp.Tools",
  metadata: { name: "all" },
  entries: [],
  ...fields,
});

describe("a content that is no definition", () => {
  test.each<[unknown, string]>([
    [null, "it is empty"],
    [5, "expected an object, found a number"],
    [{ $function: "greet" }, "expected an object, found a function"],
  ])("%j has one fault at its top: %s", (content, reason) => {
    expect(faultsOf("tool", content)).toMatchObject([{ place: "", reason }]);
    expect(checkDefinition("tool", content).shape).toBeUndefined();
  });
});

/** A kind and a definition; the place of its first fault and the reason; and a part of the hint, if there is one. */
type Row = [kind: DefinedKind, content: Fields, place: string, reason: RegExp, hint?: string];

describe("keys that are missing, or exclude each other", () => {
  test.each<Row>([
    ["tool", { inputSchema: {}, handler: run }, "", /^`name` is missing$/],
    ["tool", { name: "a", handler: run }, "", /^`inputSchema` or `parameters` is missing$/, "type: object"],
    ["tool", tool({ parameters: {} }), "parameters", /`parameters` are both present$/, "Keep one of them."],
    ["toolset", { name: "a" }, "", /^`tools` or `toolsets` is missing$/],
    ["toolset", bundle({ tools: [] }), "tools", /combines a bundle .* \(`tools`\)/, "`entries`"],
    ["toolset", bundle({ entries: [{ name: "a" }] }), "entries.0", /^`handler` is missing in `entries\.0`$/],
    ["prompt", prompt({ content: undefined }), "", /^`content` or `handler` is missing$/],
    ["prompt", prompt({ handler: run }), "handler", /are both present$/, "Keep one of them."],
    ["resource", { name: "a", text: "" }, "", /^`uri` or `uriTemplate` is missing$/],
    ["resource", { name: "a", uri: "docs:a" }, "", /^`text`, `file` or `handler` is missing$/],
    ["server", { command: "a", script: "./a.js" }, "script", /are both present$/, "Keep one of them."],
    ["server", { package: "a@1" }, "package", /^`package` is not an npm name$/, "without a version"],
    ["server", { command: "a", bin: "b" }, "bin", /^`bin` is present without/, "Add `package`"],
    ["server", { kind: "Mcp.StdioServer", metadata: { name: "a" } }, "", /^`tools` is missing$/],
    ["server", { cmd: "node", mcpServers: 5 }, "", /^none of the keys/, "`tools`, `toolsets`, `prompts`"],
    ["server", { url: "https://a" }, "url", /^packs cannot define remote servers/, "Use `command`, `script`"],
  ])("a %s %j has a fault at %j: %s", (kind, content, place, reason, hint) => {
    const expected = {
      place,
      reason: expect.stringMatching(reason),
      hint: hint && expect.stringContaining(hint),
    };
    expect(faultsOf(kind, content)).toEqual([expected]);
  });
});

describe("values of the wrong type", () => {
  const example = "`maxResults: { default: 50 }`";
  const audience = { annotations: { audience: ["model"] } };
  test.each<Row>([
    ["tool", tool({ title: 5 }), "title", /^`title` must be a string, but it is a number$/],
    ["tool", tool({ annotations: { readOnlyHint: "yes" } }), "annotations.readOnlyHint", /must be a boolean/],
    ["tool", tool({ options: ["a"] }), "options", /must be an object, but it is an array$/, example],
    ["tool", short(["a"]), "parameters", /must be an object/, "`parameters: { city: { type: string } }`"],
    ["tool", short({ a: "number?" }), "parameters.a", /but it is a string/, "`{ type: string }`"],
    [
      "toolset",
      { name: "a", tools: "b" },
      "tools",
      /must be an array, but it is a string$/,
      "array of references",
    ],
    ["server", { tools: [], transport: "sse" }, "transport", /one of `stdio`.*`http`/],
    ["resource", resource(audience), "annotations.audience.0", /must be one of `user`/],
  ])("a %s %j has a fault at %s: %s", (kind, content, place, reason, hint) => {
    const [fault] = faultsOf(kind, content);
    expect(fault).toMatchObject({ place, reason: expect.stringMatching(reason) });
    expect(fault?.hint ?? "").toContain(hint ?? "");
  });
});

describe("the content of a prompt", () => {
  const block = (fields: Fields) => says(fields);
  test.each<[string, Fields]>([
    [
      "messages of both roles",
      prompt({ content: ["user", "assistant"].map((role) => ({ role, content: "" })) }),
    ],
    ["a text block", block({ type: "text", text: "" })],
    ["an image", block({ type: "image", data: "AA==", mimeType: "image/png" })],
    ["a link", block({ type: "resource_link", uri: "docs://a", name: "a" })],
    ["a resource with bytes", block({ type: "resource", resource: { uri: "docs://a", blob: "AA==" } })],
  ])("may be %s", (_what, content) => {
    expect(faultsOf("prompt", content)).toEqual([]);
  });

  const of = (blob: object) => block({ type: "resource", resource: { uri: "a", ...blob } });
  test.each<[Fields, string, RegExp, string?]>([
    [
      prompt({ content: 5 }),
      "content",
      /must be a string or an array of messages, but it is a number/,
      "role: user",
    ],
    [prompt({ content: ["Hello"] }), "content.0", /must be an object, but it is a string/, "role: user"],
    [says("a", "tool"), "content.0.role", /must be one of `user` or `assistant`/, "role: user"],
    [says("a", "system"), "content.0.role", /must be one of/, "no system role"],
    [says({ text: "a" }), "content.0.content", /`type` is missing in `content\.0\.content`/],
    [says({ type: "text" }), "content.0.content", /`text` is missing in `content\.0\.content`/],
    [of({ blob: 5 }), "content.0.content.resource.blob", /must be a string/],
  ])("is not %j: the fault is at %s", (content, place, reason, hint) => {
    expect(faultsOf("prompt", content)).toMatchObject([{ place, reason: expect.stringMatching(reason) }]);
    expect(faultsOf("prompt", content)[0]?.hint ?? "").toContain(hint ?? "");
  });
});

describe("the keys of a resource", () => {
  test.each([
    resource({ uri: "docs:%20a" }),
    template("docs://{page}", { complete: { page: [] } }),
    resource({ mimeType: "text/markdown" }),
    ...["2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5+01:00"].map((lastModified) =>
      resource({ annotations: { lastModified } }),
    ),
  ])("%j is valid", (content) => {
    expect(placesOf("resource", content)).toEqual([]);
  });

  test.each([
    [resource({ uri: "docs://a b" }), ["uri"]],
    [template("{page}"), ["uriTemplate"]],
  ])("%j is invalid at %j", (content, places) => {
    expect(placesOf("resource", content)).toEqual(places);
  });

  test.each(["2026-01-31", "2026-01-31T12:00:00", "2026-13-31T12:00:00Z"])(
    "%j is no date and time",
    (lastModified) => {
      const reason = "`annotations.lastModified` is not a date and time with a time zone";
      expect(faultsOf("resource", resource({ annotations: { lastModified } }))).toMatchObject([{ reason }]);
    },
  );
});
