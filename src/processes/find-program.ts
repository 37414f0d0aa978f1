import { posix, win32 } from "node:path";
import quoting from "cross-spawn/lib/util/escape.js";

const isLocalBin = (folder: string) => /(?:^|[/\\])node_modules[/\\]\.bin[/\\]*$/i.test(folder);

/** A `PATH` without the folders `node_modules/.bin`, whose programs come from any dependency. */
export function withoutLocalBin(path: string, platform: NodeJS.Platform): string {
  const separator = platform === "win32" ? ";" : ":";
  return path
    .split(separator)
    .filter((folder) => !isLocalBin(folder))
    .join(separator);
}

/** What is asked about files. Nothing throws for a file that is not there. */
export interface ProgramFiles {
  isFile(path: string): boolean;
  isExecutable(path: string): boolean;
  /** The text of a file; empty if it cannot be read. */
  read(path: string): string;
}

export interface ProgramHost {
  platform: NodeJS.Platform;
  node: string;
  files: ProgramFiles;
}

/** A command as written, with its own environment and its absolute folder. */
export interface WrittenCommand {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

export interface FoundProgram {
  command: string;
  args: readonly string[];
  /** Whether the arguments are quoted already, for `windowsVerbatimArguments`. */
  verbatim: boolean;
}

/** Endings of what Windows can run; others of `PATHEXT` belong to programs that read scripts. */
const windowsEndings = [".com", ".exe", ".bat", ".cmd"];

/** The value of a variable, whose name ignores case on Windows. Of several, Node passes on the first in order. */
function findVariable(env: WrittenCommand["env"], name: string): string | undefined {
  const key = Object.keys(env)
    .sort()
    .find((one) => one.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

/**
 * The program to run for a command: a path, or a name that is looked for in the launch's own `PATH`, but not in
 * `node_modules/.bin`, which npx and package scripts add to it. `undefined` if nothing is found. Throws an `Error` if it can
 * be run only by a shell that its arguments would not reach whole. Pure.
 */
export function findProgram(launch: WrittenCommand, host: ProgramHost): FoundProgram | undefined {
  if (host.platform === "win32") return findOnWindows(launch, host);
  const { command, args, cwd, env } = launch;
  const { files } = host;
  // Not in the current folder, which an empty entry means.
  const folders = (env.PATH ?? "/usr/bin:/bin").split(":").filter((one) => one !== "" && !isLocalBin(one));
  const paths = command.includes("/")
    ? [posix.resolve(cwd, command)]
    : folders.map((folder) => posix.resolve(cwd, folder, command));
  const found = paths.filter((path) => files.isFile(path));
  // A file that is not executable is reported as such, if there is no other.
  const file = found.find((path) => files.isExecutable(path)) ?? found[0];
  return file === undefined ? undefined : { command: file, args, verbatim: false };
}

/** Not in the current folder, where Windows itself looks first, and never a file without an ending: npm puts shell scripts beside its `.cmd` files. */
function findOnWindows(launch: WrittenCommand, host: ProgramHost): FoundProgram | undefined {
  const { command, args, cwd, env } = launch;
  const written = findVariable(env, "PATHEXT") || windowsEndings.join(";");
  const endings = written.split(";").filter((ending) => windowsEndings.includes(ending.toLowerCase()));
  const isWhole = windowsEndings.includes(win32.extname(command).toLowerCase());
  // Windows writes them in capitals, files have small letters, and folders may heed case.
  const all = [...(isWhole ? [""] : []), ...endings.flatMap((ending) => [ending, ending.toLowerCase()])];
  const names = [...new Set(all)].map((ending) => `${command}${ending}`);
  const folders = (findVariable(env, "PATH") ?? "").match(/(?:"[^"]*"?|[^;"])+/g) ?? [];
  const places = folders
    .map((folder) => win32.resolve(cwd, folder.replaceAll('"', "")))
    .filter((folder) => !isLocalBin(folder) && folder.toLowerCase() !== win32.resolve(cwd).toLowerCase());
  const file = (/[/\\:]/.test(command) ? [cwd] : places)
    .flatMap((folder) => names.map((name) => win32.resolve(folder, name)))
    .find((path) => host.files.isFile(path));
  if (file === undefined) return undefined;
  if (!/\.(?:bat|cmd)$/i.test(file)) return { command: file, args, verbatim: false };
  const script = readShim(file, host.files);
  if (script !== undefined) return { command: host.node, args: [...script, ...args], verbatim: false };
  return runInShell(file, launch);
}

/** The line of a shim of npm, pnpm, Yarn or corepack that runs Node. */
const shimLine =
  /(?:^|[\s@&])(?:"%(_prog)%"|"%(?:~dp0|dp0%)\\node\.exe"|"?node(?:\.exe)?"?)((?:[ \t]+[^\s"%]+)*)[ \t]+"%(?:~dp0|dp0%)\\([^"%]+)"[ \t]+%\*[ \t]*\r?$/im;

/** What a batch file passes to Node before its arguments: options and a file that is there. `undefined` for other batch files. */
function readShim(batchFile: string, files: ProgramFiles): string[] | undefined {
  const text = files.read(batchFile);
  const [, variable, options = "", shimmed] = shimLine.exec(text) ?? [];
  const isOther = variable !== undefined && !/^\s*@?SET "?_prog=node(?:\.exe)?"?\s*$/im.test(text);
  // Those that come with Node look for the npm that is installed globally first.
  const [, ofNode] = /[\\/](np[mx])\.cmd$/i.exec(batchFile) ?? [];
  const ownFile = ofNode && `node_modules\\npm\\bin\\${ofNode.toLowerCase()}-cli.js`;
  const named = isOther ? undefined : (shimmed ?? (ownFile && text.includes(ownFile) ? ownFile : undefined));
  const file = named && win32.resolve(win32.dirname(batchFile), named);
  if (file === undefined || !files.isFile(file)) return undefined;
  return [...(options.match(/\S+/g) ?? []), file];
}

/** A batch file runs in the command interpreter, which reads some characters even in quotes, and ends at a line break. */
function runInShell(file: string, { args, env }: WrittenCommand): FoundProgram {
  if (args.some((argument) => /[\r\n]/.test(argument)))
    throw new Error("an argument contains a line break, which a batch file cannot get");
  const root = findVariable(env, "SYSTEMROOT");
  const shell = findVariable(env, "COMSPEC") || (root ? win32.join(root, "System32", "cmd.exe") : "cmd.exe");
  // What is quoted for a shim is read a second time, when it passes it on.
  const isShim = isLocalBin(win32.dirname(file));
  const line = [quoting.command(file), ...args.map((argument) => quoting.argument(argument, isShim))].join(
    " ",
  );
  return { command: shell, args: ["/d", "/s", "/c", `"${line}"`], verbatim: true };
}
