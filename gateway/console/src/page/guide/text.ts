/** What stands around the guide. */
export const guideText = { contents: "Sections of the guide" };
