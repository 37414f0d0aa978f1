import { expect, test } from "vitest";
import { entry, validateEntries, validateTool } from "./validate-tool.ts";
import { greetTool, validateTree } from "./validate-tree.ts";

const codes = ["MissingDescription"] as const;

const undescribed = {
  "tools/greet": greetTool("./a.js", { description: undefined }),
  "toolsets/all": { name: "all", tools: [] },
  "prompts/hello": { name: "hello", content: "Say hello." },
};

const validate = (place: string, definition: unknown, description?: string) => {
  const [key = "", item = ""] = place.split("/");
  const declaration = description === undefined ? item : [item, description];
  const files = { [`trailblaze/${place}.json`]: definition };
  return validateTree({ extension: { [key]: [declaration] }, files }, codes);
};

test.each(Object.entries(undescribed))(
  "MissingDescription is reported for %s unless package.json or its definition describes it",
  async (place, definition) => {
    expect(await validate(place, definition, "What it is for.")).toEqual([]);
    expect(await validate(place, { ...definition, description: "What it is for." })).toEqual([]);
    const [key = "", item] = place.split("/");
    const args = { what: expect.stringMatching(`${key.slice(0, -1)}.*"${item}"`) };
    expect(await validate(place, definition)).toMatchObject([{ severity: "warning", item, args }]);
  },
);

test("a description of only white space counts as missing", async () => {
  expect(await validateTool({ description: " \n" }, codes)).toHaveLength(1);
  expect(await validate("tools/greet", undescribed["tools/greet"], " ")).toHaveLength(1);
});

test("MissingDescription is not reported for a server", async () => {
  expect(await validate("servers/desk", { tools: [], instructions: "Ask first." })).toEqual([]);
});

test("MissingDescription is not reported for a bundle, but for each entry without a description", async () => {
  const { description: _, ...bare } = entry();
  const problems = await validateEntries([entry(), bare], codes);
  const args = { what: expect.stringMatching(/"hello_greet".*"greetings"/) };
  expect(problems).toMatchObject([{ path: ["entries", 1], args }]);
});

test("MissingDescription names an entry without a name by its number", async () => {
  const { description: _, name: __, ...nameless } = entry();
  const problems = await validateEntries([entry(), nameless], codes);
  expect(problems).toMatchObject([{ args: { what: expect.stringMatching(/\b2\b.*"greetings"/) } }]);
});
