/** The address for the router, which unescapes it once. Its parts are unescaped where they are read: twice would make `job one` of the
 * run that is called `job%20one`. So each `%` is escaped once more. */
import { useBrowserLocation, useSearch } from "wouter-preact/use-browser-location";

const escaped = (part: string) => part.replaceAll("%", "%25");

export const usePath: typeof useBrowserLocation = (options) => {
  const [path, navigate] = useBrowserLocation(options);
  return [escaped(path), navigate];
};

export const useQueryText: typeof useSearch = (options) => escaped(useSearch(options));
