"""Compares Skein with a llama-server of the same version.

    packaging/beside_llama_server/run templates LLAMA_SERVER [TEMPLATE…]
    packaging/beside_llama_server/run schemas LLAMA_SERVER
    packaging/beside_llama_server/run pictures LLAMA_SERVER

`templates`: every chat template that llama.cpp keeps for its tests. `schemas`: what is written under some 120
schemas. `pictures`: tokens of prompts and greedy answers with pictures and sounds. Exit code 0: nothing
differs but what is meant, and no answer of Skein breaks its schema unsaid.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import platformdirs

from api_clients.model import write_babbler
from api_clients.server import llama_server, running, skein
from beside_llama_server.mcp_tools import mcp_tools
from beside_llama_server.pictures import compare_pictures
from beside_llama_server.schemas import Outcome, named_schemas, outcome_of
from beside_llama_server.servers import Server
from beside_llama_server.templates import ABOUT_TOOLS, FAILS_THERE, KEY, MEANT, MEANT_CASES, compare_template
from llama_server_suite.source import prepare

CACHE = Path(platformdirs.user_cache_dir("skein"))


def main() -> int:
    parser = argparse.ArgumentParser(prog="packaging/beside_llama_server/run", description=__doc__)
    parser.add_argument("what", choices=("templates", "schemas", "pictures"))
    parser.add_argument("llama_server", type=Path)
    parser.add_argument("templates", nargs="*", metavar="TEMPLATE", help="such as Qwen-Qwen3-0.6B.jinja")
    options = parser.parse_args()
    program = options.llama_server.resolve()
    match options.what:
        case "templates":
            return _templates(program, options.templates)
        case "schemas":
            return _schemas(program)
    return _pictures(program)


def _pictures(program: Path) -> int:
    counts: Counter[bool] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for case, difference in compare_pictures(program, Path(folder)):
            counts[not difference] += 1
            print(f"{case}: {difference or 'the same'}", flush=True)
    print(f"all: {counts[True]} the same, {counts[False]} different")
    return 1 if counts[False] else 0


def _templates(program: Path, names: list[str]) -> int:
    folder = prepare(CACHE / "llama_server_suite").folder / "vendor/llama.cpp/models/templates"
    total: Counter[str] = Counter()
    for template in sorted(folder.glob("*.jinja")):
        if names and template.name not in names:
            continue
        with tempfile.TemporaryDirectory() as models:
            try:
                outcomes = compare_template(template, program, Path(models))
            except SystemExit as error:
                print(f"{template.name}: not compared: {str(error).strip().splitlines()[-1]}", flush=True)
                continue
        counts = Counter(_kind(template.name, case, how) for case, how in outcomes.items())
        total += counts
        print(f"{template.name}: {_told(counts)}", flush=True)
        for case, how in outcomes.items():
            if how:
                print(f"    {case}: {how}", flush=True)
    print(f"all: {_told(total)}")
    for name, reason in MEANT.items():
        print(f"meant: {name}: {reason}")
    for case, (_words, reason) in MEANT_CASES.items():
        print(f"meant: {case}: {reason}")
    return 1 if total["different"] else 0


def _kind(template: str, case: str, how: str) -> str:
    if how.startswith(FAILS_THERE):
        return "fail on llama-server only"
    if how and template in MEANT and case in ABOUT_TOOLS:
        return "meant"
    if case in MEANT_CASES and MEANT_CASES[case][0] in how.partition(", Skein")[0]:
        return "meant"
    return "different" if how else "the same"


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items(), reverse=True))


def _schemas(program: Path) -> int:
    _install_validator(CACHE / "beside_llama_server" / "jsonschema")
    schemas = dict(named_schemas(mcp_tools(CACHE / "beside_llama_server" / "mcp")))
    counts: dict[str, Counter[Outcome]] = {"llama-server": Counter(), "Skein": Counter()}
    with tempfile.TemporaryDirectory() as models:
        model = Path(models) / "babbler.gguf"
        write_babbler(model)
        with running(llama_server(program, model, KEY)) as theirs, running(skein(model, KEY)) as ours:
            servers = {"llama-server": Server(theirs, KEY), "Skein": Server(ours, KEY)}
            for name, schema in schemas.items():
                results = {server: outcome_of(asked, schema) for server, asked in servers.items()}
                for server, (outcome, _) in results.items():
                    counts[server][outcome] += 1
                print(f"{name:60}" + "".join(f"{outcome:>12}" for outcome, _ in results.values()), flush=True)
                for server, (outcome, text) in results.items():
                    if outcome is not Outcome.VALID:
                        print(f"    {server}: {text[:200]}")
    for server, count in counts.items():
        print(f"{server}: " + ", ".join(f"{count[outcome]} {outcome}" for outcome in Outcome))
    return 1 if counts["Skein"][Outcome.VIOLATED] else 0


def _install_validator(folder: Path) -> None:
    """jsonschema, which neither Skein nor its tests need."""
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
        subprocess.run([*command, "jsonschema[format-nongpl]"], check=True)
    sys.path.append(str(folder))


if __name__ == "__main__":
    sys.exit(main())
