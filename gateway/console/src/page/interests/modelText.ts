/** Texts of the model of an interest. Today shows them, too: here they come with the first load, and the page's others do not. */
export const modelText = {
  title: "Model",
  lead: "What you rate counts when the model of this interest is fitted to it.",
  refit: "Fit the model now",
  fitting: "Fitting …",
  fitted: (examples: number, positives: number) => `It learned from ${examples} ratings and outcomes, ${positives} of them good.`,
  more: "More of:",
  less: "Less of:",
  since: "Fitted",
  none: "No model is fitted yet: papers are ranked by the words and the meaning of the interest alone. It takes three papers that you like.",
  unknown: "How good it is was not kept when it was fitted. Fit it again to see that.",
  quality: { good: "well", fair: "fairly well", poor: "hardly better than chance" },
  auc: (word: string, pairs: string) =>
    `It tells what you like from other papers ${word}: of 100 pairs it puts the liked paper first in ${pairs}; by chance it would be 50.`,
};
