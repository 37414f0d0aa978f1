/** True for `node` with any path, with or without Windows' extension. */
export function isNode(command: string): boolean {
  return /^(?:.*[/\\])?node(?:\.exe)?$/i.test(command);
}

/** Options that make `node` run a string or a package.json script instead of a file. */
const withoutScript = /^(?:-e|--eval|-p|-pe|--print|--run|-i|--interactive)(?:=|$)/;

/** Options of `node` whose next argument is a module to load first, not the file to run. */
const preloading = /^(?:-r|--require|--import|--(?:experimental-)?loader)$/;

/**
 * The index of the argument that names the file to run; -1 if none certainly does. After options, which may take a value,
 * it is the first argument with the extension of a script.
 */
export function findNodeScript(args: readonly unknown[]): number {
  for (let index = 0; index < args.length; index++) {
    const argument = String(args[index]);
    if (argument === "--") return index + 1 < args.length ? index + 1 : -1;
    // A lone `-` is stdin.
    if (argument === "-" || withoutScript.test(argument)) return -1;
    if (preloading.test(argument)) index++;
    else if (!argument.startsWith("-") && (index === 0 || /\.[cm]?[jt]s$/.test(argument))) return index;
  }
  return -1;
}
