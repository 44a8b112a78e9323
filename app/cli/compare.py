"""`skein compare`: what two models make of the same text, token by token, without a window and without Qt."""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.cli import headless
from app.engine.children.comparing import CHILD, compared
from app.engine.llama.native_library import gpus
from app.models.comparing import LEAST_WINDOW, USUAL_WINDOW, prepared
from app.protocol.comparison import Compare, Comparison
from app.protocol.errors import EngineError, RequestError
from app.protocol.load import LoadParams
from app.system.worker import Worker

SHARES = (0.5, 0.9, 0.95, 0.99, 0.999, 1)
NUM_FARTHEST = 20
SIDES = ("base", "other")


def main(argv: Sequence[str]) -> int:
    """Exit code 0 when the text was compared, 1 when it could not be, 130 after Ctrl+C."""
    options = _parse(argv)
    try:
        base, other = (LoadParams(path, n_threads=options.threads) for path in (options.base, options.other))
        question = prepared(Compare(base, other, options.text, n_ctx=options.ctx), gpus())
        worker = Worker(CHILD, keeps_log=True, is_once=True)
        found = _figures(compared(question, worker, lambda done: headless.tell(f"{done:.0%}")), options)
        headless.tell("")
        print(json.dumps(found, ensure_ascii=False) if options.json else "\n".join(_lines(found)), flush=True)
    except (EngineError, RequestError) as error:
        headless.tell("")
        print(f"skein compare: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        headless.tell("")
        return 128 + signal.SIGINT
    except BrokenPipeError:
        return headless.reader_gone()
    return 0


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="skein compare",
        description="Tell at each token of a text how far the other model is from the base, such as a "
        "quantisation from the original: KL divergence, ranks, probabilities, and perplexities.",
    )
    parser.add_argument("base", type=Path, metavar="BASE.gguf")
    parser.add_argument("other", type=Path, metavar="OTHER.gguf", help="a GGUF with the same vocabulary")
    parser.add_argument("text", type=headless.text_of, metavar="FILE", help="a text in UTF-8; - is stdin")
    parser.add_argument("--json", action="store_true", help="print all that was found, for every token")
    parser.add_argument(
        "--ctx",
        type=headless.at_least(LEAST_WINDOW),
        default=0,
        metavar="N",
        help="longer texts are read in windows of so many tokens, which overlap (default: "
        f"{USUAL_WINDOW}, or what both models were trained for)",
    )
    parser.add_argument(
        "--threads", type=headless.at_least(0), default=0, metavar="N", help="CPU threads; 0 is automatic"
    )
    return parser.parse_args(argv)


def _figures(found: Comparison, options: argparse.Namespace) -> dict[str, Any]:
    return {
        "base": str(options.base),
        "other": str(options.other),
        "n_ctx": found.n_ctx,
        "num_compared": len(found.kl),
        "perplexity": dict(zip(SIDES, found.perplexities, strict=True)),
        "kl": {"mean": found.mean_kl} | {f"{share:.1%}": found.kl_quantile(share) for share in SHARES},
        "same_choice": found.same_share,
        "first_parting": next(iter(found.partings), None),
        "tokens": [_token(found, number) for number in range(len(found.pieces))],
    }


def _token(found: Comparison, number: int) -> dict[str, Any]:
    """One before which nothing stands has no figures."""
    token = {"token": number, "id": int(found.token_ids[number]), "text": _text(found.pieces[number])}
    place = number - found.num_given
    if place < 0:
        return token
    sides = {
        name: {
            "logprob": float(found.logprobs[side][place]),
            "rank": int(found.ranks[side][place]),
            "choice_id": int(found.greedy_ids[side][place]),
            "choice": _text(found.greedy_pieces[side][place]),
        }
        for side, name in enumerate(SIDES)
    }
    return token | {"kl": float(found.kl[place])} | sides


def _text(piece: bytes) -> str:
    return piece.decode("utf-8", "backslashreplace")


def _lines(found: dict[str, Any]) -> list[str]:
    """The figures of the whole text, then the places where the two are farthest from each other."""
    lines = [f"{side:<7}{found[side]}: perplexity {found['perplexity'][side]:.4f}" for side in SIDES]
    quantiles = ", ".join(f"{share} {kl:.5f}" for share, kl in found["kl"].items())
    tokens = "1 token" if found["num_compared"] == 1 else f"{found['num_compared']:,} tokens"
    lines.append(f"KL divergence of {tokens}: {quantiles}")
    lines.append(f"The likeliest token is the same for {found['same_choice']:.2%} of them.")
    if (part := found["first_parting"]) is not None:
        base, other = (found["tokens"][part][side]["choice"] for side in SIDES)
        lines.append(f"They would part at token {part + 1:,}: “{_shown(base)}” and “{_shown(other)}”.")
    lines.append(f"\n{'token':>6} {'KL':>9} {'base: rank':>11} {'ln p':>8} {'other: rank':>11} {'ln p':>8}")
    told = (token for token in found["tokens"] if "kl" in token)
    for token in sorted(told, key=lambda token: -token["kl"])[:NUM_FARTHEST]:
        ranks = " ".join(f"{token[side]['rank']:11,} {token[side]['logprob']:8.3f}" for side in SIDES)
        lines.append(f"{token['token'] + 1:6} {token['kl']:9.5f} {ranks}  “{_shown(token['text'])}”")
    return lines


def _shown(text: str) -> str:
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)
