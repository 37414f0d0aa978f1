/** True for `node` with any path, with or without Windows' extension. */
export function isNode(command: string): boolean {
  return /^(?:.*[/\\])?node(?:\.exe)?$/i.test(command);
}

/** Options of `node` whose next argument is a module to load first, not the file to run. */
const preloading = /^(?:-r|--require|--import|--(?:experimental-)?loader)$/;

/** The index of the argument that names the file to run: the first one with the extension of a script; -1 if there is none. */
export const findNodeScript = (args: readonly unknown[]): number =>
  args.findIndex(
    (one, index) => /^[^-].*\.[cm]?[jt]s$/.test(String(one)) && !preloading.test(String(args[index - 1])),
  );
