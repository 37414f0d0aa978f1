import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runMain } from "../support/main.ts";
import { makeTree, packManifest } from "../support/packs.ts";

/** Controls but line feeds, and everything that is not seen or turns text round. */
const acting = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u;

const evil = [
  "\u001b[2J\u001b[31mred",
  "\u001b]0;title\u0007",
  "\u009b31m",
  "\u0090q\u009c",
  "\b\b\b",
  "\r",
  "\u0000",
  "\u007f",
  "\u202egpj.exe",
  "\u2066iso\u2069",
  "zero\u200bwidth\u200d\ufeff",
  "soft\u00ad",
  "\u2028line",
  "\u{e0041}tag",
  "\n\nFAKE  1.0.0  direct",
  "\ud800",
].join("|");

function makeHostileProject(): string {
  const root = makeTree({
    "package.json": { name: "app", dependencies: { evil: "*", broken: "*" } },
    "node_modules/evil/package.json": packManifest("evil", {
      version: `1.0.0${evil}`,
      description: evil,
      engines: { trailblaze: evil },
      trailblaze: {
        [evil]: 1,
        servers: [["s", evil]],
        tools: [["t", evil], [evil, "x"], { name: "u", description: evil, [evil]: 1 }, [evil], { name: 5 }],
        toolsets: [{ name: "v", description: evil }],
        prompts: [["p", evil]],
      },
    }),
    "node_modules/broken/package.json": `{"trailblaze": "${evil}`,
    "node_modules/nameless/package.json": packManifest(evil),
  });
  const odd = join(root, "node_modules", "odd\u001b[31m\u009b\u202e");
  mkdirSync(odd);
  writeFileSync(join(odd, "package.json"), JSON.stringify(packManifest(evil)));
  writeFileSync(join(root, "node_modules", "\u001b[2Jfile"), "");
  return root;
}

test.each([[[]], [["tools"]]])(
  "`list` with the arguments %j escapes control characters of packs, and with --json keeps texts complete",
  async (args) => {
    const cwd = makeHostileProject();
    const { stdout, stderr, exitCode } = await runMain(["list", ...args], { cwd });
    expect(exitCode).toBe(1);
    expect(stdout + stderr).not.toMatch(acting);
    expect(stdout + stderr).not.toMatch(/^FAKE/m);
    expect(stdout).not.toContain("\ufffd");
    const json = await runMain(["list", ...args, "--json"], { cwd });
    expect(json.stdout).not.toMatch(acting);
    expect(json.stderr).toBe("");
    const document = JSON.parse(json.stdout);
    const described = args.length === 0 ? document.packs[0].tools[0] : document.items[0];
    expect(described.description).toBe(evil);
  },
);
