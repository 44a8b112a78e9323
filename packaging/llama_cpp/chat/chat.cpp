// llama.cpp's chat layer as one C function: a JSON object in, a JSON object out.
//
// {"do": "open", "template", "tool_template", "bos", "eos"}     the templates that "apply" uses from here on; that for chats
//                                                               with tools is "" where it is the same
// {"do": "apply", "messages", "tools", "has_calls", …}          prompt, grammar and parser of an answer; a template that has no
//                                                               calls of tools does not see the tools, and gets calls of ours
// {"do": "grammar", "schema"}                                   a JSON Schema as GBNF
// {"do": "begin", "reader", "format"}                           reads an answer in the format that "apply" gave
// {"do": "read", "reader", "text", "is_last"}                   what its new text adds to content, reasoning and tool calls;
//                                                               "is_broken": the end of it cannot be read
// {"do": "end", "reader"}
//
// No exception leaves it: what goes wrong is {"error": the reason}. A failed assertion is an exception, too (stubs.cpp).
// One thread only.

#include "chat.h"
#include "chat-auto-parser.h"
#include "json-schema-to-grammar.h"
#include "notes.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef _WIN32
#define SKEIN_API extern "C" __declspec(dllexport)
#else
#define SKEIN_API extern "C" __attribute__((visibility("default")))
#endif

namespace {

using json = common_json;

struct opened_template {
    common_chat_templates_ptr templates;
    std::string               bos, eos;
    bool                      thinks     = false;  // it can
    bool                      is_special = false;  // it has a parser of its own, which may change the messages

    common_chat_template alone() const { return {common_chat_templates_source(templates.get()), bos, eos}; }
};

opened_template opened;
opened_template opened_for_tools;  // without templates where it is the same

json array_of(const std::vector<std::string> & texts) {
    json array = json::array();
    for (const auto & text : texts) {
        array.push_back(text);
    }
    return array;
}

bool has_own_parser(const opened_template & one) {
    const auto                    probe = one.alone();
    autoparser::generation_params params;
    params.add_generation_prompt = true;
    params.messages              = json::array();
    params.messages.push_back({{"role", "user"}, {"content", "x"}});
    return common_chat_try_specialized_template(probe, probe.source(), params).has_value();
}

opened_template opened_from(const std::string & source, const json & request) {
    opened_template one;
    one.bos = request.at("bos");
    one.eos = request.at("eos");
    try {
        one.templates = common_chat_templates_init(nullptr, source, one.bos, one.eos);
    } catch (const std::exception & error) {
        const std::string logged = skein_take_logged_error();  // the exception comes without its words
        throw std::runtime_error(logged.empty() ? error.what() : logged);
    }
    try {
        one.thinks     = common_chat_templates_support_enable_thinking(one.templates.get());
        one.is_special = has_own_parser(one);
    } catch (const std::exception &) {  // it refuses such a chat
        one.thinks     = false;
        one.is_special = true;
    }
    return one;
}

json open_template(const json & request) {
    opened                     = opened_from(request.at("template"), request);
    opened_for_tools           = {};
    const std::string for_tools = request.at("tool_template");
    if (!for_tools.empty()) {
        try {
            opened_for_tools = opened_from(for_tools, request);
        } catch (const std::exception &) {  // then the other is used, as llama.cpp does
        }
    }
    return json::object();
}

common_chat_templates_inputs inputs_of(const opened_template & one, const json & request) {
    common_chat_templates_inputs inputs;
    inputs.messages              = common_chat_msgs_parse_oaicompat(request.at("messages"));
    inputs.tools                 = common_chat_tools_parse_oaicompat(request.value("tools", json()));
    inputs.tool_choice           = common_chat_tool_choice_parse_oaicompat(request.value("tool_choice", "auto"));
    inputs.json_schema           = request.value("json_schema", "");
    inputs.parallel_tool_calls   = request.contains("parallel_tool_calls")
                                       ? request.at("parallel_tool_calls").get<bool>()
                                       : common_chat_templates_get_caps(one.templates.get())["supports_parallel_tool_calls"];
    inputs.add_generation_prompt = request.value("add_generation_prompt", true);
    inputs.reasoning_format      = common_reasoning_format_from_name(request.value("reasoning_format", "auto"));
    inputs.enable_thinking       = request.value("enable_thinking", one.thinks);
    if (request.contains("continue_final_message")) {
        inputs.continue_final_message = common_chat_continuation_parse(request.at("continue_final_message"));
        inputs.add_generation_prompt  = false;
    }
    // Without looking for how the template writes answers, which takes most of the time.
    inputs.force_pure_content = request.value("is_prompt_only", false) && !one.is_special &&
                                inputs.continue_final_message == COMMON_CHAT_CONTINUATION_NONE;
    const json variables = request.value("variables", json::object());
    for (const auto & [name, value] : variables.items()) {
        inputs.chat_template_kwargs[name] = value.dump();
    }
    return inputs;
}

// For a template that does not say how its model writes calls of tools: as Hermes and Qwen 2.5 do, in JSON between tags.
void add_calls(common_chat_params & made, const opened_template & one, const common_chat_templates_inputs & inputs) {
    const auto             tmpl = one.alone();
    autoparser::autoparser found;
    found.analyze_template(tmpl);
    found.tools                       = {};
    found.tools.format.mode           = autoparser::tool_format::JSON_NATIVE;
    found.tools.format.per_call_start = "<tool_call>";
    found.tools.format.per_call_end   = "</tool_call>";
    found.jinja_caps.supports_tool_calls = true;

    autoparser::generation_params params;
    params.tools               = common_chat_tools_to_json_oaicompat(inputs.tools);
    params.tool_choice         = inputs.tool_choice;
    params.parallel_tool_calls = inputs.parallel_tool_calls;
    params.reasoning_format    = inputs.reasoning_format;
    params.enable_thinking     = inputs.enable_thinking;

    const auto parser = found.build_parser(params, made.generation_prompt);
    made.parser       = parser.save();
    made.format       = COMMON_CHAT_FORMAT_PEG_NATIVE;
    made.grammar_lazy = inputs.tool_choice == COMMON_CHAT_TOOL_CHOICE_AUTO;
    made.grammar      = build_grammar(
        [&](const common_grammar_builder & builder) { parser.build_grammar(builder, made.grammar_lazy); });
    made.grammar_triggers = {{COMMON_GRAMMAR_TRIGGER_TYPE_WORD, found.tools.format.per_call_start}};
    made.preserved_tokens.push_back(found.tools.format.per_call_start);
    made.preserved_tokens.push_back(found.tools.format.per_call_end);
}

common_chat_params applied(const opened_template & one, const common_chat_templates_inputs & inputs, bool has_calls) {
    if (has_calls || inputs.tools.empty()) {
        return common_chat_templates_apply(one.templates.get(), inputs);
    }
    auto without_tools = inputs;
    without_tools.tools.clear();
    auto made = common_chat_templates_apply(one.templates.get(), without_tools);
    if (inputs.tool_choice != COMMON_CHAT_TOOL_CHOICE_NONE && inputs.json_schema.empty() && !inputs.force_pure_content) {
        add_calls(made, one, inputs);
    }
    return made;
}

json apply(const json & request) {
    if (!opened.templates) {
        throw std::runtime_error("no template is open");
    }
    const bool has_tools = !request.value("tools", json::array()).empty();
    const auto & one     = has_tools && opened_for_tools.templates ? opened_for_tools : opened;
    const auto inputs    = inputs_of(one, request);
    const auto made      = applied(one, inputs, request.value("has_calls", true));
    json triggers = json::array();
    for (const auto & trigger : made.grammar_triggers) {
        triggers.push_back({{"type", (int) trigger.type}, {"value", trigger.value}});
    }
    return json{
        {"prompt", made.prompt},
        {"grammar", made.grammar},
        {"is_lazy", made.grammar_lazy},
        {"triggers", triggers},
        {"preserved_tokens", array_of(made.preserved_tokens)},
        {"stops", array_of(made.additional_stops)},
        {"generation_prompt", made.generation_prompt},
        {"thinking_start", made.thinking_start_tag},
        {"thinking_ends", array_of(made.thinking_end_tags)},
        {"format", json{
            {"format", (int) made.format},
            {"parser", made.parser},
            {"generation_prompt", made.generation_prompt},
            {"is_continuation", inputs.continue_final_message != COMMON_CHAT_CONTINUATION_NONE},
        }},
    };
}

// Reading answers.

std::string added(const std::string & known, const std::string & now) {
    return now.size() > known.size() && now.compare(0, known.size(), known) == 0 ? now.substr(known.size()) : "";
}

class reader {
  public:
    explicit reader(const json & format) : params(params_of(format)) {
        if (format.contains("calls")) {
            params_of_calls = params_of(format.at("calls"));
        }
        if (format.at("is_continuation").get<bool>()) {
            told = parsed("", true);  // its beginning was in the prompt
        }
    }

    json read(const std::string & new_text, bool is_last) {
        text += new_text;
        bool       is_broken = false;
        const auto now       = is_last ? whole(is_broken) : parsed(text, true);
        json calls = json::array();
        for (size_t index = 0; index < now.tool_calls.size(); index++) {
            add_call(calls, index, now, is_last);
        }
        json delta{
            {"content", added(told.content, now.content)},
            {"reasoning", added(told.reasoning_content, now.reasoning_content)},
            {"tool_calls", calls},
            {"is_broken", is_broken},
        };
        keep_longer(told.content, now.content);
        keep_longer(told.reasoning_content, now.reasoning_content);
        return delta;
    }

  private:
    common_chat_parser_params                params;
    std::optional<common_chat_parser_params> params_of_calls;  // of an answer that is text or calls, but not both
    common_chat_msg                          told;
    std::string                              text;

    static common_chat_parser_params params_of(const json & format) {
        common_chat_parser_params found;
        found.format             = static_cast<common_chat_format>(format.at("format").get<int>());
        found.generation_prompt  = format.at("generation_prompt");
        const std::string parser = format.at("parser");
        if (!parser.empty()) {
            found.parser.load(parser);
        }
        return found;
    }

    common_chat_msg parsed(const std::string & part, bool is_partial) const {
        if (params_of_calls) {
            try {
                const auto found = common_chat_parse(part, is_partial, params);
                if (!is_partial || !found.content.empty()) {
                    return found;
                }
            } catch (const std::exception &) {  // then it has calls
            }
        }
        return common_chat_parse(part, is_partial, params_of_calls ? *params_of_calls : params);
    }

    // Of an answer that its model should not have written, what can be read, however it came in pieces.
    common_chat_msg whole(bool & is_broken) const {
        try {
            return parsed(text, false);
        } catch (const std::exception &) {
            is_broken = true;
        }
        size_t good = 0;
        size_t bad  = text.size() + 1;
        while (bad - good > 1) {
            const size_t middle = good + (bad - good) / 2;
            (fits(text.substr(0, middle)) ? good : bad) = middle;
        }
        return parsed(text.substr(0, good), true);
    }

    bool fits(const std::string & part) const {
        return fits(part, params) || (params_of_calls && fits(part, *params_of_calls));
    }

    static bool fits(const std::string & part, const common_chat_parser_params & params) {
        common_peg_parse_context context(params.generation_prompt + part, COMMON_PEG_PARSE_FLAG_LENIENT);
        return params.parser.empty() || !params.parser.parse(context).fail();
    }

    static void keep_longer(std::string & known, const std::string & now) {
        if (now.size() > known.size() && now.compare(0, known.size(), known) == 0) {
            known = now;
        }
    }

    // A name may still grow while nothing follows it.
    void add_call(json & calls, size_t index, const common_chat_msg & now, bool is_last) {
        const auto & call     = now.tool_calls[index];
        const bool   is_final = is_last || index + 1 < now.tool_calls.size();
        json         delta{{"index", index}, {"id", ""}, {"name", ""}};
        const bool   is_new = told.tool_calls.size() <= index;
        if (is_new) {
            if (call.name.empty() || (call.arguments.empty() && !is_final) || told.tool_calls.size() < index) {
                return;
            }
            told.tool_calls.push_back({call.name, "", call.id});
            delta["id"]   = call.id;
            delta["name"] = call.name;
        }
        auto &            known     = told.tool_calls[index].arguments;
        const std::string arguments = added(known, call.arguments);
        delta["arguments"] = arguments;
        known += arguments;
        if (is_new || !arguments.empty()) {
            calls.push_back(delta);
        }
    }
};

std::map<std::string, reader> readers;

json answer(const json & request) {
    const std::string what = request.at("do");
    if (what == "open") {
        return open_template(request);
    }
    if (what == "apply") {
        return apply(request);
    }
    if (what == "grammar") {
        return json{{"grammar", json_schema_to_grammar(json::parse(request.at("schema")))}};
    }
    const std::string name = request.at("reader");
    if (what == "begin") {
        readers.erase(name);
        readers.emplace(name, reader(request.at("format")));
        return json::object();
    }
    if (what == "end") {
        readers.erase(name);
        return json::object();
    }
    return readers.at(name).read(request.at("text"), request.at("is_last").get<bool>());
}

char * copied(const std::string & text) {
    char * copy = static_cast<char *>(std::malloc(text.size() + 1));
    if (copy) {
        std::memcpy(copy, text.c_str(), text.size() + 1);
    }
    return copy;
}

std::string answered(const std::string & request) {
    skein_take_notes();
    try {
        json made = answer(json::parse(request));
        made["notes"] = array_of(skein_take_notes());
        return made.dump_safe();
    } catch (const std::exception & error) {
        return json{{"error", error.what()}}.dump_safe();
    }
}

}  // namespace

// The caller frees the text with skein_chat_free. NULL: there is no memory left.
SKEIN_API char * skein_chat(const char * request, size_t size) {
    try {
        return copied(answered(std::string(request, size)));
    } catch (...) {
        return nullptr;
    }
}

SKEIN_API void skein_chat_free(char * text) {
    std::free(text);
}
