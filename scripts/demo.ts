// The main job on real input: packs are packed, installed by npm into a project, and looked at with the installed
// command. `npm run demo` builds first; `npm run demo -- --keep` leaves the project there to play with.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runUsersNpm } from "../test/support/package-managers.ts";
import { inRepository } from "../test/support/repository.ts";
import { runProcess } from "../test/support/run-process.ts";
import { samplePacks } from "../test/support/sample-packs.ts";
import { writeTree } from "../test/support/tree.ts";

/** A real package that is no pack: it is installed beside the packs, and must not be listed. */
const bystander = "picocolors";

/** A real MCP server of somebody else, as users have them: by its command in their config. */
const otherServer = "@modelcontextprotocol/server-everything";
const config = `device: { platform: WEB, widthPixels: 1280, heightPixels: 800, driverType: playwright-native }
trailblazeSubprocessToolsets:
  - { name: everything, command: node, args: ["./node_modules/${otherServer}/dist/index.js"] }
`;

interface Step {
  /** What it shows, in a sentence. */
  readonly title: string;
  readonly args: readonly string[];
  /** Default: 0. */
  readonly exitCode?: number;
  /** Texts that the output must have, and must not have. */
  readonly shows?: readonly string[];
  readonly hides?: readonly string[];
}

const packNames = samplePacks.map(({ name }) => name);

const steps: readonly Step[] = [
  { title: "Which packs are installed?", args: ["list"], shows: packNames, hides: [bystander] },
  {
    title: "Which tools do they bring?",
    args: ["list", "tools"],
    shows: ["acme/jira/createIssue", "hello-tools/greet"],
  },
  { title: "What is in a pack?", args: ["inspect", "@acme/jira"], shows: ["createIssue"] },
  { title: "What does a tool take?", args: ["inspect", "acme/jira/createIssue"], shows: ["summary"] },
  {
    title: "Which tools does a server made from several packs have?",
    args: ["inspect", "globex/release-desk/release-desk"],
    shows: ["acme/jira/createIssue", "hello-tools/greet"],
  },
  {
    title: "What if the name is misspelt?",
    args: ["inspect", "acme/jira/creatIssue"],
    exitCode: 1,
    shows: ["acme/jira/createIssue"],
  },
  ...packNames.map((name) => ({
    title: `Is anything wrong with ${name}?`,
    args: ["validate", name, "--strict"],
  })),
  {
    title: "Is anything in the way of a session?",
    args: ["doctor"],
    shows: ["3 of 3 started"],
  },
  {
    title: "Which tools would a model see?",
    args: ["tools"],
    shows: ["hello_greet", "jira_createIssue", "get-sum"],
  },
  {
    title: "A tool of a pack",
    args: ["call", "hello_greet", "name=Ada", "--record", "trail.yaml"],
    shows: ["Ada"],
  },
  {
    title: "A tool of somebody's server",
    args: ["call", "get-sum", "a=2", "b=3", "--record", "trail.yaml"],
    shows: ["5"],
  },
  {
    title: "Both once more, from the recording",
    args: ["run", "trail.yaml"],
    shows: ["2 of 2 steps succeeded"],
  },
];

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr, exitCode } = await runUsersNpm(args, cwd);
  if (exitCode !== 0) throw new Error(`npm ${args[0]} ended with exit code ${exitCode}\n${stdout}${stderr}`);
  return stdout;
}

/** Packs folders of this repository as npm would publish them. Returns the tarballs' paths. */
async function pack(folders: readonly string[], destination: string): Promise<string[]> {
  mkdirSync(destination, { recursive: true });
  const options = ["--json", "--ignore-scripts", "--pack-destination", destination];
  const packed = JSON.parse(await npm(["pack", ...folders, ...options], inRepository("."))) as {
    filename: string;
  }[];
  return packed.map(({ filename }) => join(destination, filename));
}

async function install(directory: string, specs: readonly string[]): Promise<void> {
  writeTree(directory, { "package.json": { name: "demo", version: "1.0.0", private: true } });
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  await npm(["install", ...specs, ...options], directory);
}

async function show(step: Step, directory: string): Promise<void> {
  const command = ["trailblaze", ...step.args].join(" ");
  console.log(`\n# ${step.title}\n$ ${command}`);
  const script = join(directory, "node_modules/.bin/trailblaze");
  const run = await runProcess(script, step.args, { cwd: directory, env: process.env, timeoutMs: 30_000 });
  const output = `${run.stdout}${run.stderr}`;
  console.log(output.trimEnd());
  const { exitCode = 0, shows = [], hides = [] } = step;
  if (run.exitCode !== exitCode) {
    throw new Error(`${command} ended with exit code ${run.exitCode} instead of ${exitCode}`);
  }
  const missing = shows.filter((text) => !output.includes(text));
  if (missing.length > 0) throw new Error(`${command} does not show ${missing.join(", ")}`);
  const surplus = hides.filter((text) => output.includes(text));
  if (surplus.length > 0) throw new Error(`${command} shows ${surplus.join(", ")}`);
}

async function demonstrate(directory: string): Promise<void> {
  console.log(`Packing ${packNames.length} sample packs and the host, and installing them with npm …`);
  const folders = [
    inRepository("."),
    inRepository("packages/scripting"),
    ...samplePacks.map((one) => one.folder),
  ];
  const tarballs = await pack(folders, join(directory, "tarballs"));
  const project = join(directory, "project");
  await install(project, [...tarballs, bystander, otherServer]);
  writeTree(project, { "trailblaze.config.yaml": config });
  for (const step of steps) await show(step, project);
}

const keep = process.argv.includes("--keep");
const directory = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-demo-")));
try {
  await demonstrate(directory);
  console.log(`\nAll ${steps.length} commands did what they should.`);
  if (keep) console.log(`The project is in ${join(directory, "project")}. Remove it when you are done.`);
} catch (error) {
  console.error(`\nThe demo failed: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  if (!keep) rmSync(directory, { recursive: true, force: true });
}
