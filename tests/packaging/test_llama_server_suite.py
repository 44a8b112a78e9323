"""How llama-server's suite is run and judged. The run itself takes too long to be among the tests."""

import io
import tarfile
import tomllib
from pathlib import Path

from app.cli import serve
from app.engine.prompts.chat_template import ChatTemplate, TemplateInputs
from app.protocol.request import Message, Overflow, Role
from llama_server_suite.compare import compare
from llama_server_suite.source import Suite, _unpack
from llama_server_suite.wrapper import chat_template, metadata, parse, serve_arguments

EXPECTED = Path(__file__).parents[2] / "packaging" / "llama_server_suite" / "expected.toml"
PRESET = [
    *("--port", "8080", "--temp", "0.8", "--seed", "42", "--host", "127.0.0.1", "--offline"),
    *("--hf-repo", "ggml-org/some-model", "--batch-size", "32", "--no-slots", "--alias", "tinyllama-2"),
    *("--ctx-size", "512", "--parallel", "2", "--n-predict", "64", "--no-jinja"),
]


def options_of(*flags: str):
    """What `skein serve` is started with when the suite gives these flags to llama-server."""
    return serve._parse(serve_arguments(parse([*PRESET, *flags]), Path("stand-in.gguf")))


def test_the_flags_of_a_preset_become_those_of_skein_serve():
    options = options_of()
    assert (options.host, options.port, options.ctx, options.slots) == ("127.0.0.1", 8080, 512, 2)
    assert (options.defaults.temperature, options.defaults.seed, options.defaults.max_tokens) == (0.8, 42, 64)
    assert options.defaults.template_variables == '{"enable_thinking": true}'
    assert options.alias == ("tinyllama-2",)
    assert options.isolated
    assert options.no_api_key
    assert options.no_monitoring


def test_flags_of_single_tests_are_translated_too():
    options = options_of(
        *("--kv-unified", "--metrics", "--api-key", "secret", "--reasoning", "off", "--context-shift"),
        *("--verbose", "--host", "127.0.0.1,::1", "--alias", "b,a", "--tags", "x,y", "--n-predict", "-1"),
    )
    assert not options.isolated
    assert not options.no_monitoring
    assert options.api_key == "secret"
    assert options.defaults.template_variables == '{"enable_thinking": false}'
    assert options.defaults.overflow is Overflow.TRUNCATE_MIDDLE
    assert options.defaults.is_verbose
    assert options.defaults.max_tokens is None
    assert (options.host, options.alias, options.tags) == ("127.0.0.1,::1", ("a", "b"), ("x", "y"))


def test_flags_for_texts_tools_and_sleep_are_translated_too(tmp_path):
    options = options_of(
        *("--embedding", "--pooling", "last", "--ubatch-size", "128", "--sleep-idle-seconds", "1"),
        *("--tools", "all", "--mcp-servers-json", "{}", "--slot-save-path", str(tmp_path)),
    )
    assert options.embeddings
    assert (options.pooling, options.text_tokens, options.sleep_idle_seconds) == ("last", 128, 1.0)
    assert (options.tools, options.tools_folder) == (("all",), [Path("/")])
    assert options.tool_box
    assert options.slot_save_path == tmp_path
    assert options_of("--reranking").rerank


def test_the_stand_in_says_of_itself_what_other_models_would():
    assert metadata(parse([])) == ()
    assert metadata(parse(["--reranking"])) == (("llama.pooling_type", 4),)
    assert len(metadata(parse(["--hf-repo", "ggml-org/test-model-stories260K-infill"]))) == 3


def test_a_chat_template_has_a_name_or_is_written_out_or_in_a_file(tmp_path):
    file = tmp_path / "some.jinja"
    file.write_text("from a file")
    assert chat_template(parse([])) is None
    assert chat_template(parse(["--chat-template", "chatml"])) is None
    assert chat_template(parse(["--chat-template", "written out"])) == "written out"
    assert chat_template(parse(["--chat-template-file", str(file)])) == "from a file"
    named = chat_template(parse(["--chat-template", "command-r"]))
    rendered = ChatTemplate(named).render(TemplateInputs((Message(Role.USER, "Hi"),)))
    turn = "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi<|END_OF_TURN_TOKEN|>"
    assert rendered == f"{turn}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>"


def test_only_what_the_suite_needs_is_unpacked(tmp_path):
    package = tmp_path / "package.tar.gz"
    with tarfile.open(package, "w:gz") as archive:
        for name in (
            "tools/server/tests/unit/test_x.py",
            "models/ggml-vocab-llama-spm.gguf",
            "src/llama.cpp",
        ):
            member = tarfile.TarInfo(f"llama_cpp_python-1.2.3/vendor/llama.cpp/{name}")
            member.size = 4
            archive.addfile(member, io.BytesIO(b"text"))
    suite = Suite(tmp_path / "suite")
    _unpack(package, suite.folder)
    assert (suite.tests / "unit" / "test_x.py").read_text() == suite.vocabulary.read_text() == "text"
    assert len([path for path in suite.folder.rglob("*") if path.is_file()]) == 2


def test_what_llama_server_passes_must_pass_or_have_a_reason():
    theirs = {"test_a", "test_b[1]", "test_b[2]", "test_c[x]", "test_d"}
    comparison = compare("test_x.py", {"test_a", "test_e"}, theirs, {"test_b": "why", "test_c[x]": "because"})
    assert comparison.differences == {"test_b[1]": "why", "test_b[2]": "why", "test_c[x]": "because"}
    assert comparison.missing == {"test_d"}
    assert comparison.line == (
        "test_x.py: Skein passes 2, llama-server 5, 3 differ on purpose, 1 missing, 1 pass on Skein only"
    )


def test_every_difference_is_one_from_something_that_llama_server_passes():
    expected = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    for file, reasons in expected["differences"].items():
        names = expected["llama_server_passes"][file]
        assert reasons.keys() <= {*names, *(name.partition("[")[0] for name in names)}
    assert expected["not_claimed"].keys() <= expected["llama_server_passes"].keys()
