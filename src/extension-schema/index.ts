export { type Declaration, defaultRoot, type Extension, parseExtension } from "./parse-extension.ts";
