/** Linear, where emulate's tracker is another: lists of comments begin with the newest, and there is no direction to ask for;
 * the addresses of issues have the workspace. */
import { json } from "./answers.mjs";

const WORKSPACE = "emulate";
const OTHER_END = { first: "last", last: "first" };

/** The query that gets the same comments of emulate, which lists the oldest first. */
function turned(query) {
  return query
    .replace(/\bcomments(?=\s*\{)/g, "comments(first: 50)") // as without arguments
    .replace(/\bcomments\((first|last):/g, (_, end) => `comments(${OTHER_END[end]}:`);
}

/** answer(Request) of emulate's tracker, as Linear gives it. */
export function asLinear(answer) {
  return async (request) => {
    const { method, url, headers } = request;
    if (method !== "POST" || new URL(url).pathname !== "/graphql") return answer(request);
    const asked = await request.json();
    const body = JSON.stringify({ ...asked, query: turned(asked.query) });
    const answered = await answer(new Request(url, { method, headers, body }));
    const told = await answered.json();
    const issue = told.data?.issue;
    issue?.comments?.nodes.reverse();
    if (issue?.url) issue.url = issue.url.replace("/issue/", `/${WORKSPACE}/issue/`);
    return json(answered.status, told);
  };
}
