// What features.py is for the clients in Python. In a page, `environment` is in its address and lines go to where it came from.
const inBrowser = typeof window !== "undefined";
const given = inBrowser ? Object.fromEntries(new URLSearchParams(location.search)) : process.env;
export const environment = {
  url: given.SKEIN_CLIENTS_URL, callerUrl: given.SKEIN_CLIENTS_CALLER_URL, key: given.SKEIN_CLIENTS_KEY,
};
export const FOREVER = 30_000;
const TIMEOUT_MS = 120_000, CANCELLED_WITHIN_MS = 20_000;

async function tell(line) {
  const text = JSON.stringify(line);
  if (inBrowser) await fetch("/line", { method: "POST", body: text });
  else console.log(text);
}

export async function run(packageName, cases) {
  await tell({ version: `${packageName} ${given.SKEIN_CLIENTS_VERSION}` });
  for (const [feature, test] of Object.entries(cases)) {
    const tooLate = new Promise((_, reject) => setTimeout(() => reject(new Error("no answer")), TIMEOUT_MS).unref?.());
    let reason = null;
    try {
      await Promise.race([test(), tooLate]);
    } catch (error) {
      reason = `${error.name}: ${error.message} ${error.cause?.message ?? ""} ${error.responseBody ?? ""}`;
    }
    await tell({ feature, reason });
  }
  if (inBrowser) await tell({ done: true });
}

export function check(isSo, what) {
  if (!isSo) throw new Error(String(what));
}

export async function fails(call) {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("no error");
}

export function callsAreRight(calls) {
  const wanted = [
    ["get_weather", { city: "Paris", days: 3, metric: true }],
    ["get_weather", { city: "Rome", days: 2, metric: false }],
  ];
  check(JSON.stringify(calls) === JSON.stringify(wanted), `calls: ${JSON.stringify(calls)}`);
}

export async function checkCancelled(leave) {
  const before = (await metrics())["llamacpp:tokens_predicted_total"];
  await leave();
  const deadline = Date.now() + CANCELLED_WITHIN_MS;
  let now;
  while ((now = await metrics())["llamacpp:requests_processing"]) {
    check(Date.now() < deadline, "the server goes on computing");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const numTokens = now["llamacpp:tokens_predicted_total"] - before;
  check(numTokens < FOREVER - 1000, `the server computed ${numTokens} tokens for nobody`);
}

async function metrics() {
  const headers = { Authorization: `Bearer ${environment.key}` };
  const text = await (await fetch(`${environment.url}/metrics`, { headers })).text();
  const lines = text.split("\n").filter((line) => line && !line.startsWith("#"));
  return Object.fromEntries(lines.map((line) => [line.split(" ")[0], Number(line.split(" ")[1])]));
}
