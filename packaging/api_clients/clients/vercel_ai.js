// Vercel's AI SDK with its provider for servers that speak OpenAI's API.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, jsonSchema, Output, streamText, tool } from "ai";
import { z } from "zod";
import { callsAreRight, check, checkCancelled, environment, fails, FOREVER, run } from "./features.js";

const { url, callerUrl, key } = environment;
const model = (baseURL = url, apiKey = key) =>
  createOpenAICompatible({
    name: "skein", baseURL: `${baseURL}/v1`, apiKey, supportsStructuredOutputs: true, includeUsage: true,
  })("any");
const ask = {
  model: model(), maxRetries: 0, maxOutputTokens: 1000, system: "Be brief.",
  messages: [
    { role: "user", content: "Hello!" },
    { role: "assistant", content: "Hello. What is it?" },
    { role: "user", content: "Nothing." },
  ],
};
const weather = z.object({ city: z.string().max(20), days: z.number().int().min(1).max(9), metric: z.boolean() });
const place = z.object({ name: z.string().max(20), kind: z.enum(["town", "village"]) }).meta({ id: "place" });
const trip = z.object({ start: place, stops: z.array(place).max(2), note: z.string().max(20).nullable() });
const get_weather = tool({ description: "The weather of the next days.", inputSchema: weather });
const book_trip = tool({
  description: "A journey from place to place.", inputSchema: jsonSchema(z.toJSONSchema(trip)),
});
const callsOf = (answer) => answer.toolCalls.map((call) => [call.toolName, call.input]);

async function forced(tools, toolChoice) {
  const answer = await generateText({ ...ask, tools, toolChoice });
  check(answer.finishReason === "tool-calls" && answer.toolCalls.length, JSON.stringify(answer.response.body));
  return answer.toolCalls[0];
}

await run("ai", {
  async chat() {
    const answer = await generateText({ ...ask, maxOutputTokens: 8 });
    check(answer.text && answer.usage.outputTokens === 8, JSON.stringify(answer.usage));
  },
  async stream() {
    const answer = streamText({ ...ask, maxOutputTokens: 8, onError() {} });
    let text = "";
    for await (const piece of answer.textStream) text += piece;
    check(text && (await answer.usage).outputTokens === 8, text);
  },
  async tools() {
    weather.parse((await forced({ get_weather }, "required")).input);
  },
  async nested() {
    trip.parse((await forced({ book_trip }, "required")).input);
  },
  async forced() {
    const call = await forced({ get_weather, book_trip }, { type: "tool", toolName: "book_trip" });
    check(call.toolName === "book_trip", call.toolName);
  },
  async parallel() {
    callsAreRight(callsOf(await generateText({ ...ask, model: model(callerUrl), tools: { get_weather } })));
  },
  async streamed() {
    const answer = streamText({ ...ask, model: model(callerUrl), tools: { get_weather }, onError() {} });
    let hasPieces = false;
    for await (const part of answer.fullStream) hasPieces ||= part.type === "tool-input-delta";
    callsAreRight((await answer.toolCalls).map((call) => [call.toolName, call.input]));
    check(hasPieces, "arguments come as a whole");
  },
  async results() {
    const call = { toolCallId: "call_1", toolName: "get_weather" };
    const input = { city: "Paris", days: 3, metric: true };
    const messages = [
      { role: "user", content: "Rain?" },
      { role: "assistant", content: [{ type: "tool-call", ...call, input }] },
      { role: "tool", content: [{ type: "tool-result", ...call, output: { type: "text", value: "Rain." } }] },
    ];
    check((await generateText({ ...ask, messages, maxOutputTokens: 8, tools: { get_weather } })).text, "no text");
  },
  async schema() {
    weather.parse((await generateText({ ...ask, output: Output.object({ schema: weather }) })).output);
  },
  async schema_nested() {
    const schema = jsonSchema(z.toJSONSchema(trip));
    trip.parse((await generateText({ ...ask, output: Output.object({ schema }) })).output);
  },
  async errors() {
    const wrong = await fails(() => generateText({ ...ask, model: model(url, "wrong") }));
    check(wrong.statusCode === 401, wrong);
    const bad = await fails(() => generateText({ ...ask, topP: 99 }));
    check(bad.statusCode === 400, bad);
  },
  async cancel() {
    await checkCancelled(async () => {
      const leaving = new AbortController();
      const answer = streamText({
        ...ask, maxOutputTokens: FOREVER, abortSignal: leaving.signal, onError() {}, onAbort() {},
      });
      for await (const piece of answer.textStream) {
        if (piece) { leaving.abort(); break; }
      }
    });
  },
});
