/** The function of npm-packlist 10, which ships no types. */
declare module "npm-packlist" {
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default function packlist(tree: object, options?: object): Promise<string[]>;
}
