/**
 * Address of the project's repository on its host, without a slash at the end, such as "https://github.com/acme/trailblaze".
 * `undefined` until it has one.
 */
export const projectHome: string | undefined = undefined;

/** The address of a file of the repository: its path there, with `/`, and perhaps an anchor. */
export const addressOf = (home: string, path: string) => `${home}/blob/HEAD/${path}`;

/** The address of a file of a version that npm has, which needs no home. */
export const addressInVersion = (version: string, path: string) =>
  `https://unpkg.com/trailblaze@${version}/${path}`;
