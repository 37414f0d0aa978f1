/**
 * Holds what `trailblaze export` writes against the official schemas in a folder, and against the validators of Claude Code and
 * Gemini CLI if they are installed. Run by hand: `npm run check:exports -- DIR`, after a build. The folder has
 * plugin.schema.json and mcp.schema.json of Agent Plugins 1.0.0, and server.schema.json 2025-12-11 of the MCP registry.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

const [schemas] = process.argv.slice(2);
if (schemas === undefined) throw new Error("Pass the folder of the schemas.");
const inRepository = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const readJson = (file: string) => JSON.parse(readFileSync(file, "utf8"));
const folder = mkdtempSync(join(tmpdir(), "trailblaze-exports-"));
let failures = 0;

function report(what: string, fault: string | undefined): void {
  if (fault !== undefined) failures += 1;
  console.log(`${what}: ${fault ?? "valid"}`);
}

function run(command: string, args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: "utf8" });
  return { status, output: `${stdout ?? ""}${stderr ?? ""}` };
}

try {
  cpSync(inRepository("fixtures/sample-plugins/acme-jira"), folder, { recursive: true });
  const manifest = join(folder, "package.json");
  writeFileSync(manifest, JSON.stringify({ ...readJson(manifest), mcpName: "io.github.acme/jira" }));
  for (const format of ["bin", "agent-plugin", "claude-plugin", "gemini-extension", "server.json"]) {
    const { status, output } = run(process.execPath, [inRepository("dist/cli/cli.cjs"), "export", format]);
    if (status !== 0) throw new Error(output);
  }
  const held = [
    ["plugin.json", "plugin.schema.json"],
    ["mcp.json", "mcp.schema.json"],
    ["server.json", "server.schema.json"],
  ] as const;
  for (const [file, name] of held) {
    const schemaFile = join(schemas, name);
    if (!existsSync(schemaFile)) {
      report(file, `${name} is missing`);
      continue;
    }
    const schema = readJson(schemaFile);
    const isRecent = String(schema.$schema).includes("2020-12");
    const ajv = new (isRecent ? Ajv2020 : Ajv)({ strict: false, validateFormats: false });
    const validate = ajv.compile(schema);
    report(file, validate(readJson(join(folder, file))) ? undefined : ajv.errorsText(validate.errors));
  }
  const validators = [
    ["claude", ["plugin", "validate", folder]],
    ["gemini", ["extensions", "validate", folder]],
  ] as const;
  for (const [command, args] of validators) {
    const { status, output } = run(command, args);
    if (status === null) console.log(`${command}: not installed`);
    else report(command, status === 0 ? undefined : output);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;
