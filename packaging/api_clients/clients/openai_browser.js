// openai in a page of another origin than the server's.
import OpenAI from "openai";
import { callsAreRight, check, checkCancelled, environment, fails, FOREVER, run } from "./features.js";

const { url, callerUrl, key } = environment;
const client = (baseURL = url, apiKey = key) =>
  new OpenAI({ baseURL: `${baseURL}/v1`, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 });
const ask = {
  model: "any", max_tokens: 1000,
  messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello!" }],
};
const short = { ...ask, max_tokens: 8 };
const object = (properties, more) =>
  ({ type: "object", properties, required: Object.keys(properties), additionalProperties: false, ...more });
const name = { type: "string", maxLength: 20 };
const weather = object({ city: name, days: { type: "integer", minimum: 1, maximum: 9 }, metric: { type: "boolean" } });
const $defs = { place: object({ name, kind: { enum: ["town", "village"] } }) };
const trip = object({ start: { $ref: "#/$defs/place" }, stops: { type: "array", items: { $ref: "#/$defs/place" }, maxItems: 2 } }, { $defs });
const toolOf = (name, parameters) => ({ type: "function", function: { name, parameters } });
const tools = [toolOf("get_weather", weather), toolOf("book_trip", trip)];

function checkWeather(text) {
  const { city, days, metric } = JSON.parse(text);
  check(typeof city === "string" && days >= 1 && days <= 9 && typeof metric === "boolean", text);
}
function checkTrip(text) {
  const { start, stops } = JSON.parse(text);
  for (const { name, kind } of [start, ...stops]) {
    check(typeof name === "string" && ["town", "village"].includes(kind), text);
  }
}
async function forced(tools, tool_choice) {
  const answer = await client().chat.completions.create({ ...ask, tools, tool_choice });
  check(answer.choices[0].finish_reason === "tool_calls", JSON.stringify(answer));
  return answer.choices[0].message.tool_calls[0].function;
}
async function answerOf(name, schema) {
  const response_format = { type: "json_schema", json_schema: { name, schema, strict: true } };
  return (await client().chat.completions.create({ ...ask, response_format })).choices[0].message.content;
}
const callsOf = (message) => message.tool_calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]);

await run("openai", {
  async chat() {
    const answer = await client().chat.completions.create(short);
    check(answer.choices[0].message.content && answer.usage.completion_tokens === 8, JSON.stringify(answer));
  },
  async stream() {
    let text = "";
    for await (const chunk of await client().chat.completions.create({ ...short, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    check(text, "no text");
  },
  async tools() {
    checkWeather((await forced([tools[0]], "required")).arguments);
  },
  async nested() {
    checkTrip((await forced([tools[1]], "required")).arguments);
  },
  async forced() {
    const call = await forced(tools, { type: "function", function: { name: "book_trip" } });
    check(call.name === "book_trip", call.name);
  },
  async parallel() {
    const body = { ...ask, tools: [tools[0]], parallel_tool_calls: true };
    callsAreRight(callsOf((await client(callerUrl).chat.completions.create(body)).choices[0].message));
  },
  async streamed() {
    const body = { ...ask, tools: [tools[0]], parallel_tool_calls: true };
    const answer = await client(callerUrl).chat.completions.stream(body).finalChatCompletion();
    callsAreRight(callsOf(answer.choices[0].message));
  },
  async results() {
    const call = { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city": "Paris"}' } };
    const messages = [
      ...ask.messages,
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1", content: "Rain." },
    ];
    const answer = await client().chat.completions.create({ ...short, messages, tools });
    check(answer.choices[0].message.content, JSON.stringify(answer));
  },
  async schema() {
    checkWeather(await answerOf("weather", weather));
  },
  async schema_nested() {
    checkTrip(await answerOf("trip", trip));
  },
  async logprobs() {
    const answer = await client().chat.completions.create({ ...short, logprobs: true, top_logprobs: 3 });
    check(answer.choices[0].logprobs.content.length === 8, JSON.stringify(answer));
  },
  async n() {
    check((await client().chat.completions.create({ ...short, n: 2 })).choices.length === 2, "not two");
  },
  async errors() {
    const wrong = await fails(() => client(url, "wrong").chat.completions.create(short));
    check(wrong.status === 401, wrong);
    const bad = await fails(() => client().chat.completions.create({ ...short, temperature: "hot" }));
    check(bad.status === 400, bad);
  },
  async cancel() {
    await checkCancelled(async () => {
      for await (const _ of await client().chat.completions.create({ ...ask, max_tokens: FOREVER, stream: true })) break;
    });
  },
});
