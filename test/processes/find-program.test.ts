import quoting from "cross-spawn/lib/util/escape.js";
import { describe, expect, test } from "vitest";
import { findProgram, type ProgramHost } from "../../src/processes/find-program.ts";

const node = "C:\\Program Files\\nodejs\\node.exe";
const cwd = "C:\\work";
const shell = "C:\\Windows\\System32\\cmd.exe";
const env = { Path: 'C:\\Program Files\\nodejs\\;"C:\\R&D;x\\npm";C:\\work;C:\\last', ComSpec: shell };

/** Files by path, whose names ignore case on Windows. */
function hostOf(platform: NodeJS.Platform, texts: Record<string, string>, executable = true): ProgramHost {
  const fold = (path: string) => (platform === "win32" ? path.toLowerCase() : path);
  const files = new Map(Object.entries(texts).map(([path, text]) => [fold(path), text]));
  return {
    platform,
    node: platform === "win32" ? node : "/usr/bin/node",
    files: {
      isFile: (path) => files.has(fold(path)),
      isExecutable: (path) => executable && !path.endsWith(".txt"),
      read: (path) => files.get(fold(path)) ?? "",
    },
  };
}

const onWindows = (texts: Record<string, string>, command: string, args: string[] = [], more = {}) =>
  findProgram({ command, args, cwd, env: { ...env, ...more } }, hostOf("win32", texts));

const inShell = (file: string, args: string[]) => ({
  command: shell,
  args: [
    "/d",
    "/s",
    "/c",
    `"${[quoting.command(file), ...args.map((one) => quoting.argument(one))].join(" ")}"`,
  ],
  verbatim: true,
});

const npmShim = (file: string, options = "") =>
  [
    "@ECHO off\r\nGOTO start\r\n:find_dp0\r\nSET dp0=%~dp0\r\nEXIT /b\r\n:start\r\nSETLOCAL\r\nCALL :find_dp0\r\n",
    'IF EXIST "%dp0%\\node.exe" (\r\n  SET "_prog=%dp0%\\node.exe"\r\n) ELSE (\r\n  SET "_prog=node"\r\n',
    '  SET PATHEXT=%PATHEXT:;.JS;=;%\r\n)\r\n\r\nendLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"',
    `${options}  "%dp0%\\${file}" %*\r\n`,
  ].join("");
const pnpmShim = (file: string) =>
  `@SETLOCAL\n@IF EXIST "%~dp0\\node.exe" (\n  "%~dp0\\node.exe"  "%~dp0\\${file}" %*\n) ELSE (\n  @SETLOCAL\n  @SET PATHEXT=%PATHEXT:;.JS;=;%\n  node  "%~dp0\\${file}" %*\n)\n`;
const nodesOwn =
  'SET "NODE_EXE=%~dp0\\node.exe"\r\nSET "NPX_CLI_JS=%~dp0\\node_modules\\npm\\bin\\npx-cli.js"\r\n"%NODE_EXE%" "%NPX_CLI_JS%" %*\r\n';
const volta = "@echo off\r\nvolta run %~n0 %*\r\n";

describe("a program on Windows", () => {
  test.each<[string, string, Record<string, string>, object?]>([
    ["node", "C:\\Program Files\\nodejs\\node.exe", { "C:\\Program Files\\nodejs\\node.exe": "" }],
    // In a quoted folder with a semicolon; the order of the endings, in any case; never the file without one.
    ["uvx", "C:\\R&D;x\\npm\\uvx.exe", { "C:\\R&D;x\\npm\\uvx": "#!/bin/sh", "C:\\R&D;x\\npm\\uvx.exe": "" }],
    ["x", "C:\\last\\x.EXE", { "C:\\last\\x.exe": "", "C:\\last\\x.com": "" }, { PATHEXT: ".JS;.EXE;.COM" }],
    ["x.exe", "C:\\last\\x.exe", { "C:\\last\\x.exe": "" }, { PATHEXT: ".JS" }],
    // Not in the current folder, which the PATH names too, nor in what dependencies bring.
    ["x", "C:\\last\\x.exe", { "C:\\work\\x.exe": "", "C:\\last\\x.exe": "" }],
    [
      "x",
      "D:\\x.exe",
      { "C:\\p\\node_modules\\.bin\\x.exe": "", "D:\\x.exe": "" },
      { Path: "C:\\p\\node_modules\\.bin;D:\\" },
    ],
    ["./bin/x", "C:\\work\\bin\\x.exe", { "C:\\work\\bin\\x": "", "C:\\work\\bin\\x.exe": "" }],
    ["\\\\?\\C:\\a b\\x", "\\\\?\\C:\\a b\\x.exe", { "\\\\?\\C:\\a b\\x.exe": "" }],
  ])("%s is %s", (command, file, texts, more) => {
    const args = ["a b", "\\\\?\\C:\\", "%PATH%", "two\nlines"];
    expect(onWindows(texts, command, args, more)).toEqual({ command: file, args, verbatim: false });
  });

  test.each([
    ["x", { "C:\\last\\x": "", "C:\\last\\x.js": "", "C:\\work\\x.exe": "" }],
    ["C:\\last\\x", { "C:\\last\\x": "" }],
    ["x", {}],
  ])("%s is not found", (command, texts) => {
    expect(onWindows(texts, command)).toBeUndefined();
  });

  test("is found in a folder that heeds case", () => {
    const files = { ...hostOf("win32", {}).files, isFile: (path: string) => path === "C:\\last\\x.exe" };
    const launch = { command: "x", args: [], cwd, env: { ...env, PATHEXT: ".COM;.EXE" } };
    expect(findProgram(launch, { platform: "win32", node, files })?.command).toBe("C:\\last\\x.exe");
  });

  const file = "node_modules\\srv\\cli.js";
  const folder = "C:\\R&D;x\\npm";
  test.each<[string, string, string, string, string[]?]>([
    ["npm", "srv.cmd", npmShim(file), file],
    [
      "npm, with options",
      "srv.cmd",
      npmShim(file, " --no-warnings --max-old-space-size=99"),
      file,
      ["--no-warnings", "--max-old-space-size=99"],
    ],
    ["pnpm and Yarn", "srv.cmd", pnpmShim(`global\\5\\${file}`), `global\\5\\${file}`],
    ["corepack", "srv.cmd", pnpmShim("..\\dist\\srv.js"), "..\\dist\\srv.js"],
    ["Node itself", "npx.cmd", nodesOwn, "node_modules\\npm\\bin\\npx-cli.js"],
    [
      "a global npm",
      "npx.cmd",
      npmShim("node_modules\\npm\\bin\\npx-cli.js"),
      "node_modules\\npm\\bin\\npx-cli.js",
    ],
  ])("a shim of %s is read, and the host's Node runs its file", (_of, name, text, shimmed, options = []) => {
    const target = shimmed.startsWith("..\\") ? `C:\\R&D;x\\${shimmed.slice(3)}` : `${folder}\\${shimmed}`;
    const args = ["-y", "a b&c", "two\nlines"];
    expect(onWindows({ [`${folder}\\${name}`]: text, [target]: "" }, name.slice(0, 3), args)).toEqual({
      command: node,
      args: [...options, target, ...args],
      verbatim: false,
    });
  });

  test.each([
    ["whose file is missing", "srv.cmd", npmShim(file)],
    ["of Volta", "npx.cmd", volta],
    ["of Node without its npm", "npx.cmd", nodesOwn],
    ["of another interpreter", "srv.bat", npmShim(file).replace("_prog=node", "_prog=python")],
  ])(
    "a batch file %s runs in the command interpreter, which gets its arguments as written",
    (_what, name, text) => {
      const path = `${folder}\\${name}`;
      const texts = { [path]: text, ...(name === "srv.bat" && { [`${folder}\\${file}`]: "" }) };
      const args = ["a b", "%NAME%", 'say "x"&', "\\\\?\\C:\\"];
      expect(onWindows(texts, name.slice(0, 3), args)).toEqual(inShell(path, args));
      expect(() => onWindows(texts, name.slice(0, 3), ["a\r\nb"])).toThrow("line break");
    },
  );
});

describe("what READMEs of servers tell users to paste", () => {
  const bin = "C:\\Program Files\\nodejs";
  const npx = `${bin}\\node_modules\\npm\\bin\\npx-cli.js`;
  const exes = ["uvx", "uv", "docker", "node"].map((name) => [`${bin}\\${name}.exe`, ""]);
  const texts = { [`${bin}\\npx.cmd`]: nodesOwn, [npx]: "", [shell]: "", ...Object.fromEntries(exes) };
  test.each<[string, string[]]>([
    ["npx", ["-y", "@modelcontextprotocol/server-filesystem", "C:\\Users\\me\\R&D (new)"]],
    ["npx", ["-y", "@upstash/context7-mcp", "--api-key", "a%b^c"]],
    ["npx.cmd", ["-y", "@notionhq/notion-mcp-server"]],
    ["cmd", ["/c", "npx", "-y", "@modelcontextprotocol/server-sequential-thinking"]],
    ["npx", ["@playwright/mcp@latest"]],
    ["cmd", ["/c", "npx", "-y", "chrome-devtools-mcp@latest"]],
    ["npx", ["@eslint/mcp@latest"]],
    ["npx", ["-y", "firecrawl-mcp"]],
    ["npx", ["-y", "mcp-remote", "https://mcp.example.com/sse", "--header", "Authorization:${TOKEN}"]],
    ["uvx", ["mcp-server-git", "--repository", "C:\\my repos\\app"]],
    ["uv", ["--directory", "C:\\ABSOLUTE\\PATH\\weather", "run", "weather.py"]],
    [
      "docker",
      ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
    ],
  ])("%s %j starts on Windows without a batch file", (name, args) => {
    const Path = `${bin}\\;C:\\Windows\\System32`;
    const started = onWindows(texts, name, args, { Path });
    if (/^npx/.test(name)) expect(started).toEqual({ command: node, args: [npx, ...args], verbatim: false });
    else
      expect(started).toEqual({
        command: name === "cmd" ? shell : `${bin}\\${name}.exe`,
        args,
        verbatim: false,
      });
  });
});

describe.each(["linux", "darwin"] as const)("a program on %s", (platform) => {
  const find = (command: string, texts: Record<string, string>, more = {}) => {
    const launch = {
      command,
      args: ["a\nb"],
      cwd: "/work",
      env: { PATH: "/p/node_modules/.bin:/a:/b", ...more },
    };
    return findProgram(launch, hostOf(platform, texts))?.command;
  };

  test("is looked for in the launch's own PATH, and a file that cannot be run counts last", () => {
    const texts = { "/p/node_modules/.bin/x": "", "/b/x": "", "/b/x.cmd": "", "/a/y.txt": "", "/b/a\\b": "" };
    expect(find("x", texts)).toBe("/b/x");
    expect(find("x", { ...texts, "/a/x": "" })).toBe("/a/x");
    expect(find("y.txt", texts)).toBe("/a/y.txt");
    expect(find("a\\b", texts)).toBe("/b/a\\b");
    expect(find("x", { ...texts, "/work/x": "" }, { PATH: undefined, Path: "/b" })).toBeUndefined();
    expect(find("x", { "/work/x": "", "/bin/x": "" }, { PATH: undefined })).toBe("/bin/x");
    expect(find("./x", { "/work/x": "" })).toBe("/work/x");
    expect(find("/gone", texts)).toBeUndefined();
  });
});
