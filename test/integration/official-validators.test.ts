// Exports held against the validators of the programs that read them. Those are large, so only CI installs them; elsewhere
// a test is left out whose program is not on the PATH. The validator of MCP bundles (mcpb) reads none of the formats.
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { planExport } from "../../src/author/exports.ts";
import { applyEdits } from "../../src/files/edit.ts";
import { describePack } from "../../src/pages/describe-packs.ts";
import { findProgram } from "../support/find-program.ts";
import { runProcess } from "../support/run-process.ts";
import { samplePack } from "../support/sample-packs.ts";
import { makeTemporaryFolder } from "../support/temporary-folder.ts";

const validators = [{ program: "claude", format: "claude-plugin", args: ["plugin", "validate"] }].map(
  (one) => ({ ...one, path: findProgram(one.program) }),
);

const apply = ({ files }: ReturnType<typeof planExport>) => applyEdits(files.map(({ edit }) => edit));

describe.each(validators)("the validator of $program", ({ program, format, args, path }) => {
  test.skipIf(path === undefined)(`accepts the export ${format}, and nothing without a name`, async () => {
    const folder = makeTemporaryFolder();
    onTestFinished(folder.remove);
    const cwd = join(folder.path, "pack");
    // Its server has variables, and its command is declared.
    cpSync(samplePack("@globex/calculator").folder, cwd, { recursive: true });
    const plan = async () =>
      planExport(await describePack(undefined, { cwd }), format, "statistics", { force: false });
    await expect(plan()).rejects.toMatchObject({ code: "ExportNeedsBin" });
    const bin = planExport(await describePack(undefined, { cwd }), "bin", "statistics", {
      force: false,
    });
    apply(bin);
    const exported = await plan();
    const [written] = exported.files;
    if (path === undefined || written === undefined) return expect.unreachable();
    const env = { ...process.env, HOME: folder.path, USERPROFILE: folder.path };
    const validate = () => runProcess(path, [...args, cwd], { cwd, env, timeoutMs: 60_000 });
    apply(exported);
    const valid = await validate();
    expect(valid.exitCode, `${program}: ${valid.stdout}${valid.stderr}`).toBe(0);
    const { name: _, ...nameless } = JSON.parse(written.edit.after ?? "") as Record<string, unknown>;
    writeFileSync(written.edit.file, JSON.stringify(nameless));
    expect((await validate()).exitCode).not.toBe(0);
  });
});
