/** How cross-spawn 7 quotes for the command interpreter of Windows; it ships no types. */
declare module "cross-spawn/lib/util/escape.js" {
  const quoting: {
    command(file: string): string;
    /** `twice`: for what a batch file passes on. */
    argument(text: string, twice?: boolean): string;
  };
  // biome-ignore lint/style/noDefaultExport: that is what the package has.
  export default quoting;
}
