/** npm also allows a leading `-`, which every command line would take for an option. */
const packageNamePart = /^[A-Za-z0-9~][A-Za-z0-9._~-]*$/;
/** npm's own limit for a whole package name. */
const maximumPackageName = 214;

/** True for a name that npm would accept for a package, old ones with capital letters included. */
export function isPackageName(name: string): boolean {
  const [first = "", second, ...rest] = name.split("/");
  if (name.length > maximumPackageName || rest.length > 0) return false;
  if (second === undefined) return packageNamePart.test(first);
  return first.startsWith("@") && packageNamePart.test(first.slice(1)) && packageNamePart.test(second);
}

/** The name and the range of `@acme/jira@^1.2`. */
export function splitSpec(spec: string): { name: string; range: string | undefined } {
  const at = spec.indexOf("@", 1);
  return at < 0 ? { name: spec, range: undefined } : { name: spec.slice(0, at), range: spec.slice(at + 1) };
}

/** `acme/jira` for `@acme/jira`; a name without scope stays. */
export function qualifyPackageName(packageName: string): string {
  return packageName.startsWith("@") ? packageName.slice(1) : packageName;
}
