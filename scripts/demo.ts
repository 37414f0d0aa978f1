// The main job on real input: packs are packed, installed by npm into a project, and looked at with the installed
// command. `npm run demo` builds first; `npm run demo -- --keep` leaves the project there to play with.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runUsersNpm } from "../test/support/package-managers.ts";
import { inRepository } from "../test/support/repository.ts";
import { runProcess } from "../test/support/run-process.ts";
import { samplePacks } from "../test/support/sample-packs.ts";
import { serveOverHttp } from "../test/support/serve-over-http.ts";
import { writeTree } from "../test/support/tree.ts";
import { clientConfigs, findChanged, makeHome, readWrittenCommand } from "./demo-clients.ts";

/** A real package that is no pack: it is installed beside the packs, and must not be listed. */
const bystander = "picocolors";

/** A real MCP server of somebody else, as users have them: by its command in their config. */
const otherServer = "@modelcontextprotocol/server-everything";
const config = `device: { platform: WEB, widthPixels: 1280, heightPixels: 800, driverType: playwright-native }
trailblazeSubprocessToolsets:
  - { name: everything, command: node, args: ["./node_modules/${otherServer}/dist/index.js"] }
`;

/** The MCP inspector, a client that is not ours. */
const inspector = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector-cli");

interface Step {
  /** What it shows, in a sentence. */
  readonly title: string;
  /** Default: trailblaze. */
  readonly program?: "inspector";
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
    shows: ["4 of 4 started"],
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
    title: "A tool of a pack's own server",
    args: ["call", "shop_reserve", "article=Teapot", "count=2"],
    shows: ["Reserved 2 × Teapot for a guest."],
  },
  {
    title: "Both once more, from the recording",
    args: ["run", "trail.yaml"],
    shows: ["2 of 2 steps succeeded"],
  },
];

/** A server made of the tools of several packs. */
const served = "globex/release-desk/release-desk";

/** What any MCP client does with a server: list its tools, call one. */
const useServer = (transport: string, target: readonly string[]): Step[] => [
  {
    title: `Which tools does another client see over ${transport}?`,
    program: "inspector",
    args: [...target, "--method", "tools/list"],
    shows: ["hello_greet", "jira_createIssue"],
  },
  {
    title: `And can it call one over ${transport}?`,
    program: "inspector",
    args: [...target, "--method", "tools/call", "--tool-name", "hello_greet", "--tool-arg", "name=Ada"],
    shows: ["Hello, Ada!"],
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

const scriptIn = (directory: string) => join(directory, "node_modules/.bin/trailblaze");

async function show(step: Step, directory: string, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const isInspector = step.program === "inspector";
  const command = [isInspector ? "mcp-inspector --cli" : "trailblaze", ...step.args].join(" ");
  console.log(`\n# ${step.title}\n$ ${command}`);
  const [program, args] = isInspector
    ? [process.execPath, [inspector, "--cli", ...step.args]]
    : [scriptIn(directory), step.args];
  // The inspector looks for a package.json above the folder it runs in.
  const cwd = isInspector ? join(directory, "node_modules") : directory;
  const run = await runProcess(program, args, { cwd, env, timeoutMs: 30_000 });
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

/** How many commands were shown. */
let count = steps.length;

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

  const overStdio = [scriptIn(project), "start", served, "--cwd", project];
  for (const step of useServer("stdio", overStdio)) await show(step, project);
  const serving = await serveOverHttp(served, { cwd: project, script: scriptIn(project) });
  count += 2 * useServer("", []).length;
  try {
    for (const step of useServer("HTTP", [serving.url, "--transport", "http"])) await show(step, project);
  } finally {
    await serving.stop();
  }
  await demonstrateClients(project, join(directory, "home"));
}

/** A server goes into three clients' configs, is started as one of them says, and leaves no trace. */
async function demonstrateClients(project: string, home: string): Promise<void> {
  const env = makeHome(home);
  const run = async (step: Step) => {
    await show(step, project, env);
    count += 1;
  };
  for (const client of Object.keys(clientConfigs)) {
    const args = ["install", client, served];
    await run({ title: `Write it into the config of ${client}`, args, shows: ["release-desk"] });
  }
  const [step] = useServer("what the client was told", readWrittenCommand(home, "release-desk"));
  if (step !== undefined) await run(step);
  for (const client of Object.keys(clientConfigs)) {
    await run({ title: `And take it out of ${client} again`, args: ["uninstall", client, served] });
  }
  const changed = findChanged(home);
  if (changed.length > 0) throw new Error(`The configs of ${changed.join(", ")} are not what they were`);
  console.log("\nThe three configs are what they were, byte for byte.");
}

const keep = process.argv.includes("--keep");
const directory = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-demo-")));
try {
  await demonstrate(directory);
  console.log(`\nAll ${count} commands did what they should.`);
  if (keep) console.log(`The project is in ${join(directory, "project")}. Remove it when you are done.`);
} catch (error) {
  console.error(`\nThe demo failed: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  if (!keep) rmSync(directory, { recursive: true, force: true });
}
