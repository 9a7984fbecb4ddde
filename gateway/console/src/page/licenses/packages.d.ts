/** The packages whose code is in the console; build.mjs makes this module. */
declare module "console:packages" {
  const packages: readonly {
    name: string;
    version: string;
    license: string; // SPDX expression
    text: string;
  }[];
  export default packages;
}
