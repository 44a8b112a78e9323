"""Pictures and sounds in the bodies of all protocols."""

import base64
import io
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from PIL import Image

from app.protocol.media import Senses
from tests.api.conftest import serving
from tests.api.parrot import Parrot
from tests.fake_media_encoder import FakeMediaEncoder

CHAT, MESSAGES, RESPONSES, OLLAMA = "/v1/chat/completions", "/v1/messages", "/v1/responses", "/api/chat"
NUM_ROWS = 6


def png() -> str:
    file = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def wav() -> str:
    file = io.BytesIO()
    soundfile.write(file, np.zeros(1600, np.float32), 16_000, format="WAV")
    return base64.b64encode(file.getvalue()).decode()


PNG, WAV = png(), wav()
URL = f"data:image/png;base64,{PNG}"
TEXT = {"type": "text", "text": "What is it?"}


def seeing(text: str = "A red one.") -> Parrot:
    backend = Parrot(text)
    backend.media_encoder = FakeMediaEncoder(NUM_ROWS)
    backend.model = replace(backend.model, senses=FakeMediaEncoder.senses)
    return backend


def chat(*parts: object, **more: object) -> dict:
    return {"messages": [{"role": "user", "content": list(parts)}], "max_tokens": 20} | more


def picture(url: str) -> dict:
    return {"type": "image_url", "image_url": {"url": url}}


async def test_the_list_of_models_tells_which_take_pictures_as_llama_server_does():
    for backend, capabilities in (
        (seeing(), ["completion", "multimodal"]),
        (Parrot("Hi"), ["completion"]),
    ):
        async with serving(backend) as served:
            for path in ("/models", "/v1/models"):
                listed = (await served.get(path))[1]
                assert [one["capabilities"] for one in listed["models"]] == [capabilities]
                assert listed["models"][0]["model"] == listed["data"][0]["id"]


@pytest.mark.parametrize(
    ("path", "body", "num_tokens"),
    [
        (CHAT, chat(picture(URL), TEXT), ("usage", "prompt_tokens")),
        (CHAT, chat({"type": "input_audio", "input_audio": {"data": WAV, "format": "wav"}}, TEXT), None),
        (
            MESSAGES,
            chat(
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}, TEXT
            ),
            ("usage", "input_tokens"),
        ),
        (
            RESPONSES,
            {
                "input": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "input_image", "image_url": URL},
                            {"type": "input_text", "text": "What is it?"},
                        ],
                    }
                ]
            },
            ("usage", "input_tokens"),
        ),
        (
            OLLAMA,
            {"messages": [{"role": "user", "content": "What is it?", "images": [PNG]}], "stream": False},
            ("prompt_eval_count",),
        ),
    ],
)
async def test_each_protocol_takes_them_and_counts_their_tokens(path, body, num_tokens):
    async with serving(seeing()) as served:
        status, found = await served.post(path, body)
        assert status == 200, found
        assert "A red one." in str(found)
        if num_tokens:
            text_alone = await served.post(CHAT, chat(TEXT))
            count = found
            for name in num_tokens:
                count = count[name]
            assert count == text_alone[1]["usage"]["prompt_tokens"] + NUM_ROWS + 2


@pytest.mark.parametrize("end", ["\n", "\r\n", " "], ids=repr)
async def test_base64_may_come_in_lines(end):
    file = end.join(PNG[start : start + 76] for start in range(0, len(PNG), 76)) + end
    source = {"type": "base64", "media_type": "image/png", "data": file}
    url = f"data:image/png;base64,{file}"
    bodies = {
        CHAT: chat(picture(url), TEXT),
        MESSAGES: chat({"type": "image", "source": source}, TEXT),
        RESPONSES: {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]},
        OLLAMA: {"messages": [{"role": "user", "images": [file]}], "stream": False},
    }
    for path, body in bodies.items():
        async with serving(seeing()) as served:
            status, found = await served.post(path, body)
            assert (status, "A red one." in str(found)) == (200, True), found


@pytest.mark.parametrize(
    ("part", "word"),
    [
        (picture("https://example.org/x.png"), "fetches nothing"),
        (picture("file:///etc/passwd"), "opens no files"),
        (picture("data:image/png,raw"), "base64"),
        (picture("data:image/png;base64,%%%"), "not valid base64"),
        (picture(f"data:image/png;base64,{base64.b64encode(b'hello').decode()}"), "neither a picture nor"),
        (picture(f"data:image/png;base64,{WAV}"), "this is a sound"),
        (picture(f"data:image/png;base64,{PNG[:40]}"), "damaged"),
        ({"type": "image_url"}, "needs its image_url"),
        ({"type": "input_audio", "input_audio": {"data": PNG}}, "this is a picture"),
    ],
)
async def test_what_is_no_picture_in_the_body_is_refused_with_a_sentence(part, word):
    async with serving(seeing()) as served:
        status, body = await served.post(CHAT, chat(TEXT, part))
        assert status == 400
        assert word in body["error"]["message"]


async def test_a_model_that_does_not_see_says_what_it_needs():
    async with serving(Parrot("Hi.")) as served:
        status, body = await served.post(CHAT, chat(picture(URL), TEXT))
        assert status == 400
        assert "mmproj" in body["error"]["message"]


async def test_programs_are_told_what_the_model_takes():
    backend = seeing()
    backend.model = replace(backend.model, senses=Senses(sees=True))
    async with serving(backend) as served:
        assert (await served.get("/props"))[1]["modalities"] == {
            "vision": True,
            "video": False,
            "audio": False,
        }
        assert "vision" in (await served.post("/api/show", {"model": "x"}))[1]["capabilities"]
