/** Digests whose recommendations have not come yet. */

export const DIGESTS = "**/papers/recommended/digest?*";

const AWAITED = { count: 0, message: "No recommendations", pool_status: "ready", recommendations: [] };

/** The digest that the page asks for, without what its interests have by now. */
export async function withoutPapers(route) {
  const headers = { ...route.request().headers(), "sec-fetch-site": "same-origin" };
  const digest = await (await route.fetch({ headers })).json();
  return { ...digest, total: 0, interests: digest.interests.map((each) => ({ ...each, ...AWAITED })) };
}
