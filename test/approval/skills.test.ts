import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { discoverPacks } from "../../src/index.ts";
import { applyApproval, diffLock, planApproval } from "../../src/lock.ts";
import { openSession, type SessionOptions } from "../../src/session.ts";
import { skillText } from "../skills/support.ts";
import { makeTree, packManifest } from "../support/packs.ts";

/** A project with a pack of three skills, one nested, and a dependency that does not mention Trailblaze. */
const makeSkilled = (files: object = {}) =>
  makeTree({
    "package.json": { name: "app", dependencies: { "@acme/jira": "*", plain: "*" } },
    "node_modules/@acme/jira/package.json": packManifest("@acme/jira"),
    "node_modules/@acme/jira/skills/work/triage/SKILL.md": skillText("triage", "Ask\u202e first."),
    "node_modules/@acme/jira/skills/work/triage/guide.md": "Guide",
    "node_modules/@acme/jira/skills/work/triage/deep/SKILL.md": skillText("deep"),
    "node_modules/@acme/jira/skills/label/SKILL.md": skillText("label"),
    "node_modules/plain/package.json": { name: "plain", version: "1.0.0" },
    "node_modules/plain/skills/trace/SKILL.md": skillText("trace"),
    "node_modules/plain/skills/other/SKILL.md": skillText("other"),
    "node_modules/plain/skills/broken/SKILL.md": "",
    ...files,
  });

async function approve(cwd: string, names: readonly string[], options: object = {}) {
  const plan = await planApproval(names, { cwd, ...options });
  return { text: plan.text, ...(await applyApproval(plan)) };
}

async function use(cwd: string, lock: SessionOptions["lock"] = "surface") {
  const session = await openSession({ cwd, lock });
  const { skills, skipped, problems } = session;
  await session.close();
  return {
    used: skills.map(({ name }) => name).sort(),
    skipped: skipped.map(({ name, reason }) => `${name} ${reason}`).sort(),
    problems: problems.map(({ code, item }) => `${code} ${item}`),
  };
}

const readLock = (cwd: string) => JSON.parse(readFileSync(join(cwd, "trailblaze.lock"), "utf8")).packs;

describe("skills of packs", () => {
  test("an approval shows and records them, and a changed, added or removed file makes a skill NotApproved", async () => {
    const cwd = makeSkilled();
    const folder = join(cwd, "node_modules/@acme/jira/skills/work/triage");
    const { text, approved } = await approve(cwd, [], { all: true });
    expect(approved).toEqual(["acme/jira/label", "acme/jira/triage", "acme/jira/deep"]);
    for (const shown of ["  Ask\\u{202e} first.", "  guide.md", "  deep/SKILL.md"])
      expect(text.split("\n")).toContain(shown);
    const locked = readLock(cwd);
    expect(Object.keys(locked)).toEqual(["@acme/jira"]);
    expect(Object.keys(locked["@acme/jira"].skills)).toEqual(["label", "work/triage", "work/triage/deep"]);
    expect(locked["@acme/jira"].skills["work/triage"]).toEqual({
      description: ["How to triage."],
      files: {
        "SKILL.md": expect.stringMatching(/^sha256-/),
        "deep/SKILL.md": expect.any(String),
        "guide.md": expect.any(String),
      },
    });
    expect((await diffLock({ cwd })).inSync).toBe(true);
    const unasked = ["broken NotApproved", "other NotApproved", "trace NotApproved"];
    expect(await use(cwd, "frozen")).toEqual({
      used: ["deep", "label", "triage"],
      skipped: unasked,
      problems: [],
    });

    writeFileSync(join(folder, "guide.md"), "Other");
    expect(await use(cwd)).toEqual({
      used: ["deep", "label"],
      skipped: [...unasked, "triage NotApproved"].sort(),
      problems: ["NotApproved triage"],
    });
    await expect(use(cwd, "frozen")).rejects.toMatchObject({ code: "LockMismatch" });
    rmSync(join(folder, "guide.md"));
    expect((await use(cwd)).used).toEqual(["deep", "label"]);
    writeFileSync(join(folder, "guide.md"), "Guide");
    writeFileSync(join(folder, "deep/new.md"), "");
    expect((await use(cwd)).used).toEqual(["label"]);
    expect(await diffLock({ cwd, targets: ["acme/jira/deep"] })).toMatchObject({
      inSync: false,
      entries: [{ pack: "@acme/jira", kind: "skill", name: "work/triage/deep", change: "changed" }],
    });
    const again = await approve(cwd, ["acme/jira/deep"]);
    expect(again.text).toContain("How to deep.");
    expect((await use(cwd)).used).toEqual(["deep", "label"]);

    expect(await approve(cwd, ["acme/jira/deep"], { deny: true })).toMatchObject({
      denied: ["acme/jira/deep"],
    });
    expect(readLock(cwd)["@acme/jira"].denied).toEqual(["skill:work/triage/deep"]);
    expect((await use(cwd)).skipped).toContain("deep Denied");
  });

  test("`lock.unlocked` and `lock.workspace` decide which need an approval, and linked packages are read where they are", async () => {
    const cwd = makeSkilled({
      "package.json": { name: "app", dependencies: { "@acme/jira": "*", linked: "*" } },
      "skills/own/SKILL.md": skillText("own"),
      "trailblaze.lock": '{ "lockfileVersion": 1, "packs": {}, "servers": {} }\n',
    });
    const linked = makeTree({
      "package.json": packManifest("linked"),
      "skills/far/SKILL.md": skillText("far", "Far."),
    });
    symlinkSync(linked, join(cwd, "node_modules/linked"));
    const unlocked = ["skill:acme/jira/triage", "skill:linked/*"];
    for (const [workspace, names] of [
      [false, ["far", "own", "triage"]],
      [true, ["far", "triage"]],
    ] as const) {
      const session = await openSession({ cwd, config: { lock: { unlocked, workspace } } });
      expect(session.skills.map(({ name }) => name).sort()).toEqual(names);
      expect(await session.readSkill("far")).toContain("Far.");
      await session.close();
    }
  });
});

describe("skills of dependencies without the field", () => {
  test("they can be denied although they are not approved", async () => {
    const cwd = makeSkilled({ "node_modules/@acme/jira/package.json": undefined });
    expect(await approve(cwd, ["plain/other"], { deny: true })).toMatchObject({ denied: ["plain/other"] });
    expect(await approve(cwd, ["plain"])).toMatchObject({ approved: ["plain/trace"] });
    expect(readLock(cwd).plain.denied).toEqual(["skill:other"]);
    expect((await use(cwd)).used).toEqual(["trace"]);
    expect((await diffLock({ cwd })).inSync).toBe(true);
  });

  test("only what is approved by name is used, and then compared", async () => {
    const cwd = makeSkilled({ "node_modules/@acme/jira/package.json": undefined });
    expect(await use(cwd)).toMatchObject({ used: [], problems: [] });
    expect((await diffLock({ cwd }).catch(({ code }) => code)) as unknown).toBe("LockMissing");
    expect(await approve(cwd, [], { all: true })).toMatchObject({ approved: [], text: "" });
    const { problems } = await planApproval(["plain/broken"], { cwd });
    expect(problems).toMatchObject([{ code: "InvalidSkill", item: "broken" }]);
    expect(await approve(cwd, ["plain/trace"])).toMatchObject({ approved: ["plain/trace"] });
    expect(readLock(cwd)).toMatchObject({ plain: { version: "1.0.0", skills: { trace: {} } } });
    expect((await use(cwd, "frozen")).used).toEqual(["trace"]);
    expect((await diffLock({ cwd })).inSync).toBe(true);
    expect((await discoverPacks({ cwd })).packs[0]?.enabled).toBe(true);
    writeFileSync(join(cwd, "node_modules/plain/skills/trace/SKILL.md"), skillText("trace", "Another."));
    expect(await use(cwd)).toMatchObject({
      used: [],
      problems: expect.arrayContaining(["NotApproved trace"]),
    });
    await expect(use(cwd, "frozen")).rejects.toMatchObject({ code: "LockMismatch" });
    expect(await approve(cwd, ["plain"])).toMatchObject({ approved: ["plain/trace", "plain/other"] });
    expect((await use(cwd)).used).toEqual(["other", "trace"]);
    expect((await use(cwd, "off")).used).toEqual([]);
    rmSync(join(cwd, "node_modules/plain/skills"), { recursive: true });
    const session = await openSession({ cwd });
    expect(session.problems).toMatchObject([
      { code: "LockOutdated", pack: "plain", args: { reason: expect.stringMatching(/an installed pack$/) } },
    ]);
    await session.close();
  });

  test("permissions in pnpm-workspace.yaml deny, and approve nothing", async () => {
    const cwd = makeSkilled();
    await approve(cwd, ["plain", "@acme/jira"]);
    const permit = (permissions: object) =>
      writeFileSync(join(cwd, "pnpm-workspace.yaml"), JSON.stringify({ permissions }));
    permit({ plain: { skills: ["trace"] }, "@acme/jira": { skills: false } });
    expect(await use(cwd, "frozen")).toMatchObject({
      used: ["trace"],
      skipped: ["broken Denied", "deep Denied", "label Denied", "other Denied", "triage Denied"],
    });
    expect((await diffLock({ cwd })).inSync).toBe(true);
    // What cannot be read may forbid any.
    for (const file of ["permissions: {{", `# ${"x".repeat(1 << 20)}`]) {
      writeFileSync(join(cwd, "pnpm-workspace.yaml"), file);
      expect(await use(cwd)).toMatchObject({ used: [], problems: ["WorkspaceIncomplete undefined"] });
    }
    permit({ plain: { skills: true } });
    writeFileSync(join(cwd, "trailblaze.lock"), '{ "lockfileVersion": 1, "packs": {}, "servers": {} }\n');
    expect((await use(cwd)).used).toEqual([]);
  });
});
