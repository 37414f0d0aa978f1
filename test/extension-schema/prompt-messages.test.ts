import { describe, expect, test } from "vitest";
import { checkDefinition } from "../../src/extension-schema/check-definition.ts";

const message = (content: unknown, role: unknown = "user") => [{ role, content }];

/** The faults of a prompt with this content: the path, the reason and the hint of each. */
const faultsOf = (content: unknown) =>
  checkDefinition("prompt", { name: "one", content }, "validation").problems.map(({ path = [], args }) => {
    const { reason, hint } = args as { reason: string; hint?: string };
    return { place: path.join("."), reason, hint };
  });
const placesOf = (content: unknown) => faultsOf(content).map(({ place }) => place);

describe("the content of a prompt", () => {
  test.each<[string, unknown]>([
    ["a string", ""],
    ["no messages", []],
    ["messages of both roles", [...message("Hello"), ...message("", "assistant")]],
    ["a text block", message({ type: "text", text: "" })],
    ["an image", message({ type: "image", data: "AA==", mimeType: "image/png" })],
    ["a sound", message({ type: "audio", data: "AA==", mimeType: "audio/wav" })],
    ["a link", message({ type: "resource_link", uri: "docs://a", name: "a" })],
    ["a resource with text", message({ type: "resource", resource: { uri: "docs://a", text: "" } })],
    ["a resource with bytes", message({ type: "resource", resource: { uri: "docs://a", blob: "AA==" } })],
  ])("may be %s", (_what, content) => {
    expect(faultsOf(content)).toEqual([]);
  });

  test.each<[unknown, string, RegExp]>([
    [5, "content", /must be a string or an array of messages, but it is a number/],
    [{ type: "text", text: "a" }, "content", /but it is an object/],
    [["Hello"], "content.0", /`content\.0` must be an object, but it is a string/],
    [[...message("a"), null], "content.1", /null/],
    [[{ content: "a" }], "content.0", /`role` is missing in `content\.0`/],
    [message("a", "tool"), "content.0.role", /`content\.0\.role` must be one of `user` or `assistant`/],
    [message("a", 5), "content.0.role", /but it is a number/],
    [[{ role: "user" }], "content.0", /`content` is missing in `content\.0`/],
    [message(5), "content.0.content", /must be a string or one content block .*, but it is a number/],
    [message(["a"]), "content.0.content", /but it is an array/],
    [message({ text: "a" }), "content.0.content", /`type` is missing in `content\.0\.content`/],
    [message({ type: " ", text: "a" }), "content.0.content.type", /is empty/],
    [
      message({ type: "video" }),
      "content.0.content.type",
      /must be one of `text`, `image`, .* or `resource`/,
    ],
    [message({ type: "text" }), "content.0.content", /`text` is missing in `content\.0\.content`/],
    [message({ type: "text", text: 5 }), "content.0.content.text", /must be a string, but it is a number/],
    [message({ type: "audio", data: "a" }), "content.0.content", /`mimeType` is missing/],
    [message({ type: "resource" }), "content.0.content", /`resource` is missing in `content\.0\.content`/],
    [message({ type: "resource", resource: 5 }), "content.0.content.resource", /must be an object/],
    [
      message({ type: "resource", resource: { uri: "a" } }),
      "content.0.content.resource",
      /^`text` is missing/,
    ],
    [
      message({ type: "resource", resource: { uri: "a", blob: 5 } }),
      "content.0.content.resource.blob",
      /must be a string/,
    ],
  ])("is not %j: the fault is at %s", (content, place, reason) => {
    expect(faultsOf(content)).toMatchObject([{ place, reason: expect.stringMatching(reason) }]);
  });

  test("every fault of a message is found", () => {
    expect(placesOf([{}])).toEqual(["content.0", "content.0"]);
    const link = message({ type: "resource_link", uri: 5, name: 5 });
    expect(placesOf(link)).toEqual(["content.0.content.uri", "content.0.content.name"]);
  });

  test("the hint shows a message, and says what replaces the role `system`", () => {
    const hintFor = (content: unknown) => faultsOf(content)[0]?.hint;
    for (const content of [5, ["a"], message("a", "tool"), message(5), message({ type: "video" })])
      expect(hintFor(content)).toContain("role: user");
    expect(hintFor(message("a", "system"))).toContain("no system role");
  });
});
