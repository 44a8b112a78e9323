// llama.cpp's chat layer as one C function: a JSON object in, a JSON object out.
//
// {"do": "open", "template", "bos", "eos"}                      the template that "apply" uses from here on
// {"do": "apply", "messages", "tools", …}                       prompt, grammar and parser of an answer
// {"do": "grammar", "schema"}                                   a JSON Schema as GBNF
// {"do": "begin", "reader", "format"}                           reads an answer in the format that "apply" gave
// {"do": "read", "reader", "text", "is_last"}                   what its new text adds to content, reasoning and tool calls
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

common_chat_templates_ptr opened;
bool                      thinks;      // the opened template can
bool                      is_special;  // it has a parser of its own, which may change the messages

json array_of(const std::vector<std::string> & texts) {
    json array = json::array();
    for (const auto & text : texts) {
        array.push_back(text);
    }
    return array;
}

bool has_own_parser(const json & request) {
    const std::string             source = common_chat_templates_source(opened.get());
    common_chat_template          probe(source, request.at("bos"), request.at("eos"));
    autoparser::generation_params params;
    params.add_generation_prompt = true;
    params.messages              = json::array();
    params.messages.push_back({{"role", "user"}, {"content", "x"}});
    return common_chat_try_specialized_template(probe, source, params).has_value();
}

json open_template(const json & request) {
    try {
        opened = common_chat_templates_init(nullptr, request.at("template"), request.at("bos"), request.at("eos"));
    } catch (const std::exception & error) {
        const std::string logged = skein_take_logged_error();  // the exception comes without its words
        throw std::runtime_error(logged.empty() ? error.what() : logged);
    }
    try {
        thinks     = common_chat_templates_support_enable_thinking(opened.get());
        is_special = has_own_parser(request);
    } catch (const std::exception &) {  // it refuses such a chat
        thinks     = false;
        is_special = true;
    }
    json caps = json::object();
    for (const auto & [name, is_there] : common_chat_templates_get_caps(opened.get())) {
        caps[name] = is_there;
    }
    return json{{"caps", caps}, {"thinks", thinks}};
}

common_chat_templates_inputs inputs_of(const json & request) {
    common_chat_templates_inputs inputs;
    inputs.messages              = common_chat_msgs_parse_oaicompat(request.at("messages"));
    inputs.tools                 = common_chat_tools_parse_oaicompat(request.value("tools", json()));
    inputs.tool_choice           = common_chat_tool_choice_parse_oaicompat(request.value("tool_choice", "auto"));
    inputs.json_schema           = request.value("json_schema", "");
    inputs.parallel_tool_calls   = request.contains("parallel_tool_calls")
                                       ? request.at("parallel_tool_calls").get<bool>()
                                       : common_chat_templates_get_caps(opened.get())["supports_parallel_tool_calls"];
    inputs.add_generation_prompt = request.value("add_generation_prompt", true);
    inputs.reasoning_format      = common_reasoning_format_from_name(request.value("reasoning_format", "auto"));
    inputs.enable_thinking       = request.value("enable_thinking", thinks);
    if (request.contains("continue_final_message")) {
        inputs.continue_final_message = common_chat_continuation_parse(request.at("continue_final_message"));
        inputs.add_generation_prompt  = false;
    }
    // Without looking for how the template writes answers, which takes most of the time.
    inputs.force_pure_content = request.value("is_prompt_only", false) && !is_special &&
                                inputs.continue_final_message == COMMON_CHAT_CONTINUATION_NONE;
    const json variables = request.value("variables", json::object());
    for (const auto & [name, value] : variables.items()) {
        inputs.chat_template_kwargs[name] = value.dump();
    }
    return inputs;
}

json apply(const json & request) {
    if (!opened) {
        throw std::runtime_error("no template is open");
    }
    const auto inputs = inputs_of(request);
    const auto made   = common_chat_templates_apply(opened.get(), inputs);
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
    explicit reader(const json & format) {
        params.format            = static_cast<common_chat_format>(format.at("format").get<int>());
        params.generation_prompt = format.at("generation_prompt");
        const std::string parser = format.at("parser");
        if (!parser.empty()) {
            params.parser.load(parser);
        }
        if (format.at("is_continuation").get<bool>()) {
            told = parsed(true);  // its beginning was in the prompt
        }
    }

    json read(const std::string & new_text, bool is_last) {
        text += new_text;
        const auto now = parsed(!is_last);
        json calls = json::array();
        for (size_t index = 0; index < now.tool_calls.size(); index++) {
            add_call(calls, index, now, is_last);
        }
        json delta{
            {"content", added(told.content, now.content)},
            {"reasoning", added(told.reasoning_content, now.reasoning_content)},
            {"tool_calls", calls},
        };
        keep_longer(told.content, now.content);
        keep_longer(told.reasoning_content, now.reasoning_content);
        return delta;
    }

  private:
    common_chat_parser_params params;
    common_chat_msg           told;
    std::string               text;

    common_chat_msg parsed(bool is_partial) const { return common_chat_parse(text, is_partial, params); }

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
