// Requests to the server of the page.

/** Identifies this page: a newer question of a page replaces its older one. */
const page = Math.random().toString(36).slice(2);

/**
 * The answer to a GET, or, with a question, to a POST; throws an Error with the server's message if it refuses.
 *
 * Questions under another identity neither replace the page's own questions nor are replaced by them.
 */
export async function ask(path, question = undefined, signal = undefined, asker = "") {
  const headers = { "x-page": page + asker };
  const options = question === undefined ? { headers, signal } : {
    method: "POST", headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(question), signal,
  };
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The board’s server does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({ error: `The server failed (${response.status}).` }));
  if (response.status === 409) throw new DOMException(answer.error, "AbortError");
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
