"""Entries in the true shape of each program's files, written by hand and small."""

from typing import Any

CHATGPT: dict[str, Any] = {
    "title": "Cats and <b>dogs</b>",
    "create_time": 1738108800.123456,
    "update_time": 1738108900.5,
    "mapping": {
        "client-created-root": {
            "id": "client-created-root",
            "message": None,
            "parent": None,
            "children": ["sys"],
        },
        "sys": {
            "id": "sys",
            "message": {
                "id": "sys",
                "author": {"role": "system", "name": None, "metadata": {}},
                "create_time": None,
                "content": {"content_type": "text", "parts": [""]},
                "status": "finished_successfully",
                "metadata": {"is_visually_hidden_from_conversation": True},
                "recipient": "all",
            },
            "parent": "client-created-root",
            "children": ["context"],
        },
        "context": {
            "id": "context",
            "message": {
                "id": "context",
                "author": {"role": "user", "name": None, "metadata": {}},
                "content": {"content_type": "user_editable_context", "user_profile": "I like cats."},
                "metadata": {"is_visually_hidden_from_conversation": True},
            },
            "parent": "sys",
            "children": ["q"],
        },
        "q": {
            "id": "q",
            "message": {
                "id": "q",
                "author": {"role": "user", "name": None, "metadata": {}},
                "create_time": 1738108801.0,
                "content": {
                    "content_type": "multimodal_text",
                    "parts": [
                        {
                            "content_type": "image_asset_pointer",
                            "asset_pointer": "file-service://file-1",
                            "size_bytes": 9,
                        },
                        "What is this?",
                    ],
                },
                "metadata": {"attachments": [{"id": "file-1", "name": "cat.png"}]},
            },
            "parent": "context",
            "children": ["a1", "thoughts"],
        },
        "a1": {
            "id": "a1",
            "message": {
                "id": "a1",
                "author": {"role": "assistant", "name": None, "metadata": {}},
                "create_time": 1738108802.0,
                "content": {"content_type": "text", "parts": ["A dog."]},
                "metadata": {"model_slug": "gpt-4o"},
            },
            "parent": "q",
            "children": [],
        },
        "thoughts": {
            "id": "thoughts",
            "message": {
                "id": "thoughts",
                "author": {"role": "assistant", "name": None, "metadata": {}},
                "create_time": 1738108803.0,
                "content": {
                    "content_type": "thoughts",
                    "thoughts": [{"summary": "Looking", "content": "It has whiskers."}],
                },
                "metadata": {"model_slug": "o3"},
            },
            "parent": "q",
            "children": ["recap"],
        },
        "recap": {
            "id": "recap",
            "message": {
                "id": "recap",
                "author": {"role": "assistant", "name": None, "metadata": {}},
                "content": {"content_type": "reasoning_recap", "content": "Thought for 3 seconds"},
                "metadata": {},
            },
            "parent": "thoughts",
            "children": ["code"],
        },
        "code": {
            "id": "code",
            "message": {
                "id": "code",
                "author": {"role": "assistant", "name": None, "metadata": {}},
                "content": {"content_type": "code", "language": "python", "text": "print('cat')"},
                "recipient": "python",
                "metadata": {"model_slug": "o3"},
            },
            "parent": "recap",
            "children": ["output"],
        },
        "output": {
            "id": "output",
            "message": {
                "id": "output",
                "author": {"role": "tool", "name": "python", "metadata": {}},
                "content": {"content_type": "execution_output", "text": "cat"},
                "metadata": {},
            },
            "parent": "code",
            "children": ["a2"],
        },
        "a2": {
            "id": "a2",
            "message": {
                "id": "a2",
                "author": {"role": "assistant", "name": None, "metadata": {}},
                "create_time": 1738108809.0,
                "content": {"content_type": "text", "parts": ["A cat."]},
                "metadata": {"model_slug": "o3"},
            },
            "parent": "output",
            "children": [],
        },
    },
    "moderation_results": [],
    "current_node": "a2",
    "conversation_id": "67998a00-0000-8000-8000-000000000001",
    "is_archived": False,
    "default_model_slug": "auto",
    "id": "67998a00-0000-8000-8000-000000000001",
}

OPEN_WEBUI: dict[str, Any] = {
    "id": "3f0c0b5e-0000-4000-8000-000000000001",
    "user_id": "u",
    "title": "Sums",
    "chat": {
        "id": "",
        "title": "Sums",
        "models": ["qwen3:8b"],
        "params": {"system": "Be short."},
        "history": {
            "messages": {
                "m1": {
                    "id": "m1",
                    "parentId": None,
                    "childrenIds": ["m2", "m3"],
                    "role": "user",
                    "content": "34 + 21?",
                    "files": [
                        {
                            "type": "file",
                            "file": {"id": "f", "filename": "sums.txt", "data": {"content": "34\n21"}},
                            "name": "sums.txt",
                        },
                        {"type": "image", "url": "data:image/png;base64,AAAA"},
                    ],
                    "timestamp": 1740000000,
                    "models": ["qwen3:8b"],
                },
                "m2": {
                    "id": "m2",
                    "parentId": "m1",
                    "childrenIds": [],
                    "role": "assistant",
                    "content": "54",
                    "model": "qwen3:8b",
                    "modelName": "qwen3:8b",
                    "modelIdx": 0,
                    "timestamp": 1740000001,
                    "done": True,
                },
                "m3": {
                    "id": "m3",
                    "parentId": "m1",
                    "childrenIds": [],
                    "role": "assistant",
                    "content": '<details type="reasoning" done="true" duration="4">\n'
                    "<summary>Thought for 4 seconds</summary>\n"
                    "> 34 &lt; 55\n> so 55\n</details>\n55",
                    "model": "qwen3:8b",
                    "timestamp": 1740000005,
                    "done": True,
                },
            },
            "currentId": "m3",
        },
        "messages": [],
        "tags": [],
        "timestamp": 1740000000000,
        "files": [],
    },
    "updated_at": 1740000010,
    "created_at": 1740000000,
    "share_id": None,
    "archived": False,
    "pinned": True,
    "meta": {"tags": []},
    "folder_id": None,
}

LM_STUDIO: dict[str, Any] = {
    "name": "Qwen chat",
    "pinned": False,
    "createdAt": 1780959551824,
    "preset": "",
    "tokenCount": 203,
    "systemPrompt": "old place",
    "messages": [
        {
            "versions": [
                {"type": "singleStep", "role": "user", "content": [{"type": "text", "text": "Hi"}]},
                {
                    "type": "singleStep",
                    "role": "user",
                    "content": [
                        {"type": "file", "fileIdentifier": "1-pic.png", "fileType": "image", "sizeBytes": 3},
                        {"type": "text", "text": "Hello"},
                    ],
                },
            ],
            "currentlySelected": 1,
        },
        {
            "versions": [
                {
                    "type": "multiStep",
                    "role": "assistant",
                    "senderInfo": {"senderName": "qwen3.6-27b"},
                    "steps": [
                        {
                            "type": "contentBlock",
                            "stepIdentifier": "1780959836856-0.2",
                            "content": [{"type": "text", "text": "They greet me."}],
                            "style": {"type": "thinking", "ended": True, "title": "Thought for 2 seconds"},
                        },
                        {
                            "type": "contentBlock",
                            "stepIdentifier": "1780959838000-0.3",
                            "content": [
                                {"type": "text", "text": "Hello to "},
                                {"type": "text", "text": "you."},
                            ],
                            "genInfo": {"identifier": "qwen3.6-27b", "stats": {"stopReason": "eosFound"}},
                        },
                        {"type": "debugInfoBlock", "debugInfo": "Conversation naming technique: 'prompt'"},
                    ],
                }
            ],
            "currentlySelected": 0,
        },
    ],
    "usePerChatPredictionConfig": True,
    "perChatPredictionConfig": {"fields": [{"key": "llm.prediction.systemPrompt", "value": "Be kind."}]},
    "clientInput": "",
    "lastUsedModel": {"identifier": "qwen3.6-27b"},
    "notes": [],
}

LLAMA_UI: dict[str, Any] = {
    "conv": {
        "id": "1b6c1c5a-0000-4000-8000-000000000001",
        "name": "Trees",
        "lastModified": 1750000009000,
        "currNode": "m2",
    },
    "messages": [
        {
            "id": "r",
            "convId": "1b6c1c5a-0000-4000-8000-000000000001",
            "type": "root",
            "timestamp": 1750000000000,
            "role": "system",
            "content": "",
            "parent": None,
            "children": ["s"],
        },
        {
            "id": "s",
            "convId": "1b6c1c5a-0000-4000-8000-000000000001",
            "type": "text",
            "timestamp": 1750000000500,
            "role": "system",
            "content": "You know trees.",
            "parent": "r",
            "children": ["m1"],
        },
        {
            "id": "m1",
            "convId": "1b6c1c5a-0000-4000-8000-000000000001",
            "type": "text",
            "timestamp": 1750000001000,
            "role": "user",
            "content": "Name one",
            "parent": "s",
            "children": ["m2", "m3"],
            "extra": [
                {"type": "TEXT", "name": "list.txt", "content": "oak"},
                {"type": "IMAGE", "name": "oak.png", "base64Url": "data:image/png;base64,AAAA"},
            ],
        },
        {
            "id": "m2",
            "convId": "1b6c1c5a-0000-4000-8000-000000000001",
            "type": "text",
            "timestamp": 1750000002000,
            "role": "assistant",
            "content": "Oak.",
            "reasoningContent": "It is in the list.",
            "parent": "m1",
            "children": [],
            "model": "qwen3-0.6b",
            "timings": {"prompt_n": 10, "predicted_n": 3},
        },
        {
            "id": "m3",
            "convId": "1b6c1c5a-0000-4000-8000-000000000001",
            "type": "text",
            "timestamp": 1750000003000,
            "role": "assistant",
            "content": "Ash.",
            "parent": "m1",
            "children": [],
        },
    ],
}

FIRST_LLAMA_UI: dict[str, Any] = {
    "id": "conv-1738000000000",
    "lastModified": 1738000000000,
    "messages": [
        {"id": 1738000000001, "role": "user", "content": "hello"},
        {"id": 1738000000002, "role": "assistant", "content": "hi", "timings": None},
    ],
}

JAN_THREAD: dict[str, Any] = {
    "id": "jan_1735689600",
    "object": "thread",
    "title": "Rivers",
    "assistants": [
        {
            "assistant_id": "jan",
            "assistant_name": "Jan",
            "instructions": "You know rivers.",
            "model": {"id": "qwen3-4b", "engine": "llamacpp", "settings": {}, "parameters": {}},
        }
    ],
    "created": 1735689600,
    "updated": 1735689700,
    "metadata": {"is_favorite": True},
}
JAN_MESSAGES: list[dict[str, Any]] = [
    {
        "id": "01JGABCDEF0000000000000001",
        "object": "thread.message",
        "thread_id": "jan_1735689600",
        "role": "user",
        "content": [{"type": "text", "text": {"value": "Longest?", "annotations": []}}],
        "status": "ready",
        "created_at": 1735689601000,
        "completed_at": 1735689601000,
        "metadata": {},
    },
    {
        "id": "01JGABCDEF0000000000000002",
        "object": "thread.message",
        "thread_id": "jan_1735689600",
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": {"value": "Nile or Amazon.", "annotations": []}},
            {"type": "text", "text": {"value": "The Nile.", "annotations": []}},
        ],
        "status": "ready",
        "created_at": 1735689603,
        "metadata": {},
    },
]
