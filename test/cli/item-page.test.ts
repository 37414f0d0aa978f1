// The pages of items, for people.
import { expect, test } from "vitest";
import { formatItemPage } from "../../src/cli/commands/inspect.ts";
import { inspectSubject } from "../../src/inspection/inspect.ts";
import { greetTool, makePack, prompt, toolset } from "../validate/validate-tree.ts";

const style = { color: false, width: undefined };

async function showItem(name: string, extension: Record<string, unknown>, files: Record<string, unknown>) {
  const cwd = makePack({ extension, files });
  const inspected = await inspectSubject(`acme/sample/${name}`, { cwd });
  if ("pack" in inspected) throw new Error("not an item");
  const contents = await inspected.readMembers();
  return { page: formatItemPage({ ...inspected.item, name: "", contents }, [], style), item: inspected.item };
}

const showPrompt = async (fields: object) => {
  const files = { "trailblaze/prompts/hello.json": { ...prompt("hello"), ...fields } };
  return (await showItem("hello", { prompts: ["hello"] }, files)).page;
};

test("the page of a prompt shows its text or its messages", async () => {
  expect(await showPrompt({ content: "Greet {{who}}.\n  Politely.\n" })).toMatch(
    /\n\nGreet \{\{who\}\}\.\n {2}Politely\.$/,
  );
  const content = [
    { role: "user", content: "Greet {{who}}." },
    { role: "user", content: { type: "image", data: "AA==", mimeType: "image/png" } },
  ];
  expect(await showPrompt({ content })).toContain('\n\nuser: Greet {{who}}.\nuser: {"type":"image"');
});

test("the page of a toolset lists the tools that servers offer for it, including those of nested toolsets", async () => {
  const files = {
    "trailblaze/tools/greet.json": greetTool("./x.js"),
    "trailblaze/tools/bow.json": greetTool("./x.js", { name: "hello_bow" }),
    "trailblaze/toolsets/outer.json": toolset("outer", { tools: ["greet", "hostTool"], toolsets: ["inner"] }),
    "trailblaze/toolsets/inner.json": toolset("inner", { tools: ["bow"] }),
  };
  const { page, item } = await showItem(
    "outer",
    { tools: ["greet", "bow"], toolsets: ["outer", "inner"] },
    files,
  );
  expect(page).toMatch(
    /^TOOL +QUALIFIED NAME +DESCRIPTION\nhello_greet +acme\/sample\/greet +Greet somebody\.\nhello_bow +acme\/sample\/bow/m,
  );
  expect(page).toMatch(/^hostTool$/m);
  expect(page).toMatch(/^toolsets +\["inner"\]$/m);
  expect(Object.keys(item)).not.toContain("tools");
});
