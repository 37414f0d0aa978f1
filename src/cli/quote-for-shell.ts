/** A word of a command line that is shown: in quotation marks where a shell would read it as something else. */
export const quoteForShell = (word: string): string =>
  /^[\p{L}\p{N}_@%+=:,./\\-]+$/u.test(word) ? word : JSON.stringify(word);
