"""Stands where the suite expects llama-server: takes its flags and becomes `skein serve`.

What Skein has no flag for is done here (a chat template becomes part of the model file) or left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from llama_server_suite.source import Suite
from llama_server_suite.stand_in import projector, stand_in

FOLDER_VARIABLE = "SKEIN_LLAMA_SERVER_SUITE"  # where the suite lies

POOLING_RANK = 4
# The first tokens of the vocabulary that stand for single bytes.
FIM_TOKENS = {
    f"tokenizer.ggml.fim_{part}_token_id": number for number, part in enumerate(("pre", "suf", "mid"), 3)
}

SEEING = "tinygemma3"  # the one model of the suite that takes pictures

# Two of the templates that llama-server knows by name, as its tests expect them.
NAMED_TEMPLATES = {
    "chatml": None,  # what a model without a template gets
    "llama3": (
        "{% for message in messages %}<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n"
        "{{ message.content }}<|eot_id|>{% endfor %}"
        "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
    ),
    "command-r": (
        "{% for message in messages %}<|START_OF_TURN_TOKEN|>"
        "<|{{ {'assistant': 'CHATBOT'}.get(message.role, message.role | upper) }}_TOKEN|>"
        "{{ message.content }}<|END_OF_TURN_TOKEN|>{% endfor %}"
        "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{% endif %}"
    ),
}


def main() -> None:
    options = parse(sys.argv[1:])
    suite = Suite(Path(os.environ[FOLDER_VARIABLE]))
    model = stand_in(suite.models, suite.vocabulary, chat_template(options), metadata(options))
    arguments = serve_arguments(options, model)
    if SEEING in options.hf_repo:
        arguments += ["--mmproj", str(projector(suite.models))]
    command = [sys.executable, "-m", "app", "serve", *arguments]
    os.execv(command[0], command)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """llama-server's flags that mean something here; the others are dropped."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", default="0")
    parser.add_argument("--ctx-size", default="0")
    parser.add_argument("--parallel", default="4")
    parser.add_argument("--threads", default=os.environ.get("LLAMA_ARG_THREADS", "0"))
    parser.add_argument("--kv-unified", action="store_true")
    parser.add_argument("--temp")
    parser.add_argument("--seed")
    parser.add_argument("--n-predict", default="-1")
    parser.add_argument("--alias")
    parser.add_argument("--tags")
    parser.add_argument("--api-key")
    parser.add_argument("--cors-origins", default="*")
    parser.add_argument("--chat-template")
    parser.add_argument("--chat-template-file", type=Path)
    parser.add_argument("--reasoning", default="auto")
    parser.add_argument("--context-shift", action="store_true")
    parser.add_argument("--no-slots", action="store_true")
    parser.add_argument("--metrics", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--embedding", action="store_true")
    parser.add_argument("--reranking", action="store_true")
    parser.add_argument("--pooling")
    parser.add_argument("--ubatch-size")
    parser.add_argument("--sleep-idle-seconds")
    parser.add_argument("--slot-save-path")
    parser.add_argument("--tools")
    parser.add_argument("--mcp-servers-config")
    parser.add_argument("--mcp-servers-json")
    parser.add_argument("--hf-repo", default="")
    return parser.parse_known_args(arguments)[0]


def chat_template(options: argparse.Namespace) -> str | None:
    if options.chat_template_file:
        return str(options.chat_template_file.read_text(encoding="utf-8"))
    if options.chat_template in NAMED_TEMPLATES:
        return NAMED_TEMPLATES[options.chat_template]
    return str(options.chat_template) if options.chat_template else None


def metadata(options: argparse.Namespace) -> tuple[tuple[str, int], ...]:
    """What the model would say of itself: that it ranks, or which tokens stand around a gap."""
    if options.reranking:
        return (("llama.pooling_type", POOLING_RANK),)
    if "infill" in options.hf_repo:
        return tuple(FIM_TOKENS.items())
    return ()


def serve_arguments(options: argparse.Namespace, model: Path) -> list[str]:
    """The same chat_params in the words of `skein serve`."""
    arguments = ["--model", str(model), "--port", options.port, "--host", options.host]
    arguments += ["--ctx", options.ctx_size, "--slots", options.parallel, "--threads", options.threads]
    arguments += ["--api-key", options.api_key] if options.api_key else ["--no-api-key"]
    has_tools = options.tools or options.mcp_servers_config or options.mcp_servers_json
    if options.cors_origins == "*" and options.api_key and not has_tools:  # as llama-server without flags
        arguments += ["--allow-origin", "*"]
    arguments += ["--chat-template-kwargs", json.dumps({"enable_thinking": options.reasoning != "off"})]
    if not options.kv_unified:
        arguments.append("--isolated")
    if options.n_predict != "-1":
        arguments += ["--max-tokens", options.n_predict]
    for name in ("temp", "seed", "tags"):
        if value := getattr(options, name):
            arguments += [f"--{name}", value]
    if options.alias:  # llama-server calls the model by the first in order
        arguments += ["--alias", ",".join(sorted(options.alias.split(",")))]
    if options.context_shift:
        arguments += ["--overflow", "truncate_middle"]
    if options.no_slots and not options.metrics:
        arguments.append("--no-monitoring")
    if options.verbose:
        arguments.append("--verbose")
    if options.embedding:
        arguments.append("--embeddings")
    if options.reranking:
        arguments.append("--rerank")
    if options.ubatch_size and (options.embedding or options.reranking):
        arguments += ["--text-tokens", options.ubatch_size]
    if options.tools:  # llama-server's are bound to no folders
        arguments += ["--tools", options.tools, "--tools-folder", "/"]
    for name in ("pooling", "sleep_idle_seconds", "slot_save_path", "mcp_servers_config", "mcp_servers_json"):
        if value := getattr(options, name):
            arguments += [f"--{name.replace('_', '-')}", value]
    return arguments


if __name__ == "__main__":
    main()
