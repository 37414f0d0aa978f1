// npm run size: how large the tracked files are, in lines, beside their budgets. What comes pays with what goes.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0");

const code = /\.[cm]?[jt]s$/;
const isGenerated = (path: string) => path.includes("/generated/");
const isHandWritten = (path: string) => code.test(path) && path.startsWith("src/") && !isGenerated(path);
/** Whether a path is hand-written and in one of these rooms: a folder of `src`, or the entry of that name. */
const inRooms = (rooms: string) => {
  const pattern = new RegExp(`^src/(?:${rooms.replaceAll(" ", "|")})(?:/|\\.ts$)`);
  return (path: string) => isHandWritten(path) && pattern.test(path);
};

const core = "discovery inspection validate extension-schema json-schema expressions confinement config";
const execution = "session runtime callback serve mcp adapters processes";
const outer = "install npm lock approval pages author catalog cli as-installed";

const countLines = (path: string) => readFileSync(root + path, "utf8").split("\n").length - 1;
const sumLines = (matches: (path: string) => boolean) =>
  tracked.filter(matches).reduce((sum, path) => sum + countLines(path), 0);

// Where npm notes what it has installed: the lockfile also has packages of other systems.
const { packages } = JSON.parse(readFileSync(`${root}node_modules/.package-lock.json`, "utf8")) as {
  packages: Record<string, unknown>;
};

const rows: [what: string, now: number, atMost: number][] = [
  ["src, hand-written", sumLines(isHandWritten), 40_000],
  ["- core", sumLines(inRooms(`${core} files data problems qualified-names`)), 12_800],
  ["- execution", sumLines(inRooms(execution)), 13_000],
  ["- outer rooms", sumLines(inRooms(outer)), 10_700],
  ["src, generated", sumLines((path) => path.startsWith("src/") && isGenerated(path)), 700],
  ["files in src", tracked.filter((path) => path.startsWith("src/")).length, 330],
  ["packages/scripting/src", sumLines((path) => /^packages\/scripting\/src\/.*\.[cm]?ts$/.test(path)), 1_800],
  ["test", sumLines((path) => path.startsWith("test/") && code.test(path)), 42_000],
  ["scripts and bench", sumLines((path) => /^(?:scripts|bench)\//.test(path) && code.test(path)), 2_400],
  ["Markdown under docs", sumLines((path) => /^docs\/.*\.md$/.test(path)), 6_000],
  ["packages that npm ci installs", Object.keys(packages).length, 700],
];

const format = (what: string, now: string, atMost: string) =>
  what.padEnd(30) + now.padStart(8) + atMost.padStart(9);
console.log(format("lines of", "now", "at most"));
for (const [what, now, atMost] of rows) {
  const over = now > atMost ? "  over" : "";
  console.log(format(what, now.toLocaleString("en"), atMost.toLocaleString("en")) + over);
}
