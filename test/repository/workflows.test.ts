import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { inRepository } from "../support/repository.ts";

interface Step {
  uses?: string;
  run?: string;
}
interface Job {
  uses?: string;
  needs?: string;
  permissions?: Record<string, string>;
  strategy?: { matrix: Record<string, unknown[]> };
  steps?: Step[];
  "timeout-minutes"?: number;
}
interface Workflow {
  on: Record<string, { tags?: string[] } | null>;
  permissions: Record<string, string>;
  concurrency: unknown;
  jobs: Record<string, Job>;
}

const folder = inRepository(".github/workflows");
const textOf = (name: string) => readFileSync(`${folder}/${name}`, "utf8");
const read = (name: string) => parse(textOf(name)) as Workflow;
const runsOf = ({ jobs }: Workflow, job: string) => jobs[job]?.steps?.map(({ run }) => run) ?? [];

describe.each(readdirSync(folder))("the workflow %s", (name) => {
  const workflow = read(name);
  const jobs = Object.values(workflow.jobs);

  test("a workflow has read permission by default, and runs once at a time per ref", () => {
    expect(workflow.permissions).toEqual({ contents: "read" });
    expect(workflow.concurrency).toBeDefined();
  });

  test("a workflow pins every action to a commit, followed by its version", () => {
    const uses = textOf(name)
      .split("\n")
      .filter((line) => /\buses:/.test(line) && !line.includes("uses: ./"));
    for (const line of uses) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
    const steps = jobs.flatMap((job) => job.steps ?? []).filter((step) => step.uses !== undefined);
    expect(uses).toHaveLength(steps.length);
  });

  test("every job with steps has a timeout", () => {
    for (const job of jobs) if (job.steps) expect(job["timeout-minutes"]).toBeGreaterThan(0);
  });
});

test("a release publishes both packages with provenance after the tests", () => {
  const release = read("release.yml");
  expect(release.on).toEqual({ push: { tags: ["v*.*.*"] } });
  expect(release.jobs.publish?.needs).toBe("ci");
  expect(release.jobs.ci?.uses).toBe("./.github/workflows/ci.yml");
  expect(read("ci.yml").on).toHaveProperty("workflow_call");
  expect(release.jobs.publish?.permissions).toEqual({ contents: "read", "id-token": "write" });
  const published = runsOf(release, "publish").filter((run) => run?.startsWith("npm publish"));
  expect(published).toHaveLength(2);
  for (const run of published) expect(run).toContain("--provenance");
  expect(published.filter((run) => run?.includes("@trailblaze/scripting"))).toHaveLength(1);
});
