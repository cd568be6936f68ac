/** A file of `processes/`, for `startChild`. */
export const processFile = (name: string): URL => new URL(`processes/${name}`, import.meta.url);
