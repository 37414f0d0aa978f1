import { describe, expect, test } from "vitest";
import { findContentFaults } from "../../src/extension-schema/prompt-messages.ts";

const message = (content: unknown, role: unknown = "user") => [{ role, content }];
const placesOf = (content: unknown) => findContentFaults(content).map(({ path }) => path.join("."));

describe("the content of a prompt", () => {
  test.each<[string, unknown]>([
    ["nothing, if a handler makes it", undefined],
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
    expect(findContentFaults(content)).toEqual([]);
  });

  test.each<[unknown, string[]]>([
    [5, ["content"]],
    [{ type: "text", text: "a" }, ["content"]],
    [["Hello"], ["content.0"]],
    [[...message("a"), null], ["content.1"]],
    [[{ content: "a" }], ["content.0"]],
    [message("a", "system"), ["content.0.role"]],
    [message("a", 5), ["content.0.role"]],
    [[{ role: "user" }], ["content.0"]],
    [[{}], ["content.0", "content.0"]],
    [message(5), ["content.0.content"]],
    [message(["a"]), ["content.0.content"]],
    [message({ text: "a" }), ["content.0.content"]],
    [message({ type: " ", text: "a" }), ["content.0.content"]],
    [message({ type: 5 }), ["content.0.content"]],
    [message({ type: "video", data: "a" }), ["content.0.content.type"]],
    [message({ type: "text" }), ["content.0.content"]],
    [message({ type: "text", text: 5 }), ["content.0.content.text"]],
    [message({ type: "image", data: 5 }), ["content.0.content.data", "content.0.content"]],
    [message({ type: "audio", data: "a" }), ["content.0.content"]],
    [
      message({ type: "resource_link", uri: 5, name: 5 }),
      ["content.0.content.uri", "content.0.content.name"],
    ],
    [message({ type: "resource" }), ["content.0.content"]],
    [message({ type: "resource", resource: "a" }), ["content.0.content.resource"]],
    [
      message({ type: "resource", resource: { uri: 5 } }),
      ["content.0.content.resource.uri", "content.0.content.resource"],
    ],
    [message({ type: "resource", resource: { uri: "a", blob: 5 } }), ["content.0.content.resource.blob"]],
    [
      message({ type: "resource", resource: { uri: "a", text: 5, blob: "a" } }),
      ["content.0.content.resource.text"],
    ],
  ])("is not %j", (content, places) => {
    expect(placesOf(content)).toEqual(places);
  });

  test.each<[unknown, RegExp]>([
    [5, /a string or an array of messages, but it is a number/],
    [["a"], /`content\.0` must be an object, but it is a string/],
    [message("a", "tool"), /`content\.0\.role` must be `user` or `assistant`, but it is "tool"/],
    [message("a", 5), /but it is a number/],
    [[{ content: "a" }], /`role` is missing in `content\.0`/],
    [[{ role: "user" }], /`content` is missing in `content\.0`/],
    [message(5), /`content\.0\.content` must be a string or one content block .*, but it is a number/],
    [message({ type: "video" }), /must be `text`, `image`, .* or `resource`, but it is "video"/],
    [message({ type: "text" }), /`text` is missing in `content\.0\.content`/],
    [message({ type: "text", text: 5 }), /`content\.0\.content\.text` must be a string, but it is a number/],
    [message({ type: "resource" }), /`resource` is missing in `content\.0\.content`/],
    [message({ type: "resource", resource: 5 }), /resource` must be an object, but it is a number/],
    [message({ type: "resource", resource: { uri: "docs:a" } }), /^`text` is missing/],
  ])("%j is refused with a reason", (content, reason) => {
    expect(findContentFaults(content)[0]?.reason).toMatch(reason);
  });

  test("the hint shows a message, and says what replaces the role `system`", () => {
    const hintFor = (content: unknown) => findContentFaults(content)[0]?.hint;
    const example = hintFor(5);
    expect(example).toContain("role: user");
    for (const content of [["a"], message("a", "tool"), message(5), message({ type: "video" })])
      expect(hintFor(content)).toBe(example);
    expect(hintFor(message("a", "system"))).toContain("no system role");
  });

  test("at most twenty faults of one prompt are reported", () => {
    expect(placesOf(Array(30).fill(null))).toHaveLength(20);
    expect(placesOf([null])).toHaveLength(1);
  });
});
