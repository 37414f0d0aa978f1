/** True for `node` with any path, with or without Windows' extension. */
export function isNode(command: string): boolean {
  return /^(?:.*[/\\])?node(?:\.exe)?$/i.test(command);
}

/** Options of `node` whose value is the next argument, unless it follows a `=`. */
const takingValue = new Set(
  `-r --require --import --loader --experimental-loader -C --conditions --env-file --env-file-if-exists --title
  --input-type --experimental-default-type --icu-data-dir --openssl-config --redirect-warnings --disable-warning
  --disable-proto --dns-result-order --unhandled-rejections --trace-event-categories --trace-event-file-pattern
  --trace-require-module --diagnostic-dir --report-directory --report-dir --report-filename --report-signal
  --heapsnapshot-near-heap-limit --heapsnapshot-signal --cpu-prof-dir --cpu-prof-name --cpu-prof-interval
  --heap-prof-dir --heap-prof-name --heap-prof-interval --max-http-header-size --secure-heap --secure-heap-min
  --snapshot-blob --inspect-port --inspect-publish-uid --stack-trace-limit --tls-cipher-list --tls-keylog
  --network-family-autoselection-attempt-timeout --use-largepages --v8-pool-size --watch-path --allow-fs-read
  --allow-fs-write --localstorage-file`.split(/\s+/),
);

/** Options that make `node` run a string or a package.json script instead of a file. */
const withoutScript = /^(?:-e|--eval|-p|-pe|--print|--run|-i|--interactive)(?:=|$)/;

/** Options of `node` that load a module before the file that it runs. */
const preloading = /^(?:-r|--(?<require>require)|--(?:import|(?:experimental-)?loader))(?:=(?<inline>.*))?$/s;

/** A module that `node` loads before the file that it runs. */
export interface Preload {
  specifier: string;
  /** The index of the argument that has the specifier. */
  index: number;
  /** `-r` finds modules like `require`, the other options like `import`. */
  isRequired: boolean;
}

/** The modules that options of `node` load. Ignores the arguments of the file that it runs. */
export function findPreloads(args: readonly unknown[]): Preload[] {
  const found: Preload[] = [];
  for (let index = 0; index < args.length; index++) {
    const argument = String(args[index]);
    if (argument === "--" || !argument.startsWith("-")) break;
    const option = preloading.exec(argument);
    if (option !== null) {
      const { inline, require } = option.groups ?? {};
      const at = inline === undefined ? index + 1 : index;
      const specifier = inline ?? args[at];
      if (typeof specifier === "string")
        found.push({ specifier, index: at, isRequired: require !== undefined || argument === "-r" });
    }
    if (takingValue.has(argument)) index++;
  }
  return found;
}

/** The index of the argument that names the file to run; -1 if there is none. */
export function findNodeScript(args: readonly unknown[]): number {
  for (let index = 0; index < args.length; index++) {
    const argument = String(args[index]);
    if (argument === "--") return index + 1 < args.length ? index + 1 : -1;
    // A lone `-` is stdin.
    if (argument === "-" || withoutScript.test(argument)) return -1;
    if (!argument.startsWith("-")) return index;
    if (takingValue.has(argument)) index++;
  }
  return -1;
}
