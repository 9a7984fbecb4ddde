/** The guide, which guide.mjs compiles. */
declare module "console:guide" {
  export const pictures: import("../../part/Nodes").Pictures;
  export const sections: readonly {
    name: string; // in its address; empty: the first section
    title: string;
    nodes: readonly import("../../part/markdown").Node[];
  }[];
}

declare module "console:sections" {
  export const names: readonly string[];
}
