// Packs the sample packs, installs them into a project with npm, and runs the installed command there. Without
// `--verbose`, it prints only the lines that matter; `--keep` keeps the project.
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
import { demonstrateSession } from "./demo-session.ts";

/** A package that is not a pack and must not be listed. */
const bystander = "picocolors";

/** An MCP server that is not in a pack: its command is in the project's config. */
const otherServer = "@modelcontextprotocol/server-everything";
const config = `device: { platform: WEB, widthPixels: 1280, heightPixels: 800, driverType: playwright-native }
trailblazeSubprocessToolsets:
  - { name: everything, command: node, args: ["./node_modules/${otherServer}/dist/index.js"] }
`;

/** The MCP inspector: a client of another project. */
const inspector = createRequire(import.meta.url).resolve("@modelcontextprotocol/inspector-cli");

interface Step {
  /** Default: trailblaze. */
  readonly program?: "inspector";
  readonly args: readonly string[];
  /** Default: 0. */
  readonly exitCode?: number;
  /** Texts that the output must contain. */
  readonly shows: readonly string[];
  /** Texts whose lines are printed without --verbose; default: `shows`. */
  readonly prints?: readonly string[];
  /** Texts that the output must not contain. */
  readonly hides?: readonly string[];
}

/** Steps that make one point. */
interface Scene {
  readonly title: string;
  readonly steps: readonly Step[];
  /** The steps differ only in this; without --verbose, only the first is printed. */
  readonly variants?: string;
}

const packNames = samplePacks.map(({ name }) => name);
const server = "globex/release-desk/release-desk";

const scenes: readonly Scene[] = [
  {
    title:
      "Packs are npm packages with a `trailblaze` field. `list` omits other packages, such as picocolors.",
    steps: [
      {
        args: ["list"],
        shows: packNames,
        prints: ["PROVIDES", "@acme/jira", "hello-tools"],
        hides: [bystander],
      },
    ],
  },
  {
    title: "Look inside packs before you run their code.",
    steps: [
      { args: ["list", "tools"], shows: ["acme/jira/createIssue", "hello-tools/greet"] },
      { args: ["inspect", "@acme/jira"], shows: ["acme/jira/createIssue"] },
      { args: ["inspect", "acme/jira/createIssue"], shows: ["summary"] },
    ],
  },
  {
    title: "A server can combine tools of several packs.",
    steps: [{ args: ["inspect", server], shows: ["acme/jira/createIssue", "hello-tools/greet"] }],
  },
  {
    title: "Trailblaze never guesses a misspelled name; it suggests similar ones.",
    steps: [
      {
        args: ["inspect", "acme/jira/creatIssue"],
        exitCode: 1,
        shows: ["ToolNotFound", "acme/jira/createIssue"],
      },
    ],
  },
  {
    title: "Authors validate packs before they publish them.",
    variants: "packs",
    steps: packNames.map((name) => ({ args: ["validate", name, "--strict"], shows: ["is valid"] })),
  },
  {
    title: "Every problem is explained.",
    steps: [{ args: ["explain", "HandlerNotFound"], shows: ["Fix:"] }],
  },
  {
    title: "A session offers the tools of packs and of any other MCP server in the config.",
    steps: [
      { args: ["doctor"], shows: ["4 of 4 started"] },
      { args: ["tools"], shows: ["hello_greet", "jira_createIssue", "get-sum"] },
    ],
  },
  {
    title:
      "Call a tool of a pack, of the other server, and of a pack's own server. Then replay two of the calls.",
    steps: [
      { args: ["call", "hello_greet", "name=Ada", "--record", "trail.yaml"], shows: ["Hello, Ada!"] },
      { args: ["call", "get-sum", "a=2", "b=3", "--record", "trail.yaml"], shows: ["2 and 3 is 5"] },
      {
        args: ["call", "shop_reserve", "article=Teapot", "count=2"],
        shows: ["Reserved 2 × Teapot for a guest."],
      },
      { args: ["run", "trail.yaml"], shows: ["2 of 2 steps succeeded"] },
    ],
  },
];

/** What any MCP client does with a server: list its tools and call one. */
const useServer = (target: readonly string[]): [list: Step, call: Step] => [
  {
    program: "inspector",
    args: [...target, "--method", "tools/list"],
    shows: ["hello_greet", "jira_createIssue"],
    prints: ["hello_greet"],
  },
  {
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

/** Packs folders of this repository with npm. Returns the paths of the tarballs. */
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

const isVerbose = process.argv.includes("--verbose");
let count = 0;

/** The output that matters: the first line with each of the texts. */
function selectLines(output: string, texts: readonly string[]): string[] {
  const lines = output.split("\n");
  return [...new Set(texts.map((text) => lines.find((line) => line.includes(text))?.trim() ?? ""))];
}

async function runStep(
  step: Step,
  directory: string,
  env: NodeJS.ProcessEnv,
  { isShown, remark }: { isShown: boolean; remark: string },
): Promise<void> {
  const isInspector = step.program === "inspector";
  const command = [isInspector ? "mcp-inspector --cli" : "trailblaze", ...step.args].join(" ");
  const shortened = command
    .replaceAll(scriptIn(directory), "trailblaze")
    .replaceAll(`${process.execPath} `, "node ")
    .replaceAll(directory, ".");
  if (isShown) console.log(isVerbose ? `$ ${command}` : `$ ${shortened}${remark}`);
  const [program, args] = isInspector
    ? [process.execPath, [inspector, "--cli", ...step.args]]
    : [scriptIn(directory), step.args];
  // The inspector looks for a package.json above the folder it runs in.
  const cwd = isInspector ? join(directory, "node_modules") : directory;
  const run = await runProcess(program, args, { cwd, env, timeoutMs: 30_000 });
  const output = `${run.stdout}${run.stderr}`;
  const { exitCode = 0, shows, prints = shows, hides = [] } = step;
  const missing = shows.filter((text) => !output.includes(text));
  const surplus = hides.filter((text) => output.includes(text));
  const failure =
    run.exitCode !== exitCode
      ? `ended with exit code ${run.exitCode} instead of ${exitCode}`
      : missing.length > 0
        ? `does not show ${missing.join(", ")}`
        : surplus.length > 0
          ? `shows ${surplus.join(", ")}`
          : undefined;
  if (isVerbose || failure !== undefined) console.log(output.trimEnd());
  else if (isShown) for (const line of selectLines(output, prints)) console.log(line);
  if (failure !== undefined) throw new Error(`${command} ${failure}`);
  count += 1;
}

async function play({ title, steps, variants }: Scene, directory: string, env = process.env): Promise<void> {
  console.log(`\n# ${title}`);
  const remark = variants === undefined ? "" : `  (and ${steps.length - 1} more ${variants})`;
  for (const [index, step] of steps.entries()) {
    await runStep(step, directory, env, {
      isShown: isVerbose || variants === undefined || index === 0,
      remark,
    });
  }
}

async function demonstrate(directory: string): Promise<void> {
  console.log(`Packing ${packNames.length} sample packs and the host, then installing them with npm …`);
  const folders = [
    inRepository("."),
    inRepository("packages/scripting"),
    ...samplePacks.map((one) => one.folder),
  ];
  const tarballs = await pack(folders, join(directory, "tarballs"));
  const project = join(directory, "project");
  await install(project, [...tarballs, bystander, otherServer]);
  writeTree(project, { "trailblaze.config.yaml": config });
  for (const scene of scenes) await play(scene, project);

  const overStdio = [scriptIn(project), "start", server, "--cwd", project];
  const serving = await serveOverHttp(server, { cwd: project, script: scriptIn(project) });
  const overHttp = [serving.url, "--transport", "http"];
  try {
    const title =
      "Any MCP client can use the server. One lists its tools over stdio, another calls one over HTTP.";
    await play({ title, steps: [useServer(overStdio)[0], useServer(overHttp)[1]] }, project);
  } finally {
    await serving.stop();
  }
  console.log("\n# A client that is connected to the session sees what npm installs, without a restart.");
  const print = (line: string) => console.log(line);
  count += await demonstrateSession({ directory, script: scriptIn(project), pack, npm, print });
  await demonstrateClients(project, join(directory, "home"));
}

/** Installs a server into three clients' configs, starts it as one of them would, and uninstalls it. */
async function demonstrateClients(project: string, home: string): Promise<void> {
  const env = makeHome(home);
  const clients = Object.keys(clientConfigs);
  const forClients = (title: string, command: string, shows: readonly string[]): Scene => ({
    title,
    variants: "clients",
    steps: clients.map((client) => ({ args: [command, client, server], shows })),
  });
  await play(forClients("Install the server into MCP clients.", "install", ["Installed"]), project, env);
  const [listTools] = useServer(readWrittenCommand(home, "release-desk"));
  await play(
    { title: "The entry in the client's config starts the server.", steps: [listTools] },
    project,
    env,
  );
  await play(forClients("Uninstall it.", "uninstall", ["Uninstalled"]), project, env);
  const changed = findChanged(home);
  if (changed.length > 0) throw new Error(`The configs of ${changed.join(", ")} were not restored`);
  console.log("The configs of all clients are restored byte for byte.");
}

const keep = process.argv.includes("--keep");
const directory = realpathSync(mkdtempSync(join(tmpdir(), "trailblaze-demo-")));
try {
  await demonstrate(directory);
  console.log(`\nAll ${count} commands succeeded.`);
  if (keep) {
    console.log(`The project is in ${join(directory, "project")}`);
    console.log("Run the commands there with npx, for example: npx trailblaze list");
  }
} catch (error) {
  console.error(`\nThe demo failed: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  if (!keep) rmSync(directory, { recursive: true, force: true });
}
