import { join } from "node:path";
import { vi } from "vitest";
import { findUserFolder } from "../../src/files/user-folders.ts";
import { clients } from "../../src/install/clients/index.ts";
import { listClients } from "../../src/install/clients/locations.ts";
import type { InstallOptions, InstallPlan } from "../../src/install/plan-install.ts";
import { applyPlan, planInstall, planUninstall } from "../../src/install/plan-install.ts";
import { makeTree, packManifest } from "../support/packs.ts";
import { inRepository } from "../support/repository.ts";
import type { Tree } from "../support/tree.ts";

/** What an entry of a user's file starts. */
export const node = process.execPath;
export const script = inRepository("dist/cli/cli.cjs");

const program = { script: "main.js", envPassthrough: ["JIRA_TOKEN"] };

/** A project with a server of its config, two packs with servers, and `trailblaze` itself. */
const project: Tree = {
  "package.json": {
    name: "app",
    dependencies: { "@acme/jira": "*", "@acme/notes": "*", weather: "*" },
  },
  "trailblaze.config.yaml": `
servers:
  mine: { tools: [] }
  web: { tools: [], transport: http }
  broken: { tools: [acme/jira/nothing] }
mcpServers:
  own: { command: node, args: [x.js] }
`,
  "node_modules/trailblaze/package.json": { name: "trailblaze", version: "1.0.0" },
  "node_modules/@acme/jira/package.json": packManifest("@acme/jira", {
    version: "1.2.0",
    trailblaze: { servers: ["project-management", "named", "program"], prompts: ["say"] },
  }),
  "node_modules/@acme/jira/main.js": "",
  "node_modules/@acme/jira/trailblaze/servers/project-management.json": { prompts: ["say"] },
  "node_modules/@acme/jira/trailblaze/servers/named.json": { prompts: ["say"], mcpServerName: "Acme Jira" },
  "node_modules/@acme/jira/trailblaze/servers/program.json": program,
  "node_modules/@acme/notes/package.json": packManifest("@acme/notes", {
    trailblaze: { servers: ["project-management"], prompts: ["say"] },
  }),
  "node_modules/@acme/notes/trailblaze/servers/project-management.json": { prompts: ["say"] },
  "node_modules/weather/package.json": packManifest("weather", {
    trailblaze: { servers: ["over-http", "dangling", "coded"], prompts: ["say"] },
  }),
  "node_modules/weather/main.js": "",
  "node_modules/weather/trailblaze/servers/over-http.json": { prompts: ["say"], transport: "http" },
  "node_modules/weather/trailblaze/servers/dangling.json": { tools: ["absent/pack/tool"] },
  "node_modules/weather/trailblaze/servers/coded.json": { script: "main.js", mcpServerName: "Coded" },
  ...Object.fromEntries(
    ["@acme/jira", "@acme/notes", "weather"].map((pack) => [
      `node_modules/${pack}/trailblaze/prompts/say.json`,
      { name: "say", description: "Says hello.", content: "Say hello." },
    ]),
  ),
};

/** Variables that name folders of clients: those of the machine that runs the tests are unset. */
const variables = JSON.stringify(clients).match(/(?<=\$\{)[A-Z_]+(?=:-)/g) ?? [];

/** A home and a project in a temporary folder, which the environment names, and what installs into clients there. */
export function makeInstallPlace(tree: Tree = {}) {
  const inProject = Object.entries(project).map(([path, content]) => [`project/${path}`, content]);
  const root = makeTree({ "home/.keep": "", ...Object.fromEntries(inProject), ...tree });
  const [home, cwd] = [join(root, "home"), join(root, "project")];
  const environment: Record<string, string | undefined> = {
    ...Object.fromEntries(variables.map((name) => [name, undefined])),
    HOME: home,
    USERPROFILE: home,
    XDG_STATE_HOME: join(root, "state"),
  };
  /** Makes it the place of this process: a test may have several. */
  const enter = () => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  };
  enter();
  const here = {
    root,
    home,
    project: cwd,
    environment,
    get stateFolder() {
      return join(findUserFolder("state", process.platform, environment, home) ?? "", "trailblaze");
    },
    planInstall(client: string, server: string | null, options: InstallOptions = {}) {
      enter();
      return planInstall(client, server, { cwd, ...options });
    },
    planUninstall(client: string, server: string | null, options: InstallOptions = {}) {
      enter();
      return planUninstall(client, server, { cwd, ...options });
    },
    apply(plan: InstallPlan) {
      enter();
      return applyPlan(plan);
    },
    async clients() {
      enter();
      return (await listClients({ cwd })).clients;
    },
  };
  return {
    ...here,
    install: async (...args: Parameters<typeof here.planInstall>) =>
      here.apply(await here.planInstall(...args)),
    uninstall: async (...args: Parameters<typeof here.planUninstall>) =>
      here.apply(await here.planUninstall(...args)),
  };
}
