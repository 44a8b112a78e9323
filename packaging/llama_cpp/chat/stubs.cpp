// What llama.cpp's chat layer takes from the rest of llama.cpp. It asks for a model's tokens only where a template
// comes without its own, which does not happen here.

#include "notes.h"
#undef fprintf

#include "common.h"
#include "json.h"
#include "log.h"

#include <cctype>
#include <cstdarg>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace {

std::vector<std::string> notes;
std::string              logged_error;

std::string formatted(const char * format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    const int size = vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(size > 0 ? size : 0, '\0');
    vsnprintf(&text[0], text.size() + 1, format, arguments);
    return text;
}

[[noreturn]] void no_model() {
    throw std::logic_error("the chat layer has no model");
}

}  // namespace

void skein_note(FILE *, const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    notes.push_back(formatted(format, arguments));
    va_end(arguments);
}

std::vector<std::string> skein_take_notes() {
    std::vector<std::string> taken;
    taken.swap(notes);
    logged_error.clear();
    return taken;
}

std::string skein_take_logged_error() {
    return logged_error;
}

// The log: errors only, of which the first is the telling one.

int common_log_get_verbosity_thold(void) {
    return LOG_LEVEL_ERROR;
}

struct common_log * common_log_main() {
    return nullptr;
}

void common_log_add(struct common_log *, enum ggml_log_level, const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (logged_error.empty()) {
        logged_error = formatted(format, arguments);
    }
    va_end(arguments);
}

// ggml: a failed assertion ends what was asked, not the process.

extern "C" void ggml_abort(const char *, int, const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const std::string reason = formatted(format, arguments);
    va_end(arguments);
    throw std::logic_error(reason);
}

// Text functions of common.cpp.

std::string string_format(const char * format, ...) {
    va_list arguments;
    va_start(arguments, format);
    std::string text = formatted(format, arguments);
    va_end(arguments);
    return text;
}

std::string string_strip(const std::string & text) {
    size_t start = 0;
    size_t end   = text.size();
    while (start < end && std::isspace((unsigned char) text[start])) {
        start++;
    }
    while (end > start && std::isspace((unsigned char) text[end - 1])) {
        end--;
    }
    return text.substr(start, end - start);
}

std::string string_join(const std::vector<std::string> & values, const std::string & separator) {
    std::ostringstream joined;
    for (size_t i = 0; i < values.size(); i++) {
        joined << (i ? separator : "") << values[i];
    }
    return joined.str();
}

std::vector<std::string> string_split(const std::string & text, const std::string & delimiter) {
    std::vector<std::string> parts;
    size_t                   start = 0;
    for (size_t end; (end = text.find(delimiter, start)) != std::string::npos; start = end + delimiter.size()) {
        parts.push_back(text.substr(start, end - start));
    }
    parts.push_back(text.substr(start));
    return parts;
}

std::string string_repeat(const std::string & text, size_t times) {
    std::string repeated;
    repeated.reserve(text.size() * times);
    while (times--) {
        repeated += text;
    }
    return repeated;
}

void string_replace_all(std::string & text, const std::string & search, const std::string & replacement) {
    for (size_t at = 0; !search.empty() && (at = text.find(search, at)) != std::string::npos; at += replacement.size()) {
        text.replace(at, search.size(), replacement);
    }
}

std::string regex_escape(const std::string & text) {
    static const std::regex special("[.^$|()*+?\\[\\]{}\\\\]");
    return std::regex_replace(text, special, "\\$&");
}

// The model.

std::vector<llama_token> common_tokenize(const struct llama_vocab *, const std::string &, bool, bool) { no_model(); }
std::string common_token_to_piece(const struct llama_vocab *, llama_token, bool) { no_model(); }

extern "C" {
const char * llama_model_chat_template(const struct llama_model *, const char *) { no_model(); }
const struct llama_vocab * llama_model_get_vocab(const struct llama_model *) { no_model(); }
llama_token llama_vocab_bos(const struct llama_vocab *) { no_model(); }
llama_token llama_vocab_eos(const struct llama_vocab *) { no_model(); }
bool llama_vocab_get_add_bos(const struct llama_vocab *) { no_model(); }
bool llama_vocab_get_add_eos(const struct llama_vocab *) { no_model(); }
int32_t llama_chat_apply_template(const char *, const struct llama_chat_message *, size_t, bool, char *, int32_t) { no_model(); }
}
