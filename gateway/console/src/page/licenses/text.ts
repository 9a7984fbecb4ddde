/** Texts of the page of licences. */
export const licensesText = {
  title: "Licences",
  lead: "The console contains code of these packages. Their authors permit it under the licences below.",
};
