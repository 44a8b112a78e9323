from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.models import order
from app.models.order import FileOrder, Order, OrderFolder, safe_name, unfinished

REPO = "owner/tiny-GGUF"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


HOSTILE = [
    "../../.bashrc",
    "/etc/passwd",
    "..",
    ".",
    "...",
    "a\0b.gguf",
    "CON",
    "con.gguf",
    "NUL.tar.gguf",
    "COM1.gguf",
    "LPT9",
    "aux .gguf",
    "%2e%2e/%2e%2e/x.gguf",
    "..%2fx.gguf",
    "..\\..\\x.gguf",
    "C:\\Windows\\x.gguf",
    "C:x.gguf",
    "\\\\host\\share\\x.gguf",
    "x.gguf:stream",
    ".hidden.gguf",
    "-rf.gguf",
    "--help",
    "x.gguf.",
    "x.gguf ",
    " x.gguf",
    "a\nb.gguf",
    "a\rb.gguf",
    "\x1b]0;x\x07.gguf",
    "\u202egguf.exe",
    "\u2066x.gguf",
    "a\u200bb.gguf",
    "~/x.gguf",
    "~root.gguf",
    "$HOME.gguf",
    "`id`.gguf",
    "$(id).gguf",
    "a;rm -rf.gguf",
    "a|b.gguf",
    "<script>.gguf",
    "x" * 5000 + ".gguf",
    "ü" * 900 + ".gguf",
    "\ud800.gguf",
    "/",
    "//",
]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_stays_in_the_folder(name: str, folder: Path) -> None:
    try:
        wanted = Order(
            endpoint="https://hub.example",
            repo_id=REPO,
            revision="main",
            name="x",
            files=(FileOrder(path=name, size_bytes=4, sha256="0" * 64),),
        )
    except ValueError:
        return  # refused before there is a name
    place = OrderFolder(wanted, folder)
    place.make()
    target = place.target(wanted.files[0])
    target.write_bytes(b"GGUF")
    assert [path for path in folder.parent.rglob("*") if path.is_file()] == [target]
    assert target.resolve().is_relative_to(folder.resolve())
    assert target.name.partition(".")[0].upper() not in order._RESERVED
    assert target.name[0] not in ".-~ "
    assert target.name.isprintable()


@pytest.mark.parametrize(
    "name", ["../x", "a/b/c", "a", "a/..", "a/", "/a", "a/b\n", "a\\b/c", ".a/b", "-a/.b", "ä/b"]
)
def test_what_is_no_repository_is_not_ordered(name: str) -> None:
    with pytest.raises(ValueError):
        Order(
            endpoint="https://hub.example",
            repo_id=name,
            revision="main",
            name="x",
            files=(FileOrder(path="x.gguf", size_bytes=4, sha256="0" * 64),),
        )


def test_common_names_stay_as_they_are() -> None:
    for name in ("Qwen3-4B-Q4_K_M.gguf", "Llama-3.2-1B-Instruct-Q4_K_M.gguf", "模型-Q8_0.gguf"):
        assert safe_name(name) == name


def test_what_is_no_order_of_ours_is_not_gone_on_with(folder: Path) -> None:
    partial = folder / order.PARTIAL
    partial.mkdir(parents=True)
    good = '{"order": {"endpoint": "%s", "repo_id": "a/b", "revision": "main", "name": "x", "files": [%s]}}'
    file = '{"path": "x.gguf", "size_bytes": 4, "sha256": "%s"}'
    (partial / "good.json").write_text(good % ("https://hub.example", file % ("0" * 64)))
    texts = (good % ("file:///etc", file % ("0" * 64)), good % ("https://hub.example", file % "../../x"))
    for number, text in enumerate((*texts, "", "{}", "[1]", '{"order": {"repo_id": "../.."}}', "\0" * 100)):
        (partial / f"{number}.json").write_text(text)
    assert [order.repo_id for order in unfinished(folder)] == ["a/b"]
    assert unfinished(folder / "none") == ()


def test_the_end_of_one_order_leaves_the_folders_of_another(folder: Path) -> None:
    def order_of(number: int) -> OrderFolder:
        file = FileOrder(path=f"{number}.gguf", size_bytes=4, sha256=f"{number:064}")
        wanted = Order(endpoint="https://hub.example", repo_id=REPO, revision="main", name="x", files=(file,))
        return OrderFolder(wanted, folder)

    def begin_and_end(number: int) -> None:
        place = order_of(number)
        for _ in range(100):
            place.begin()
            assert place.home.is_dir()
            place.forget()

    with ThreadPoolExecutor(4) as threads:
        for ended in [threads.submit(begin_and_end, number) for number in range(4)]:
            ended.result()
    assert list(folder.rglob("*")) == []
