// For the demo: a client that stays connected to a project's session while npm changes what is installed.
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { samplePack } from "../test/support/sample-packs.ts";
import { writeTree } from "../test/support/tree.ts";

/** How long a change may take to reach the client, in milliseconds. It takes about a second. */
const limitMs = 60_000;

export interface SessionDemo {
  /** A folder for what is made. */
  directory: string;
  /** The installed command. */
  script: string;
  /** Packs folders, and returns the tarballs. */
  pack(folders: readonly string[], destination: string): Promise<string[]>;
  npm(args: readonly string[], cwd: string): Promise<string>;
  print(line: string): void;
}

/** The next version of the pack: it has another tool, and greets in other words. */
function writeUpdate(folder: string): void {
  cpSync(samplePack("hello-tools").folder, folder, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const tool = JSON.parse(readFileSync(join(folder, "trailblaze/tools/greet.json"), "utf8"));
  writeTree(folder, {
    "package.json": { ...manifest, version: "1.1.0", trailblaze: { tools: ["greet", "welcome"] } },
    "trailblaze/tools/welcome.json": { ...tool, name: "hello_welcome", description: "Welcome somebody." },
    "lib/greet.js": "export default ({ name }) => `Welcome, ${name}!`;\n",
  });
}

/** Installs, updates and removes a pack while a client is connected. Returns the number of commands. */
export async function demonstrateSession({
  directory,
  script,
  pack,
  npm,
  print,
}: SessionDemo): Promise<number> {
  const project = join(directory, "live");
  writeTree(project, { "package.json": { name: "live", version: "1.0.0", private: true } });
  const update = join(directory, "update");
  writeUpdate(update);
  const [first = ""] = await pack([samplePack("hello-tools").folder], join(directory, "first"));
  const [second = ""] = await pack([update], join(directory, "second"));

  const client = new Client({ name: "demo", version: "1.0.0" });
  const names = async () => (await client.listTools()).tools.map(({ name }) => name).join(", ");
  let announce = async () => {};
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void announce());
  /** Runs npm, and waits until the client is told that the tools have changed. */
  const change = async (shown: string, args: readonly string[], expected: string) => {
    const told = new Promise<string>((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`${shown} did not reach the client`)), limitMs);
      announce = async () => {
        const found = await names();
        if (found !== expected) return;
        clearTimeout(limit);
        resolve(found);
      };
    });
    await npm([...args, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"], project);
    const found = await told;
    print(`$ ${shown}`);
    print(`the client sees: ${found === "" ? "no tools" : found}`);
  };

  print("$ trailblaze start");
  await client.connect(
    new StdioClientTransport({ command: script, args: ["start", "--cwd", project], stderr: "ignore" }),
  );
  try {
    print(`the client sees: ${(await names()) || "no tools"}`);
    await change("npm install hello-tools", ["install", first], "hello_greet");
    await change("npm install hello-tools@1.1", ["install", second], "hello_greet, hello_welcome");
    const { content } = await client.callTool({ name: "hello_greet", arguments: { name: "Ada" } });
    const said = JSON.stringify(content);
    if (!said.includes("Welcome, Ada!")) throw new Error(`The updated tool answered ${said}`);
    await change("npm uninstall hello-tools", ["uninstall", "hello-tools"], "");
  } finally {
    await client.close();
  }
  return 4;
}
