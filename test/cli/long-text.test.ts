import { describe, expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";

const long = `${"word ".repeat(20_000)}zzz`;
const note = "… (95,907 more characters; --json shows all)";

function makeProject(): string {
  const schema = { type: "object", properties: { a: { type: "string", description: long, default: long } } };
  return makeTree({
    "package.json": packManifest("x", {
      description: long,
      trailblaze: { tools: [["t", long]], prompts: [["p", long]], toolsets: ["b"] },
    }),
    "h.js": `export default () => ${JSON.stringify(long)};\nexport const fail = () => { throw new Error(${JSON.stringify(long)}); };`,
    "trailblaze/tools/t.json": {
      name: "x_t",
      title: long,
      description: long,
      inputSchema: schema,
      handler: "./h.js",
      "x-note": long,
    },
    "trailblaze/prompts/p.json": { name: "p", content: long, arguments: [{ name: "a", description: long }] },
    "trailblaze/toolsets/b.json": {
      kind: "Mcp.Tools",
      metadata: { name: "b" },
      entries: [{ name: "x_b", description: long, argumentsSchema: schema, handler: "./h.js#fail" }],
    },
    "trail.yaml": "- x_b: {}\n",
  });
}

describe("long texts from packs", () => {
  test.each([[["inspect", "x"]], [["inspect", "x/t"]], [["list", "tools"]], [["tools"]]])(
    "`trailblaze` with %j cuts long texts, and prints them whole with --json",
    async (args) => {
      const cwd = makeProject();
      const { stdout } = await runMain(args, { cwd });
      expect(stdout).toContain(note);
      expect(stdout).not.toContain("zzz");
      const { stdout: json } = await runMain([...args, "--json"], { cwd });
      expect(json).toContain(`"${long}"`);
    },
  );

  test.each([[["validate"]], [["inspect", "x/p"]], [["run", "trail.yaml"]], [["doctor"]]])(
    "`trailblaze` with %j prints less than 40,000 characters of long texts",
    async (args) => {
      const { stdout, stderr } = await runMain(args, { cwd: makeProject() });
      expect(stdout).not.toContain("zzz");
      expect(stdout.length + stderr.length).toBeLessThan(40_000);
    },
  );

  test("the result of a called tool is never cut", async () => {
    const { stdout } = await runMain(["call", "x_t"], { cwd: makeProject() });
    expect(stdout).toBe(`${long}\n`);
  });
});
