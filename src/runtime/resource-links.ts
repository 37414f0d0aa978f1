import { isRecord } from "../data/parse-json.ts";

/** How many links are remembered, of those that results had last. */
const mostLinks = 10_000;
const longestUri = 8192;

/** The makers of the links that results had, by URI: a link need not be listed. */
export class ResourceLinks<Maker> {
  readonly #makers = new Map<string, Maker>();

  /** Notes the `resource_link`s of a result. */
  note(content: readonly unknown[], maker: Maker): void {
    for (const block of content) {
      const { type, uri } = isRecord(block) ? block : {};
      if (type !== "resource_link" || typeof uri !== "string" || uri.length > longestUri) continue;
      this.#makers.delete(uri);
      this.#makers.set(uri, maker);
      const [oldest] = this.#makers.keys();
      if (oldest !== undefined && this.#makers.size > mostLinks) this.#makers.delete(oldest);
    }
  }

  /** The maker of the last link with this URI. */
  makerOf(uri: string): Maker | undefined {
    return this.#makers.get(uri);
  }
}
