/** Texts of Today. */
export const todayText = {
  learned: (interest: string) => `What ten ratings taught ${interest}`,
  title: "Today",
  day: (day: string) => `${day} (UTC)`,
  week: "Last seven days",
  period: "Period",
  periods: { today: "Today", week: "7 days" },
  summary: (papers: string, interests: string, left: string) => `${papers} for ${interests} · ${left} to rate`,
  allRated: (papers: string, interests: string) => `${papers} for ${interests} · all rated`,
  refresh: "Look for new papers",
  refreshing: (percent: number) => `Computing … ${percent} %`,
  refreshFailed: "The computation failed",
  noInterests: "Say what your team works on, and papers about it appear here.",
  nothingToday: "No new paper fits your interests today.",
  older: "The paper of your message is not among these: open it",
  asked: (signal: string) => `Your message said: ${signal.toLowerCase()}.`,
  everyInterest: "Show all interests",
  nothingOfInterest: "Nothing was recommended for this interest in the last seven days.",
  nothingWeek: "Nothing was recommended in the last seven days.",
  building: "The first recommendations are being computed. This takes about a minute.",
  actions: { like: "Like", save: "Save", dislike: "Dislike", dismiss: "Dismiss" },
  rated: { like: "Liked", save: "Saved", dislike: "Disliked", dismiss: "Dismissed", implemented: "Implemented" },
  why: "Why",
  plan: "Plan an experiment",
  planned: "Planned",
  abstract: "Abstract",
  keys: "Keys: j and k move, l likes, d dislikes, s saves, x dismisses, w explains, u takes back.",
};

/** Why a paper was recommended. */
export const whyText = {
  title: "Why this paper",
  parts: {
    retrieval: "Words and meaning of the interest",
    preference: "What you have rated",
    recency: "How new it is",
    container: "It can be run in a container",
  },
  matched: "Words of your interest in it",
  near: "Nearest to papers that you rated",
  noExamples: "Nothing that you have rated is like it yet.",
  paper: "Paper",
  signal: "Your signal",
  weight: "Contribution",
  refused: "Your context speaks against it",
};

/** The dialog that plans an experiment. */
export const planText = {
  title: "Plan an experiment",
  name: "Name",
  hypothesis: "Hypothesis",
  submit: "Create experiment",
  done: "The experiment was created.",
};
