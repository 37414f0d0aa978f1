import { describe, expect, test } from "vitest";
import { ConfigDocument, loadEditor } from "../../src/install/editing/config-document.ts";

const place = { container: ["servers"], key: "new", isList: true };
const open = async (text: string) => {
  const format = text.trimStart().startsWith("{") ? "json" : "yaml";
  return new ConfigDocument(await loadEditor(format), text);
};

describe("an entry in an array", () => {
  test.each([
    ["an empty YAML file", "", "servers:\n  - name: new\n    args:\n      - a\n"],
    [
      "a YAML file with comments",
      "# a\nb: c # d\n",
      "# a\nb: c # d\nservers:\n  - name: new\n    args:\n      - a\n",
    ],
    [
      "a key without a value",
      "servers: # mine\nb: c\n",
      "servers: # mine\n  - name: new\n    args:\n      - a\nb: c\n",
    ],
    [
      "a block with comments",
      "servers:\n  # one\n  - { name: a } # two\n\n# end\nb: c\n",
      "servers:\n  # one\n  - { name: a } # two\n  - name: new\n    args:\n      - a\n\n# end\nb: c\n",
    ],
    [
      "a block without indentation",
      "servers:\r\n- name: a\r\n",
      "servers:\r\n- name: a\r\n- name: new\r\n  args:\r\n    - a\r\n",
    ],
    ["a flow array", "servers: [{ name: a }]\n", 'servers: [{ name: a }, {"name":"new","args":["a"]}]\n'],
    ["compact JSON", '{"servers":[]}', '{"servers":[{"name":"new","args":["a"]}]}'],
    [
      "JSON on several lines",
      '{\n  "servers": [\n    { "name": "a" }\n  ]\n}\n',
      '{\n  "servers": [\n    { "name": "a" },\n    {\n      "name": "new",\n      "args": [\n        "a"\n      ]\n    }\n  ]\n}\n',
    ],
  ])("adding an entry to the array of %s changes nothing else", async (_, before, after) => {
    const document = await open(before);
    expect(document.set(place, { args: ["a"] }).text).toBe(after);
  });

  test.each([
    "",
    "# a\nb: c # d\n",
    "servers:\n  # one\n  - { name: a } # two\n\n# end\nb: c\n",
    "servers: [{ name: a }]\n",
    '{\n  "servers": [\n    { "name": "a" }\n  ]\n}\n',
  ])("removing an added entry from an array restores %j", async (text) => {
    const added = (await open(text)).set(place, { args: ["a"] });
    expect(added.remove(place).text).toBe(text);
  });

  test("an entry in an array is replaced in place, and comments after it stay", async () => {
    const document = await open("servers:\n  - name: new\n    a: b # c\n  # d\n  - name: z\n");
    expect(document.set(place, { x: "v" }).text).toBe(
      "servers:\n  - name: new\n    x: v # c\n  # d\n  - name: z\n",
    );
  });
});
