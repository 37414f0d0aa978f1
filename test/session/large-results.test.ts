import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { LargeResults } from "../../src/session/large-results.ts";
import { SessionMemory } from "../../src/session/session-memory.ts";
import { makeTree } from "../support/packs.ts";
import {
  jsonOf,
  makeProject,
  openForTest,
  probe,
  probeDefinition,
  toolPack,
  withServers,
} from "./support/session.ts";

const text = (value: string) => ({ type: "text" as const, text: value });

describe("a large result", () => {
  const code = `export const big = () => "\u{1F600}" + "a".repeat(1000) + "hunter2hunter2" + "z".repeat(1000);
    export const nested = async (_, { callTool }) => String((await callTool("big")).message.length);`;

  test("is cut for the host, and whole, without secrets, in a file that the session reads", async () => {
    // The last two keys are the user's alone.
    const ours = {
      ...probeDefinition({ PROBE_PREFIX: "ours" }),
      results: { maxChars: -1 },
      choices: { prefix: "x" },
    };
    const files = {
      "package.json": { trailblaze: { servers: ["ours"] } },
      "trailblaze/servers/ours.json": ours,
    };
    const cwd = makeProject({ "@acme/p": toolPack({ big: {}, nested: {} }, code, files) });
    const own = { ...probe("own"), results: { maxChars: -1 } };
    const config = {
      ...withServers(own, probe("plain")),
      logDir: "logs",
      memory: { pin: "hunter2hunter2" },
      sensitiveMemory: ["pin"],
      results: { maxChars: 101 },
    };
    const session = await openForTest(cwd, { config });
    const { content, message, variant } = await session.callTool("big", {});
    const [, link] = content;
    const uri = link?.type === "resource_link" ? link.uri : "";
    // The first half ends before half of a character would begin.
    expect(message).toBe(`\u{1F600}${"a".repeat(49)}\n[1915 characters left out: ${uri}]\n${"z".repeat(50)}`);
    expect({ variant, content }).toMatchObject({
      variant: "Success",
      content: [{ text: message }, { mimeType: "text/plain" }],
    });
    const file = fileURLToPath(uri);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const whole = readFileSync(file, "utf8");
    expect(whole).toBe(`\u{1F600}${"a".repeat(1000)}[redacted]${"z".repeat(1000)}`);
    expect(await session.readResource(uri)).toEqual({
      contents: [{ uri, mimeType: "text/plain", text: whole }],
    });
    await expect(session.readResource(uri.replace(/.{40}$/, "x.txt"))).rejects.toMatchObject({
      code: "ResourceNotFound",
    });
    expect((await session.callTool("nested", {})).message).toBe("2016");
    const result = { content: [text("x".repeat(200))] };
    expect((await session.callTool("own_result", { result })).message).toHaveLength(200);
    for (const name of ["plain_result", "ours_result"]) {
      const { message } = await session.callTool(name, { result });
      expect(message).toContain("[99 characters left out: file:");
    }
    expect(jsonOf(await session.callTool("own_env", {}))).toHaveProperty("PROBE_PREFIX");
  });

  const limits = { maxChars: 100, keepsStructured: false };
  const scope = { reader: "me", memory: new SessionMemory([], []) };
  const result = (content: object[], structuredContent?: unknown) =>
    ({ variant: "Success", message: "", content, structuredContent }) as Parameters<LargeResults["cut"]>[0];

  test("has one text for several, its other blocks, and no structured content that is longer", () => {
    const large = new LargeResults(makeTree({}));
    const image = { type: "image", data: "", mimeType: "image/png" };
    const small = result([text("a".repeat(100)), image], { a: 1 });
    expect(large.cut(small, scope, limits)).toBe(small);
    const structured = { rows: "x".repeat(5 << 20) };
    const cut = large.cut(
      result([image, text("a".repeat(60)), text("b".repeat(60))], structured),
      scope,
      limits,
    );
    expect(cut.content.map(({ type }) => type)).toEqual(["image", "text", "resource_link", "resource_link"]);
    expect(cut.message).toMatch(/^a{50}\n\[21 characters left out: file:.*\.txt\]\nb{50}$/);
    expect(cut).not.toHaveProperty("structuredContent");
    expect(large.incomplete.has(cut)).toBe(true);
    const alone = large.cut(result([image], structured), scope, limits);
    expect(alone.message).toMatch(/^\{"rows":"x+\n\[\d+ characters left out: file:.*\.json\]\nx+"\}$/);
    const fed = large.cut(result([text("a".repeat(101))], structured), scope, {
      ...limits,
      keepsStructured: true,
    });
    expect(fed.structuredContent).toBe(structured);
    expect(large.incomplete.has(fed)).toBe(false);
  });

  test("is kept for the last 100, and is cut without a link where it cannot be kept", () => {
    const folder = makeTree({ logs: "a file" });
    const large = new LargeResults(folder);
    const long = result([text("a".repeat(101))]);
    const uris = Array.from({ length: 102 }, () => large.cut(long, scope, limits).content[1]).map((block) =>
      block?.type === "resource_link" ? block.uri : "",
    );
    expect(readdirSync(join(folder, "results"))).toHaveLength(100);
    expect(large.find(uris[101] ?? "", "me")?.().contents).toHaveLength(1);
    expect(uris.filter((uri) => large.find(uri, "me") !== undefined)).toHaveLength(100);
    const { content } = new LargeResults(join(folder, "logs")).cut(long, scope, limits);
    expect(content).toEqual([text(`${"a".repeat(50)}\n[1 characters left out]\n${"a".repeat(50)}`)]);
  });
});
