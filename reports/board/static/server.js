// Questions to the server that served the page.

/** The answer to a GET, or, with a question, to a POST; an Error with the server's words if it refuses. */
export async function ask(path, question = undefined, signal = undefined) {
  const options = question === undefined ? { signal } : {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(question), signal,
  };
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The board’s server does not answer. Is it still running?");
  }
  const answer = await response.json().catch(() => ({ error: `The server failed (${response.status}).` }));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}
