<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>QFileDialog</name>
    <message>
        <source>&amp;Look in:</source>
        <extracomment>Qt</extracomment>
        <translation>查找范围(&amp;L)：</translation>
    </message>
    <message>
        <source>Files of &amp;type:</source>
        <extracomment>Qt</extracomment>
        <translation>文件类型(&amp;T)：</translation>
    </message>
</context>
<context>
    <name>skein</name>
    <message>
        <source>{name} already exists. Choose another name.</source>
        <extracomment>app/chats/exports/files.py</extracomment>
        <translation>{name} 已经存在。请换一个名称。</translation>
    </message>
    <message>
        <source>{name} could not be saved: {reason}. Choose another folder, or free some disk space.</source>
        <extracomment>app/chats/exports/files.py</extracomment>
        <translation>{name} 无法写入：{reason}。请选择其他文件夹，或释放一些空间。</translation>
    </message>
    <message>
        <source>The file is truncated. Download or export it again.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>文件在中途就结束了。请重新下载或重新导出。</translation>
    </message>
    <message>
        <source>It is nested more than {depth} levels deep, so it is not a chat export.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>嵌套超过 {depth} 层，对话不会是这样。</translation>
    </message>
    <message>
        <source>It is not valid JSON: {reason}.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>不是有效的 JSON：{reason}。</translation>
    </message>
    <message>
        <source>Its “{name}” is not supported.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>其中的“{name}”不是 Skein 能用的内容。</translation>
    </message>
    <message>
        <source>No chats found. Choose an export from Skein, ChatGPT, Open WebUI, LM Studio, Jan or llama.cpp.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>其中没有 Skein 能读取的对话。请选择 Skein、ChatGPT、Open WebUI、LM Studio、Jan 或 llama.cpp 的导出文件。</translation>
    </message>
    <message>
        <source>It contains no messages.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>其中没有消息。</translation>
    </message>
    <message>
        <source>It is larger than {size} MB. Export fewer chats at a time.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>文件大于 {size} MB。请每次少导出一些对话。</translation>
    </message>
    <message>
        <source>It cannot be read: {reason}. Check its permissions.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>无法读取：{reason}。请检查您是否有权打开它。</translation>
    </message>
    <message>
        <source>The archive is password-protected. Unpack it, then import the files.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation>压缩包有密码保护。请先解压，再导入其中的文件。</translation>
    </message>
    <message>
        <source>The file is empty. Export it again.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation>文件是空的。请重新导出。</translation>
    </message>
    <message>
        <source>It contains more than {count} chats. Import it in parts.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation>其中的对话超过 {count} 个。请分批导入。</translation>
    </message>
    <message>
        <source>It was written by a newer Skein. Update Skein to import it.</source>
        <extracomment>app/chats/imports/skein.py</extracomment>
        <translation>这个文件由更新版本的 Skein 写成。请先更新 Skein 再导入。</translation>
    </message>
    <message>
        <source>It contains more than {count} messages.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation>其中的消息超过 {count} 条。</translation>
    </message>
    <message>
        <source>Two messages have the same id, “{id}”.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation>其中有两条消息的 id 同为“{id}”。</translation>
    </message>
    <message>
        <source>Message “{id}” is its own ancestor.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation>其中的消息“{id}”绕了一圈又接在自己后面。</translation>
    </message>
    <message>
        <source>A message has the role “{role}”. Only user, assistant, system and tool are supported.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation>有一条消息的作者是“{role}”：既不是 user、assistant、system，也不是 tool。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template failed: {reason}</source>
        <extracomment>app/engine/prompts/answer_guide.py</extracomment>
        <translation>模型的对话模板出错：{reason}</translation>
    </message>
    <message>
        <source>The model&apos;s chat template cannot be read: {reason}</source>
        <extracomment>app/engine/prompts/chat_template.py</extracomment>
        <translation>无法读取模型的对话模板：{reason}</translation>
    </message>
    <message>
        <source>shortened a prompt: {notice}</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>缩短了提示词：{notice}</translation>
    </message>
    <message>
        <source>aborted the answer in sequence {seq_id} after {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>中断了序列 {seq_id} 中的回答：已生成 {num_tokens} 个词元</translation>
    </message>
    <message>
        <source>aborted an answer without a slot after {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>中断了没有槽位的回答：已生成 {num_tokens} 个词元</translation>
    </message>
    <message>
        <source>The answer was cut off: this chat&apos;s context of {limit:,} tokens is full.</source>
        <extracomment>app/engine/batching/answers.py</extracomment>
        <translation>回答被截断：这个对话已占满 {limit:,} 个词元的上下文。</translation>
    </message>
    <message>
        <source>it is an embedding model, which generates no text</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>它把文本变成用于搜索的数字，而不会写文本</translation>
    </message>
    <message>
        <source>{name} is not a file. Skein opens models in the GGUF format only.</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>{name} 不是文件。Skein 只能打开 GGUF 格式的模型。</translation>
    </message>
    <message>
        <source>{name} cannot be read: {reason}. Check the path.</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>无法读取 {name}：{reason}。请检查路径。</translation>
    </message>
    <message>
        <source>{name} is not a GGUF file. Skein opens models in the GGUF format only.</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>{name} 不是 GGUF 文件。Skein 只能打开 GGUF 格式的模型。</translation>
    </message>
    <message>
        <source>Loading {name} was cancelled.</source>
        <extracomment>app/engine/children/engine_process.py</extracomment>
        <translation>已取消加载 {name}。</translation>
    </message>
    <message>
        <source>the file is damaged or of an unknown kind</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>文件已损坏或类型未知</translation>
    </message>
    <message>
        <source>it has no vocabulary</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>它没有词表，因此无法读取文本</translation>
    </message>
    <message>
        <source>it is an encoder-decoder model</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>它有编码器，是用于翻译或搜索的模型</translation>
    </message>
    <message>
        <source>it is a diffusion model</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>它以扩散方式写作，而不是逐词生成</translation>
    </message>
    <message>
        <source>{name} is not a chat model: {reason}. Open another GGUF.</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>{name} 不是对话模型：{reason}。请打开另一个 GGUF 文件。</translation>
    </message>
    <message>
        <source>{name} with a context of {tokens:,} tokens needs {needed:.1f} GiB, but only {available:.1f} GiB are free. Choose a smaller context (--ctx).</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>{name} 的 {tokens:,} 个词元的上下文需要 {needed:.1f} GiB，但只有 {available:.1f} GiB 可用。请选择较小的上下文（--ctx）。</translation>
    </message>
    <message>
        <source>The engine stopped: {reason} Load the model again.</source>
        <extracomment>app/engine/embedding.py</extracomment>
        <translation>引擎已停止：{reason} 请重新加载模型。</translation>
    </message>
    <message>
        <source>Skein failed to build the prompt; the log says why.</source>
        <extracomment>app/engine/loop.py</extracomment>
        <translation>Skein 未能生成提示词；原因见日志。</translation>
    </message>
    <message>
        <source>Start a new chat, or raise this chat&apos;s own limit.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>请新建对话，或提高这个对话自己的上限。</translation>
    </message>
    <message>
        <source>In the chat settings, choose what to leave out when the chat is full.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>请选择这个对话过长时省略什么。</translation>
    </message>
    <message>
        <source>the middle of {n} long texts</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>{n} 段长文本的中间部分</translation>
    </message>
    <message>
        <source>{dropped} and {cut} no longer fit the context and were left out.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>{dropped}和{cut}已放不下，未纳入上下文。</translation>
    </message>
    <message>
        <source>the middle of a long text</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>一段长文本的中间部分</translation>
    </message>
    <message>
        <source>{dropped} no longer fit the context and were left out.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>{dropped}已放不下，未纳入上下文。</translation>
    </message>
    <message>
        <source>{dropped} no longer fits the context and was left out.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>{dropped}已放不下，未纳入上下文。</translation>
    </message>
    <message>
        <source>The middle of {n} long texts no longer fits the context and was left out.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>{n} 段长文本的中间部分已放不下，未纳入上下文。</translation>
    </message>
    <message>
        <source>The middle of a long text no longer fits the context and was left out.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>一段长文本的中间部分已放不下，未纳入上下文。</translation>
    </message>
    <message>
        <source>The oldest {n:,} messages</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>最早的 {n:,} 条消息</translation>
    </message>
    <message>
        <source>The oldest message</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>最早的一条消息</translation>
    </message>
    <message>
        <source>{n:,} messages in the middle of this chat</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>这个对话中间的 {n:,} 条消息</translation>
    </message>
    <message>
        <source>One message in the middle of this chat</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>这个对话中间的一条消息</translation>
    </message>
    <message>
        <source>The oldest {tokens:,} tokens of the prompt no longer fit the context and were left out.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>提示词中最早的 {tokens:,} 个词元已放不下，未纳入上下文。</translation>
    </message>
    <message>
        <source>The prompt no longer fits the context: {tokens:,} tokens in its middle were left out.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>提示词已放不下：中间的 {tokens:,} 个词元未纳入上下文。</translation>
    </message>
    <message>
        <source>The file is damaged or malicious. Download it again from a source you trust, or open another one.</source>
        <extracomment>app/engine/children/probe.py</extracomment>
        <translation>这个文件已损坏，或是为了造成危害而制作的。请从可信的来源重新下载，或打开另一个文件。</translation>
    </message>
    <message>
        <source>{name} changed while it was being tested. Is it still downloading?</source>
        <extracomment>app/engine/children/probe.py</extracomment>
        <translation>{name} 在检测期间发生了变化。它还在下载吗？</translation>
    </message>
    <message>
        <source>{name} cannot be tested before loading: {reason}. Close other programs, or free some disk space.</source>
        <extracomment>app/engine/children/probe.py</extracomment>
        <translation>无法在加载前检测 {name}：{reason}。请关闭其他程序，或释放一些磁盘空间。</translation>
    </message>
    <message>
        <source>Testing {name} took over {seconds} seconds of CPU time.</source>
        <extracomment>app/engine/children/probe.py</extracomment>
        <translation>检测 {name} 用了超过 {seconds} 秒的计算时间。</translation>
    </message>
    <message>
        <source>The system killed the process testing {name}, most likely because it ran out of memory. Close other programs, or open a smaller model.</source>
        <extracomment>app/engine/children/probe.py</extracomment>
        <translation>系统结束了检测 {name} 的进程，很可能是因为内存耗尽。请关闭其他程序，或打开较小的模型。</translation>
    </message>
    <message>
        <source>{name} crashed the process testing it ({how}: {last_words}).</source>
        <extracomment>app/engine/children/probe.py</extracomment>
        <translation>{name} 使检测它的进程崩溃（{how}：{last_words}）。</translation>
    </message>
    <message>
        <source>exit code {code}</source>
        <extracomment>app/engine/children/comparing.py</extracomment>
        <translation>退出码 {code}</translation>
    </message>
    <message>
        <source>no output</source>
        <extracomment>app/engine/children/engine_process.py</extracomment>
        <translation>没有留下信息</translation>
    </message>
    <message>
        <source>Testing {name} took longer than {seconds:.0f} seconds. The file is damaged or its disk is too slow: copy it to another disk and open it there.</source>
        <extracomment>app/engine/children/probe.py</extracomment>
        <translation>未能在 {seconds:.0f} 秒内完成对 {name} 的检测。文件已损坏，或所在磁盘太慢：请把它复制到另一个磁盘再打开。</translation>
    </message>
    <message>
        <source>A message can have at most {limit:,} characters. Send it in parts.</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>一段文本最多 {limit:,} 个字符。请分几次发送。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template produces far more text than the context can hold.</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>模型的对话模板写出的文本远超上下文的容量。</translation>
    </message>
    <message>
        <source>The prompt is empty.</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>提示词是空的。请写点内容。</translation>
    </message>
    <message>
        <source>paused the answer in sequence {seq_id}: no free cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>暂停了序列 {seq_id} 中的回答：没有空闲单元</translation>
    </message>
    <message>
        <source>released sequence {seq_id}, kept {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>释放了序列 {seq_id}：保留 {num_tokens} 个词元</translation>
    </message>
    <message>
        <source>released sequence {seq_id}, freed {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>释放了序列 {seq_id}：清除 {num_tokens} 个词元</translation>
    </message>
    <message>
        <source>forked sequence {source} to {seq_id}, sharing {num_cells} cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>序列 {source} 分叉为序列 {seq_id}：共享 {num_cells} 个单元</translation>
    </message>
    <message>
        <source>not hibernated: the state of sequence {seq_id} cannot be saved right now</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>未休眠：序列 {seq_id} 的状态现在无法保存</translation>
    </message>
    <message>
        <source>not restored: running answers leave no room</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>没有恢复已保存的单元：正在生成的回答没有留出空间</translation>
    </message>
    <message>
        <source>not restored: this chat has no saved cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>没有恢复已保存的单元：这个对话没有保存过</translation>
    </message>
    <message>
        <source>pinned sequence {seq_id}</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>固定了序列 {seq_id}</translation>
    </message>
    <message>
        <source>unpinned sequence {seq_id}</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>取消固定序列 {seq_id}</translation>
    </message>
    <message>
        <source>pinned a chat without a slot</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>固定了一个没有槽位的对话</translation>
    </message>
    <message>
        <source>unpinned a chat without a slot</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>取消固定一个没有槽位的对话</translation>
    </message>
    <message>
        <source>shared {num_cells} cells of sequence {donor} with sequence {seq_id}</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>把序列 {donor} 的 {num_cells} 个单元共享给序列 {seq_id}</translation>
    </message>
    <message>
        <source>copied {num_cells} cells of sequence {donor} to sequence {seq_id}</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>把序列 {donor} 的 {num_cells} 个单元复制到序列 {seq_id}</translation>
    </message>
    <message>
        <source>dropped a saved state of {num_tokens} tokens: no room</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>丢弃了 {num_tokens} 个词元的已保存状态：没有空间</translation>
    </message>
    <message>
        <source>shifted {num_cells} cells of sequence {seq_id} down by {num_positions}</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>序列 {seq_id} 的 {num_cells} 个单元前移了 {num_positions} 个位置</translation>
    </message>
    <message>
        <source>cleared sequence {seq_id}: {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>清空了序列 {seq_id}：{num_tokens} 个词元</translation>
    </message>
    <message>
        <source>dropped a saved state of {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>丢弃了 {num_tokens} 个词元的已保存状态</translation>
    </message>
    <message>
        <source>resumed sequence {seq_id}: {num_there} tokens cached, {num_missing} to compute</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>继续使用序列 {seq_id}：已有 {num_there} 个词元，需计算 {num_missing} 个</translation>
    </message>
    <message>
        <source>leased sequence {seq_id}: {num_there} tokens cached, {num_missing} to compute</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation type="vanished">租用了序列 {seq_id}：已有 {num_there} 个词元，需计算 {num_missing} 个</translation>
    </message>
    <message>
        <source>hibernated sequence {seq_id}: {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>休眠了序列 {seq_id}：{num_tokens} 个词元</translation>
    </message>
    <message>
        <source>evicted sequence {seq_id}: {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>逐出了序列 {seq_id}：{num_tokens} 个词元</translation>
    </message>
    <message>
        <source>restored sequence {seq_id}: {num_tokens} tokens</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>恢复了序列 {seq_id}：{num_tokens} 个词元</translation>
    </message>
    <message>
        <source>the saved state of sequence {seq_id} could not be used; recomputing</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>序列 {seq_id} 的已保存状态无法使用：重新计算</translation>
    </message>
    <message>
        <source>Sequence {seq_id} reached position {position:,}.</source>
        <extracomment>app/engine/batching/stepping.py</extracomment>
        <translation>序列 {seq_id} 到达位置 {position:,}。</translation>
    </message>
    <message>
        <source>Token {id} was sampled.</source>
        <extracomment>app/engine/batching/stepping.py</extracomment>
        <translation>采样到词元 {id}。</translation>
    </message>
    <message>
        <source>The answer ended.</source>
        <extracomment>app/engine/batching/stepping.py</extracomment>
        <translation>回答已结束。</translation>
    </message>
    <message>
        <source>An answer ended.</source>
        <extracomment>app/engine/batching/stepping.py</extracomment>
        <translation>有一个回答已结束。</translation>
    </message>
    <message>
        <source>llama_decode returned {code}.</source>
        <extracomment>app/engine/batching/stepping.py</extracomment>
        <translation>llama_decode 返回 {code}。</translation>
    </message>
    <message>
        <source>Start a new chat: this one has reached the context length the model was trained for.</source>
        <extracomment>app/protocol/model.py</extracomment>
        <translation>请新建对话：这个模型没有针对更长的对话训练过。</translation>
    </message>
    <message>
        <source>Start a new chat, or choose a larger context in Context settings (--ctx).</source>
        <extracomment>app/protocol/model.py</extracomment>
        <translation>请新建对话，或在“上下文设置”中选择更大的上下文（--ctx）。</translation>
    </message>
    <message>
        <source>The engine no longer holds this answer&apos;s tokens. It can be recomputed from the text, which may tokenize differently from what was sampled.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>引擎已不再持有这个回答的词元。可以从文本重新计算，但切分出的词元可能与当初采样的不同。</translation>
    </message>
    <message>
        <source>The engine keeps the sampled tokens of a chat&apos;s newest answer only. This one can be recomputed from its text, which may tokenize differently from what was sampled.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>引擎只持有对话最新回答的原始词元。可以从文本重新计算，但切分出的词元可能与当初采样的不同。</translation>
    </message>
    <message>
        <source>The engine no longer holds this answer&apos;s tokens, and no open tab has its text.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>引擎已不再持有这个回答的词元，也没有标签页保存它的文本。</translation>
    </message>
    <message>
        <source>Fetching this answer&apos;s tokens…</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>正在向引擎查询这个回答的词元…</translation>
    </message>
    <message>
        <source>Recomputing the answer…</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>正在重新计算回答…</translation>
    </message>
    <message>
        <source>It was stopped.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>已停止。</translation>
    </message>
    <message>
        <source>Chosen: rank {rank}, {before} before the samplers, ruled out after.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>选中的是第 {rank} 名：采样器之前为 {before}，被采样器排除。</translation>
    </message>
    <message>
        <source>Chosen: rank {rank}, {before} before and {after} after the samplers.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>选中的是第 {rank} 名：采样器之前为 {before}，之后为 {after}。</translation>
    </message>
    <message>
        <source>The chosen token is not among the {number} most likely.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>选中的词元不在最可能的 {number} 个之中。</translation>
    </message>
    <message>
        <source>Cost of this lookup: {computed} computed, {shared} shared.</source>
        <extracomment>app/inspector/answer_finder.py</extracomment>
        <translation>为此计算了 {computed}，共享了 {shared} 个。</translation>
    </message>
    <message>
        <source>seq</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>序列</translation>
    </message>
    <message>
        <source>tab</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>标签页</translation>
    </message>
    <message>
        <source>phase</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>阶段</translation>
    </message>
    <message>
        <source>rows</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>行</translation>
    </message>
    <message>
        <source>positions</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>位置</translation>
    </message>
    <message>
        <source>logits</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>logits</translation>
    </message>
    <message>
        <source>answer</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>回答</translation>
    </message>
    <message>
        <source>The sequence id, seq_id</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="vanished">序列编号 seq_id</translation>
    </message>
    <message>
        <source>The chat</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>所属对话</translation>
    </message>
    <message>
        <source>Part of a prompt, or the next token of an answer</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>提示词的一部分，或回答的下一个词元</translation>
    </message>
    <message>
        <source>Rows of the batch</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>批次中的行数</translation>
    </message>
    <message>
        <source>Positions computed in this step</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>要计算的位置</translation>
    </message>
    <message>
        <source>Tokens generated so far, and the most that were asked for</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>回答目前的词元数，以及要求的数量</translation>
    </message>
    <message>
        <source>decode</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>解码</translation>
    </message>
    <message>
        <source>last row</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>最后一行</translation>
    </message>
    <message>
        <source>9,999 of 9,999</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>9,999 / 9,999</translation>
    </message>
    <message>
        <source>prefill</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>预填充</translation>
    </message>
    <message>
        <source>The API could not start: port {port} is used by another program. Choose another port.</source>
        <extracomment>app/services/local_api.py</extracomment>
        <translation>API 无法启动：端口 {port} 被另一个程序占用。请选择其他端口。</translation>
    </message>
    <message>
        <source>The self-test could not be started: {reason}. Close other programs.</source>
        <extracomment>app/services/self_test.py</extracomment>
        <translation>无法启动自检：{reason}。请关闭其他程序。</translation>
    </message>
    <message>
        <source>The system killed the self-test, most likely because it ran out of memory. Close other programs, or choose a smaller context.</source>
        <extracomment>app/services/self_test.py</extracomment>
        <translation>系统结束了运行检测的进程，很可能是因为内存耗尽。请关闭其他程序，或选择较小的上下文。</translation>
    </message>
    <message>
        <source>The self-test crashed ({how}: {last_words}). Run it again; if it keeps crashing, report it with this message.</source>
        <extracomment>app/services/self_test.py</extracomment>
        <translation>运行检测的进程崩溃了（{how}：{last_words}）。请重新启动检测；如果每次都崩溃，请附上这些信息报告。</translation>
    </message>
    <message>
        <source>{file} is too large to be a preset.</source>
        <extracomment>app/chats/presets.py</extracomment>
        <translation>{file} 太大，不可能是预设。</translation>
    </message>
    <message>
        <source>{file} cannot be used: {reason}</source>
        <extracomment>app/chats/presets.py</extracomment>
        <translation>{file} 无法使用：{reason}</translation>
    </message>
    <message>
        <source>{file} is not a preset of Skein or LM Studio.</source>
        <extracomment>app/chats/presets.py</extracomment>
        <translation>{file} 不是 Skein 或 LM Studio 的预设。</translation>
    </message>
    <message>
        <source>The answer was cut off at its limit of {limit:,} tokens.</source>
        <extracomment>app/bridge/chat_session.py</extracomment>
        <translation>回答在 {limit:,} 个词元的上限处被截断。</translation>
    </message>
    <message>
        <source>The archive cannot be unpacked: {reason}. Download it again, or unpack it manually.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation>无法解压这个压缩包：{reason}。请重新下载，或自行解压。</translation>
    </message>
    <message>
        <source>It contains more than {count} files. Import it in parts.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation>其中的文件超过 {count} 个。请分批导入。</translation>
    </message>
    <message>
        <source>It was written by a newer Skein. Update Skein to use it.</source>
        <extracomment>app/chats/presets.py</extracomment>
        <translation>这个文件由更新版本的 Skein 写成。请先更新 Skein 再使用。</translation>
    </message>
    <message>
        <source>max_tokens must be between 1 and {most}.</source>
        <extracomment>app/chats/presets.py</extracomment>
        <translation>max_tokens 必须在 1 和 {most} 之间。</translation>
    </message>
    <message>
        <source>Unknown overflow policy “{value}”.</source>
        <extracomment>app/chats/presets.py</extracomment>
        <translation>未知的 overflow“{value}”。</translation>
    </message>
    <message>
        <source>The preset {file} cannot be used: {reason}.</source>
        <extracomment>app/chats/presets.py</extracomment>
        <translation>预设 {file} 无法使用：{reason}。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template took more than {seconds} seconds or {size} MiB. Try another GGUF of this model.</source>
        <extracomment>app/engine/prompts/chat_template.py</extracomment>
        <translation>模型的对话模板耗费超过 {seconds} 秒或 {size} MiB，无法使用；请尝试这个模型的另一个 GGUF 文件。</translation>
    </message>
    <message>
        <source>grammar</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>语法</translation>
    </message>
    <message>
        <source>The {what} cannot be used: {reason}. Correct or remove it.</source>
        <extracomment>app/engine/prompts/chat_child.py</extracomment>
        <translation>{what}无法使用：{reason}。请更正，或不用它提问。</translation>
    </message>
    <message>
        <source>llama.cpp disagrees: {difference}</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>与 llama.cpp 不一致：{difference}</translation>
    </message>
    <message>
        <source>llama.cpp agrees: compared positions; this model has no KV cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>与 llama.cpp 一致：已比较位置，这个模型没有单元</translation>
    </message>
    <message>
        <source>llama.cpp agrees: compared {num_cells} cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>与 llama.cpp 一致：已比较 {num_cells} 个单元</translation>
    </message>
    <message>
        <source>llama.cpp made {tokens} tokens of {bytes} bytes of text.</source>
        <extracomment>app/engine/llama/vocabulary.py</extracomment>
        <translation>llama.cpp 要为 {bytes} 字节的文本使用 {tokens} 个词元。</translation>
    </message>
    <message>
        <source>ignore_eos and logit_bias rule out every token. Leave at least one.</source>
        <extracomment>app/engine/llama/backend.py</extracomment>
        <translation>ignore_eos 和 logit_bias 排除了所有词元。请至少保留一个。</translation>
    </message>
    <message>
        <source>llama.cpp failed to compute a step (code {code}). {reason}</source>
        <extracomment>app/engine/llama/embedder.py</extracomment>
        <translation>llama.cpp 未能计算一步（代码 {code}）。{reason}</translation>
    </message>
    <message>
        <source>llama.cpp saved {saved} of {bytes} bytes. {reason}</source>
        <extracomment>app/engine/llama/backend.py</extracomment>
        <translation>llama.cpp 只保存了 {bytes} 字节中的 {saved} 字节。{reason}</translation>
    </message>
    <message>
        <source>llama.cpp could not create a {kind}: {reason}</source>
        <extracomment>app/engine/llama/native_library.py</extracomment>
        <translation>llama.cpp 无法创建 {kind}：{reason}</translation>
    </message>
    <message>
        <source>llama.cpp could not create a sampler.</source>
        <extracomment>app/engine/llama/sampler.py</extracomment>
        <translation>llama.cpp 无法创建采样器。</translation>
    </message>
    <message>
        <source>the beginning of the answer</source>
        <extracomment>app/engine/llama/sampler.py</extracomment>
        <translation>回答的开头</translation>
    </message>
    <message>
        <source>The grammar allows none of this model&apos;s tokens at this point. Correct the grammar, or remove it.</source>
        <extracomment>app/engine/llama/sampler.py</extracomment>
        <translation>无法继续遵循语法：这个模型没有语法在此处允许的词元。请更正语法，或不用它提问。</translation>
    </message>
    <message>
        <source>llama.cpp rejected the grammar, most likely because it repeats something that may be empty. Correct it, or remove it.</source>
        <extracomment>app/engine/llama/sampler.py</extracomment>
        <translation>语法无法使用：llama.cpp 不接受它，很可能是因为它重复了可能为空的内容。请更正，或不用它提问。</translation>
    </message>
    <message>
        <source>one token</source>
        <extracomment>app/engine/llama/sampler.py</extracomment>
        <translation>一个词元</translation>
    </message>
    <message>
        <source>{name} was trained with a context too short for chatting. Open another GGUF.</source>
        <extracomment>app/engine/children/probe_child.py</extracomment>
        <translation>{name} 针对的文本太短，无法对话。请打开另一个 GGUF 文件。</translation>
    </message>
    <message>
        <source>dynatemp_range must not be larger than temperature: {range} is larger than {temperature}.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>dynatemp_range 不能大于温度：{range} 大于 {temperature}。</translation>
    </message>
    <message>
        <source>logit_bias names token {id:,}, but this model has {n_vocab:,} tokens.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>logit_bias 提到词元 {id:,}，但这个模型只有 {n_vocab:,} 个词元。</translation>
    </message>
    <message>
        <source>logit_bias rules out every token. Leave at least one.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>logit_bias 排除了所有词元。请至少保留一个。</translation>
    </message>
    <message>
        <source>dry_sequence_breakers can have at most {limit} entries, not {number}.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>dry_sequence_breakers 最多 {limit} 段文本，而不是 {number} 段。</translation>
    </message>
    <message>
        <source>Each of dry_sequence_breakers must have 1 to {limit} bytes, not {text}.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>dry_sequence_breakers 每段须为 1 到 {limit} 字节，而不是 {text}。</translation>
    </message>
    <message>
        <source>logit_bias must be pairs of token id and bias, not {entry}.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>logit_bias 必须是词元编号和偏置的对，而不是 {entry}。</translation>
    </message>
    <message>
        <source>logit_bias lists a token twice.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>logit_bias 重复提到一个词元。每个词元请只写一次。</translation>
    </message>
    <message>
        <source>An answer can follow a grammar or a JSON schema, not both. Remove one.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>回答只能遵循语法或 JSON Schema 之一。请去掉一个。</translation>
    </message>
    <message>
        <source>A JSON schema can have at most {limit:,} characters. Simplify it.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>JSON Schema 最多 {limit:,} 个字符。请简化。</translation>
    </message>
    <message>
        <source>{name} must be between {low:,} and {high:,}, not {value}.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>{name} 必须在 {low:,} 和 {high:,} 之间，而不是 {value}。</translation>
    </message>
    <message>
        <source>{name} must be a whole number, not {value}.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>{name} 必须是整数，而不是 {value}。</translation>
    </message>
    <message>
        <source>{name} contains NUL or a lone surrogate. Remove it.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>{name} 含有 NUL 或半个代理对。请去掉。</translation>
    </message>
    <message>
        <source>none</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>无</translation>
    </message>
    <message>
        <source>{part} of {whole}</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>{part} / {whole}</translation>
    </message>
    <message>
        <source>Sequences in the batch</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>批次中的序列</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat to see its steps here.</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>没有加载模型。在对话上方选择一个，即可在这里查看它的步。</translation>
    </message>
    <message>
        <source>No steps yet. Send a message: each step of the batcher becomes a column.</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>还没有任何步。发送一条消息，批处理器的每一步都会成为这里的一列。</translation>
    </message>
    <message>
        <source>Batches</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>批次</translation>
    </message>
    <message>
        <source>Sequence {seq_id}</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>序列 {seq_id}</translation>
    </message>
    <message>
        <source>llama_decode returned {code}</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>llama_decode 返回 {code}</translation>
    </message>
    <message>
        <source>ms</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>毫秒</translation>
    </message>
    <message>
        <source>Column height: duration of each decode</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>以列高表示每次解码所用的时间</translation>
    </message>
    <message>
        <source>tokens</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>词元</translation>
    </message>
    <message>
        <source>Column height: rows of each batch</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>以列高表示每步的行数</translation>
    </message>
    <message>
        <source>Show more steps (−, or the wheel)</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>显示更多步（− 或滚轮）</translation>
    </message>
    <message>
        <source>Show fewer steps (+, or the wheel)</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>显示更少步（+ 或滚轮）</translation>
    </message>
    <message>
        <source>Sequence</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>序列</translation>
    </message>
    <message>
        <source>Dim all other sequences</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>淡化其他所有序列</translation>
    </message>
    <message>
        <source>Follow</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>跟随</translation>
    </message>
    <message>
        <source>Keep the latest step in view (End)</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>让最新的一步保持可见（End）</translation>
    </message>
    <message>
        <source>rank</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>名次</translation>
    </message>
    <message>
        <source>token</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>词元</translation>
    </message>
    <message>
        <source>id</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>编号</translation>
    </message>
    <message>
        <source>before</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>之前</translation>
    </message>
    <message>
        <source>after</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>之后</translation>
    </message>
    <message>
        <source>Rank by probability among the whole vocabulary</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>按概率在模型所有词元中的名次</translation>
    </message>
    <message>
        <source>The token&apos;s text: ␣ is a space, ⏎ a newline, \x one byte of a character</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>词元的写法：␣ 是空格，⏎ 是换行，\x 是字符中的一个字节</translation>
    </message>
    <message>
        <source>Token id</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>词元编号</translation>
    </message>
    <message>
        <source>Probability before the samplers: softmax of the raw logits</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>采样器之前的概率：模型原始 logits 的 softmax</translation>
    </message>
    <message>
        <source>Probability after penalties, temperature and truncation</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>采样器之后的概率：经过惩罚、温度以及一切排除词元的规则</translation>
    </message>
    <message>
        <source>ruled out</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>已排除</translation>
    </message>
    <message>
        <source>Log-probability: {number}</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>模型给出的对数概率：{number}</translation>
    </message>
    <message>
        <source>{token}, chosen</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>{token}，已选中</translation>
    </message>
    <message>
        <source>Candidates</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>候选词元</translation>
    </message>
    <message>
        <source>closed chat</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="vanished">已关闭的对话</translation>
    </message>
    <message numerus="yes">
        <source>{n} cells used</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>
            <numerusform>已用 {n} 个单元</numerusform>
        </translation>
    </message>
    <message>
        <source>{free} free of {total}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>空闲 {free} / {total}</translation>
    </message>
    <message>
        <source>{number} shared ({share} of used)</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>共享 {number}（占已用的 {share}）</translation>
    </message>
    <message>
        <source>fragmentation {share} ({gaps})</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>碎片率 {share}（{gaps}）</translation>
    </message>
    <message numerus="yes">
        <source>{n} gaps</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>
            <numerusform>{n} 处空隙</numerusform>
        </translation>
    </message>
    <message>
        <source>at most {number} used so far</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>至今最多同时使用 {number}</translation>
    </message>
    <message>
        <source>cell {number} · free</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>单元 {number} · 空闲</translation>
    </message>
    <message>
        <source>token {id}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>词元 {id}</translation>
    </message>
    <message>
        <source>token {id} “{text}”</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>词元 {id}“{text}”</translation>
    </message>
    <message>
        <source>cell {number} · position {position} · {token} · {owners}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>单元 {number} · 位置 {position} · {token} · {owners}</translation>
    </message>
    <message>
        <source>seq {seq_id} {title}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>序列 {seq_id} {title}</translation>
    </message>
    <message>
        <source>KV cells</source>
        <extracomment>app/inspector/cell_grid.py</extracomment>
        <translation>KV 单元</translation>
    </message>
    <message>
        <source>free</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>空闲</translation>
    </message>
    <message>
        <source>shared</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>共享</translation>
    </message>
    <message>
        <source>Legend</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>图例</translation>
    </message>
    <message>
        <source>step {step}: {number} cells compared, {difference}</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>第 {step} 步，比较了 {number} 个单元：{difference}</translation>
    </message>
    <message>
        <source>Disagreed with llama.cpp at step {step}</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>在第 {step} 步与 llama.cpp 不一致</translation>
    </message>
    <message>
        <source>Not yet compared with llama.cpp</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>尚未与 llama.cpp 比较</translation>
    </message>
    <message>
        <source>Positions agree with llama.cpp at step {step}; this model&apos;s cells cannot be listed</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>位置与 llama.cpp 一致，第 {step} 步；这个模型的单元无法列出</translation>
    </message>
    <message numerus="yes">
        <source>Agrees with llama.cpp: {n} cells, step {step}</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>
            <numerusform>与 llama.cpp 一致：{n} 个单元，第 {step} 步</numerusform>
        </translation>
    </message>
    <message>
        <source>Copy evidence</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>复制证据</translation>
    </message>
    <message>
        <source>Copy the differences</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>复制不一致的内容</translation>
    </message>
    <message>
        <source>Check now</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>立即检查</translation>
    </message>
    <message>
        <source>Compare every cell with llama.cpp&apos;s own records now</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>立即将每个单元与 llama.cpp 自己的记录比较</translation>
    </message>
    <message>
        <source>{name}: {value}</source>
        <extracomment>app/inspector/panel_buttons.py</extracomment>
        <translation>{name}：{value}</translation>
    </message>
    <message>
        <source>&amp;Reset layout</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>重置布局(&amp;R)</translation>
    </message>
    <message>
        <source>Restore the default arrangement of panels</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>把所有面板放回最初的位置</translation>
    </message>
    <message>
        <source>&amp;Tear off panel</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>分离面板(&amp;T)</translation>
    </message>
    <message>
        <source>Turn the focused panel into its own window, or dock it again</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>让有焦点的面板成为独立窗口，或放回原处</translation>
    </message>
    <message>
        <source>I&amp;nspector</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>检查器(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Dock</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>放回(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Tear off</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>分离(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Close panel</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>关闭面板(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Inspector</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>检查器(&amp;I)</translation>
    </message>
    <message>
        <source>Show or hide all panels of the inspector</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>显示或隐藏检查器的所有面板</translation>
    </message>
    <message>
        <source>Panels</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>面板</translation>
    </message>
    <message>
        <source>step</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>步</translation>
    </message>
    <message>
        <source>time</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>时间</translation>
    </message>
    <message>
        <source>kind</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>类别</translation>
    </message>
    <message>
        <source>event</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>事件</translation>
    </message>
    <message>
        <source>lease</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="vanished">租用</translation>
    </message>
    <message>
        <source>release</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="vanished">释放</translation>
    </message>
    <message>
        <source>share</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>共享</translation>
    </message>
    <message>
        <source>fork</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>分叉</translation>
    </message>
    <message>
        <source>hibernate</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>休眠</translation>
    </message>
    <message>
        <source>restore</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>恢复</translation>
    </message>
    <message>
        <source>evict</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>逐出</translation>
    </message>
    <message>
        <source>clear</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>清空</translation>
    </message>
    <message>
        <source>shift</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>平移</translation>
    </message>
    <message>
        <source>pin</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>固定</translation>
    </message>
    <message>
        <source>pause</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>暂停</translation>
    </message>
    <message>
        <source>resume</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>继续</translation>
    </message>
    <message>
        <source>abort</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>中止</translation>
    </message>
    <message>
        <source>overflow</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>溢出</translation>
    </message>
    <message>
        <source>verify</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>校验</translation>
    </message>
    <message>
        <source>native log</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>原生日志</translation>
    </message>
    <message>
        <source>{number} s</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>{number} 秒</translation>
    </message>
    <message>
        <source>Text (*.txt)</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>文本 (*.txt)</translation>
    </message>
    <message>
        <source>JSON lines (*.jsonl)</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>JSON 行 (*.jsonl)</translation>
    </message>
    <message>
        <source>Events</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>事件</translation>
    </message>
    <message>
        <source>Search events</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>搜索事件</translation>
    </message>
    <message>
        <source>Clear search</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>清除搜索</translation>
    </message>
    <message>
        <source>Kinds</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>类别</translation>
    </message>
    <message>
        <source>Kinds of events to show</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>显示哪些类别的事件</translation>
    </message>
    <message>
        <source>Only events of the selected sequence</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>只显示所选序列的事件</translation>
    </message>
    <message>
        <source>Keep the latest event in view</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>让最新的事件保持可见</translation>
    </message>
    <message>
        <source>Export…</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Save the events shown as text or JSON lines</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>把显示的内容保存为文本或 JSON 行</translation>
    </message>
    <message>
        <source>Kinds {shown}/{total}</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>类别 {shown}/{total}</translation>
    </message>
    <message>
        <source>Export events</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>导出事件</translation>
    </message>
    <message>
        <source>The events could not be saved in {path}: {reason}.</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>事件无法保存到 {path}：{reason}。</translation>
    </message>
    <message>
        <source>All kinds</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>所有类别</translation>
    </message>
    <message>
        <source>No kinds</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>不选类别</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat to see its cells here.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>没有加载模型。在对话上方选择一个，即可在这里查看它的单元。</translation>
    </message>
    <message>
        <source>A recording has no KV map. Go back to the running engine to see one.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>录制文件中没有单元图。返回正在运行的引擎即可查看。</translation>
    </message>
    <message>
        <source>Point at a cell or use the arrow keys to see what it holds. Click to select its sequence in all panels.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>指向一个单元或按方向键，即可看到其中的内容。单击会在所有面板中选中它的序列。</translation>
    </message>
    <message>
        <source>llama.cpp does not report where this model&apos;s cells are, so they are shown in Skein&apos;s own order.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>llama.cpp 不说明这个模型的单元在哪里，因此按 Skein 自己的顺序显示。</translation>
    </message>
    <message>
        <source>Fragmentation: free cells below the highest used one. Attention still runs over them, so they cost time.
Used so far: the most cells at any time since the model was loaded.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>碎片率：最高已用单元以下的空闲单元。注意力仍会经过它们，因此耗费时间。
至今最多：模型加载以来同时使用的最多单元数。</translation>
    </message>
    <message>
        <source>KV map</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>KV 图</translation>
    </message>
    <message>
        <source>Figures</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="vanished">数据</translation>
    </message>
    <message>
        <source>Show or hide the panel “{title}”</source>
        <extracomment>app/inspector/dock_panel.py</extracomment>
        <translation>显示或隐藏面板“{title}”</translation>
    </message>
    <message>
        <source>Tear off</source>
        <extracomment>app/inspector/dock_panel.py</extracomment>
        <translation>分离</translation>
    </message>
    <message>
        <source>Close panel</source>
        <extracomment>app/inspector/dock_panel.py</extracomment>
        <translation>关闭面板</translation>
    </message>
    <message>
        <source>Dock</source>
        <extracomment>app/inspector/dock_panel.py</extracomment>
        <translation>放回</translation>
    </message>
    <message>
        <source>prompt</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>提示词</translation>
    </message>
    <message>
        <source>cached</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>已有</translation>
    </message>
    <message>
        <source>computed</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>已计算</translation>
    </message>
    <message>
        <source>why</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation>原因</translation>
    </message>
    <message>
        <source>No request yet. Send a message to see what was computed, and why.</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation>还没有回答过任何请求。发送一条消息，这里会说明计算了哪些内容以及为什么。</translation>
    </message>
    <message>
        <source>Why did it recompute?</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>为什么重新计算？</translation>
    </message>
    <message>
        <source>Another model was loaded before this answer finished.</source>
        <extracomment>app/bridge/open_requests.py</extracomment>
        <translation>这个回答还未完成，就加载了另一个模型。</translation>
    </message>
    <message>
        <source>The engine stopped. Reload the model, then send again.</source>
        <extracomment>app/bridge/model_engine.py</extracomment>
        <translation>引擎已停止。请重新打开模型，然后重新发送。</translation>
    </message>
    <message>
        <source>Loading the model was cancelled. Load it again, then send again.</source>
        <extracomment>app/bridge/model_engine.py</extracomment>
        <translation>已取消加载模型。请重新加载，然后重新发送。</translation>
    </message>
    <message>
        <source>Cells are not kept between starts because the keyring cannot be used: {reason} Unlock the keyring, then turn this on again in Settings.</source>
        <extracomment>app/services/cell_keeping.py</extracomment>
        <translation>密钥环无法使用，因此不保留为对话计算的内容：{reason} 请解锁密钥环，然后在设置中重新开启。</translation>
    </message>
    <message>
        <source>Cells are not kept between starts because there is no keyring for the encryption key. Install one, such as GNOME Keyring or KWallet, then turn this on again in Settings.</source>
        <extracomment>app/services/cell_keeping.py</extracomment>
        <translation>没有可存放密钥的密钥环，因此不保留为对话计算的内容。请安装一个，例如 GNOME Keyring 或 KWallet，然后在设置中重新开启。</translation>
    </message>
    <message>
        <source>{name} cannot be used: {reason}.</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>{name} 无法使用：{reason}。</translation>
    </message>
    <message>
        <source>{name} cannot be read: {reason}.</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>{name} 无法读取：{reason}。</translation>
    </message>
    <message>
        <source>The token is stored in the keyring.</source>
        <extracomment>app/services/model_hub.py</extracomment>
        <translation>令牌已存入密钥环。</translation>
    </message>
    <message>
        <source>Token removed.</source>
        <extracomment>app/services/model_hub.py</extracomment>
        <translation>令牌已删除。</translation>
    </message>
    <message>
        <source>This system has no keyring, so the token is kept only until Skein is closed. To store it, install GNOME Keyring or KWallet.</source>
        <extracomment>app/services/model_hub.py</extracomment>
        <translation>这个系统没有可存放令牌的密钥环，因此令牌只在 Skein 关闭前有效。要保留它，请安装一个，例如 GNOME Keyring 或 KWallet。</translation>
    </message>
    <message>
        <source>This model is in use. Open another one first.</source>
        <extracomment>app/services/model_library.py</extracomment>
        <translation>这个模型正在使用。请先打开另一个模型。</translation>
    </message>
    <message>
        <source>This model comes with Skein.</source>
        <extracomment>app/services/model_library.py</extracomment>
        <translation>这个模型是 Skein 的一部分。</translation>
    </message>
    <message>
        <source>This file is not in one of your model folders. Remove it in the file manager.</source>
        <extracomment>app/services/model_library.py</extracomment>
        <translation>这个文件不在您的任何模型文件夹中。请在文件管理器中移除它。</translation>
    </message>
    <message>
        <source>This model belongs to {program}. Remove it there.</source>
        <extracomment>app/services/model_library.py</extracomment>
        <translation>这个模型属于 {program}。请在那里移除它。</translation>
    </message>
    <message>
        <source>{name} could not be moved to the trash: {reason}. Remove it in the file manager.</source>
        <extracomment>app/services/model_library.py</extracomment>
        <translation>{name} 无法移到回收站：{reason}。请在文件管理器中移除它。</translation>
    </message>
    <message>
        <source>{name} could not be restored: {reason}. Look for it in the trash.</source>
        <extracomment>app/services/model_library.py</extracomment>
        <translation>{name} 无法还原：{reason}。请在回收站中查找。</translation>
    </message>
    <message>
        <source>The engine stopped because of an error in Skein itself. Load the model again.</source>
        <extracomment>app/engine/children/engine_child.py</extracomment>
        <translation>引擎因 Skein 自身的错误而停止。请重新加载模型。</translation>
    </message>
    <message>
        <source>The engine stopped.</source>
        <extracomment>app/engine/prompts/prompts_elsewhere.py</extracomment>
        <translation>引擎已停止。</translation>
    </message>
    <message>
        <source>A model can be spread over at most {number} workers.</source>
        <extracomment>app/engine/children/engine_process.py</extracomment>
        <translation>一个模型最多可以分布到 {number} 个工作节点。</translation>
    </message>
    <message>
        <source>The worker {address}, which held part of the model, no longer responds.</source>
        <extracomment>app/engine/children/engine_process.py</extracomment>
        <translation>机器 {address} 不再响应，它负责计算模型的一部分。</translation>
    </message>
    <message>
        <source>The workers {addresses}, which held parts of the model, no longer respond.</source>
        <extracomment>app/engine/children/engine_process.py</extracomment>
        <translation>机器 {addresses} 不再响应，它们负责计算模型的各个部分。</translation>
    </message>
    <message>
        <source>The system killed the engine, most likely because it ran out of memory.</source>
        <extracomment>app/engine/children/engine_process.py</extracomment>
        <translation>系统结束了引擎，很可能是因为内存耗尽。</translation>
    </message>
    <message>
        <source>The engine crashed ({how}: {last_words}).</source>
        <extracomment>app/engine/children/engine_process.py</extracomment>
        <translation>引擎崩溃了（{how}：{last_words}）。</translation>
    </message>
    <message>
        <source>{name} cannot be used as an adapter of this model: {reason}. Remove it from the model&apos;s settings, or choose one that was made for this model.</source>
        <extracomment>app/engine/llama/weights.py</extracomment>
        <translation>{name} 无法用作这个模型的适配器：{reason}。请从模型的设置中移除它，或选择为这个模型制作的适配器。</translation>
    </message>
    <message>
        <source>{name} is an activated LoRA, which Skein does not support. Remove it from the model&apos;s settings.</source>
        <extracomment>app/engine/llama/weights.py</extracomment>
        <translation>{name} 只在特定词语之后起作用（它是激活式 LoRA），Skein 不支持。请从模型的设置中移除它。</translation>
    </message>
    <message>
        <source>only zeros</source>
        <extracomment>app/engine/llama/logits.py</extracomment>
        <translation>全为零</translation>
    </message>
    <message>
        <source>NaN or infinite</source>
        <extracomment>app/engine/llama/logits.py</extracomment>
        <translation>是 NaN 或无穷大</translation>
    </message>
    <message>
        <source>It has more than {count} values, so it is not a chat export.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation>它有超过 {count} 个值，没有对话会是这样。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template produced more than {size} MiB. Try another GGUF of this model.</source>
        <extracomment>app/engine/prompts/chat_child.py</extracomment>
        <translation>模型的对话模板生成了超过 {size} MiB 的内容，无法使用；请尝试此模型的另一个 GGUF。</translation>
    </message>
    <message>
        <source>There was nothing to compute for this answer.</source>
        <extracomment>app/engine/engine.py</extracomment>
        <translation>Skein 没有可为此回答计算的内容。</translation>
    </message>
    <message>
        <source>The value cache can be {type} only with flash attention. Turn it on, or choose f16.</source>
        <extracomment>app/engine/llama/kv_types.py</extracomment>
        <translation>只有使用 Flash Attention 时，值才能以 {type} 保存。请开启它，或为值选择 f16。</translation>
    </message>
    <message>
        <source>{name} cannot use a {type} KV cache: its blocks are {block} values, and this model&apos;s heads have {length}. Choose f16.</source>
        <extracomment>app/engine/llama/kv_types.py</extracomment>
        <translation>{name} 的键和值无法以 {type} 保存：它每次处理 {block} 个数，而这个模型的注意力头长度为 {length}。请选择 f16。</translation>
    </message>
    <message>
        <source>A newer Skein may open it: update Skein, or open another model.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>更新版本的 Skein 也许能打开它：请更新 Skein，或打开另一个模型。</translation>
    </message>
    <message>
        <source>Download it again, or open another one.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>请重新下载，或打开另一个模型。</translation>
    </message>
    <message>
        <source>Put all its parts into one folder, or download them again.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>请把它的所有分片放入同一文件夹，或重新下载。</translation>
    </message>
    <message>
        <source>Choose a smaller context in the model&apos;s settings, close other programs, or open a smaller model.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>请在模型的设置中选择较小的上下文，关闭其他程序，或打开较小的模型。</translation>
    </message>
    <message>
        <source>{name} has the architecture “{family}”, which this version of llama.cpp does not support.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 属于“{family}”系列，这个版本的 llama.cpp 不认识它。</translation>
    </message>
    <message>
        <source>{name} uses the tokenizer “{kind}”, which this version of llama.cpp does not support.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 切分文本的方式（“{kind}”）是这个版本的 llama.cpp 不认识的。</translation>
    </message>
    <message>
        <source>{name} has tensors of type {kind}, which this version of llama.cpp does not support.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 含有这个版本的 llama.cpp 不认识的权重类型（{kind}）。</translation>
    </message>
    <message>
        <source>{name} uses a newer version of the GGUF format ({version}).</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 使用更新版本的 GGUF 格式（{version}）。</translation>
    </message>
    <message>
        <source>{name} has weights that are NaN or infinite. The file may be damaged.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 的权重中有 NaN 或无穷大。文件可能已损坏。</translation>
    </message>
    <message>
        <source>{name} is incomplete: it is truncated or still downloading.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 不完整：文件在权重结束之前就结束了，或仍在下载。</translation>
    </message>
    <message>
        <source>A part of {name} is missing or cannot be read: {part}.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 的一个分片缺失或无法读取：{part}。</translation>
    </message>
    <message>
        <source>{name} lacks the tensor “{weights}”.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 缺少应有的权重“{weights}”。</translation>
    </message>
    <message>
        <source>{name} lacks the metadata “{key}”.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 没有给出“{key}”，缺少它就无法加载。</translation>
    </message>
    <message>
        <source>The header of {name} cannot be read: the file is damaged or incomplete.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 的开头无法读取：文件已损坏或不完整。</translation>
    </message>
    <message>
        <source>There is not enough memory for {name}.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>内存不足，无法加载 {name}。</translation>
    </message>
    <message>
        <source>There is not enough memory for {name}: an allocation of {size:.1f} GiB failed.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>内存不足，无法加载 {name}：还需要一次分配 {size:.1f} GiB。</translation>
    </message>
    <message>
        <source>llama.cpp cannot load {name}: {reason}.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>llama.cpp 无法加载 {name}：{reason}。</translation>
    </message>
    <message>
        <source>llama.cpp cannot create a context of {tokens:,} tokens for {name}: {reason}.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>llama.cpp 无法为 {name} 创建 {tokens:,} 个词元的上下文：{reason}。</translation>
    </message>
    <message>
        <source>no reason given</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>没有说明原因</translation>
    </message>
    <message>
        <source>A context of {tokens:,} tokens is too large.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{tokens:,} 个词元的上下文太大。</translation>
    </message>
    <message>
        <source>The device {name} is gone. Choose another in the model&apos;s settings. Available: {devices}.</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>设备 {name} 已不存在。请在模型的设置中选择其他设备。现有：{devices}。</translation>
    </message>
    <message>
        <source>{name} was changed on disk while it was open.</source>
        <extracomment>app/engine/llama/mapped_files.py</extracomment>
        <translation>{name} 在打开期间在磁盘上被更改。</translation>
    </message>
    <message>
        <source>This build of llama.cpp has no RPC backend. Set Skein up again with packaging/run.</source>
        <extracomment>app/engine/llama/rpc.py</extracomment>
        <translation>这个 llama.cpp 无法与其他机器协作：缺少 RPC 部分。请用 packaging/run 重新设置 Skein。</translation>
    </message>
    <message>
        <source>The grammar took {seconds:.1f} seconds for {what}: it is too ambiguous. Simplify it, or remove it.</source>
        <extracomment>app/engine/llama/sampler.py</extracomment>
        <translation>语法处理{what}用了 {seconds:.1f} 秒：它有太多种方式读取此回答。请简化语法，或不用语法提问。</translation>
    </message>
    <message>
        <source>The worker {address} has no device to compute on.</source>
        <extracomment>app/engine/llama/rpc.py</extracomment>
        <translation>工作节点 {address} 没有可用于计算的设备。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template produced an empty prompt. Choose another model for this chat.</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>模型的对话模板生成了空的提示词。请为此对话选择其他模型。</translation>
    </message>
    <message>
        <source>A grammar can have at most {limit:,} characters. Simplify it.</source>
        <extracomment>app/protocol/sampling.py</extracomment>
        <translation>语法最多可有 {limit:,} 个字符。请简化它。</translation>
    </message>
    <message>
        <source>paused the answer in sequence {seq_id}: the current tab goes first</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>已暂停序列 {seq_id} 中的回答：前台对话优先</translation>
    </message>
    <message>
        <source>Traffic to workers is neither encrypted nor authenticated: others on the network can read prompts and answers, and can take over a worker. Use workers in trusted networks only.</source>
        <extracomment>app/engine/children/workers.py</extracomment>
        <translation>发送给工作节点的内容既不加密，也没有密码保护：提示词和回答在途中可被读取，任何能连上工作节点的人都可以控制它。请只在可信的网络中使用工作节点。</translation>
    </message>
    <message>
        <source>The worker {address} is busy with another program. Close that program, or wait.</source>
        <extracomment>app/engine/children/workers.py</extracomment>
        <translation>工作节点 {address} 正在为另一个程序服务。请结束那个程序，或等待。</translation>
    </message>
    <message>
        <source>The worker {address} uses protocol version {theirs}, this Skein {ours}. Install the same version of Skein on both machines.</source>
        <extracomment>app/engine/children/workers.py</extracomment>
        <translation>工作节点 {address} 使用协议的 {theirs} 版，而这个 Skein 使用 {ours} 版。请在两台机器上安装相同版本的 Skein。</translation>
    </message>
    <message>
        <source>{address} answers, but not as a worker. Check the address and the port.</source>
        <extracomment>app/engine/children/workers.py</extracomment>
        <translation>在 {address} 响应的不是工作节点。请检查地址和端口。</translation>
    </message>
    <message>
        <source>The worker {address} cannot be reached: {reason}. Start it there with: skein worker --host ADDRESS --port N</source>
        <extracomment>app/engine/children/workers.py</extracomment>
        <translation>无法连接工作节点 {address}：{reason}。请在那里启动它：skein worker --host ADDRESS --port N</translation>
    </message>
    <message>
        <source>no response</source>
        <extracomment>app/engine/children/workers.py</extracomment>
        <translation>没有响应</translation>
    </message>
    <message>
        <source>“{text}” is not the address of a worker. Enter a host name or IPv4 address and a port, such as 192.168.1.20:50052.</source>
        <extracomment>app/engine/children/workers.py</extracomment>
        <translation>“{text}”不是工作节点的地址。请写出它的名称或 IPv4 地址以及端口，例如 192.168.1.20:50052。</translation>
    </message>
    <message>
        <source>Start it there again, or list the remaining ones with --workers.</source>
        <extracomment>app/cli/headless.py</extracomment>
        <translation>请在那里重新启动它，或用 --workers 指定剩下的那些。</translation>
    </message>
    <message>
        <source>Asked without the tools of {servers}, which had not started.</source>
        <extracomment>app/bridge/running_answers.py</extracomment>
        <translation>提问时未带 {servers} 的工具：它尚未启动。</translation>
    </message>
    <message>
        <source>The answer crashed llama.cpp&apos;s parser.</source>
        <extracomment>app/engine/prompts/message_reader.py</extracomment>
        <translation>该回答使 llama.cpp 的回答解析器崩溃。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template crashed llama.cpp&apos;s template engine, as endless recursion would. Try another GGUF of this model.</source>
        <extracomment>app/engine/prompts/chat_template.py</extracomment>
        <translation>该模型的对话模板使 llama.cpp 的模板解析器崩溃，无限递归就会如此。请换用该模型的另一个 GGUF。</translation>
    </message>
    <message>
        <source>The JSON schema crashed llama.cpp&apos;s converter. Simplify it.</source>
        <extracomment>app/engine/prompts/chat_worker.py</extracomment>
        <translation>该 JSON Schema 使 llama.cpp 的模式解析器崩溃。请简化它。</translation>
    </message>
    <message>
        <source>llama.cpp does not report the order of this chat&apos;s cells.</source>
        <extracomment>app/engine/llama/lens.py</extracomment>
        <translation>llama.cpp 没有报告此对话各单元的顺序。</translation>
    </message>
    <message>
        <source>{number:,} tokens</source>
        <extracomment>app/engine/llama/sampler.py</extracomment>
        <translation>{number:,} 个词元</translation>
    </message>
    <message>
        <source>about {tokens:,}</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>≈{tokens:,}</translation>
    </message>
    <message>
        <source>This chat needs {tokens} tokens, but its own limit is {limit:,}: raise that in the chat settings, or shorten the text.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>此对话需要 {tokens} 个词元，但其自身上限为 {limit:,}：请在对话设置中提高上限，或缩短文字。</translation>
    </message>
    <message>
        <source>This chat needs {tokens} tokens, but the context holds {limit:,}: choose a larger one in Settings (--ctx), leave out the middle, or shorten the text.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>此对话需要 {tokens} 个词元，但上下文只能容纳 {limit:,}：请在设置中选择更大的上下文 (--ctx)，省略中间部分，或缩短文字。</translation>
    </message>
    <message>
        <source>This chat needs {tokens} tokens, but the context holds {limit:,}: choose a larger one in Settings (--ctx), or shorten the text.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>此对话需要 {tokens} 个词元，但上下文只能容纳 {limit:,}：请在设置中选择更大的上下文 (--ctx)，或缩短文字。</translation>
    </message>
    <message>
        <source>This chat needs {tokens} tokens, but this model can hold {limit:,}: leave out the middle, shorten the text, or use another model.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>此对话需要 {tokens} 个词元，但此模型只能容纳 {limit:,}：请省略中间部分，缩短文字，或使用其他模型。</translation>
    </message>
    <message>
        <source>This chat needs {tokens} tokens, but this model can hold {limit:,}: shorten the text, or use another model.</source>
        <extracomment>app/engine/prompts/overflow.py</extracomment>
        <translation>此对话需要 {tokens} 个词元，但此模型只能容纳 {limit:,}：请缩短文字，或使用其他模型。</translation>
    </message>
    <message>
        <source>This chat has {chars:,} characters, too many for a context of {limit:,} tokens: shorten the text.</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>此对话有 {chars:,} 个字符，对 {limit:,} 个词元的上下文来说太多了：请缩短文字。</translation>
    </message>
    <message>
        <source>drafted</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>推测</translation>
    </message>
    <message>
        <source>Draft tokens among them</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>其中对后续词元的推测</translation>
    </message>
    <message>
        <source>Whether logits are read from its rows to sample a token</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>是否从它的最后一行以及各推测之前的行采样词元</translation>
    </message>
    <message>
        <source>draft model</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Requests</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>请求</translation>
    </message>
    <message>
        <source>A new chat</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">新对话</translation>
    </message>
    <message>
        <source>Only new text was computed</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">只有新文本</translation>
    </message>
    <message>
        <source>An earlier message was edited</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">较早的消息被编辑过</translation>
    </message>
    <message>
        <source>The chat template rewrote the history</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>对话模板改写了历史</translation>
    </message>
    <message>
        <source>Turns were left out</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>省略了一些轮次</translation>
    </message>
    <message>
        <source>The model cannot remove a tail</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>模型无法回退</translation>
    </message>
    <message>
        <source>Went back to a checkpoint</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>回到了一个检查点</translation>
    </message>
    <message>
        <source>Its cells were evicted</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">它的单元让给了别的对话</translation>
    </message>
    <message>
        <source>The saved state failed its checks</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">已保存的状态存疑</translation>
    </message>
    <message>
        <source>new chat</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">新对话</translation>
    </message>
    <message>
        <source>new text</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">新文本</translation>
    </message>
    <message>
        <source>edited message</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">消息被编辑</translation>
    </message>
    <message>
        <source>template changed the history</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">模板改写了历史</translation>
    </message>
    <message>
        <source>turns left out</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">省略了轮次</translation>
    </message>
    <message>
        <source>model cannot remove a tail</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">模型无法删去末尾</translation>
    </message>
    <message>
        <source>went back to a checkpoint</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">回到检查点</translation>
    </message>
    <message>
        <source>evicted</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">已逐出</translation>
    </message>
    <message>
        <source>saved state failed its checks</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">已保存状态存疑</translation>
    </message>
    <message>
        <source>Nothing of this chat was cached, but another chat begins the same way.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">这个对话此前没有计算过任何内容，但有另一个对话的开头与它相同。</translation>
    </message>
    <message>
        <source>Nothing of this chat was cached, and no other chat begins the same way.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">这个对话此前没有计算过任何内容，也没有开头与它相同的对话。</translation>
    </message>
    <message>
        <source>Everything cached is part of the prompt; only the new text after it was computed.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">已有的内容都是提示词的一部分；只计算了后面新增的部分。</translation>
    </message>
    <message>
        <source>The prompt differs from the cached one after {tokens}, so everything after that was recomputed.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">提示词在 {tokens}之后与已有内容不同，因此该处之后的内容全部重新计算。</translation>
    </message>
    <message>
        <source>The messages are the same, but the chat template renders them differently: the prompts differ after {tokens}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">消息没有变，但对话模板的写法与之前不同：两者在 {tokens}之后分开。</translation>
    </message>
    <message>
        <source>The chat no longer fits its context, so turns after the first {tokens} were left out.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>对话已超出上下文，因此省略了前 {tokens}之后的一些轮次。</translation>
    </message>
    <message>
        <source>The first {tokens} are the same, but {memory} cannot be cut back to them.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>前 {tokens}相同，但{memory}无法退回到那里。</translation>
    </message>
    <message>
        <source>The first {tokens} are the same, but {memory} can be cut back to checkpoints only, and the nearest is after {kept}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>前 {tokens} 相同，但{memory}只能退回到检查点，最近的一个在 {kept} 之后。</translation>
    </message>
    <message>
        <source>Other chats needed its cells, and its state was not saved.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">它的单元被其他对话需要，而状态没有保留。</translation>
    </message>
    <message>
        <source>Its saved state failed its checks and was not used.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">有一份已保存的状态，但没有通过检查，因此没有使用。</translation>
    </message>
    <message>
        <source>Fork the chat before editing it: both versions then keep their cells.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>编辑前先分叉对话，两个版本就都能保留各自的单元。</translation>
    </message>
    <message>
        <source>Nothing is wrong with the chat. A chat template that leaves earlier turns unchanged avoids this.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>对话本身没有问题；使用不改写历史的模板即可避免。</translation>
    </message>
    <message>
        <source>A larger context (Context settings, --ctx) or a higher limit for this chat delays this.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>更大的上下文（上下文设置，--ctx）或更高的对话上限可以推迟这种情况。</translation>
    </message>
    <message>
        <source>Continue at the end of such a chat: editing or forking it recomputes the whole prompt.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>请在这类对话的末尾继续：编辑、分叉和另起版本都要重新计算整个提示词。</translation>
    </message>
    <message>
        <source>Pin the chat, or use a larger context (Context settings, --ctx).</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>请固定这个对话，或选择更大的上下文（上下文设置，--ctx）。</translation>
    </message>
    <message>
        <source>Nothing to do: the answer is right, it only took longer.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>无需处理：回答是正确的，只是多花了时间。</translation>
    </message>
    <message>
        <source>Nothing to do.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>无需处理。</translation>
    </message>
    <message>
        <source>{computed} prompt tokens computed.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="vanished">计算了 {computed} 个提示词词元。</translation>
    </message>
    <message>
        <source>{computed} prompt tokens computed in {time}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>用 {time}计算了 {computed} 个提示词词元。</translation>
    </message>
    <message>
        <source>A checkpoint saved {tokens}, about {time}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>一个检查点省去了 {tokens}，约 {time}。</translation>
    </message>
    <message>
        <source>the memory of a model with a sliding window</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>滑动窗口模型的记忆</translation>
    </message>
    <message>
        <source>the running state of a recurrent model</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>循环模型的运行状态</translation>
    </message>
    <message>
        <source>this model&apos;s memory</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>这个模型的记忆</translation>
    </message>
    <message>
        <source>wanted</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>需要</translation>
    </message>
    <message>
        <source>reused</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>复用</translation>
    </message>
    <message>
        <source>restored</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Source of the prompt&apos;s tokens</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>提示词的词元从何而来</translation>
    </message>
    <message>
        <source>Where the prompt differs from the cached one</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>提示词在哪里与已有内容分开</translation>
    </message>
    <message>
        <source>end</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>结尾</translation>
    </message>
    <message>
        <source>Select a sequence, or “Token probabilities” under an answer, to see the alternatives at each token.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>选择一个序列，或回答下方的“词元概率”，即可查看每个词元的其他候选。</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat to inspect its answers.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>没有加载模型。在对话上方选择一个，即可检查它的回答。</translation>
    </message>
    <message>
        <source>This is a recording. Token probabilities need a running engine.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>这是录制内容。词元概率需要正在运行的引擎。</translation>
    </message>
    <message>
        <source>Waiting: all chats are paused. Resume to compute this.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>所有对话都已暂停，因此需要等待。继续运行后才会计算。</translation>
    </message>
    <message>
        <source>Computing…</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>正在计算…</translation>
    </message>
    <message>
        <source>Token probabilities</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>词元概率</translation>
    </message>
    <message>
        <source>Recompute</source>
        <extracomment>app/inspector/answer_panel.py</extracomment>
        <translation>重新计算</translation>
    </message>
    <message>
        <source>Continue from this token in a new tab (Enter)</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>从这个词元起在新标签页中继续（Enter）</translation>
    </message>
    <message numerus="yes">
        <source>answer: {n} tokens, prompt: {prompt}</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>
            <numerusform>回答 {n} 个词元，提示词 {prompt} 个</numerusform>
        </translation>
    </message>
    <message>
        <source>Fork here with “{token}”</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>在此以“{token}”分叉</translation>
    </message>
    <message>
        <source>Fork here</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>在此分叉</translation>
    </message>
    <message>
        <source>Back to live</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>返回实时</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat, then try again.</source>
        <extracomment>app/bridge/model_engine.py</extracomment>
        <translation>没有加载模型。请在对话上方选择一个，然后重试。</translation>
    </message>
    <message>
        <source>The answer was stopped: it reached the maximum number of tool rounds in Settings.</source>
        <extracomment>app/bridge/tool_rounds.py</extracomment>
        <translation>回答已停止：它调用工具的轮数已达到设置的上限。</translation>
    </message>
    <message>
        <source>Parsing the answer took more than {seconds} seconds.</source>
        <extracomment>app/engine/prompts/message_reader.py</extracomment>
        <translation>解析回答用了超过 {seconds} 秒。</translation>
    </message>
    <message>
        <source>The JSON schema contains something that cannot be enforced: {what}.</source>
        <extracomment>app/engine/prompts/chat_child.py</extracomment>
        <translation>JSON Schema 中有无法强制回答遵守的要求：{what}。</translation>
    </message>
    <message>
        <source>This build of llama-cpp-python does not support tools and JSON schemas. Set Skein up again with packaging/run.</source>
        <extracomment>app/engine/prompts/chat_template.py</extracomment>
        <translation>此 llama-cpp-python 缺少处理工具和 JSON Schema 的部分。请用 packaging/run 重新安装 Skein。</translation>
    </message>
    <message>
        <source>The JSON schema took more than {seconds} seconds or {size} MiB. Simplify it.</source>
        <extracomment>app/engine/prompts/chat_worker.py</extracomment>
        <translation>处理 JSON Schema 用了超过 {seconds} 秒或 {size} MiB。请简化它。</translation>
    </message>
    <message>
        <source>The grammar took more than {seconds} seconds to check. Simplify it.</source>
        <extracomment>app/engine/prompts/chat_worker.py</extracomment>
        <translation>检查语法用了超过 {seconds} 秒。请简化它。</translation>
    </message>
    <message>
        <source>The projector&apos;s process crashed while encoding a picture or sound. Its file may be damaged, or made for another model.</source>
        <extracomment>app/engine/media/encoder.py</extracomment>
        <translation>投影器的进程在处理图片或声音时终止了。其文件可能已损坏，或与此模型不匹配。</translation>
    </message>
    <message>
        <source>The picture or sound could not be encoded.</source>
        <extracomment>app/engine/media/encoder.py</extracomment>
        <translation>无法编码该图片或声音。</translation>
    </message>
    <message>
        <source>{name} crashed its process: it is damaged, or not a projector for this model.</source>
        <extracomment>app/engine/media/encoder.py</extracomment>
        <translation>{name} 使其进程终止：它已损坏，或不是此模型的投影器。</translation>
    </message>
    <message>
        <source>{name} is not in {folder}.</source>
        <extracomment>app/engine/llama/loading.py</extracomment>
        <translation>{name} 不在 {folder} 中。</translation>
    </message>
    <message>
        <source>patterns, and lengths and numbers above {number}, in tools</source>
        <extracomment>app/engine/prompts/answer_grammars.py</extracomment>
        <translation>工具中的模式以及超过 {number} 的长度和数值</translation>
    </message>
    <message>
        <source>The projector does not accept this picture or sound. {reason}</source>
        <extracomment>app/engine/llama/projector.py</extracomment>
        <translation>投影器不接受这样的图片或声音。{reason}</translation>
    </message>
    <message>
        <source>The projector could not encode it. {reason}</source>
        <extracomment>app/engine/llama/projector.py</extracomment>
        <translation>投影器无法对其编码。{reason}</translation>
    </message>
    <message>
        <source>This build of llama.cpp does not support pictures and sounds.</source>
        <extracomment>app/engine/llama/projector.py</extracomment>
        <translation>此版本的 llama.cpp 不含处理图片和声音的部分。</translation>
    </message>
    <message>
        <source>{name} is not a projector for this model: {reason}</source>
        <extracomment>app/engine/llama/projector.py</extracomment>
        <translation>{name} 不是此模型的投影器：{reason}</translation>
    </message>
    <message>
        <source>A picture or sound needs {tokens:,} tokens at once, which is too many.</source>
        <extracomment>app/engine/media/rows.py</extracomment>
        <translation>一张图片或一段声音一次要占 {tokens:,} 个词元，太多了。</translation>
    </message>
    <message>
        <source>It could not be encoded.</source>
        <extracomment>app/engine/llama/projector.py</extracomment>
        <translation>无法编码。</translation>
    </message>
    <message>
        <source>An answer with tools cannot follow a grammar. Leave one out.</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>带工具的回答不能同时遵循语法。请去掉其中一个。</translation>
    </message>
    <message>
        <source>The model&apos;s chat template has no place for this picture or sound. Send text only.</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>该模型的对话模板没有放置此图片或声音的位置。请只发送文字。</translation>
    </message>
    <message>
        <source>Its process ended unexpectedly. The file may be damaged, or need more memory than is free.</source>
        <extracomment>app/engine/children/text_models.py</extracomment>
        <translation>它的进程已结束。文件可能已损坏，或需要的内存超过可用内存。</translation>
    </message>
    <message>
        <source>Lens</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>透镜</translation>
    </message>
    <message>
        <source>Branches</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>分支</translation>
    </message>
    <message>
        <source>picture or sound</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>图片或声音</translation>
    </message>
    <message>
        <source>Loading the model…</source>
        <extracomment>app/inspector/dock_panel.py</extracomment>
        <translation>正在加载模型…</translation>
    </message>
    <message>
        <source>encode</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>编码</translation>
    </message>
    <message>
        <source>paused the answer in sequence {seq_id}: another program takes its turn</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>暂停了序列 {seq_id} 中的回答：轮到另一个程序</translation>
    </message>
    <message>
        <source>paused the answer in sequence {seq_id}: its picture is encoded again</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>暂停了序列 {seq_id} 中的回答：正在重新编码其图片</translation>
    </message>
    <message>
        <source>the grammar applies to the answer in sequence {seq_id} from token {num_tokens} on</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>序列 {seq_id} 中回答的语法从第 {num_tokens} 个词元起生效</translation>
    </message>
    <message>
        <source>the tool {tool} ran for {seconds:,.2f} s</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>工具 {tool} 运行了 {seconds:,.2f} 秒</translation>
    </message>
    <message>
        <source>reused the encoding of a picture or sound of {num_cells} cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>占 {num_cells} 个单元的图片或声音先前已编码</translation>
    </message>
    <message>
        <source>encoded a picture or sound of {num_cells} cells in {ms:,.0f} ms</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>占 {num_cells} 个单元的图片或声音用 {ms:,.0f} 毫秒完成编码</translation>
    </message>
    <message>
        <source>What the model read</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>模型读到的内容</translation>
    </message>
    <message>
        <source>Used cells</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>已用单元</translation>
    </message>
    <message>
        <source>Fit the used cells in (0)</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>显示已用的单元 (0)</translation>
    </message>
    <message>
        <source>All cells</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>全部单元</translation>
    </message>
    <message>
        <source>Fit all cells in (9)</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>显示全部单元 (9)</translation>
    </message>
    <message>
        <source>Zoom out (−, or Ctrl and the wheel)</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>缩小（− 或 Ctrl 加滚轮）</translation>
    </message>
    <message>
        <source>Zoom in (+, or Ctrl and the wheel)</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>放大（+ 或 Ctrl 加滚轮）</translation>
    </message>
    <message>
        <source>layer</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>层</translation>
    </message>
    <message>
        <source>says</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>输出</translation>
    </message>
    <message>
        <source>Probability of that token</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>该词元的概率</translation>
    </message>
    <message>
        <source>What each layer says</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>各层的输出</translation>
    </message>
    <message>
        <source>Open a chat with an answer, or choose “What was read for this” in the menu of an answer.</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>打开一个有回答的对话，或在回答的菜单中选择“为此读了什么”。</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat to look into its answers.</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>未加载模型。请在对话上方选择一个，以查看其回答的内部。</translation>
    </message>
    <message>
        <source>This is a recording. The lens needs a running engine.</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>这是录制。透镜需要运行中的引擎。</translation>
    </message>
    <message>
        <source>Sentence</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>句子</translation>
    </message>
    <message>
        <source>Layer</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>层</translation>
    </message>
    <message>
        <source>Head group</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>头组</translation>
    </message>
    <message>
        <source>Leave out sinks</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>忽略注意力汇</translation>
    </message>
    <message>
        <source>Drop and ask again</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>去掉再问</translation>
    </message>
    <message>
        <source>Layer {number}</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>第 {number} 层</translation>
    </message>
    <message>
        <source>Head group {number}</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>头组 {number}</translation>
    </message>
    <message>
        <source>All layers</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>所有层</translation>
    </message>
    <message>
        <source>All heads</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>所有头</translation>
    </message>
    <message>
        <source>{time}, {computed} tokens computed</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>{time}，计算了 {computed} 个词元</translation>
    </message>
    <message numerus="yes">
        <source>Asked {n} times</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>
            <numerusform>已问 {n} 次</numerusform>
        </translation>
    </message>
    <message>
        <source>{asked} in {time}.</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>{asked}，用时 {time}。</translation>
    </message>
    <message>
        <source>No passage makes the sentence more likely.</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>没有段落使这句话更可能。</translation>
    </message>
    <message>
        <source>A picture takes one cell for each of its rows of embeddings. Models with M-RoPE give them positions along its longer side only: the text behind it goes on at a smaller position than the cells count.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation>图片的每一行嵌入占一个单元。使用 M-RoPE 的模型只按较长的一边给它们编排位置：其后文本的位置小于单元数。</translation>
    </message>
    <message>
        <source>picture</source>
        <extracomment>app/inspector/recording.py</extracomment>
        <translation>图片</translation>
    </message>
    <message>
        <source>sound</source>
        <extracomment>app/inspector/recording.py</extracomment>
        <translation>声音</translation>
    </message>
    <message numerus="yes">
        <source>{n} cells</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>
            <numerusform>{n} 个单元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} positions</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation>
            <numerusform>{n} 个位置</numerusform>
        </translation>
    </message>
    <message>
        <source>Recording {name}</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>录制 {name}</translation>
    </message>
    <message>
        <source>First message</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>第一条消息</translation>
    </message>
    <message>
        <source>Second message</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>第二条消息</translation>
    </message>
    <message>
        <source>Both are the same.</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>两者相同。</translation>
    </message>
    <message>
        <source>the end</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>结尾</translation>
    </message>
    <message>
        <source>The same for {number} characters, then {one} and {other}.</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>前 {number} 个字符相同，之后分别为 {one} 和 {other}。</translation>
    </message>
    <message>
        <source>passage</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>段落</translation>
    </message>
    <message>
        <source>read</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>读取</translation>
    </message>
    <message>
        <source>if dropped</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>去掉后</translation>
    </message>
    <message>
        <source>Passages</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>段落</translation>
    </message>
    <message>
        <source>You edited this answer.</source>
        <extracomment>app/bridge/chat_session.py</extracomment>
        <translation>你编辑了此回答。</translation>
    </message>
    <message>
        <source>Layers</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>各层</translation>
    </message>
    <message>
        <source>What each layer would have said here (logit lens)</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>各层在此处会输出什么（logit lens）</translation>
    </message>
    <message>
        <source>Choose a file made with “Export recording”.</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>请选择由“导出录制”生成的文件。</translation>
    </message>
    <message>
        <source>the cell map does not have one token per cell</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>单元图中并非每个单元都有一个词元</translation>
    </message>
    <message>
        <source>the cell map has too many sequences</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>单元图中的序列太多</translation>
    </message>
    <message>
        <source>it is larger than {size} GiB</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它大于 {size} GiB</translation>
    </message>
    <message>
        <source>{name} could not be read: {reason}.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>无法读取 {name}：{reason}。</translation>
    </message>
    <message>
        <source>it has more than {limit:,} steps</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它所说的步数超过了保留的 {limit:,} 步</translation>
    </message>
    <message>
        <source>its first line does not fit ({reason})</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它的第一行不符合格式（{reason}）</translation>
    </message>
    <message>
        <source>line {line:,} of {total:,} is damaged or missing ({reason})</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>第 {line:,} 行（共 {total:,} 行）已损坏或缺失（{reason}）</translation>
    </message>
    <message>
        <source>there is data after the last of its {steps:,} steps</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>在它的最后一步（共 {steps:,} 步）之后还有内容</translation>
    </message>
    <message>
        <source>it is truncated</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它被截断</translation>
    </message>
    <message>
        <source>it has too many values</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>它的值太多</translation>
    </message>
    <message>
        <source>it has format {version}, and this Skein reads format {known}</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它的格式是 {version}，而这个版本的 Skein 读取格式 {known}</translation>
    </message>
    <message>
        <source>its model has too many sequences</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它的模型序列太多</translation>
    </message>
    <message>
        <source>its steps are not in order</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它的各步顺序不对</translation>
    </message>
    <message>
        <source>a time is negative</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>有一个时间为负数</translation>
    </message>
    <message>
        <source>a step has more draft tokens than rows</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>某一步的推测多于行数</translation>
    </message>
    <message>
        <source>the rows of a sequence do not match its tokens</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>某个序列的行与它的词元不符</translation>
    </message>
    <message>
        <source>it has an invalid sequence id</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>它提到一个不可能存在的序列</translation>
    </message>
    <message>
        <source>a number is out of range</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>有一个数字超出范围</translation>
    </message>
    <message>
        <source>{name} cannot be opened as a recording: {reason}.</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>{name} 无法作为录制打开：{reason}。</translation>
    </message>
    <message>
        <source>it is not a Skein recording</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>其中几乎没有什么符合格式</translation>
    </message>
    <message>
        <source>Recording, JSON lines (*.jsonl)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="vanished">录制，JSON 行 (*.jsonl)</translation>
    </message>
    <message>
        <source>Trace for Perfetto and chrome://tracing (*.trace.json)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>Perfetto 和 chrome://tracing 的跟踪文件 (*.trace.json)</translation>
    </message>
    <message>
        <source>&amp;Open recording…</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>打开录制(&amp;O)…</translation>
    </message>
    <message>
        <source>View recorded steps, even without a model</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>查看录制的各步，没有模型也可以</translation>
    </message>
    <message>
        <source>&amp;Export recording…</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>导出录制(&amp;E)…</translation>
    </message>
    <message>
        <source>Save the last {steps} steps, with the text of their answers, as JSON lines or as a trace</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="vanished">把最近 {steps} 步连同其回答的文本保存为 JSON 行或跟踪文件</translation>
    </message>
    <message>
        <source>{name} could not be written: {reason}.</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>{name} 无法写入：{reason}。</translation>
    </message>
    <message>
        <source>the disk rejected the write</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>磁盘拒绝写入</translation>
    </message>
    <message>
        <source>Choose another folder, or free some space on this disk.</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>请选择其他文件夹，或在这个磁盘上腾出空间。</translation>
    </message>
    <message numerus="yes">
        <source>Saved {n} steps in {name}.</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>
            <numerusform>已把 {n} 步保存到 {name}。</numerusform>
        </translation>
    </message>
    <message>
        <source>Open recording</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>打开录制</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Export recording</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>导出录制</translation>
    </message>
    <message>
        <source>no tab</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>无标签页</translation>
    </message>
    <message>
        <source>empty</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>空</translation>
    </message>
    <message>
        <source>warm</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>保温</translation>
    </message>
    <message>
        <source>Free slot: leased to the next chat that has none</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="vanished">空闲槽位：租给下一个没有槽位的对话</translation>
    </message>
    <message>
        <source>Released, cells kept: the chat&apos;s next turn computes only what is new</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>已释放，单元保留：该对话的下一轮只计算新内容</translation>
    </message>
    <message>
        <source>Leased: computing the prompt</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="vanished">已租用：正在计算提示词</translation>
    </message>
    <message>
        <source>Leased: generating the answer</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="vanished">已租用：正在生成回答</translation>
    </message>
    <message>
        <source>waiting</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>等待中</translation>
    </message>
    <message>
        <source>waiting for prefix</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>等待前缀</translation>
    </message>
    <message>
        <source>paused</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>shortening prompt</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>正在缩短</translation>
    </message>
    <message>
        <source>encoding</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>编码中</translation>
    </message>
    <message>
        <source>Waiting for a slot or free cells</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>正在等待槽位或空闲单元</translation>
    </message>
    <message>
        <source>Waiting for a running prompt to compute the prefix they share</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>正在等待另一个提示词计算两者共同的开头</translation>
    </message>
    <message>
        <source>Other answers needed its cells; it continues when there is room</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>它的单元被占用；有空间时回答会继续</translation>
    </message>
    <message>
        <source>Its context is full; the prompt is being shortened</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>它的上下文已满；正在生成较短的提示词</translation>
    </message>
    <message>
        <source>Its pictures or sounds are being encoded while other chats go on</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>正在与其他回答的步骤并行编码其图片或声音</translation>
    </message>
    <message>
        <source>hibernated, disk</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>已休眠，磁盘</translation>
    </message>
    <message>
        <source>hibernated, RAM</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>已休眠，内存</translation>
    </message>
    <message>
        <source>9,999 s</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>9,999 秒</translation>
    </message>
    <message>
        <source>The slot and its sequence id, seq_id</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="vanished">槽位及其序列编号 seq_id</translation>
    </message>
    <message>
        <source>The chat it belongs to</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>它所属的对话</translation>
    </message>
    <message>
        <source>state</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>状态</translation>
    </message>
    <message>
        <source>What it is doing</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>它正在做什么</translation>
    </message>
    <message>
        <source>pos
min</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>位置
最小</translation>
    </message>
    <message>
        <source>Lowest position in memory, from llama.cpp</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>内存中的最低位置，来自 llama.cpp</translation>
    </message>
    <message>
        <source>pos
max</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>位置
最大</translation>
    </message>
    <message>
        <source>Highest position in memory, from llama.cpp</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>内存中的最高位置，来自 llama.cpp</translation>
    </message>
    <message>
        <source>cells
own</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>单元
独有</translation>
    </message>
    <message>
        <source>cells
shared</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>单元
共享</translation>
    </message>
    <message>
        <source>KV cells shared with other sequences</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>与其他序列共同持有的 KV 单元</translation>
    </message>
    <message>
        <source>speed
tok/s</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>速度
词元/秒</translation>
    </message>
    <message>
        <source>Tokens generated per second</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>每秒生成的词元数</translation>
    </message>
    <message>
        <source>tokens
reused</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>词元
复用</translation>
    </message>
    <message>
        <source>Prompt tokens of the last answer found in the chat&apos;s own cells</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>上一个回答的提示词中，单元仍由对话自己持有的词元数</translation>
    </message>
    <message>
        <source>tokens
shared</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>词元
共享</translation>
    </message>
    <message>
        <source>Prompt tokens of the last answer found in another chat&apos;s cells</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>上一个回答的提示词中，单元由其他对话持有的词元数</translation>
    </message>
    <message>
        <source>tokens
restored</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>词元
恢复</translation>
    </message>
    <message>
        <source>Prompt tokens of the last answer restored from a saved state</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>上一个回答的提示词中，单元由保存的状态读回的词元数</translation>
    </message>
    <message>
        <source>tokens
computed</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>词元
计算</translation>
    </message>
    <message>
        <source>Tokens computed for the last answer, including its own</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>为上一个回答计算的词元数，包括回答自身</translation>
    </message>
    <message>
        <source>context
cap</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>上下文
上限</translation>
    </message>
    <message>
        <source>Most tokens this chat may have</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>这个对话可以有多少词元</translation>
    </message>
    <message>
        <source>first
token</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>首个
词元</translation>
    </message>
    <message>
        <source>Time to first token of the last answer, including the wait for a slot</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>从发送到上一个回答的首个词元的时间，包括等待</translation>
    </message>
    <message>
        <source>queue
wait</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>排队
等待</translation>
    </message>
    <message>
        <source>Time the request waited for a slot</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>请求等待槽位的时间</translation>
    </message>
    <message>
        <source>KV
MiB</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>KV
MiB</translation>
    </message>
    <message>
        <source>Memory of its keys and values, including shared cells; if hibernated, of the saved state</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>键和值占用的内存，包括共享单元；休眠时为已保存的大小</translation>
    </message>
    <message>
        <source>check-
points</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>检查
点</translation>
    </message>
    <message>
        <source>Positions the chat can be rolled back to, on models that cannot remove an arbitrary tail</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>模型不能任意回退时，对话中可以退回到的位置</translation>
    </message>
    <message>
        <source>check-
points MiB</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>检查点
MiB</translation>
    </message>
    <message>
        <source>Memory of its checkpoints, including shared ones</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>其检查点占用的内存，包括与其他序列共有的</translation>
    </message>
    <message>
        <source>draft
tokens</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>词元
推测</translation>
    </message>
    <message>
        <source>draft
accepted</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>推测
保留</translation>
    </message>
    <message>
        <source>Draft tokens accepted: each saved a step</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>猜对的推测：每个节省一步</translation>
    </message>
    <message>
        <source>accept
rate</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>保留
比例</translation>
    </message>
    <message>
        <source>Share of draft tokens that were accepted</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>推测中有多少是对的</translation>
    </message>
    <message>
        <source>All chats are paused</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>所有对话均已暂停</translation>
    </message>
    <message>
        <source>{tokens} saved on disk, {size}</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>{tokens}保存在磁盘上，{size}</translation>
    </message>
    <message>
        <source>{tokens} saved in RAM, {size}</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>{tokens}保存在内存中，{size}</translation>
    </message>
    <message>
        <source>can be rolled back to its first {places} tokens</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>可以退回到前 {places} 个词元</translation>
    </message>
    <message>
        <source>pinned: hibernated or evicted last</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>已固定：只要能避免，就不休眠也不逐出</translation>
    </message>
    <message>
        <source>Sequences</source>
        <extracomment>app/inspector/sequence_table.py</extracomment>
        <translation>序列</translation>
    </message>
    <message>
        <source>Columns</source>
        <extracomment>app/inspector/sequence_table.py</extracomment>
        <translation>列</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat to see its sequences here.</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>没有加载模型。在对话上方选择一个，即可在这里查看它的序列。</translation>
    </message>
    <message>
        <source>The engine has stopped. This is its last known state.</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>引擎已停止。这是它最后的状态。</translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>取消固定</translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>固定</translation>
    </message>
    <message>
        <source>Hibernate or evict these cells last</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>只要能避免，就不休眠也不逐出这些单元</translation>
    </message>
    <message>
        <source>Stop</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stop this answer and keep what it has so far</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>结束这个回答，保留已生成的内容</translation>
    </message>
    <message>
        <source>Hibernate</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>休眠</translation>
    </message>
    <message>
        <source>Save this idle chat&apos;s cells and free them</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>保存这个空闲对话的单元并释放它们</translation>
    </message>
    <message>
        <source>Restore</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Load the saved cells back into a slot, ahead of the next message</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>在对话需要之前，把已保存的单元读回槽位</translation>
    </message>
    <message>
        <source>Clear</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>清空</translation>
    </message>
    <message>
        <source>Free the cells without saving them: the next turn recomputes everything</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>释放单元而不保存：对话的下一轮需要全部重新计算</translation>
    </message>
    <message>
        <source>Fork</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>分叉</translation>
    </message>
    <message>
        <source>Continue in a copy of this chat that shares its cells</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>在这个对话的副本中继续，副本持有相同的单元</translation>
    </message>
    <message>
        <source>Copy JSON</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>复制 JSON</translation>
    </message>
    <message>
        <source>Copy this row as JSON, in the form of llama-server&apos;s /slots</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>以 llama-server 的 /slots 格式把这一行复制为 JSON</translation>
    </message>
    <message>
        <source>waiting for a shared prefix</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>等待共享前缀</translation>
    </message>
    <message>
        <source>shortening the prompt</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>正在生成较短的提示词</translation>
    </message>
    <message>
        <source>encoding pictures or sounds</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>正在编码图片或声音</translation>
    </message>
    <message>
        <source>llama_decode returned {code}: no KV slot for the batch.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>llama_decode 返回 {code}：KV 单元中没有容纳这个批次的空间。</translation>
    </message>
    <message>
        <source>llama_decode returned {code}: invalid batch.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>llama_decode 返回 {code}：批次无效，被拒绝。</translation>
    </message>
    <message>
        <source>llama_decode returned {code}: fatal error.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>llama_decode 返回 {code}：遇到无法继续的错误。</translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: the batcher was paused.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>这一步之前有 {time}没有运行：批处理器已暂停。</translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: the batcher was paused by a user.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>这一步之前有 {time}没有运行：批处理器被人暂停。</translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: no chat had work for it.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>这一步之前有 {time}没有运行：没有对话需要计算。</translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: {reason}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>这一步之前有 {time}没有运行：{reason}。</translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step although there was work, for an unknown reason.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>这一步之前有 {time}没有运行，尽管有工作要做；没有报告说明原因。</translation>
    </message>
    <message>
        <source>cause unknown</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>没有事件说明原因</translation>
    </message>
    <message>
        <source>Scheduling took {time}: {reason}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>调度用了 {time}：{reason}。</translation>
    </message>
    <message>
        <source>The decode took {time} instead of about {usual} without any prompt: the machine was slow.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>解码用了 {time}，平常约为 {usual}，其中没有提示词：机器较慢。</translation>
    </message>
    <message>
        <source>seq {seq_id} ({rows})</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>序列 {seq_id}（{rows}）</translation>
    </message>
    <message numerus="yes">
        <source>Prefill of {sequences} lengthened the step: {time} instead of about {usual}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>
            <numerusform>{sequences}的提示词占用了这一步：{time}，平常约为 {usual}。</numerusform>
        </translation>
    </message>
    <message>
        <source> and </source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>和</translation>
    </message>
    <message>
        <source>{sequences} got no row: prefill of {others} took the step.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>{sequences}没有分到行：{others}的提示词占用了这一步。</translation>
    </message>
    <message>
        <source>{sequences} got no row: others went first.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>{sequences}没有分到行：其他序列优先。</translation>
    </message>
    <message>
        <source>Nothing could be computed; all work is on hold: {reasons}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>没有可以计算的内容；待办的工作被搁置：{reasons}。</translation>
    </message>
    <message>
        <source>seq {seq_id}</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>序列 {seq_id}</translation>
    </message>
    <message>
        <source>&amp;Pause all chats</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>暂停所有对话(&amp;P)</translation>
    </message>
    <message>
        <source>Stop computing; all chats wait</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>不再计算；所有对话等待</translation>
    </message>
    <message>
        <source>&amp;Resume all chats</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>继续所有对话(&amp;R)</translation>
    </message>
    <message>
        <source>Resume computing</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>继续计算</translation>
    </message>
    <message>
        <source>Run one s&amp;tep</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>运行一步(&amp;T)</translation>
    </message>
    <message>
        <source>Compute the planned batch, then pause again</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>计算计划好的批次，然后再次暂停</translation>
    </message>
    <message>
        <source>Steps</source>
        <extracomment>app/inspector/step_chart.py</extracomment>
        <translation>各步</translation>
    </message>
    <message>
        <source>failed</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>失败</translation>
    </message>
    <message>
        <source>held up</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>受阻</translation>
    </message>
    <message>
        <source>no work</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>无工作</translation>
    </message>
    <message>
        <source>{number} ms decode</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>{number} 毫秒 解码</translation>
    </message>
    <message>
        <source>{number} ms outside decode</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>{number} 毫秒 解码以外</translation>
    </message>
    <message>
        <source>{number} rows</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>{number} 行</translation>
    </message>
    <message>
        <source>{number} ms in all</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>{number} 毫秒 合计</translation>
    </message>
    <message>
        <source>row</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>行</translation>
    </message>
    <message>
        <source>text</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>文本</translation>
    </message>
    <message>
        <source>pos</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>位置</translation>
    </message>
    <message>
        <source>Index in the batch</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>它在批次中的位置</translation>
    </message>
    <message>
        <source>Position in the sequence</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>它在序列中的位置</translation>
    </message>
    <message>
        <source>Sequence id, seq_id</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="vanished">该单元所属的序列 seq_id</translation>
    </message>
    <message>
        <source>Whether its logits were requested for sampling</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>是否需要它之后的 logits 用于采样</translation>
    </message>
    <message>
        <source>Rows of the step</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation>这一步的各行</translation>
    </message>
    <message>
        <source>schedule</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>调度</translation>
    </message>
    <message>
        <source>sample</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>采样</translation>
    </message>
    <message>
        <source>deliver</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>交付</translation>
    </message>
    <message>
        <source>Step {number}</source>
        <extracomment>app/inspector/step_chart.py</extracomment>
        <translation>第 {number} 步</translation>
    </message>
    <message>
        <source>{number} ms</source>
        <extracomment>app/inspector/step_chart.py</extracomment>
        <translation>{number} 毫秒</translation>
    </message>
    <message>
        <source>Pause to see each batch before it is computed. Chats wait meanwhile; Stop still works.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>暂停后，每个批次计算前都会在这里显示。其间对话等待；停止仍然有效。</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat to step through its batches.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>没有加载模型。在对话上方选择一个，即可逐步查看它的批次。</translation>
    </message>
    <message>
        <source>This is a recording. Only a running engine can be paused.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>这是录制内容：显示的一切已经结束。只有正在运行的引擎才能暂停。</translation>
    </message>
    <message>
        <source>Nothing planned. Send a message in any tab to see its first batch here.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>没有计划中的批次。在任一标签页中发送消息，它的第一个批次会显示在这里。</translation>
    </message>
    <message>
        <source>Running until {condition}</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>运行直到{condition}</translation>
    </message>
    <message>
        <source>Running</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>正在运行</translation>
    </message>
    <message>
        <source>Paused.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>已暂停。</translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>{rows} of {sequences}; {sampled}</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>{sequences}的 {rows}；{sampled}</translation>
    </message>
    <message>
        <source>its certificate cannot be made: {reason}</source>
        <extracomment>app/services/local_api.py</extracomment>
        <translation>无法生成证书：{reason}</translation>
    </message>
    <message>
        <source>The API could not start: {reason}.</source>
        <extracomment>app/services/local_api.py</extracomment>
        <translation>API 无法启动：{reason}。</translation>
    </message>
    <message>
        <source>The list of MCP servers could not be saved: {reason}.</source>
        <extracomment>app/services/tools.py</extracomment>
        <translation>无法保存 MCP 服务器列表：{reason}。</translation>
    </message>
    <message>
        <source>This server cannot be used: {reason}.</source>
        <extracomment>app/services/tools.py</extracomment>
        <translation>无法使用此服务器：{reason}。</translation>
    </message>
    <message>
        <source>Fill in all values first.</source>
        <extracomment>app/services/tools.py</extracomment>
        <translation>请先填写所有值。</translation>
    </message>
    <message>
        <source>{word} would allow every website. Name one, such as https://example.com.</source>
        <extracomment>app/settings/api_access.py</extracomment>
        <translation>{word} 会包含所有网站：请写明一个，例如 https://example.com。</translation>
    </message>
    <message>
        <source>{word} is not an origin such as https://example.com, app://obsidian.md or vscode-webview://*.</source>
        <extracomment>app/settings/api_access.py</extracomment>
        <translation>{word} 不是来源，来源例如 https://example.com、app://obsidian.md 或 vscode-webview://*。</translation>
    </message>
    <message>
        <source>{word} is not a host name such as host.docker.internal, *.lan or *.ts.net.</source>
        <extracomment>app/settings/api_access.py</extracomment>
        <translation>{word} 不是主机名，主机名例如 host.docker.internal、*.lan 或 *.ts.net。</translation>
    </message>
    <message>
        <source>It ended with exit code {code}: {words}</source>
        <extracomment>app/tools/mcp_host.py</extracomment>
        <translation>它已结束，退出码 {code}：{words}</translation>
    </message>
    <message>
        <source>It ended with exit code {code}.</source>
        <extracomment>app/tools/mcp_host.py</extracomment>
        <translation>它已结束，退出码 {code}。</translation>
    </message>
    <message>
        <source>The server&apos;s response does not follow the protocol.</source>
        <extracomment>app/tools/mcp_host.py</extracomment>
        <translation>服务器发送的内容不符合协议。</translation>
    </message>
    <message>
        <source>It cannot be started: {reason}.</source>
        <extracomment>app/tools/mcp_host.py</extracomment>
        <translation>无法启动：{reason}。</translation>
    </message>
    <message>
        <source>The server&apos;s response does not fit into memory.</source>
        <extracomment>app/tools/mcp_host.py</extracomment>
        <translation>服务器发送的内容超出内存。</translation>
    </message>
    <message>
        <source>It was not ready within {seconds:.0f} seconds.</source>
        <extracomment>app/tools/mcp_server.py</extracomment>
        <translation>它未能在 {seconds:.0f} 秒内就绪。</translation>
    </message>
    <message>
        <source>It has ended.</source>
        <extracomment>app/tools/mcp_process.py</extracomment>
        <translation>它已结束。</translation>
    </message>
    <message>
        <source>Nothing was recorded. Check that the microphone is not muted, and that the system lets this program use it.</source>
        <extracomment>app/bridge/recorder.py</extracomment>
        <translation>没有听到任何声音。请检查麦克风是否静音，以及系统是否允许本程序使用麦克风。</translation>
    </message>
    <message>
        <source>The microphone was disconnected. What was recorded until then is attached.</source>
        <extracomment>app/bridge/recorder.py</extracomment>
        <translation>麦克风已断开。此前录制的内容已附加。</translation>
    </message>
    <message>
        <source>A recording is at most {minutes} minutes long.</source>
        <extracomment>app/bridge/recorder.py</extracomment>
        <translation>一次录音最长 {minutes} 分钟。</translation>
    </message>
    <message>
        <source>The file of this sound is lost or damaged.</source>
        <extracomment>app/bridge/sound_player.py</extracomment>
        <translation>此声音的文件已丢失或损坏。</translation>
    </message>
    <message>
        <source>Skein failed to compute this; the log says why.</source>
        <extracomment>app/engine/lens.py</extracomment>
        <translation>Skein 未能完成计算，原因见日志。</translation>
    </message>
    <message>
        <source>This model has no attention to show: it keeps one running state, in which single tokens cannot be told apart.</source>
        <extracomment>app/engine/llama/lens.py</extracomment>
        <translation>此模型没有可读取的注意力：它只保留一个持续更新的状态，其中无法区分单个词元。</translation>
    </message>
    <message>
        <source>Likeliest token if this layer&apos;s output went straight to the output norm and the head</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>若此层的输出直接送入输出归一化和输出头，最可能的词元</translation>
    </message>
    <message>
        <source>prob.</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>概率</translation>
    </message>
    <message>
        <source>final</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>最终</translation>
    </message>
    <message>
        <source>Probability that this layer gives to the model&apos;s final likeliest token</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>此层给予模型最终最可能词元的概率</translation>
    </message>
    <message>
        <source>Attention shows where the model looked, not why it answered. “Drop and ask again” scores the sentence without each passage.</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>注意力显示模型看了哪里，而不是它为何这样回答。“去掉再问”会在去掉每个段落后重新给这句话打分。</translation>
    </message>
    <message>
        <source>Ignore the first token and those between messages, which collect attention without a target</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>忽略第一个词元和消息之间的词元，它们会收集没有目标的注意力</translation>
    </message>
    <message>
        <source>Score this sentence again without each message and passage; the chat does not change</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>逐一去掉每条消息和段落，重新给这句话打分；对话本身不变</translation>
    </message>
    <message>
        <source>Matters most: “{text}”. Without it the log-probability of the sentence changes by −{change}.</source>
        <extracomment>app/inspector/lens_panel.py</extracomment>
        <translation>最重要：“{text}”。去掉它，这句话的对数概率变化 −{change}。</translation>
    </message>
    <message>
        <source>Share of the attention paid to earlier tokens</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>在对之前词元的注意力中所占的份额</translation>
    </message>
    <message>
        <source>Change in the sentence&apos;s log-probability without this: the lower, the more it matters</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>去掉后这句话的对数概率变化：越低越重要</translation>
    </message>
    <message>
        <source>The likeliest token is settled from layer {number} on. {time}</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>从第 {number} 层起，最可能的词元不再变化。{time}</translation>
    </message>
    <message>
        <source>This chat is empty. Its versions and forks will appear here.</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>此对话为空。其版本和分叉将显示在这里。</translation>
    </message>
    <message>
        <source>One line for each sequence that holds the cells: thicker where more sequences share them</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>每个持有这些单元的序列一条线：越粗，共享的序列越多</translation>
    </message>
    <message>
        <source>The sound device could not be opened: {reason}. Check that it is connected, and that the system lets this program use it.</source>
        <extracomment>app/media/sound_devices.py</extracomment>
        <translation>无法打开声音设备：{reason}。请检查它是否已连接，以及系统是否允许本程序使用它。</translation>
    </message>
    <message>
        <source>Recording and playing sounds needs PortAudio. Install it with the system&apos;s package manager (libportaudio2 on Debian and Ubuntu, portaudio on Fedora and Arch).</source>
        <extracomment>app/media/sound_devices.py</extracomment>
        <translation>录制和播放声音需要 PortAudio。请用系统的软件包管理器安装（Debian 和 Ubuntu 上为 libportaudio2，Fedora 和 Arch 上为 portaudio）。</translation>
    </message>
    <message>
        <source>Sounds cannot be recorded or played: {reason}.</source>
        <extracomment>app/media/sound_devices.py</extracomment>
        <translation>无法录制或播放声音：{reason}。</translation>
    </message>
    <message>
        <source>No microphone was found. Connect one, or choose one in the system&apos;s settings.</source>
        <extracomment>app/media/sound_devices.py</extracomment>
        <translation>没有找到麦克风。请连接一个，或在系统设置中选择一个。</translation>
    </message>
    <message>
        <source>No loudspeaker was found. Connect one, or choose one in the system&apos;s settings.</source>
        <extracomment>app/media/sound_devices.py</extracomment>
        <translation>没有找到扬声器。请连接一个，或在系统设置中选择一个。</translation>
    </message>
    <message>
        <source>{name} is a reranker: it ranks texts and computes no embeddings.</source>
        <extracomment>app/engine/children/text_child.py</extracomment>
        <translation>{name} 是重排模型：它给文本排序，不计算向量。</translation>
    </message>
    <message>
        <source>Its file cannot be read: {reason}.</source>
        <extracomment>app/shelves/finder.py</extracomment>
        <translation>无法读取它的文件：{reason}。</translation>
    </message>
    <message>
        <source>Shelves are searched by words alone: {name} computes no vectors.</source>
        <extracomment>app/shelves/finder.py</extracomment>
        <translation>书架只按词搜索：{name} 没有算出向量。</translation>
    </message>
    <message>
        <source>It took over {seconds:.0f} seconds.</source>
        <extracomment>app/shelves/finder.py</extracomment>
        <translation>用时超过 {seconds:.0f} 秒。</translation>
    </message>
    <message>
        <source>This desktop does not let programs take screenshots ({reason}). Take one with its own tool and paste it.</source>
        <extracomment>app/system/screen_portal.py</extracomment>
        <translation>此桌面不向程序提供截图（{reason}）。请用它自带的工具截图，然后粘贴。</translation>
    </message>
    <message>
        <source>The desktop took no screenshot. Take one with its own tool and paste it.</source>
        <extracomment>app/system/screen_portal.py</extracomment>
        <translation>桌面没有截图。请用它自带的工具截图，然后粘贴。</translation>
    </message>
    <message>
        <source>It closed the connection.</source>
        <extracomment>app/tools/mcp_host.py</extracomment>
        <translation>它已断开连接。</translation>
    </message>
    <message>
        <source>It closed the connection: {words}</source>
        <extracomment>app/tools/mcp_host.py</extracomment>
        <translation>它已断开连接：{words}</translation>
    </message>
    <message>
        <source>It did not answer within {seconds:.0f} seconds.</source>
        <extracomment>app/tools/mcp_server.py</extracomment>
        <translation>它未能在 {seconds:.0f} 秒内回答。</translation>
    </message>
    <message>
        <source>Click to enlarge a picture, or to play a sound. Ctrl+Left and Ctrl+Right move it.</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>单击可放大图片或播放声音。按 Ctrl+左 和 Ctrl+右 可移动它。</translation>
    </message>
    <message>
        <source>Resource</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>资源</translation>
    </message>
    <message>
        <source>T&amp;ools of this chat…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>此对话的工具(&amp;O)…</translation>
    </message>
    <message>
        <source>Tools the model may call in this chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>模型在此对话中可以调用的工具</translation>
    </message>
    <message>
        <source>Allow tool ca&amp;ll</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>允许工具调用(&amp;L)</translation>
    </message>
    <message>
        <source>Run the call that waits for you, once</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>运行正在等待您的调用，仅此一次</translation>
    </message>
    <message>
        <source>No call of a tool waits for you in this tab.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>此标签页中没有等待您的工具调用。</translation>
    </message>
    <message>
        <source>Ref&amp;use tool call</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>拒绝工具调用(&amp;U)</translation>
    </message>
    <message>
        <source>Tell the model that you refused the call that waits for you</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>告诉模型您拒绝了正在等待的调用</translation>
    </message>
    <message>
        <source>Move this chat to the trash</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>将此对话移到回收站</translation>
    </message>
    <message>
        <source>Tras&amp;h…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>回收站(&amp;H)…</translation>
    </message>
    <message>
        <source>Restore deleted chats, or delete them permanently</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>恢复已删除的对话，或永久删除</translation>
    </message>
    <message>
        <source>Tools and &amp;MCP servers…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>工具和 MCP 服务器(&amp;M)…</translation>
    </message>
    <message>
        <source>Built-in tools, MCP servers, and their permissions</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>内置工具、MCP 服务器及其权限</translation>
    </message>
    <message>
        <source>Fill this in.</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>请填写此项。</translation>
    </message>
    <message>
        <source>At least {n} characters.</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>至少 {n} 个字符。</translation>
    </message>
    <message>
        <source>Not a whole number.</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>不是整数。</translation>
    </message>
    <message>
        <source>Not a number.</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>不是数字。</translation>
    </message>
    <message>
        <source>Not below {number}.</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>不能小于 {number}。</translation>
    </message>
    <message>
        <source>Not above {number}.</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>不能大于 {number}。</translation>
    </message>
    <message>
        <source>Also changed with Ctrl+mouse wheel.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>也可用 Ctrl 加鼠标滚轮更改。</translation>
    </message>
    <message>
        <source>Models folder</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>模型文件夹</translation>
    </message>
    <message>
        <source>Downloads are saved here; the library lists what is in it.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>下载的模型存放在此，模型库会列出其中的文件。</translation>
    </message>
    <message>
        <source>Models of other programs</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>其他程序的模型</translation>
    </message>
    <message>
        <source>Lists those of LM Studio, Jan and others. They are never changed.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>列出 LM Studio、Jan 等程序的模型，绝不改动它们。</translation>
    </message>
    <message>
        <source>Mirror of Hugging Face</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Hugging Face 镜像</translation>
    </message>
    <message>
        <source>For networks that cannot reach Hugging Face.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>用于无法访问 Hugging Face 的网络。</translation>
    </message>
    <message>
        <source>Tools</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>工具</translation>
    </message>
    <message>
        <source>Maximum tool rounds</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>工具调用的最多轮数</translation>
    </message>
    <message>
        <source>Maximum result length</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>结果的最大长度</translation>
    </message>
    <message>
        <source>Tokens of a tool&apos;s result that the model gets at once; it can read the rest later.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>模型一次得到的工具结果的词元数；其余部分可以分段读取。</translation>
    </message>
    <message>
        <source>Allowed web pages</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>允许的网页</translation>
    </message>
    <message>
        <source>Web pages and apps of other origins that may use it, with the key.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>可以凭密钥使用它的外部网页和应用。</translation>
    </message>
    <message>
        <source>Allowed host names</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>允许的主机名</translation>
    </message>
    <message>
        <source>Names under which containers, proxies or other machines reach this computer.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>容器、代理或其他机器访问本机时使用的名称。</translation>
    </message>
    <message>
        <source>Encryption (https)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>加密 (https)</translation>
    </message>
    <message>
        <source>Current time</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>当前时间</translation>
    </message>
    <message>
        <source>The date and time, in your time zone or another.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>您所在时区或其他时区的日期和时间。</translation>
    </message>
    <message>
        <source>Calculator</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>计算器</translation>
    </message>
    <message>
        <source>Computes exactly, also with fractions and large numbers.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>精确计算，支持分数和大数。</translation>
    </message>
    <message>
        <source>Finds messages in your other chats.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>在您的其他对话中查找消息。</translation>
    </message>
    <message>
        <source>Fetch a web page</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>获取网页</translation>
    </message>
    <message>
        <source>Reads a public page as text. Always asks.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>以文本形式读取公开网页。始终询问。</translation>
    </message>
    <message>
        <source>Read a file</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>读取文件</translation>
    </message>
    <message>
        <source>Reads a text file in your folders.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>读取您文件夹中的文本文件。</translation>
    </message>
    <message>
        <source>Find files</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>查找文件</translation>
    </message>
    <message>
        <source>Finds files in your folders by name.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>按名称在您的文件夹中查找文件。</translation>
    </message>
    <message>
        <source>Search in files</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>在文件中搜索</translation>
    </message>
    <message>
        <source>Finds lines in the files of your folders.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>在您文件夹的文件中查找行。</translation>
    </message>
    <message>
        <source>Trash</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>回收站</translation>
    </message>
    <message>
        <source>Deleted chats</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>已删除的对话</translation>
    </message>
    <message>
        <source>&amp;Restore</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>恢复(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Delete permanently</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>永久删除(&amp;D)</translation>
    </message>
    <message>
        <source>Deleted chats are kept here for {days} days.</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>已删除的对话会在此保留 {days} 天。</translation>
    </message>
    <message>
        <source>The trash is empty.</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>回收站是空的。</translation>
    </message>
    <message>
        <source>Tools: {server}</source>
        <extracomment>app/ui/main_window.py</extracomment>
        <translation>工具：{server}</translation>
    </message>
    <message>
        <source>On or off in this chat</source>
        <extracomment>app/ui/commands/palette_sources.py</extracomment>
        <translation>在此对话中开启或关闭</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <extracomment>app/ui/composer/completion.py</extracomment>
        <translation>建议</translation>
    </message>
    <message>
        <source>The middle of this message will be left out: about {draft} tokens, and {limit} fit.</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>这条消息的中间部分将被省略：约 {draft} 个词元，只能容纳 {limit} 个。</translation>
    </message>
    <message>
        <source>tokens of each prompt describe tools</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>个词元在每个提示词中描述工具</translation>
    </message>
    <message>
        <source>Sent once a model is loaded.</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>模型加载后发送。</translation>
    </message>
    <message numerus="yes">
        <source>{n} tools are on</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>
            <numerusform>已开启 {n} 个工具</numerusform>
        </translation>
    </message>
    <message>
        <source>none is on</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>未开启任何工具</translation>
    </message>
    <message>
        <source>Tools of this chat: {state}</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>此对话的工具：{state}</translation>
    </message>
    <message>
        <source>Tools the model may call in this chat (Ctrl+Shift+O)</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>模型在此对话中可以调用的工具 (Ctrl+Shift+O)</translation>
    </message>
    <message>
        <source>Not encrypted</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>未加密</translation>
    </message>
    <message>
        <source>Copy the fingerprint</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>复制指纹</translation>
    </message>
    <message>
        <source>SHA-256</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>SHA-256</translation>
    </message>
    <message numerus="yes">
        <source>{n} requests running</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>
            <numerusform>{n} 个请求正在运行</numerusform>
        </translation>
    </message>
    <message>
        <source>&amp;Open link…</source>
        <extracomment>app/ui/message/safe_browser.py</extracomment>
        <translation>打开链接(&amp;O)…</translation>
    </message>
    <message>
        <source>&amp;Copy link address</source>
        <extracomment>app/ui/message/safe_browser.py</extracomment>
        <translation>复制链接地址(&amp;C)</translation>
    </message>
    <message>
        <source>The model was told</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>已告知模型</translation>
    </message>
    <message>
        <source>Result so far</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>目前的结果</translation>
    </message>
    <message>
        <source>Allow once</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>允许一次</translation>
    </message>
    <message>
        <source>Run this call</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>运行此调用</translation>
    </message>
    <message>
        <source>Allow in this chat</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>在此对话中允许</translation>
    </message>
    <message>
        <source>Run this tool in this chat without asking</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>在此对话中运行此工具时不再询问</translation>
    </message>
    <message>
        <source>Always allow</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>始终允许</translation>
    </message>
    <message>
        <source>Run this tool in every chat without asking</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>在所有对话中运行此工具时都不再询问</translation>
    </message>
    <message>
        <source>Refuse</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>Tell the model that you refused this call</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>告诉模型您拒绝了此调用</translation>
    </message>
    <message>
        <source>Copy arguments</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>复制参数</translation>
    </message>
    <message>
        <source>Arguments</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>参数</translation>
    </message>
    <message>
        <source>No arguments</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>无参数</translation>
    </message>
    <message>
        <source>Copy result</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>复制结果</translation>
    </message>
    <message>
        <source>Result</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>结果</translation>
    </message>
    <message>
        <source>Tool {name}: {state}</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>工具 {name}：{state}</translation>
    </message>
    <message>
        <source>writing…</source>
        <extracomment>app/ui/message/tool_words.py</extracomment>
        <translation>正在编写…</translation>
    </message>
    <message>
        <source>waiting for you</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation>等待您决定</translation>
    </message>
    <message>
        <source>This model cannot see pictures. A vision model needs its projector, a file named mmproj-….gguf, in the same folder.</source>
        <extracomment>app/engine/media/encoder.py</extracomment>
        <translation>此模型在这里看不了图片。能看图的模型需要在其文件夹中有自己的投影器，即名为 mmproj-….gguf 的文件。</translation>
    </message>
    <message>
        <source>This model cannot hear sounds. An audio model needs its projector, a file named mmproj-….gguf, in the same folder.</source>
        <extracomment>app/engine/media/encoder.py</extracomment>
        <translation>此模型在这里听不了声音。能听声音的模型需要在其文件夹中有自己的投影器，即名为 mmproj-….gguf 的文件。</translation>
    </message>
    <message>
        <source>The layers of this model&apos;s family cannot be read one by one.</source>
        <extracomment>app/engine/llama/lens.py</extracomment>
        <translation>此系列模型的各层无法逐层读取。</translation>
    </message>
    <message>
        <source>This model&apos;s graph cannot be read: {reason}.</source>
        <extracomment>app/engine/llama/lens.py</extracomment>
        <translation>无法读取此模型的计算图：{reason}。</translation>
    </message>
    <message>
        <source>This is a recording. Go back to the running engine to see the branches of a chat.</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>这是录制。返回运行中的引擎以查看对话的分支。</translation>
    </message>
    <message>
        <source>Click to go there. Choose a second message with Ctrl to compare the two.</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>单击即可前往。按住 Ctrl 选择第二条消息以比较两者。</translation>
    </message>
    <message>
        <source>Several answers…</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>多个回答…</translation>
    </message>
    <message>
        <source>Ask for several answers at once at the chosen message, with settings of your choice</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>在所选消息处用您选择的设置一次获取多个回答</translation>
    </message>
    <message>
        <source>&amp;Go there</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>前往(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;Several answers…</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>多个回答(&amp;S)…</translation>
    </message>
    <message numerus="yes">
        <source>{n} branches</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>
            <numerusform>{n} 个分支</numerusform>
        </translation>
    </message>
    <message>
        <source>branch</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>分支</translation>
    </message>
    <message>
        <source>message</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>消息</translation>
    </message>
    <message>
        <source>Tokens of the message, where known</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation type="vanished">消息的词元数（已知时）</translation>
    </message>
    <message>
        <source>held by</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>持有者</translation>
    </message>
    <message>
        <source>Sequences that hold its cells now</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>当前持有其单元的序列</translation>
    </message>
    <message>
        <source>You: {text}</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>您：{text}</translation>
    </message>
    <message>
        <source>(computing)</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>（计算中）</translation>
    </message>
    <message>
        <source>(no text)</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>（无文本）</translation>
    </message>
    <message>
        <source>Branch {number}</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>分支 {number}</translation>
    </message>
    <message>
        <source>Branch {number}, shown</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>分支 {number}，正在显示</translation>
    </message>
    <message>
        <source>Turns of the chat</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>对话的轮次</translation>
    </message>
    <message>
        <source>The file could not be read: {reason}.</source>
        <extracomment>app/media/reading.py</extracomment>
        <translation>无法读取该文件：{reason}。</translation>
    </message>
    <message>
        <source>Reading the file takes too much time or memory. It may be damaged.</source>
        <extracomment>app/media/reading.py</extracomment>
        <translation>读取该文件所需的时间或内存超过任何正常文件。它可能已损坏。</translation>
    </message>
    <message>
        <source>The file is larger than {size} MB. Make it smaller, or send a part of it.</source>
        <extracomment>app/media/reading.py</extracomment>
        <translation>该文件大于 {size} MB。请将其缩小，或只发送一部分。</translation>
    </message>
    <message>
        <source>This is neither a picture nor a sound that Skein can read.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>这既不是 Skein 能读取的图片，也不是声音。</translation>
    </message>
    <message>
        <source>HEIC pictures are not supported. Save the picture as JPEG or PNG.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>无法读取这种图片（HEIC）。请另存为 JPEG 或 PNG。</translation>
    </message>
    <message>
        <source>The picture has {width:,} × {height:,} pixels, which is too large. Make it smaller.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>该图片有 {width:,} × {height:,} 像素，超出可读取的范围。请将其缩小。</translation>
    </message>
    <message>
        <source>The picture has {width:,} × {height:,} pixels, too narrow for a model to see anything.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>该图片为 {width:,} × {height:,} 像素，太窄，模型什么也看不到。</translation>
    </message>
    <message>
        <source>The picture is damaged, or its format is not supported.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>该图片已损坏，或属于无法读取的类型。</translation>
    </message>
    <message>
        <source>The sound is damaged: its sample rate or number of channels is invalid.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>该声音已损坏：采样率或声道数不可能成立。</translation>
    </message>
    <message>
        <source>The sound is longer than {minutes} minutes. Send a part of it.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>该声音超过 {minutes} 分钟。请只发送一部分。</translation>
    </message>
    <message>
        <source>The sound is empty.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>该声音是空的。</translation>
    </message>
    <message>
        <source>{name} is not a file.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>{name} 不是文件。</translation>
    </message>
    <message>
        <source>The file is empty.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>该文件是空的。</translation>
    </message>
    <message>
        <source>Reading the file takes too much memory. It may be damaged.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>读取该文件所需的内存超过任何正常文件。</translation>
    </message>
    <message>
        <source>&amp;Save as…</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>另存为(&amp;S)…</translation>
    </message>
    <message>
        <source>Move to the &amp;left</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>左移(&amp;L)</translation>
    </message>
    <message>
        <source>Move to the &amp;right</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>右移(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Remove</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>移除(&amp;R)</translation>
    </message>
    <message>
        <source>“{name}” is an image in a format that Skein does not support. Save it as PNG or JPEG.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”是 Skein 无法读取的图片格式。请存为 PNG 或 JPEG。</translation>
    </message>
    <message>
        <source>Pasted picture</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>粘贴的图片</translation>
    </message>
    <message>
        <source>“{name}”: {reason}</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”：{reason}</translation>
    </message>
    <message>
        <source>Save as</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>另存为</translation>
    </message>
    <message>
        <source>{name} could not be saved: {reason}.</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>无法保存 {name}：{reason}。</translation>
    </message>
    <message>
        <source>The file of “{name}” is lost or damaged.</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>“{name}”的文件已丢失或损坏。</translation>
    </message>
    <message>
        <source>Previous picture</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>上一张图片</translation>
    </message>
    <message>
        <source>Next picture</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>下一张图片</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>放大</translation>
    </message>
    <message>
        <source>Fit</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>适应窗口</translation>
    </message>
    <message>
        <source>Save as…</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>另存为…</translation>
    </message>
    <message>
        <source>Picture: {name}</source>
        <extracomment>app/ui/base/picture_viewer.py</extracomment>
        <translation>图片：{name}</translation>
    </message>
    <message>
        <source>Context for tools (%)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>用于工具的上下文 (%)</translation>
    </message>
    <message>
        <source>Get more models…</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>获取更多模型…</translation>
    </message>
    <message>
        <source>A model made for it needs its projector, a file named mmproj-….gguf, in the same folder.</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>支持图片或声音的模型需要在其文件夹中有投影器，即名为 mmproj-….gguf 的文件。</translation>
    </message>
    <message>
        <source>This model cannot see pictures; it is only told that there is one.</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>此模型看不到图片，只会被告知有一张图片。</translation>
    </message>
    <message>
        <source>This model cannot hear; it is only told that there is a sound.</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>此模型听不到声音，只会被告知有一段声音。</translation>
    </message>
    <message>
        <source>Sound: {name}</source>
        <extracomment>app/ui/message/media_strip.py</extracomment>
        <translation>声音：{name}</translation>
    </message>
    <message>
        <source>refused</source>
        <extracomment>app/ui/message/tool_words.py</extracomment>
        <translation>已拒绝</translation>
    </message>
    <message>
        <source>tool</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>工具</translation>
    </message>
    <message>
        <source>built in</source>
        <extracomment>app/ui/message/tool_words.py</extracomment>
        <translation>内置</translation>
    </message>
    <message>
        <source>done</source>
        <extracomment>app/ui/message/tool_words.py</extracomment>
        <translation>完成</translation>
    </message>
    <message>
        <source>None: text alone</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>无：仅文本</translation>
    </message>
    <message>
        <source>A smaller model proposes tokens and this one checks them: the answers are as good, and often faster.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>一个较小的模型，由它推测词元，再由这个模型检验：回答同样好，往往更快。</translation>
    </message>
    <message>
        <source>Lets the model see pictures or hear sound (mmproj). Automatic: the one in the model&apos;s folder.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>让模型能看图片或听声音（mmproj）。自动：使用模型文件夹中的投影器。</translation>
    </message>
    <message>
        <source>Pictures and sound</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>图片和声音</translation>
    </message>
    <message>
        <source>the parameters of tools</source>
        <extracomment>app/engine/prompts/answer_grammars.py</extracomment>
        <translation>工具的参数</translation>
    </message>
    <message>
        <source>it takes too long to look at</source>
        <extracomment>app/engine/prompts/answer_grammars.py</extracomment>
        <translation>检查所需时间过长</translation>
    </message>
    <message>
        <source>tools and JSON schemas</source>
        <extracomment>app/engine/prompts/chat_template.py</extracomment>
        <translation>工具和 JSON 模式</translation>
    </message>
    <message>
        <source>The lens reads text only, and this chat has pictures or sounds.</source>
        <extracomment>app/engine/lens.py</extracomment>
        <translation>透镜只能读取文本，而此对话含有图片或声音。</translation>
    </message>
    <message>
        <source>Open its first part, the file with “-00001-of-” in its name.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>请打开其第一个分片，即文件名中含“-00001-of-”的文件。</translation>
    </message>
    <message>
        <source>Give its parts the names that they had, or download them again.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>请恢复各分片原来的文件名，或重新下载。</translation>
    </message>
    <message>
        <source>Open the model that it belongs to.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>请打开它所属的模型。</translation>
    </message>
    <message>
        <source>{name} is part {number} of a model.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 是某个模型的第 {number} 个分片。</translation>
    </message>
    <message>
        <source>{name} is part of a model whose parts have been renamed.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 是某个模型的分片，该模型的分片已被重命名。</translation>
    </message>
    <message>
        <source>{name} is a projector: it lets a model see or hear, and answers nothing itself.</source>
        <extracomment>app/engine/llama/load_errors.py</extracomment>
        <translation>{name} 是投影器：它让模型能看或能听，本身不作回答。</translation>
    </message>
    <message>
        <source>Pictures for models of the kind {kind} are not supported.</source>
        <extracomment>app/engine/llama/projector.py</extracomment>
        <translation>不支持 {kind} 类模型的图片。</translation>
    </message>
    <message>
        <source>work on several machines</source>
        <extracomment>app/engine/llama/rpc.py</extracomment>
        <translation>多台机器协同工作</translation>
    </message>
    <message>
        <source>This model computes a picture in one step of {rows:,} rows, but its micro-batch holds only {most:,}. Reload it with a larger one (n_ubatch).</source>
        <extracomment>app/engine/prompts/prompt_builder.py</extracomment>
        <translation>此模型必须在一步内处理一张图片的全部 {rows:,} 行，而一次只计算 {most:,} 行。请用更大的微批次（n_ubatch）重新加载。</translation>
    </message>
    <message>
        <source>{role}: {text}</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>{role}：{text}</translation>
    </message>
    <message>
        <source>encoding before it {time}</source>
        <extracomment>app/inspector/step_chart.py</extracomment>
        <translation>此前编码 {time}</translation>
    </message>
    <message>
        <source>all {tokens} tokens and their probabilities equal those of a run alone, to the last bit</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>全部 {tokens} 个词元及其概率都与单独生成的完全相同，逐位一致</translation>
    </message>
    <message>
        <source>The list of shelves could not be saved: {reason}.</source>
        <extracomment>app/services/shelves.py</extracomment>
        <translation>无法保存书架列表：{reason}。</translation>
    </message>
    <message>
        <source>Skein&apos;s own build of llama.cpp is needed for {what}.</source>
        <extracomment>app/system/llama_library.py</extracomment>
        <translation>{what}需要 Skein 自己编译的 llama.cpp。</translation>
    </message>
    <message>
        <source>{problem} {more}</source>
        <extracomment>app/system/llama_library.py</extracomment>
        <translation>{problem}{more}</translation>
    </message>
    <message>
        <source>It is ready: restart Skein.</source>
        <extracomment>app/system/llama_library.py</extracomment>
        <translation>它已就绪，请重新启动 Skein。</translation>
    </message>
    <message>
        <source>That failed. {reason} More is in {path}.</source>
        <extracomment>app/system/llama_library.py</extracomment>
        <translation>编译失败。{reason}详情见 {path}。</translation>
    </message>
    <message>
        <source>It was stopped, and goes on when packaging/run starts Skein.</source>
        <extracomment>app/system/llama_library.py</extracomment>
        <translation>编译已中断，用 packaging/run 启动 Skein 时会继续。</translation>
    </message>
    <message>
        <source>It is being compiled in the background.</source>
        <extracomment>app/system/llama_library.py</extracomment>
        <translation>它正在后台编译。</translation>
    </message>
    <message>
        <source>It is being compiled in the background: about {number} min left.</source>
        <extracomment>app/system/llama_library.py</extracomment>
        <translation>它正在后台编译，大约还需 {number} 分钟。</translation>
    </message>
    <message>
        <source>Found on the shelf</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>在书架上找到</translation>
    </message>
    <message>
        <source>Attach a sc&amp;reenshot…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>附加截图(&amp;R)…</translation>
    </message>
    <message>
        <source>Attach a part of the screen, or all of it, to the next message</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把屏幕的一部分或全部附加到下一条消息</translation>
    </message>
    <message>
        <source>The current model cannot see pictures.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>当前模型看不了图片。</translation>
    </message>
    <message>
        <source>Shelf of th&amp;is chat…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>此对话的书架(&amp;I)…</translation>
    </message>
    <message>
        <source>Files that the model reads in this chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>模型在此对话中阅读的文件</translation>
    </message>
    <message>
        <source>Co&amp;nnect other programs…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>连接其他程序(&amp;N)…</translation>
    </message>
    <message>
        <source>Address, key and an example for other programs</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>供其他程序使用的地址、密钥和示例</translation>
    </message>
    <message>
        <source>S&amp;helves…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>书架(&amp;H)…</translation>
    </message>
    <message>
        <source>Sets of files that chats read or search</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>供对话阅读或搜索的文件集</translation>
    </message>
    <message>
        <source>Not pasted: longer than {number} characters.</source>
        <extracomment>app/ui/base/long_text_box.py</extracomment>
        <translation>未粘贴：超过 {number} 个字符。</translation>
    </message>
    <message>
        <source>Dismiss all</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>全部关闭</translation>
    </message>
    <message numerus="yes">
        <source>{n} earlier messages</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>
            <numerusform>还有 {n} 条较早的消息</numerusform>
        </translation>
    </message>
    <message>
        <source>The screen could not be read. Take a screenshot with another program and paste it.</source>
        <extracomment>app/ui/base/screenshot.py</extracomment>
        <translation>无法读取屏幕。请用其他程序截图，然后粘贴。</translation>
    </message>
    <message>
        <source>Drag over a part of the screen, or press Enter for all of it</source>
        <extracomment>app/ui/base/screenshot.py</extracomment>
        <translation>拖动选择屏幕的一部分，或按 Enter 选择全部</translation>
    </message>
    <message>
        <source>Drag over a part of the screen. Click or Enter: all of it. Esc: cancel.</source>
        <extracomment>app/ui/base/screenshot.py</extracomment>
        <translation>拖动选择屏幕的一部分。单击或 Enter：全部。Esc：取消。</translation>
    </message>
    <message>
        <source>Unload when idle (minutes)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>空闲多久后卸载（分钟）</translation>
    </message>
    <message>
        <source>If their descriptions need more, and over 1,000 tokens, the model gets a list of names and looks them up.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>若工具描述超出此比例且多于 1,000 个词元，模型只会得到名称列表，并按需查阅。</translation>
    </message>
    <message>
        <source>Context for a shelf (%)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>书架可占的上下文 (%)</translation>
    </message>
    <message>
        <source>A shelf that needs more is searched for each message.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>超出的书架会按每条消息搜索。</translation>
    </message>
    <message>
        <source>Uses a self-signed certificate. Programs must be set to trust it.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>使用自签名证书，需要在各程序中设为信任。</translation>
    </message>
    <message>
        <source>{words}.</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>{words}。</translation>
    </message>
    <message>
        <source>Shelf: {name}</source>
        <extracomment>app/ui/main_window.py</extracomment>
        <translation>书架：{name}</translation>
    </message>
    <message>
        <source>Record a sound</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>录音</translation>
    </message>
    <message>
        <source>Stop and attach the recording</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>停止并附加录音</translation>
    </message>
    <message>
        <source>Too long for this chat: about {total} tokens, and {limit} fit. In the chat settings, choose what to leave out, or start a new chat.</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>对此对话来说太长：约 {total} 个词元，而只能容纳 {limit} 个。请在对话设置中选择省略什么，或新建对话。</translation>
    </message>
    <message>
        <source>This message alone is too long: about {draft} tokens, and {limit} fit. Shorten it, or choose “Truncate the middle” in the chat settings.</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>仅这条消息就太长：约 {draft} 个词元，只能容纳 {limit} 个。请缩短它，或在对话设置中选择“截去中间”。</translation>
    </message>
    <message>
        <source>tokens of each prompt list the tools by name: their descriptions need too much of the context</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>个词元在每个提示词中按名称列出工具：其描述占用的上下文过多</translation>
    </message>
    <message>
        <source>Screenshot</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>截图</translation>
    </message>
    <message>
        <source>Recording</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>录音</translation>
    </message>
    <message>
        <source>Stop and attach</source>
        <extracomment>app/ui/composer/recording_bar.py</extracomment>
        <translation>停止并附加</translation>
    </message>
    <message>
        <source>Discard the recording</source>
        <extracomment>app/ui/composer/recording_bar.py</extracomment>
        <translation>丢弃录音</translation>
    </message>
    <message>
        <source>Opening the microphone…</source>
        <extracomment>app/ui/composer/recording_bar.py</extracomment>
        <translation>正在打开麦克风…</translation>
    </message>
    <message>
        <source>Recording a sound</source>
        <extracomment>app/ui/composer/recording_bar.py</extracomment>
        <translation>正在录音</translation>
    </message>
    <message>
        <source>Shelf of this chat: {name}</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>此对话的书架：{name}</translation>
    </message>
    <message>
        <source>Skein backs up all chats, with their pictures and sounds, half an hour after a change. After two days it keeps one backup a day, later one a week, then one a month; fewer once they take more than 4 GB.</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>Skein 在对话更改半小时后备份所有对话及其中的图片和声音，并精简两天以前的备份：先是每天一个，再是每周一个，然后每月一个；总大小超过 4 GB 后保留得更少。</translation>
    </message>
    <message>
        <source>{name} ({count})</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>{name}（{count}）</translation>
    </message>
    <message>
        <source>Also left out, by its names in the file: {names}.</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>还略去了以下内容（按文件中的名称）：{names}。</translation>
    </message>
    <message>
        <source>Show log</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>显示日志</translation>
    </message>
    <message>
        <source>Skein&apos;s own build of llama.cpp is ready: several chats at once are about twice as fast.</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>Skein 自己编译的 llama.cpp 已就绪：多个对话同时进行时速度约为两倍。</translation>
    </message>
    <message>
        <source>Skein could not compile its own llama.cpp. {reason} All goes on with {name}.</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>Skein 无法编译自己的 llama.cpp。{reason}将继续使用 {name}。</translation>
    </message>
    <message>
        <source>Skein&apos;s own build of llama.cpp was stopped. It goes on when packaging/run starts Skein.</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>Skein 自己的 llama.cpp 的编译已中断，用 packaging/run 启动 Skein 时会继续。</translation>
    </message>
    <message>
        <source>about {number} min left</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>大约还需 {number} 分钟</translation>
    </message>
    <message>
        <source>it has just begun</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>刚刚开始</translation>
    </message>
    <message>
        <source>Skein compiles its own llama.cpp in the background, {left}. With it, several chats at once are about twice as fast.</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>Skein 正在后台编译自己的 llama.cpp，{left}。完成后，多个对话同时进行时速度约为两倍。</translation>
    </message>
    <message>
        <source>loading</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>正在加载</translation>
    </message>
    <message>
        <source>loading {name}</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>正在加载 {name}</translation>
    </message>
    <message>
        <source>&amp;Play or stop</source>
        <extracomment>app/ui/message/media_strip.py</extracomment>
        <translation>播放或停止(&amp;P)</translation>
    </message>
    <message>
        <source>Open this source</source>
        <extracomment>app/ui/message/safe_browser.py</extracomment>
        <translation>打开此来源</translation>
    </message>
    <message>
        <source>Yes, by {name}</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>支持，通过 {name}</translation>
    </message>
    <message>
        <source>None in its folder</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>其文件夹中没有</translation>
    </message>
    <message>
        <source>Reranker</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>重排模型</translation>
    </message>
    <message>
        <source>Free</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>自由</translation>
    </message>
    <message>
        <source>Grammar (GBNF)</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>语法 (GBNF)</translation>
    </message>
    <message>
        <source>Answers are JSON that matches this schema.</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>回答是符合此模式的 JSON。</translation>
    </message>
    <message>
        <source>Answers match the rule “root” of this grammar.</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>回答符合此语法的规则“root”。</translation>
    </message>
    <message>
        <source>Schema or grammar</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>模式或语法</translation>
    </message>
    <message>
        <source>Form of answers</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>回答的形式</translation>
    </message>
    <message>
        <source>Insert an example</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>插入示例</translation>
    </message>
    <message>
        <source>Not used: not valid JSON at line {line}, column {column}.</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>未采用：第 {line} 行第 {column} 列不是有效的 JSON。</translation>
    </message>
    <message>
        <source>Not used: not valid JSON.</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>未采用：不是有效的 JSON。</translation>
    </message>
    <message>
        <source>Ask</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>询问</translation>
    </message>
    <message>
        <source>Approval of {tool}</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>{tool} 的许可</translation>
    </message>
    <message>
        <source>Choose tools…</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>选择工具…</translation>
    </message>
    <message>
        <source>Built in</source>
        <extracomment>app/ui/settings/chat_tools.py</extracomment>
        <translation>内置</translation>
    </message>
    <message>
        <source>Read more of a result</source>
        <extracomment>app/ui/settings/chat_tools.py</extracomment>
        <translation>读取结果的更多内容</translation>
    </message>
    <message>
        <source>Look up a tool</source>
        <extracomment>app/ui/settings/chat_tools.py</extracomment>
        <translation>查阅工具</translation>
    </message>
    <message>
        <source>Call a tool</source>
        <extracomment>app/ui/settings/chat_tools.py</extracomment>
        <translation>调用工具</translation>
    </message>
    <message>
        <source>starting…</source>
        <extracomment>app/ui/settings/chat_tools.py</extracomment>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>not running</source>
        <extracomment>app/ui/settings/chat_tools.py</extracomment>
        <translation>未运行</translation>
    </message>
    <message>
        <source>Paste mcp.json</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>粘贴 mcp.json</translation>
    </message>
    <message>
        <source>As Claude Desktop, LM Studio and VS Code write it. Nothing starts before you confirm it.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>格式与 Claude Desktop、LM Studio 和 VS Code 相同。在您确认之前不会启动任何程序。</translation>
    </message>
    <message>
        <source>mcp.json</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>mcp.json</translation>
    </message>
    <message numerus="yes">
        <source>{n} servers: {names}</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>
            <numerusform>{n} 个服务器：{names}</numerusform>
        </translation>
    </message>
    <message>
        <source>Values for MCP servers</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>MCP 服务器的值</translation>
    </message>
    <message>
        <source>Values for {names}</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>{names} 的值</translation>
    </message>
    <message>
        <source>Preset name</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>预设名称</translation>
    </message>
    <message>
        <source>{server} asks</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>{server} 询问</translation>
    </message>
    <message>
        <source>Decline</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>拒绝回答</translation>
    </message>
    <message>
        <source>{server} asks you to visit a page</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>{server} 请您访问一个网页</translation>
    </message>
    <message>
        <source>Open in the browser</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>在浏览器中打开</translation>
    </message>
    <message>
        <source>A prompt of {server}</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>{server} 的提示词</translation>
    </message>
    <message>
        <source>Insert</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>插入</translation>
    </message>
    <message>
        <source>A whole number. The same seed gives the same answer: beside other chats, too, if a new chat says so of the model. Empty: random.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>整数。相同的种子得到相同的回答；若新对话中注明该模型如此，与其他对话同时进行时也一样。留空：随机。</translation>
    </message>
    <message>
        <source>A program on this computer, started by Skein.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>本机上的程序，由 Skein 启动。</translation>
    </message>
    <message>
        <source>Change MCP server</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>更改 MCP 服务器</translation>
    </message>
    <message>
        <source>Add MCP server</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>添加 MCP 服务器</translation>
    </message>
    <message>
        <source>Kind of server</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>服务器类型</translation>
    </message>
    <message>
        <source>Command line</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>命令行</translation>
    </message>
    <message>
        <source>Environment</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>环境变量</translation>
    </message>
    <message>
        <source>Headers</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>标头</translation>
    </message>
    <message>
        <source>As you would type it in a terminal.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>与在终端中输入的一样。</translation>
    </message>
    <message>
        <source>One variable on each line. Kept in a private file.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>每行一个变量。保存在私有文件中。</translation>
    </message>
    <message>
        <source>One header on each line. Kept in a private file.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>每行一个标头。保存在私有文件中。</translation>
    </message>
    <message>
        <source>A quotation mark in the command line is not closed.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>命令行中有未闭合的引号。</translation>
    </message>
    <message>
        <source>Enter the command that starts the server.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>请输入启动服务器的命令。</translation>
    </message>
    <message>
        <source>Enter the address of the server.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>请输入服务器的地址。</translation>
    </message>
    <message>
        <source>Give the server a name.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>请为服务器命名。</translation>
    </message>
    <message>
        <source>There already is a server “{name}”.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>已经有名为“{name}”的服务器。</translation>
    </message>
    <message>
        <source>The address must begin with http:// or https://.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>地址必须以 http:// 或 https:// 开头。</translation>
    </message>
    <message>
        <source>“{line}” is not of the form {form}.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>“{line}”不符合格式 {form}。</translation>
    </message>
    <message>
        <source>Log of {name}</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>{name} 的日志</translation>
    </message>
    <message>
        <source>It has written nothing yet.</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>它没有写任何内容。</translation>
    </message>
    <message>
        <source>ready</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>就绪</translation>
    </message>
    <message>
        <source>will restart</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>将重新启动</translation>
    </message>
    <message>
        <source>not confirmed yet</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>尚未确认</translation>
    </message>
    <message numerus="yes">
        <source>{n} tools</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>
            <numerusform>{n} 个工具</numerusform>
        </translation>
    </message>
    <message>
        <source>MCP server {name}: {state}</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>MCP 服务器 {name}：{state}</translation>
    </message>
    <message>
        <source>Use {name}</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation>使用 {name}</translation>
    </message>
    <message>
        <source>&amp;Start</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>启动(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Restart</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>重新启动(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Log…</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>日志(&amp;L)…</translation>
    </message>
    <message>
        <source>&amp;Change…</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>更改(&amp;C)…</translation>
    </message>
    <message>
        <source>Re&amp;move</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>移除(&amp;M)</translation>
    </message>
    <message>
        <source>This command will run on this computer, with your rights. Start it only if you trust it.</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>此命令将以您的权限在本机上运行。仅在信任它时才启动。</translation>
    </message>
    <message>
        <source>Start it</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>启动</translation>
    </message>
    <message>
        <source>Press the keys</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>请按下快捷键</translation>
    </message>
    <message>
        <source>For models whose terms must be accepted. Stored in the system&apos;s keyring.</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>用于须先接受条款的模型。保存在系统密钥环中。</translation>
    </message>
    <message>
        <source>Hugging Face token</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>Hugging Face 令牌</translation>
    </message>
    <message>
        <source>Forget</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>移除</translation>
    </message>
    <message>
        <source>all of {server}</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>{server} 的全部工具</translation>
    </message>
    <message>
        <source>The prompt could not be read: {reason}</source>
        <extracomment>app/ui/settings/tool_extras.py</extracomment>
        <translation>无法读取提示词：{reason}</translation>
    </message>
    <message>
        <source>The resource could not be read: {reason}</source>
        <extracomment>app/ui/settings/tool_extras.py</extracomment>
        <translation>无法读取资源：{reason}</translation>
    </message>
    <message>
        <source>None yet. Add one, or paste the mcp.json of another program.</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>还没有。请添加一个，或粘贴其他程序的 mcp.json。</translation>
    </message>
    <message>
        <source>Add server…</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>添加服务器…</translation>
    </message>
    <message>
        <source>Paste mcp.json…</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>粘贴 mcp.json…</translation>
    </message>
    <message>
        <source>Import from file…</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>从文件导入…</translation>
    </message>
    <message>
        <source>Folder that tools may read</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>工具可以读取的文件夹</translation>
    </message>
    <message>
        <source>Import MCP servers</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>导入 MCP 服务器</translation>
    </message>
    <message>
        <source>MCP servers (*.json)</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>MCP 服务器 (*.json)</translation>
    </message>
    <message>
        <source>{name} is too large.</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>{name} 太大。</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>MCP servers</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>MCP 服务器</translation>
    </message>
    <message>
        <source>Built-in tools</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>内置工具</translation>
    </message>
    <message>
        <source>Folders for the file tools</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>文件工具的文件夹</translation>
    </message>
    <message>
        <source>Tools may read files below these folders, and nothing else.</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>工具只能读取这些文件夹中的文件。</translation>
    </message>
    <message>
        <source>Limits</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>限制</translation>
    </message>
    <message>
        <source>Tools of this chat</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>此对话的工具</translation>
    </message>
    <message>
        <source>Search tools</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>搜索工具</translation>
    </message>
    <message>
        <source>No tool matches.</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>没有匹配的工具。</translation>
    </message>
    <message>
        <source>Manage tools…</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>管理工具…</translation>
    </message>
    <message>
        <source>The model can call the tools that are on, from the next message on.</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>从下一条消息起，模型可以调用已开启的工具。</translation>
    </message>
    <message>
        <source>too much for this context: listed by name</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>超出此上下文：仅按名称列出</translation>
    </message>
    <message>
        <source>All tools of {server}</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>{server} 的全部工具</translation>
    </message>
    <message>
        <source>All tools of {server}, also later ones</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>{server} 的全部工具，包括以后新增的</translation>
    </message>
    <message>
        <source>&amp;No shelf</source>
        <extracomment>app/ui/shelves/chat_shelves.py</extracomment>
        <translation>不用书架(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Manage shelves…</source>
        <extracomment>app/ui/shelves/chat_shelves.py</extracomment>
        <translation>管理书架(&amp;M)…</translation>
    </message>
    <message>
        <source>No.</source>
        <extracomment>app/ui/rows/rows_table.py</extracomment>
        <translation>编号</translation>
    </message>
    <message>
        <source>State</source>
        <extracomment>app/ui/rows/rows_table.py</extracomment>
        <translation>状态</translation>
    </message>
    <message>
        <source>Tokens</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>词元</translation>
    </message>
    <message>
        <source>Files of this shelf</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>此书架的文件</translation>
    </message>
    <message>
        <source>Close the reader</source>
        <extracomment>app/ui/shelves/reader.py</extracomment>
        <translation>关闭阅读器</translation>
    </message>
    <message>
        <source>Reader</source>
        <extracomment>app/ui/shelves/reader.py</extracomment>
        <translation>阅读器</translation>
    </message>
    <message>
        <source>Text of the file</source>
        <extracomment>app/ui/shelves/reader.py</extracomment>
        <translation>文件的文字</translation>
    </message>
    <message>
        <source>Line {number}</source>
        <extracomment>app/ui/shelves/reader.py</extracomment>
        <translation>第 {number} 行</translation>
    </message>
    <message>
        <source>Choose a file…</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>选择文件…</translation>
    </message>
    <message numerus="yes">
        <source>{n} files</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>
            <numerusform>{n} 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>Add as my messa&amp;ge</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>作为我的消息添加(&amp;G)</translation>
    </message>
    <message>
        <source>Move to its own &amp;window</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>移到单独的窗口(&amp;W)</translation>
    </message>
    <message>
        <source>Show this chat in a window of its own, or move it back</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在单独的窗口中显示这个对话，或移回标签页</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>搜索指南</translation>
    </message>
    <message>
        <source>Proposes tokens from the chat&apos;s own text and checks several in one step, if faster.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation type="vanished">从对话自身的文本推测词元，一步检验多个；仅在更快时进行。</translation>
    </message>
    <message>
        <source>Continue all</source>
        <extracomment>app/ui/chats/cut_off.py</extracomment>
        <translation>全部继续</translation>
    </message>
    <message numerus="yes">
        <source>{n} answers were cut off: {titles}</source>
        <extracomment>app/ui/chats/cut_off.py</extracomment>
        <translation>
            <numerusform>{n} 个回答被中断：{titles}</numerusform>
        </translation>
    </message>
    <message>
        <source>Add as my &amp;message</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>作为我的消息添加(&amp;M)</translation>
    </message>
    <message>
        <source>Without an answer for now</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>暂时不要求回答</translation>
    </message>
    <message>
        <source>Add as the model&apos;s &amp;answer</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>作为模型的回答添加(&amp;A)</translation>
    </message>
    <message>
        <source>Remove all passages</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>移除所有段落</translation>
    </message>
    <message>
        <source>Removed all passages.</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>已移除所有段落。</translation>
    </message>
    <message>
        <source>tokens of the last prompt, its answer, and what was added since</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>个词元：最近一次的提示词、其回答以及此后添加的内容</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>Keep this model</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation type="vanished">保留此模型</translation>
    </message>
    <message>
        <source>Switch back</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation type="vanished">切换回去</translation>
    </message>
    <message>
        <source>Copy for mermaid.live</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>复制 mermaid.live 链接</translation>
    </message>
    <message>
        <source>Copy a link that shows the diagram in a browser</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>复制可在浏览器中显示此图的链接</translation>
    </message>
    <message>
        <source>Tip</source>
        <extracomment>app/ui/message/markdown_html.py</extracomment>
        <translation>技巧</translation>
    </message>
    <message>
        <source>Important</source>
        <extracomment>app/ui/message/markdown_html.py</extracomment>
        <translation>重要</translation>
    </message>
    <message>
        <source>Warning</source>
        <extracomment>app/ui/message/markdown_html.py</extracomment>
        <translation>警告</translation>
    </message>
    <message>
        <source>Caution</source>
        <extracomment>app/ui/message/markdown_html.py</extracomment>
        <translation>小心</translation>
    </message>
    <message>
        <source>Run it</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>运行</translation>
    </message>
    <message>
        <source>Always for this model</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>始终适用于此模型</translation>
    </message>
    <message>
        <source>Run this call, and treat calls that this model writes as text like all others</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>运行此调用，并将该模型以文本写出的调用与其他调用同等对待</translation>
    </message>
    <message>
        <source>Leave it as text</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>保留为文本</translation>
    </message>
    <message>
        <source>It is the answer, not a call</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>这是回答，不是调用</translation>
    </message>
    <message>
        <source>The model wrote this call as text. Run it?</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>模型以文本写出了此调用。要运行吗？</translation>
    </message>
    <message>
        <source>Download</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>下载</translation>
    </message>
    <message>
        <source>start with this one: the largest that fits well</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>从这个开始：内存放得下的最大模型</translation>
    </message>
    <message>
        <source>Needs about {needed} here ({free} free), {elsewhere}. Whether it fits is not known: no answer from {workers}.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>本机约需 {needed}（可用 {free}），{elsewhere}。是否放得下尚不清楚：{workers} 没有回应。</translation>
    </message>
    <message>
        <source>Proposes tokens from the chat&apos;s own text or by a draft model and checks several in one step, if faster.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation type="vanished">从对话自身的文本或由草稿模型推测词元，一步检验多个；仅在更快时进行。</translation>
    </message>
    <message>
        <source>For the next time this model is loaded</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>供下次加载此模型时使用</translation>
    </message>
    <message>
        <source>{draft} could draft for this model: on this machine answers come {edit} times as fast when it edits code, {free} times in free text. It takes {size} of memory.</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>{draft} 可以为此模型推测：在这台机器上，修改代码时回答速度是原来的 {edit} 倍，自由文本是 {free} 倍。它占用 {size} 内存。</translation>
    </message>
    <message>
        <source>Use it</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>使用</translation>
    </message>
    <message>
        <source>No</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>不用</translation>
    </message>
    <message>
        <source>Decided by the server; shown is llama.cpp&apos;s default.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>由服务器决定；这里显示的是 llama.cpp 的默认值。</translation>
    </message>
    <message>
        <source>This chat only; else the server decides.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>仅在这个对话中；否则由服务器决定。</translation>
    </message>
    <message>
        <source>Sum up earlier messages</source>
        <extracomment>app/ui/settings/tool_extras.py</extracomment>
        <translation>概括较早的消息</translation>
    </message>
    <message>
        <source>It is starting…</source>
        <extracomment>app/ui/settings/tool_extras.py</extracomment>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>It is not running: switch on one of its tools in this chat.</source>
        <extracomment>app/ui/settings/tool_extras.py</extracomment>
        <translation>它没有运行：请在此对话中打开它的一个工具。</translation>
    </message>
    <message>
        <source>Models that write calls as text</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>以文本写出调用的模型</translation>
    </message>
    <message>
        <source>What they write as a call of a tool is treated as one.</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>它们以文本写出的工具调用会被当作真正的调用。</translation>
    </message>
    <message>
        <source>Project: {name}</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>项目：{name}</translation>
    </message>
    <message>
        <source>This project begins each chat with about {tokens:,} tokens, {instructions:,} of them instructions, the others documents and facts, but {limit:,} fit. Shorten these, or load the model with a larger context.</source>
        <extracomment>app/bridge/chat_requests.py</extracomment>
        <translation>此项目让每个对话以约 {tokens:,} 个词元开头，其中 {instructions:,} 个是指令，其余是文档和事实，但只容得下 {limit:,} 个。请缩短它们，或以更大的上下文加载模型。</translation>
    </message>
    <message>
        <source>The process of the comparison ended ({how}): there is not enough memory, or one of the two files is damaged. Close other programs, or choose another file.</source>
        <extracomment>app/engine/children/comparing.py</extracomment>
        <translation>比较进程已结束（{how}）：内存不足，或两个文件之一已损坏。请关闭其他程序，或选择另一个文件。</translation>
    </message>
    <message>
        <source>The comparison could not be started: {reason}. Close other programs.</source>
        <extracomment>app/engine/children/comparing.py</extracomment>
        <translation>无法开始比较：{reason}。请关闭其他程序。</translation>
    </message>
    <message>
        <source>There is not enough memory, or no room on the disk for what the first model computed: {reason}. Free some, or compare a shorter text.</source>
        <extracomment>app/engine/children/comparison_child.py</extracomment>
        <translation>内存不足，或磁盘上没有空间存放第一个模型的计算结果：{reason}。请释放一些空间，或比较更短的文本。</translation>
    </message>
    <message>
        <source>Only text can be compared, and this chat has pictures or sounds.</source>
        <extracomment>app/engine/children/comparison_child.py</extracomment>
        <translation>只能比较文本，而此对话含有图片或声音。</translation>
    </message>
    <message>
        <source>The text is too short: what comes next is only expected behind at least one token.</source>
        <extracomment>app/engine/children/comparison_child.py</extracomment>
        <translation>文本太短：至少要有一个词元，才能预测之后的内容。</translation>
    </message>
    <message>
        <source>The text has {tokens:,} tokens. Compare a part of it, up to {most:,}.</source>
        <extracomment>app/engine/children/comparison_child.py</extracomment>
        <translation>文本有 {tokens:,} 个词元。请只比较其中一部分，最多 {most:,} 个。</translation>
    </message>
    <message>
        <source>The logits of {name} are NaN or infinite. The file may be damaged: download it again, or choose another one.</source>
        <extracomment>app/engine/children/comparison_child.py</extracomment>
        <translation>{name} 的 logits 为 NaN 或无穷大。文件可能已损坏：请重新下载，或选择另一个。</translation>
    </message>
    <message>
        <source>row of a table</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>表格的一行</translation>
    </message>
    <message>
        <source>{chat}, task {number}</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>{chat}，任务 {number}</translation>
    </message>
    <message>
        <source>Choose a second model with the same vocabulary, such as another quantisation, and compare.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>请选择词表相同的第二个模型（例如另一种量化），然后比较。</translation>
    </message>
    <message>
        <source>Two models</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>两个模型</translation>
    </message>
    <message>
        <source>Open a chat with an answer, or choose “Pasted text”.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>请打开一个有回答的对话，或选择“粘贴的文本”。</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat to compare it with another.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>没有加载模型。请在对话上方选择一个，以便与另一个比较。</translation>
    </message>
    <message>
        <source>This is a recording. Go back to the running engine to compare two models.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>这是一份录制。请回到正在运行的引擎来比较两个模型。</translation>
    </message>
    <message>
        <source>Second model</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>第二个模型</translation>
    </message>
    <message>
        <source>This answer</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>此回答</translation>
    </message>
    <message>
        <source>Second is the base</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>以第二个为基准</translation>
    </message>
    <message>
        <source>Measure how far the loaded model is from the second one, such as the original</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>衡量已加载的模型与第二个模型（例如原始模型）相差多远</translation>
    </message>
    <message>
        <source>Compared tokens</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>被比较的词元</translation>
    </message>
    <message>
        <source>Next difference</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>下一处差异</translation>
    </message>
    <message>
        <source>Go to the next token where the two would choose differently</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>转到下一个两者选择不同的词元</translation>
    </message>
    <message>
        <source>Paste a text here</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>在此粘贴文本</translation>
    </message>
    <message>
        <source>Models (*.gguf)</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>模型 (*.gguf)</translation>
    </message>
    <message>
        <source>Compare</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>比较</translation>
    </message>
    <message>
        <source>Fork with {model}</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation type="vanished">用 {model} 分叉</translation>
    </message>
    <message>
        <source>Comparing… {share}</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>正在比较… {share}</translation>
    </message>
    <message>
        <source>Loading the models…</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>正在加载模型…</translation>
    </message>
    <message>
        <source>Nothing stands before this token, so there is nothing to compare.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>此词元之前没有内容，因此无可比较。</translation>
    </message>
    <message>
        <source>Both would choose {token}.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation type="vanished">两者都会选择{token}。</translation>
    </message>
    <message>
        <source>{one} would choose {base}, {two} {other}.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation type="vanished">{one} 会选择{base}，{two} 会选择{other}。</translation>
    </message>
    <message>
        <source>mean KL {mean}, 99% up to {most} · perplexity {base} → {other} · same choice at {same}</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation type="vanished">平均 KL {mean}，99% 不超过 {most} · 困惑度 {base} → {other} · 选择相同 {same}</translation>
    </message>
    <message>
        <source>· they part at token {number}</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation type="vanished">· 在第 {number} 个词元分开</translation>
    </message>
    <message>
        <source>KL</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>KL</translation>
    </message>
    <message>
        <source>KL divergence in nats: how much of what the base expected here the other one misses</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>KL 散度（奈特）：基准模型在此处的预期，另一个模型缺失多少</translation>
    </message>
    <message>
        <source>base</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>基准</translation>
    </message>
    <message>
        <source>Probability of the token with the base</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>基准模型给该词元的概率</translation>
    </message>
    <message>
        <source>Rank of the token with the base</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>该词元在基准模型中的排名</translation>
    </message>
    <message>
        <source>other</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>另一个</translation>
    </message>
    <message>
        <source>Probability of the token with the other model</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>另一个模型给该词元的概率</translation>
    </message>
    <message>
        <source>Rank of the token with the other model</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>该词元在另一个模型中的排名</translation>
    </message>
    <message>
        <source>KL divergence by token</source>
        <extracomment>app/inspector/comparison_view.py</extracomment>
        <translation>逐词元的 KL 散度</translation>
    </message>
    <message>
        <source>No request yet. What chats and programs ask, and what that costs, is shown here.</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>还没有请求。对话和程序提出的请求及其开销会显示在这里。</translation>
    </message>
    <message>
        <source>compared with the one before</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>与前一个请求相比</translation>
    </message>
    <message>
        <source>section</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>部分</translation>
    </message>
    <message>
        <source>name</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>名称</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>What did it cost?</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>开销多大？</translation>
    </message>
    <message>
        <source>Program or chat</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>程序或对话</translation>
    </message>
    <message>
        <source>Save all this as JSON</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>将全部内容保存为 JSON</translation>
    </message>
    <message>
        <source>Sections of the prompt</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>提示词的各部分</translation>
    </message>
    <message>
        <source>Export what it cost</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>导出开销</translation>
    </message>
    <message>
        <source>{tool}, never called</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>{tool}，从未调用</translation>
    </message>
    <message>
        <source>calls {tools}</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>调用 {tools}</translation>
    </message>
    <message>
        <source>Recording, a page for any browser (*.html)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>录制，任何浏览器都能打开的网页 (*.html)</translation>
    </message>
    <message>
        <source>Recordings (*.html *.jsonl)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>录制 (*.html *.jsonl)</translation>
    </message>
    <message>
        <source>Save the last {steps} steps as a page that any browser opens, or as a trace</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>将最近 {steps} 步保存为任何浏览器都能打开的网页，或保存为跟踪文件</translation>
    </message>
    <message numerus="yes">
        <source>It has {n} more reports, from between two steps.</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>
            <numerusform>另有 {n} 份两步之间的报告。</numerusform>
        </translation>
    </message>
    <message>
        <source>Prompts, answers and titles</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>提示词、回答和标题</translation>
    </message>
    <message>
        <source>Without them the page has figures and events alone, and skein replay cannot compute it again.</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>不含这些内容时，网页只有数字和事件，skein replay 无法重新计算。</translation>
    </message>
    <message>
        <source>Export</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>导出</translation>
    </message>
    <message>
        <source>What goes into {name}?</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>{name} 中包含什么？</translation>
    </message>
    <message>
        <source>The first request</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>第一个请求</translation>
    </message>
    <message>
        <source>Goes on where an earlier one ended</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>接着之前的请求继续</translation>
    </message>
    <message>
        <source>Goes on, but was not cached any more: {what}</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>继续之前的请求，但缓存已不在：{what}</translation>
    </message>
    <message>
        <source>System prompt, line {line}: {what}</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>系统提示词第 {line} 行：{what}</translation>
    </message>
    <message>
        <source>The same tools came in another order</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>相同的工具，顺序不同</translation>
    </message>
    <message>
        <source>Other tools were offered</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>提供了不同的工具</translation>
    </message>
    <message>
        <source>An earlier message changed</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation type="vanished">较早的消息被改动</translation>
    </message>
    <message>
        <source>{tokens} were computed again in {part} of {whole} requests: {reason}. {remedy}</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>{whole} 个请求中有 {part} 个重新计算了共 {tokens}：{reason}。{remedy}</translation>
    </message>
    <message>
        <source>their cells had been given up</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>它们的单元已被释放</translation>
    </message>
    <message>
        <source>Use a larger context or more slots.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>请使用更大的上下文或更多槽位。</translation>
    </message>
    <message>
        <source>line {line} of the system prompt holds {what}</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>系统提示词第 {line} 行含有{what}</translation>
    </message>
    <message>
        <source>Put it at the end of the last message.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>请把它放到最后一条消息的末尾。</translation>
    </message>
    <message>
        <source>the tools came in another order</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>工具的顺序不同</translation>
    </message>
    <message>
        <source>Send them in the same order each time.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>请每次以相同的顺序发送。</translation>
    </message>
    <message>
        <source>other tools were offered</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>提供了不同的工具</translation>
    </message>
    <message>
        <source>Offer the same ones each time.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>请每次提供相同的工具。</translation>
    </message>
    <message>
        <source>an earlier message changed</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation type="vanished">较早的消息被改动</translation>
    </message>
    <message>
        <source>Add to the end of the chat instead.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>请改为在对话末尾追加。</translation>
    </message>
    <message>
        <source>{names}: described in {tokens} of each prompt, and never called. Offer fewer tools.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation type="vanished">{names}：在每个提示词中占 {tokens}，却从未调用。请少提供一些工具。</translation>
    </message>
    <message>
        <source>system prompt</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>result of a tool</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>工具结果</translation>
    </message>
    <message>
        <source>the time of day</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>当前时刻</translation>
    </message>
    <message>
        <source>{names}: mean KL {mean}, 99% up to {most} · perplexity {base} → {other} · same choice at {same}</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>{names}：平均 KL {mean}，99% 不超过 {most} · 困惑度 {base} → {other} · 选择相同 {same}</translation>
    </message>
    <message>
        <source>{figures} · they part at token {number}</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>{figures} · 在第 {number} 个词元分开</translation>
    </message>
    <message>
        <source>The prompts are not in this recording, or not told by this engine.</source>
        <extracomment>app/inspector/costs_panel.py</extracomment>
        <translation>此录制中没有提示词，或此引擎不提供。</translation>
    </message>
    <message>
        <source>the date</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>日期</translation>
    </message>
    <message>
        <source>a number that changes</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>变化的数字</translation>
    </message>
    <message>
        <source>The same prompt again</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>同一个提示词</translation>
    </message>
    <message>
        <source>Another last message</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>最后一条消息不同</translation>
    </message>
    <message>
        <source>Begins anew: nothing was kept of the earlier request</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation type="vanished">重新开始：之前的请求没有保留任何内容</translation>
    </message>
    <message>
        <source>The tool {what} is described in other words</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>工具 {what} 的描述不同</translation>
    </message>
    <message>
        <source>An earlier message changed: {what}</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>较早的消息有变动：{what}</translation>
    </message>
    <message>
        <source>Earlier messages were left out</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>省略了较早的消息</translation>
    </message>
    <message>
        <source>nothing is kept of a chat whose first answer was broken off</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation type="vanished">首个回答被中断的对话不会保留任何内容</translation>
    </message>
    <message>
        <source>Wait longer for answers.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation type="vanished">请为回答留出更多等待时间。</translation>
    </message>
    <message>
        <source>the description of {what} changed</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>{what} 的描述有变化</translation>
    </message>
    <message>
        <source>Keep it the same.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>请保持不变。</translation>
    </message>
    <message>
        <source>an earlier message changed: {what}</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>较早的消息有变动：{what}</translation>
    </message>
    <message>
        <source>earlier messages were left out</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>省略了较早的消息</translation>
    </message>
    <message>
        <source>Leave out many at once, and seldom.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>请一次省略多条，且少做几次。</translation>
    </message>
    <message>
        <source>{names}: described in {tokens} of the last prompt, and not called so far. Offer fewer tools.</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>{names}：在最后一个提示词中占 {tokens}，至今未被调用。请少提供一些工具。</translation>
    </message>
    <message>
        <source>a text that changes</source>
        <extracomment>app/inspector/session_costs.py</extracomment>
        <translation>变化的文字</translation>
    </message>
    <message>
        <source>{other} cannot be compared with {base}.</source>
        <extracomment>app/models/comparing.py</extracomment>
        <translation>{other} 无法与 {base} 比较。</translation>
    </message>
    <message>
        <source>Choose another file of the same model, or one of its family.</source>
        <extracomment>app/models/comparing.py</extracomment>
        <translation>请选择同一模型的另一个文件，或同系列的文件。</translation>
    </message>
    <message>
        <source>it is truncated, or what is packed in it is damaged</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它不完整，或其中打包的内容已损坏</translation>
    </message>
    <message>
        <source>it does not follow the one before</source>
        <extracomment>app/protocol/recording.py</extracomment>
        <translation>它与前一个不衔接</translation>
    </message>
    <message>
        <source>the hashes of a sequence do not match its tokens</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>一个序列的哈希与其词元不符</translation>
    </message>
    <message>
        <source>the tokens of a prompt are damaged</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>提示词的词元已损坏</translation>
    </message>
    <message>
        <source>Two of the choices are the same.</source>
        <extracomment>app/rows/answer_form.py</extracomment>
        <translation>有两个选项相同。</translation>
    </message>
    <message>
        <source>The prompt names no column of this table, so each row would be asked the same. Write {example} where its value belongs.</source>
        <extracomment>app/rows/template.py</extracomment>
        <translation>提示词没有写出此表格的任何列名，因此每一行都会问同样的内容。请在需要填入值的地方写 {example}。</translation>
    </message>
    <message>
        <source>{file} has no facts: neither a list in Markdown nor Skein’s JSON.</source>
        <extracomment>app/services/projects.py</extracomment>
        <translation>{file} 中没有事实：既不是 Markdown 列表，也不是 Skein 的 JSON。</translation>
    </message>
    <message>
        <source>Split i&amp;nto parallel tasks…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>拆分为并行任务(&amp;N)…</translation>
    </message>
    <message>
        <source>Work on tasks side by side</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>并行处理任务</translation>
    </message>
    <message>
        <source>Hands out tasks, each in a fork of this chat.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>分派任务，每个任务都在此对话的一个分支中进行。</translation>
    </message>
    <message>
        <source>Recall earlier messages</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>回忆较早的消息</translation>
    </message>
    <message>
        <source>Finds what a summary of the chat leaves out.</source>
        <extracomment>app/ui/settings/tool_choice.py</extracomment>
        <translation>查找对话摘要中没有的内容。</translation>
    </message>
    <message>
        <source>There is nothing to sum up yet.</source>
        <extracomment>app/ui/settings/tool_extras.py</extracomment>
        <translation>还没有可以概括的内容。</translation>
    </message>
    <message numerus="yes">
        <source>{n} waiting</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>
            <numerusform>{n} 个等待中</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} unreadable</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>
            <numerusform>{n} 个无法读取</numerusform>
        </translation>
    </message>
    <message>
        <source>{size} of cells on disk</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>磁盘上的单元 {size}</translation>
    </message>
    <message>
        <source>Looking for files…</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>正在查找文件…</translation>
    </message>
    <message>
        <source>The folder is missing. What was read from it stays in use.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>文件夹不在了。已读取的内容继续使用。</translation>
    </message>
    <message>
        <source>Nothing to read here yet.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>这里还没有可以读取的内容。</translation>
    </message>
    <message>
        <source>Open a model to see whether it fits.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>打开模型后才知道是否放得下。</translation>
    </message>
    <message>
        <source>Fits: {share} of the model&apos;s context, read before each chat.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>放得下：占模型上下文的 {share}，在每个对话之前阅读。</translation>
    </message>
    <message>
        <source>Does not fit the model&apos;s context: it is searched for each message.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>模型的上下文放不下：按每条消息搜索。</translation>
    </message>
    <message>
        <source>Only the first {number} files are used.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>只使用前 {number} 个文件。</translation>
    </message>
    <message>
        <source>New chats begin with it at once.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>新对话可立即由它开始。</translation>
    </message>
    <message>
        <source>It is computed while nothing else runs.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>空闲时会进行计算。</translation>
    </message>
    <message>
        <source>Computed while nothing else runs: {share}.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>空闲时计算：{share}。</translation>
    </message>
    <message>
        <source>It is computed again after a restart, because cells are not kept between starts.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>重新启动后需要再次计算：未保留对话的单元。</translation>
    </message>
    <message>
        <source>Chosen files</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>选定的文件</translation>
    </message>
    <message>
        <source>Read</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>已读取</translation>
    </message>
    <message>
        <source>Changed, waiting</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>已更改，等待中</translation>
    </message>
    <message>
        <source>A shelf is a set of files for a chat&apos;s model. If they fit its context, it reads all of them before the chat; otherwise they are searched for each message.</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>书架存放对话的模型要阅读的文件：上下文放得下时，在对话之前全部阅读；放不下时，按每条消息查找相关内容。</translation>
    </message>
    <message>
        <source>&amp;New shelf</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>新建书架(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Use in this chat</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>在此聊天中使用(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Add files…</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>添加文件(&amp;A)…</translation>
    </message>
    <message>
        <source>Remove &amp;file</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>移除文件(&amp;F)</translation>
    </message>
    <message>
        <source>R&amp;emove shelf</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>移除书架(&amp;E)</translation>
    </message>
    <message>
        <source>A folder for a shelf</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>书架的文件夹</translation>
    </message>
    <message>
        <source>Files for a shelf</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>书架的文件</translation>
    </message>
    <message>
        <source>Add files</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>添加文件</translation>
    </message>
    <message>
        <source>Removed the shelf “{name}”. Its files stay.</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>已移除书架“{name}”。其文件保持不变。</translation>
    </message>
    <message>
        <source>Shelves</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>书架</translation>
    </message>
    <message>
        <source>From a &amp;folder…</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>从文件夹(&amp;F)…</translation>
    </message>
    <message>
        <source>From &amp;files…</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>从文件(&amp;I)…</translation>
    </message>
    <message>
        <source>New shelf from a f&amp;older…</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>从文件夹新建书架(&amp;O)…</translation>
    </message>
    <message>
        <source>An answer is being written. Stop it first (Esc), or wait for its end.</source>
        <extracomment>app/ui/tabs/chat_commands.py</extracomment>
        <translation>正在生成回答。请先停止（Esc），或等待其结束。</translation>
    </message>
    <message>
        <source>The summary stays as it was.</source>
        <extracomment>app/ui/tabs/chat_view.py</extracomment>
        <translation>摘要保持原样。</translation>
    </message>
    <message>
        <source>Attach the picture</source>
        <extracomment>app/ui/tabs/chat_view.py</extracomment>
        <translation>附加图片</translation>
    </message>
    <message>
        <source>Move back to the tabs</source>
        <extracomment>app/ui/tabs/chat_window.py</extracomment>
        <translation>移回标签页</translation>
    </message>
    <message>
        <source>Show which messages and passages were read for this answer</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>显示为此回答读取了哪些消息和段落</translation>
    </message>
    <message>
        <source>Write the beginning of a text. The model continues it.</source>
        <extracomment>app/ui/tabs/notebook_page.py</extracomment>
        <translation>写下文本的开头，模型会接着写。</translation>
    </message>
    <message>
        <source>Let the model continue the text (Ctrl+Enter)</source>
        <extracomment>app/ui/tabs/notebook_page.py</extracomment>
        <translation>让模型续写这段文本（Ctrl+Enter）</translation>
    </message>
    <message>
        <source>Stop this continuation (Esc)</source>
        <extracomment>app/ui/tabs/notebook_page.py</extracomment>
        <translation>停止续写（Esc）</translation>
    </message>
    <message>
        <source>Undo the last continuation or edit (Ctrl+Z)</source>
        <extracomment>app/ui/tabs/notebook_page.py</extracomment>
        <translation>撤销上一次续写或编辑（Ctrl+Z）</translation>
    </message>
    <message>
        <source>Token probabilities of the last continuation</source>
        <extracomment>app/ui/tabs/notebook_page.py</extracomment>
        <translation>上一次续写的词元概率</translation>
    </message>
    <message>
        <source>Show the list of chats (Ctrl+B)</source>
        <extracomment>app/ui/tabs/tab_bar.py</extracomment>
        <translation>显示对话列表 (Ctrl+B)</translation>
    </message>
    <message>
        <source>sequence {number} of the shared context</source>
        <extracomment>app/ui/tabs/tab_bar.py</extracomment>
        <translation>共享上下文中的序列 {number}</translation>
    </message>
    <message>
        <source>preview, a double click keeps it</source>
        <extracomment>app/ui/tabs/tab_bar.py</extracomment>
        <translation>预览，双击即可保留</translation>
    </message>
    <message>
        <source>&amp;Keep tab open</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>保留标签页(&amp;K)</translation>
    </message>
    <message>
        <source>Split into parallel tasks</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation>拆分为并行任务</translation>
    </message>
    <message>
        <source>Tasks, one on each line</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation>任务，每行一个</translation>
    </message>
    <message>
        <source>List the arguments for it
List the arguments against it</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation>列出支持的理由
列出反对的理由</translation>
    </message>
    <message>
        <source>One task on each line. Each is worked on in a fork of this chat, all at the same time; then the model sums up their answers.</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation>每行一个任务。每个任务都在此对话的一个分支中处理，所有任务同时进行；然后模型汇总它们的回答。</translation>
    </message>
    <message>
        <source>At most {number} tasks can be worked on at once.</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation>最多可同时处理 {number} 个任务。</translation>
    </message>
    <message>
        <source>A task is too long. Paste long texts into the chat first.</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation>有一个任务太长。请先把长文本粘贴到对话中。</translation>
    </message>
    <message numerus="yes">
        <source>{n} tasks, worked on at the same time</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation type="vanished">
            <numerusform>{n} 个任务，同时处理</numerusform>
        </translation>
    </message>
    <message>
        <source>Several answers</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>多个回答</translation>
    </message>
    <message>
        <source>Other temperatures</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>其他温度</translation>
    </message>
    <message>
        <source>This chat&apos;s settings</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>此对话的设置</translation>
    </message>
    <message>
        <source>temperature {number}</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>温度 {number}</translation>
    </message>
    <message>
        <source>One answer each at temperature</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>每个温度一个回答</translation>
    </message>
    <message>
        <source>Temperatures are numbers from 0 to {most}.</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>温度是 0 到 {most} 之间的数。</translation>
    </message>
    <message>
        <source>At most {number} answers can be asked for at once.</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>一次最多可获取 {number} 个回答。</translation>
    </message>
    <message numerus="yes">
        <source>{n} answers, computed together</source>
        <extracomment>app/ui/tabs/ways_dialog.py</extracomment>
        <translation>
            <numerusform>{n} 个回答，一起计算</numerusform>
        </translation>
    </message>
    <message>
        <source>This model can be rolled back to checkpoints only.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">这个模型只能回到检查点。</translation>
    </message>
    <message>
        <source>first token {time}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>首个词元 {time}</translation>
    </message>
    <message>
        <source>read ahead {share}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>预读 {share}</translation>
    </message>
    <message>
        <source>from a saved state</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>来自保存的状态</translation>
    </message>
    <message>
        <source>for this answer</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>为此回答计算</translation>
    </message>
    <message>
        <source>stopped before</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>在此之前已停止</translation>
    </message>
    <message>
        <source>before it was sent</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>在发送之前</translation>
    </message>
    <message>
        <source>recomputed after a pause, or with a shorter prompt</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>暂停后或提示词缩短后重新计算</translation>
    </message>
    <message>
        <source>computed; tools took {time}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>已计算；工具用时 {time}</translation>
    </message>
    <message>
        <source>Round {number}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>第 {number} 轮</translation>
    </message>
    <message>
        <source>Total time without pauses {time}.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>不计暂停的总时间 {time}。</translation>
    </message>
    <message>
        <source>waiting for your decision</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>等待您的决定</translation>
    </message>
    <message>
        <source>running tools</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>正在运行工具</translation>
    </message>
    <message>
        <source>{text}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>{text}。</translation>
    </message>
    <message>
        <source>waiting for MCP server {servers} to start</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>正在等待 MCP 服务器 {servers} 启动</translation>
    </message>
    <message>
        <source>encoding pictures and sound</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>正在编码图片和声音</translation>
    </message>
    <message>
        <source>Leave out the middle</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>省略中间部分</translation>
    </message>
    <message>
        <source>From now on the middle of turns and long texts is left out where they do not fit</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>从现在起，放不下的轮次和长文字会省略中间部分</translation>
    </message>
    <message>
        <source>Close comparison</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>关闭比较</translation>
    </message>
    <message>
        <source>{answer}: {number} of {total}</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>{answer}：{number} / {total}</translation>
    </message>
    <message>
        <source>Votes: {votes}</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>投票：{votes}</translation>
    </message>
    <message>
        <source>{answer} · the chat goes on from it</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>{answer} · 聊天由此继续</translation>
    </message>
    <message>
        <source>Explain how a transformer works in five sentences</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>用五句话解释 Transformer 的工作原理</translation>
    </message>
    <message>
        <source>Write a Python function that finds duplicates in a list</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>写一个找出列表中重复项的 Python 函数</translation>
    </message>
    <message>
        <source>Draft a short message that moves a meeting to Friday</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>起草一条把会议改到周五的简短消息</translation>
    </message>
    <message>
        <source>What should I know before I bake my first bread?</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>第一次烤面包前我应该知道什么？</translation>
    </message>
    <message>
        <source>A small demonstration. It adds and subtracts, counts up to 100, knows Skein and can call tools; it cannot write, translate or reason.</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>一个小小的演示模型，只懂英文。它会加减法、数到 100、介绍 Skein、调用工具；不会写作、翻译或推理。</translation>
    </message>
    <message>
        <source>Get a real model</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>获取真正的模型</translation>
    </message>
    <message>
        <source>{name} is a base model without a chat template: it continues text.</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>{name} 是没有对话模板的基础模型：它只会续写文本。</translation>
    </message>
    <message>
        <source>Open a notebook</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>打开笔记本</translation>
    </message>
    <message>
        <source>What you send now is answered once it is loaded.</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>现在发送的消息会在加载完成后得到回答。</translation>
    </message>
    <message>
        <source>Loading {name}…</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>正在加载 {name}…</translation>
    </message>
    <message>
        <source>Get a model</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>获取模型</translation>
    </message>
    <message>
        <source>{number} tokens of context</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>{number} 个词元的上下文</translation>
    </message>
    <message>
        <source>same answers beside other chats</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>与其他对话同时进行时回答不变</translation>
    </message>
    <message>
        <source>text only, no pictures or sound</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>仅文本，不支持图片和声音</translation>
    </message>
    <message>
        <source>thinks before it answers</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>回答前会思考</translation>
    </message>
    <message numerus="yes">
        <source>{n} tasks</source>
        <extracomment>app/ui/tabs/tasks_dialog.py</extracomment>
        <translation>
            <numerusform>{n} 个任务</numerusform>
        </translation>
    </message>
    <message>
        <source>reading the prompt {percent}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>正在读取提示词 {percent}</translation>
    </message>
    <message>
        <source>Sum up earlier messages and go on</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>概括较早的消息并继续</translation>
    </message>
    <message>
        <source>From now on a summary takes the place of earlier messages when the chat is full; they stay here</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>从现在起，对话写满时由摘要代替较早的消息；消息仍留在这里</translation>
    </message>
    <message>
        <source>Runs on {host}, which is asked once you send a message.</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>在 {host} 上运行，发送消息后才会向其提问。</translation>
    </message>
    <message>
        <source>context not told by this server</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>此服务器未告知上下文</translation>
    </message>
    <message>
        <source>can call tools</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>可调用工具</translation>
    </message>
    <message>
        <source>not made to call tools</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>未针对调用工具训练</translation>
    </message>
    <message>
        <source>From {size}, or drop a GGUF file here</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>从 {size} 起，也可以把 GGUF 文件拖到这里</translation>
    </message>
    <message>
        <source>From {size} up to {name} ({largest}), which fits this machine; or drop a GGUF file here</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>从 {size} 到适合这台电脑的 {name}（{largest}）；也可以把 GGUF 文件拖到这里</translation>
    </message>
    <message>
        <source>Copy as &amp;Markdown</source>
        <extracomment>app/ui/transcript/selecting.py</extracomment>
        <translation>复制为 Markdown(&amp;M)</translation>
    </message>
    <message>
        <source>Select &amp;all messages</source>
        <extracomment>app/ui/transcript/selecting.py</extracomment>
        <translation>选中全部消息(&amp;A)</translation>
    </message>
    <message>
        <source>The messages stay as they are</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>消息保持原样</translation>
    </message>
    <message>
        <source>Edit</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Change what the model reads in the place of the messages above</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>修改模型代替上方消息所读的内容</translation>
    </message>
    <message>
        <source>Write again</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>重写</translation>
    </message>
    <message>
        <source>Have the model write another summary</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>让模型另写一份摘要</translation>
    </message>
    <message>
        <source>Remove the summary: the model reads all messages again</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>移除摘要：模型重新读取全部消息</translation>
    </message>
    <message>
        <source>It is not used: edit it, or have it written again.</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>它不会被使用：请编辑，或让模型重写。</translation>
    </message>
    <message>
        <source>Show the message with {name}</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>显示带有 {name} 的消息</translation>
    </message>
    <message>
        <source>Edited summary</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>编辑中的摘要</translation>
    </message>
    <message numerus="yes">
        <source>Summing up the {n} messages above…</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>
            <numerusform>正在概括以上 {n} 条消息…</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Summary of the {n} messages above</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>
            <numerusform>以上 {n} 条消息的摘要</numerusform>
        </translation>
    </message>
    <message>
        <source>{tokens} tokens in the place of {replaced}</source>
        <extracomment>app/ui/transcript/summary_card.py</extracomment>
        <translation>以 {tokens} 个词元代替 {replaced} 个</translation>
    </message>
    <message>
        <source>Task {number}: {task}</source>
        <extracomment>app/ui/transcript/task_columns.py</extracomment>
        <translation>任务 {number}：{task}</translation>
    </message>
    <message>
        <source>Go on from this answer; the others stay</source>
        <extracomment>app/ui/transcript/task_columns.py</extracomment>
        <translation type="vanished">从这个回答继续；其他回答保留</translation>
    </message>
    <message>
        <source>Stop task {number}</source>
        <extracomment>app/ui/transcript/task_columns.py</extracomment>
        <translation>停止任务 {number}</translation>
    </message>
    <message>
        <source>Open task {number}</source>
        <extracomment>app/ui/transcript/task_columns.py</extracomment>
        <translation>打开任务 {number}</translation>
    </message>
    <message>
        <source>The edit is kept until you go on with it.</source>
        <extracomment>app/ui/transcript/transcript_actions.py</extracomment>
        <translation>编辑内容已保留，您可以稍后继续。</translation>
    </message>
    <message>
        <source>Discarded the edit.</source>
        <extracomment>app/ui/transcript/transcript_actions.py</extracomment>
        <translation>已放弃编辑。</translation>
    </message>
    <message>
        <source>Removed the summary. The model reads all messages again.</source>
        <extracomment>app/ui/transcript/transcript_actions.py</extracomment>
        <translation>已移除摘要。模型将重新读取全部消息。</translation>
    </message>
    <message>
        <source>The summary was written again.</source>
        <extracomment>app/ui/transcript/transcript_actions.py</extracomment>
        <translation>已重写摘要。</translation>
    </message>
    <message>
        <source>What was read for t&amp;his</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>为此读了什么(&amp;H)</translation>
    </message>
    <message>
        <source>Other models or settings…</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>其他模型或设置…</translation>
    </message>
    <message>
        <source>Discard the changes. Esc closes and keeps them.</source>
        <extracomment>app/ui/transcript/turn_editor.py</extracomment>
        <translation>放弃更改。按 Esc 关闭并保留更改。</translation>
    </message>
    <message>
        <source>{name} · given, not cited</source>
        <extracomment>app/ui/transcript/user_view.py</extracomment>
        <translation>{name} · 已提供，未引用</translation>
    </message>
    <message>
        <source>Its answer goes on.</source>
        <extracomment>app/ui/window_presenter.py</extracomment>
        <translation>其回答仍在继续。</translation>
    </message>
    <message>
        <source>The disk with {folder} is full. Free some space, then start Skein again.</source>
        <extracomment>app/window.py</extracomment>
        <translation>{folder} 所在的磁盘已满。请释放一些空间，然后重新启动。</translation>
    </message>
    <message>
        <source>The chats in {folder} were opened on {host} (process {pid}, {date}) and never closed. If Skein still runs there, close it: two at once would damage the chats. If not, remove {file} and start again.</source>
        <extracomment>app/window.py</extracomment>
        <translation>{folder} 中的对话曾在 {host} 上打开（进程 {pid}，{date}），没有在那里关闭。如果 Skein 仍在那里运行，请先关闭它：两个同时运行会损坏对话。如果没有，请删除 {file}，然后重新启动。</translation>
    </message>
    <message>
        <source>It is not running there</source>
        <extracomment>app/window.py</extracomment>
        <translation>它没有在那里运行</translation>
    </message>
    <message>
        <source>Another program is using the chats in {folder} and does not respond. Close it, then start Skein again.</source>
        <extracomment>app/window.py</extracomment>
        <translation>另一个程序正在使用 {folder} 中的对话，但没有响应。请结束它，然后重新启动。</translation>
    </message>
    <message>
        <source>Skein is running with the chats in {folder} on {host} (process {pid}, since {date}). Close it there first. If that machine is gone for good, remove {file}.</source>
        <extracomment>app/window.py</extracomment>
        <translation>Skein 正在 {host} 上使用 {folder} 中的对话（进程 {pid}，自 {date} 起）。请在那里关闭它，然后重新启动。如果那台机器已不复存在，请先删除 {file}。</translation>
    </message>
    <message>
        <source>Skein is already running with the chats in {folder} (process {pid}, since {date}) but does not respond. Use its window, or end it.</source>
        <extracomment>app/window.py</extracomment>
        <translation>Skein 已在使用 {folder} 中的对话（进程 {pid}，自 {date} 起），但没有响应。请使用它的窗口，或结束它。</translation>
    </message>
    <message>
        <source>End it and start again</source>
        <extracomment>app/window.py</extracomment>
        <translation>结束它并重新启动</translation>
    </message>
    <message numerus="yes">
        <source>{n} sequences</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>
            <numerusform>{n} 个序列</numerusform>
        </translation>
    </message>
    <message>
        <source>The model&apos;s logits are {kind}, so no token can be sampled. The file may be damaged: download it again, or open another one.</source>
        <extracomment>app/engine/llama/logits.py</extracomment>
        <translation>模型算出的 logits {kind}，因此无法选择词元。文件可能已损坏。请重新下载，或打开另一个文件。</translation>
    </message>
    <message>
        <source>Full colour: prefill. Lighter: decode. Lightest: draft tokens. Marks: cross failed, triangle held up, two bars paused, dot no work.</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation>深色：预填充。浅色：解码。最浅：推测词元。标记：叉表示失败，三角表示受阻，两竖表示暂停，圆点表示无工作。</translation>
    </message>
    <message>
        <source>Prefill, decode, or a draft token (accepted or not)</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="vanished">预填充、解码，或推测词元（是否保留）</translation>
    </message>
    <message>
        <source>draft, accepted</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>推测，已保留</translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens are sampled</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>
            <numerusform>采样 {n} 个词元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} draft tokens are checked</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>
            <numerusform>检验 {n} 个推测</numerusform>
        </translation>
    </message>
    <message>
        <source>{rows} of {sequences}; {sampled}, {drafted}</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>{sequences}的 {rows}；{sampled}，{drafted}</translation>
    </message>
    <message>
        <source>Step through</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>逐步运行</translation>
    </message>
    <message>
        <source>Next batch</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>下一批次</translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Resume</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>继续</translation>
    </message>
    <message>
        <source>Step</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation>单步</translation>
    </message>
    <message>
        <source>a sequence reaches a position</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>某个序列到达某个位置</translation>
    </message>
    <message>
        <source>a token is generated</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>生成某个词元</translation>
    </message>
    <message>
        <source>an answer ends</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>某个回答结束</translation>
    </message>
    <message>
        <source>a decode fails</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>某次解码失败</translation>
    </message>
    <message>
        <source>any chat</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>任一对话</translation>
    </message>
    <message>
        <source>Type the token&apos;s text, including spaces.</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>请输入词元的写法，包括其中的空格。</translation>
    </message>
    <message numerus="yes">
        <source>The model tokenizes this as {n} tokens; choose which one to wait for.</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>
            <numerusform>模型把这段文本写成 {n} 个词元；请选择等待其中哪一个。</numerusform>
        </translation>
    </message>
    <message>
        <source>Run until</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>运行直到</translation>
    </message>
    <message>
        <source>Token</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>词元</translation>
    </message>
    <message>
        <source>Chat</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>对话</translation>
    </message>
    <message>
        <source>sequence {seq_id} reaches position {position}</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>序列 {seq_id} 到达位置 {position}</translation>
    </message>
    <message>
        <source>token {id} is generated</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>生成词元 {id}</translation>
    </message>
    <message>
        <source>token {id} is generated in {chat}</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>在{chat}中生成词元 {id}</translation>
    </message>
    <message>
        <source>an answer ends in {chat}</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>在{chat}中某个回答结束</translation>
    </message>
    <message>
        <source>Position</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>位置</translation>
    </message>
    <message>
        <source>Text of the token</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>词元的文本</translation>
    </message>
    <message>
        <source>Run, and pause after the step in which this becomes true</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation>继续运行，并在满足条件的那一步之后暂停</translation>
    </message>
    <message>
        <source>Probability after the samplers, where known</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>采样器之后的概率（已查询过的位置）</translation>
    </message>
    <message>
        <source>(next)</source>
        <extracomment>app/inspector/answer_tables.py</extracomment>
        <translation>（下一个）</translation>
    </message>
    <message>
        <source>Tokens of the answer</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>回答的词元</translation>
    </message>
    <message>
        <source>{number} tok/s</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>{number} 词元/秒</translation>
    </message>
    <message>
        <source>{number} MiB</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>{number} MiB</translation>
    </message>
    <message>
        <source>{number}%</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>{number}%</translation>
    </message>
    <message>
        <source>prefill {percent}</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>预填充 {percent}</translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>
            <numerusform>{n} 个词元</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} rows</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>
            <numerusform>{n} 行</numerusform>
        </translation>
    </message>
    <message>
        <source>{number}K</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>{number}K</translation>
    </message>
    <message>
        <source>{number}B</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>{number}B</translation>
    </message>
    <message>
        <source>{number}M</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>{number}M</translation>
    </message>
    <message>
        <source>computing</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation>正在计算</translation>
    </message>
    <message>
        <source>unread</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation>未读</translation>
    </message>
    <message>
        <source>stopped</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation>已停止</translation>
    </message>
    <message>
        <source>idle</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation>空闲</translation>
    </message>
    <message>
        <source>hibernated</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation>已休眠</translation>
    </message>
    <message>
        <source>it cannot be read: {reason}</source>
        <extracomment>app/models/catalog.py</extracomment>
        <translation>无法读取：{reason}</translation>
    </message>
    <message>
        <source>part {number} of {count} is missing</source>
        <extracomment>app/models/catalog.py</extracomment>
        <translation>缺少第 {number} 个分片（共 {count} 个）</translation>
    </message>
    <message>
        <source>{missing} of its {count} parts are missing</source>
        <extracomment>app/models/catalog.py</extracomment>
        <translation>{count} 个分片中缺少 {missing} 个</translation>
    </message>
    <message>
        <source>{file} from {hub} has the wrong SHA-256, so it was discarded. Try again later, or without the mirror if you use one.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>{hub} 作为 {file} 发来的内容与它公布的不符（SHA-256 不同），因此已丢弃。请稍后重试；如果您使用镜像站，请试试不用它。</translation>
    </message>
    <message>
        <source>it does not respond</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>没有响应</translation>
    </message>
    <message>
        <source>{file} has changed on {hub}. Search for it again.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>{file} 在 {hub} 上已被更改。请重新搜索。</translation>
    </message>
    <message>
        <source>{hub} closed the connection early. Try again later.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>{hub} 过早断开了连接。请稍后重试。</translation>
    </message>
    <message>
        <source>{file} is not a GGUF file despite its name, so it was discarded. Choose another one.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>无论名称如何，{file} 都不是 GGUF 文件，因此没有下载。请选择其他文件。</translation>
    </message>
    <message>
        <source>{hub} sent different data than announced, so it was discarded. Try again later, or without the mirror if you use one.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>{hub} 发来的内容与它公布的不同。没有以该名称保留任何内容。请稍后重试；如果您使用镜像站，请试试不用它。</translation>
    </message>
    <message>
        <source>The disk with {folder} has {free:,} MiB free, but {needed:,} MiB are needed. Free some space, or choose another folder.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>{folder} 所在的磁盘可用 {free:,} MiB，而需要 {needed:,} MiB。请腾出空间，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>Another file already exists at {path}. Move or rename it, then continue.</source>
        <extracomment>app/models/part_file.py</extracomment>
        <translation>{path} 处已有另一个文件，没有改动它。请移动或重命名它，然后继续。</translation>
    </message>
    <message>
        <source>The disk with {folder} is full. Free some space, then resume: what has arrived is kept.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>{folder} 所在的磁盘已满。请腾出空间，然后继续：已下载的内容会保留。</translation>
    </message>
    <message>
        <source>{path} cannot be written ({reason}). Check the download folder, then resume.</source>
        <extracomment>app/models/download.py</extracomment>
        <translation>{path} 无法写入（{reason}）。请检查下载文件夹，然后继续。</translation>
    </message>
    <message>
        <source>two of its tensors have the same name</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>其中有两个权重同名</translation>
    </message>
    <message>
        <source>it is truncated within its header</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>文件过早结束，还在文件头中</translation>
    </message>
    <message>
        <source>it is not a GGUF file</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它不是 GGUF 文件</translation>
    </message>
    <message>
        <source>it is big-endian, which this computer cannot use</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它是为另一种字节序（大端）的电脑制作的</translation>
    </message>
    <message>
        <source>its format, GGUF version 1, is too old. Look for a newer file of this model</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它的格式是 GGUF 版本 1，太旧了。请查找这个模型较新的文件</translation>
    </message>
    <message>
        <source>its format, GGUF version {version}, is unknown</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它的格式是 GGUF 版本 {version}，未知</translation>
    </message>
    <message>
        <source>the key {key} appears twice</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>条目 {key} 出现了两次</translation>
    </message>
    <message>
        <source>its alignment is not a power of two</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它的对齐值不是 2 的幂</translation>
    </message>
    <message>
        <source>the tensor {name} has {count} dimensions</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>权重 {name} 有 {count} 个维度</translation>
    </message>
    <message>
        <source>the tensor {name} has an unknown type ({number})</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>权重 {name} 的类型未知（{number}）</translation>
    </message>
    <message>
        <source>the tensor {name} has an impossible size</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>权重 {name} 的大小不可能成立</translation>
    </message>
    <message>
        <source>the tensor {name} lies outside the file</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>权重 {name} 的位置不合规</translation>
    </message>
    <message>
        <source>it is truncated: {there:,} of at least {needed:,} bytes</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>文件过早结束：至少应有 {needed:,} 字节，只有 {there:,} 字节</translation>
    </message>
    <message>
        <source>it is damaged: {reason}</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它已损坏：{reason}</translation>
    </message>
    <message>
        <source>it claims to have {count:,} entries</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它声称有 {count:,} 个条目</translation>
    </message>
    <message>
        <source>one of its names has {count:,} bytes</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>其中有一个名称长达 {count:,} 字节</translation>
    </message>
    <message>
        <source>one of its arrays contains arrays</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>其中有一个数组包含数组</translation>
    </message>
    <message>
        <source>its header claims to be larger than {size:,} MiB</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它的文件头声称大于 {size:,} MiB</translation>
    </message>
    <message>
        <source>one of its entries has an unknown type ({number})</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>其中有一个条目的类型未知（{number}）</translation>
    </message>
    <message>
        <source>{hub} does not answer as a model hub should. Check its address in Settings.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{hub} 有响应，但不像模型网站。请在设置中检查它的地址。</translation>
    </message>
    <message>
        <source>{hub} cannot be reached ({reason}). Check your internet connection and try again. Models on this machine still work.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>无法连接 {hub}（{reason}）。请检查网络连接，然后重试。这台电脑上的模型仍可使用。</translation>
    </message>
    <message>
        <source>{hub} rejected your token. Create a new one there and enter it here.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{hub} 不接受您的令牌。请在那里创建一个新令牌，并在此输入。</translation>
    </message>
    <message>
        <source>{hub} limits requests. Wait a few minutes and try again; with a token the limit is higher.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{hub} 表示请求过于频繁。请等几分钟再试；使用令牌可以请求更多。</translation>
    </message>
    <message>
        <source>{hub} has a problem (HTTP {status}). Try again in a few minutes.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{hub} 出了问题（HTTP {status}）。请过几分钟再试。</translation>
    </message>
    <message>
        <source>{repo} requires a token and acceptance of its terms. Accept them at {page}, then enter your token here.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{repo} 只提供给有令牌并已接受其条款的人。请在 {page} 接受条款，然后在此输入您的令牌。</translation>
    </message>
    <message>
        <source>{repo} is not at {hub}: it was renamed, removed, or is private. Search for it again.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{hub} 上没有 {repo}：它已改名、被移除或不公开。请重新搜索。</translation>
    </message>
    <message>
        <source>its name claims {count:,} parts</source>
        <extracomment>app/models/hub.py</extracomment>
        <translation>从名称看，它声称有 {count:,} 个分片</translation>
    </message>
    <message>
        <source>The draft model {name} has been switched off. {reason}</source>
        <extracomment>app/engine/batching/draft_model.py</extracomment>
        <translation>草稿模型 {name} 不再推测。{reason}</translation>
    </message>
    <message>
        <source>{draft} cannot be a draft model for {model}.</source>
        <extracomment>app/engine/llama/draft.py</extracomment>
        <translation>{draft} 无法为 {model} 推测。</translation>
    </message>
    <message>
        <source>Choose another draft model, or none, in the model&apos;s settings.</source>
        <extracomment>app/engine/llama/draft.py</extracomment>
        <translation>请在模型的设置中选择其他草稿模型，或不用草稿模型。</translation>
    </message>
    <message>
        <source>It cannot remove tokens it has computed, so it cannot reject draft tokens.</source>
        <extracomment>app/engine/llama/draft.py</extracomment>
        <translation>它无法撤回已计算的内容，因此无法更正推测。</translation>
    </message>
    <message>
        <source>Its vocabulary type or its special tokens differ.</source>
        <extracomment>app/engine/llama/draft.py</extracomment>
        <translation>它的词表类型不同，或文本的开头和结尾标记不同。</translation>
    </message>
    <message>
        <source>Its vocabulary has {theirs:,} tokens, the model&apos;s {ours:,}.</source>
        <extracomment>app/engine/llama/draft.py</extracomment>
        <translation>它有 {theirs:,} 个词元，而模型有 {ours:,} 个。</translation>
    </message>
    <message>
        <source>Token {number} is “{theirs}” in its vocabulary and “{ours}” in the model&apos;s.</source>
        <extracomment>app/engine/llama/draft.py</extracomment>
        <translation>词元 {number} 在它那里是“{theirs}”，在模型中是“{ours}”。</translation>
    </message>
    <message>
        <source>not hibernated: this chat holds no cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>未休眠：这个对话没有占用单元</translation>
    </message>
    <message>
        <source>not hibernated: this chat is answering</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>未休眠：这个对话正在回答</translation>
    </message>
    <message>
        <source>not cleared: this chat holds no cells</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>未清空：这个对话没有占用单元</translation>
    </message>
    <message>
        <source>not cleared: this chat is answering</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>未清空：这个对话正在回答</translation>
    </message>
    <message>
        <source>Draft tokens checked for the last answer</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>对上一个回答的推测中，与回答自身的词元一起检验的部分</translation>
    </message>
    <message>
        <source>lookup
accepted</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>查找
保留</translation>
    </message>
    <message>
        <source>Share of the draft tokens from the chat&apos;s own text that were accepted</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>从对话自身文本作出的推测中有多少是对的</translation>
    </message>
    <message>
        <source>model
accepted</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>模型
保留</translation>
    </message>
    <message>
        <source>Share of the draft model&apos;s tokens that were accepted</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>草稿模型的推测中有多少是对的</translation>
    </message>
    <message>
        <source>The sound is damaged, or its format is not supported. Use WAV, MP3, FLAC or Ogg.</source>
        <extracomment>app/media/reading_child.py</extracomment>
        <translation>声音已损坏，或其格式不受支持。请使用 WAV、MP3、FLAC 或 Ogg。</translation>
    </message>
    <message>
        <source>Its tokens differ.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>它的词元不同。</translation>
    </message>
    <message>
        <source>its vocabulary cannot be read</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>它的词表无法读取</translation>
    </message>
    <message>
        <source>{missing} of its {count} parts are missing on the hub</source>
        <extracomment>app/models/hub.py</extracomment>
        <translation>网站上 {count} 个分片中缺少 {missing} 个</translation>
    </message>
    <message>
        <source>{address} cannot be used as a hub. Enter an address that begins with https://, such as {example}; plain http:// is allowed only for this machine.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{address} 不能用作模型网站。请写出以 https:// 开头的地址，例如 {example}；不加密的 http:// 只能用于这台电脑。</translation>
    </message>
    <message>
        <source>{hub} redirected to {address}, which is not safe, so nothing was downloaded. If you use a mirror, check its address.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>模型网站 {hub} 想让 Skein 转到 {address}，那里不安全。没有从那里下载任何内容。如果您选择了镜像站，请检查它的地址。</translation>
    </message>
    <message>
        <source>its response does not end</source>
        <extracomment>app/models/hub.py</extracomment>
        <translation>它的响应没有结束</translation>
    </message>
    <message>
        <source>{hub} redirects endlessly. Try again later.</source>
        <extracomment>app/models/hub_session.py</extracomment>
        <translation>{hub} 让 Skein 在地址之间不停跳转。请稍后重试。</translation>
    </message>
    <message>
        <source>The certificate of {hub} is not valid ({reason}). Check this computer&apos;s date and time, and whether your network requires you to sign in first.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{hub} 无法证明自己的身份（{reason}）。请检查这台电脑的日期和时间，以及您的网络是否要求先登录（例如在酒店）。</translation>
    </message>
    <message>
        <source>{hub} limits requests. Try again in {minutes:.0f} min; with a token the limit is higher.</source>
        <extracomment>app/models/hub_address.py</extracomment>
        <translation>{hub} 表示请求过于频繁。请在 {minutes:.0f} 分钟后重试；使用令牌可以请求更多。</translation>
    </message>
    <message>
        <source>A {type} value cache needs flash attention: choose f16, or leave it on.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>只有使用 Flash Attention 时，值才能以 {type} 保存：请选择 f16，或不要关闭它。</translation>
    </message>
    <message>
        <source>{type} has blocks of {block} values, and this model&apos;s heads have {length}. Choose f16.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>{type} 每次处理 {block} 个数，而这个模型的注意力头长度为 {length}。请选择 f16。</translation>
    </message>
    <message>
        <source>It is not a LoRA adapter.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>它不是 LoRA 适配器，而是模型或其他内容。</translation>
    </message>
    <message>
        <source>It was made for {theirs} models; this one is {ours}.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>它是为 {theirs} 系列的模型制作的；这个模型属于 {ours}。</translation>
    </message>
    <message>
        <source>Has no effect without linear or YaRN scaling.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>除非选择线性或 YaRN 缩放，否则不起作用。</translation>
    </message>
    <message>
        <source>Has no effect without a factor.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>请同时选择倍数：没有倍数则不起作用。</translation>
    </message>
    <message>
        <source>Cannot exceed the batch of {rows:,} rows.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>一个批次有 {rows:,} 行，因此一次不会计算更多。</translation>
    </message>
    <message>
        <source>One chat cannot exceed {trained:,} tokens, the context the model was trained for.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>一个对话最长 {trained:,} 个词元，模型就是以此长度训练的。</translation>
    </message>
    <message>
        <source>This model cannot reject draft tokens, so none are used.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>这个模型无法撤回推测，因此不作推测。</translation>
    </message>
    <message>
        <source>Choose a number of draft tokens, too: at 0 it is not loaded.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation type="vanished">还请选择推测多少个词元：不推测就不会加载它。</translation>
    </message>
    <message>
        <source>A context of {fitting:,} tokens fits, {wanted:,} does not.</source>
        <extracomment>app/models/memory_fit.py</extracomment>
        <translation>{fitting:,} 个词元的上下文放得下，{wanted:,} 个放不下。</translation>
    </message>
    <message>
        <source>It fits if the number of GPU layers is automatic.</source>
        <extracomment>app/models/memory_fit.py</extracomment>
        <translation>如果由 Skein 决定放到设备上的层数，就放得下。</translation>
    </message>
    <message>
        <source>It fits with a q8_0 KV cache, which takes about half the memory.</source>
        <extracomment>app/models/memory_fit.py</extracomment>
        <translation>如果键和值以 q8_0 保存，占用约一半，就放得下。</translation>
    </message>
    <message>
        <source>Close other programs, or choose a smaller model or quantisation.</source>
        <extracomment>app/models/memory_fit.py</extracomment>
        <translation>请关闭其他程序，或选择较小的模型，或每权重位数较少的模型。</translation>
    </message>
    <message>
        <source>{name} with a context of {tokens:,} tokens needs {needed:.1f} GiB, but only {available:.1f} GiB are free.</source>
        <extracomment>app/models/memory_fit.py</extracomment>
        <translation>{name} 连同 {tokens:,} 个词元的上下文需要 {needed:.1f} GiB，但只有 {available:.1f} GiB 可用。</translation>
    </message>
    <message>
        <source>{name} with a context of {tokens:,} tokens needs {needed:.1f} GiB on {device}, but only {available:.1f} GiB are free there.</source>
        <extracomment>app/models/memory_fit.py</extracomment>
        <translation>{name} 连同 {tokens:,} 个词元的上下文在 {device} 上需要 {needed:.1f} GiB，但那里只有 {available:.1f} GiB 可用。</translation>
    </message>
    <message>
        <source>it is not a file</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>它不是文件</translation>
    </message>
    <message>
        <source>{name} is not a reranker. Choose one such as bge-reranker.</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>{name} 不是重排模型。请选择 bge-reranker 之类的模型。</translation>
    </message>
    <message>
        <source>{name} is not an embedding model. Choose one such as nomic-embed-text.</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>{name} 不是嵌入模型。请选择 nomic-embed-text 之类的模型。</translation>
    </message>
    <message>
        <source>it is one of {count} parts of a model, but has been renamed</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>它是模型的 {count} 个分片之一，但已不是分片的名称</translation>
    </message>
    <message>
        <source>its header claims {count} parts, its name {num_parts}</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>它声称有 {count} 个分片，而名称表明有 {num_parts} 个</translation>
    </message>
    <message>
        <source>the hub&apos;s description of it is inconsistent</source>
        <extracomment>app/models/order.py</extracomment>
        <translation>网站给出的信息不可能正确</translation>
    </message>
    <message>
        <source>{name} cannot be loaded: {reason}. Choose another one.</source>
        <extracomment>app/models/order.py</extracomment>
        <translation>{name} 无法下载：{reason}。请选择其他模型。</translation>
    </message>
    <message>
        <source>{path} is a link out of the download folder, where Skein does not write. Remove it, or choose another folder.</source>
        <extracomment>app/models/order.py</extracomment>
        <translation>{path} 指向别处。Skein 只写入下载文件夹本身：请移除这个链接，或选择其他文件夹。</translation>
    </message>
    <message>
        <source>{path} is being written by another download. Wait until it finishes, then resume.</source>
        <extracomment>app/models/part_file.py</extracomment>
        <translation>{path} 正在由另一个下载写入，可能在这里，也可能在另一个 Skein 中。请等它完成，然后继续。</translation>
    </message>
    <message>
        <source>The fastest: short questions and drafts on any computer.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>这里最快的：简短的问题和草稿，适合任何电脑。</translation>
    </message>
    <message>
        <source>Small and fluent: summaries and rewriting in English.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>小巧流畅：英文的摘要和改写。</translation>
    </message>
    <message>
        <source>Small with a long context: summaries of long English texts.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>小巧，上下文长：英文长文本的摘要。</translation>
    </message>
    <message>
        <source>Fully open, including its training data: everyday questions in English.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>从训练数据起全部开放：英文日常问题。</translation>
    </message>
    <message>
        <source>Writes and explains code, even on small computers.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>编写并讲解代码，在小电脑上也行。</translation>
    </message>
    <message>
        <source>Thinks before it answers: a good start on a laptop.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>先思考再回答：适合在笔记本电脑上起步。</translation>
    </message>
    <message>
        <source>Fully open, including its training data; six European languages, optional thinking.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>从训练数据起全部开放，支持六种欧洲语言；需要时会思考。</translation>
    </message>
    <message>
        <source>Conversation and long texts, fast for its size.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>亲切的交谈和长文本，以其大小而言很快。</translation>
    </message>
    <message>
        <source>Reasoning and textbook knowledge in English, short context.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>英文推理和学校知识，上下文较短。</translation>
    </message>
    <message>
        <source>Writes well in many languages.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>擅长用很多种语言写作：写文章的好选择。</translation>
    </message>
    <message>
        <source>The all-rounder for 8 GiB of memory: thinks, writes code, speaks many languages.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>适合 8 GiB 内存的全能模型：会思考、写代码、说多种语言。</translation>
    </message>
    <message>
        <source>More knowledge and better reasoning, for 16 GiB of memory or a graphics card.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>知识更多，推理更强，适合 16 GiB 内存或显卡。</translation>
    </message>
    <message>
        <source>Careful writing in many languages, for 16 GiB of memory or a graphics card.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>用很多种语言细致写作，适合 16 GiB 内存或显卡。</translation>
    </message>
    <message>
        <source>Strong reasoning, fast for its size, for 24 GiB of memory or more.</source>
        <extracomment>app/models/recommended.py</extracomment>
        <translation>深入思考，以其大小而言很快，适合 24 GiB 或更多内存。</translation>
    </message>
    <message>
        <source>its header is too large to inspect remotely</source>
        <extracomment>app/services/model_hub.py</extracomment>
        <translation>它的文件头太大，无法远程查看</translation>
    </message>
    <message>
        <source>the hub does not support range requests</source>
        <extracomment>app/services/model_hub.py</extracomment>
        <translation>网站不提供它的片段</translation>
    </message>
    <message>
        <source>The cache folder {folder} is not writable, so Skein uses {other}. Make it writable, then start Skein again.</source>
        <extracomment>app/program.py</extracomment>
        <translation>缓存文件夹 {folder} 不可写，因此 Skein 使用 {other}。请使其可写，然后重新启动 Skein。</translation>
    </message>
    <message>
        <source>Skein crashed last time because an open file was truncated or its disk failed, most likely the model {path}.</source>
        <extracomment>app/program.py</extracomment>
        <translation>Skein 上次意外结束：一个已打开的文件被截短，或其磁盘出现故障。最可能是模型 {path}。</translation>
    </message>
    <message>
        <source>No MCP server found in this text.</source>
        <extracomment>app/services/tools.py</extracomment>
        <translation>这段文字中没有找到 MCP 服务器。</translation>
    </message>
    <message>
        <source>Passages are not sorted by {name}.</source>
        <extracomment>app/shelves/finder.py</extracomment>
        <translation>段落未经 {name} 排序。</translation>
    </message>
    <message>
        <source>{sentence} {next}</source>
        <extracomment>app/system/said.py</extracomment>
        <translation>{sentence}{next}</translation>
    </message>
    <message>
        <source>an answer ended with an error: {reason}</source>
        <extracomment>app/selftest/bench.py</extracomment>
        <translation>一个回答以错误结束：{reason}</translation>
    </message>
    <message>
        <source>token probabilities</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>词元概率</translation>
    </message>
    <message>
        <source>recomputed answer</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>重新计算的回答</translation>
    </message>
    <message>
        <source>shelf</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>书架</translation>
    </message>
    <message>
        <source>title of {chat}</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>“{chat}”的标题</translation>
    </message>
    <message>
        <source>{chat}, answer {number}</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>{chat}，回答 {number}</translation>
    </message>
    <message>
        <source>reads ahead in sequence {seq_id}: {num_there} tokens cached, {num_missing} to compute</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>在序列 {seq_id} 中预读：已缓存 {num_there} 个词元，待计算 {num_missing} 个</translation>
    </message>
    <message>
        <source>read ahead</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>预读</translation>
    </message>
    <message>
        <source>Nothing of this chat was cached</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>此对话没有任何内容被缓存</translation>
    </message>
    <message>
        <source>All that was cached was reused</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>已缓存的内容全部复用</translation>
    </message>
    <message>
        <source>The whole prompt was cached</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>整个提示词都已缓存</translation>
    </message>
    <message>
        <source>A paused answer went on</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>暂停的回答继续进行</translation>
    </message>
    <message>
        <source>An earlier message was edited, removed or exchanged</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>较早的消息被编辑、删除或替换</translation>
    </message>
    <message>
        <source>The last answer was edited, exchanged, or sent without its reasoning</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>上一个回答被编辑、替换，或发送时没有带上推理</translation>
    </message>
    <message>
        <source>The system prompt changed</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>系统提示词已改变</translation>
    </message>
    <message>
        <source>Other tools are offered</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>提供的工具已改变</translation>
    </message>
    <message>
        <source>The template was given other options</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>给对话模板的选项已改变</translation>
    </message>
    <message>
        <source>Another prompt</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>另一个提示词</translation>
    </message>
    <message>
        <source>Cells had been given up while reading ahead</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>预读时放弃了一些单元</translation>
    </message>
    <message>
        <source>Some of what was cached could not be used</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>部分已缓存的内容无法使用</translation>
    </message>
    <message>
        <source>Its cells were freed, and its state was not saved</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>其单元已释放，状态没有保存</translation>
    </message>
    <message>
        <source>Its saved state was dropped: there was no room</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>其保存的状态因空间不足而被丢弃</translation>
    </message>
    <message>
        <source>Its cells were cleared</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>其单元已清空</translation>
    </message>
    <message>
        <source>Its saved state could not be used</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>其保存的状态无法使用</translation>
    </message>
    <message>
        <source>The prompts differ after {tokens}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>两个提示词在 {tokens}之后不同。</translation>
    </message>
    <message>
        <source>The rest was not cached.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>其余部分没有缓存。</translation>
    </message>
    <message>
        <source>Its last token is computed all the same: sampling needs its logits.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>最后一个词元仍要计算：采样需要它的 logits。</translation>
    </message>
    <message>
        <source>What was read ahead differed after {tokens}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>预读的内容在 {tokens}之后不同。</translation>
    </message>
    <message>
        <source>The first {tokens} are the same.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>前 {tokens}相同。</translation>
    </message>
    <message>
        <source>Read ahead</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>预读</translation>
    </message>
    <message>
        <source>Only what had been read ahead was cached</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>只缓存了预读的内容</translation>
    </message>
    <message>
        <source>What the next message begins with was computed before it was sent.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>下一条消息的开头在发送之前就已计算。</translation>
    </message>
    <message>
        <source>{tokens} had been read ahead.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>其中 {tokens}已预读。</translation>
    </message>
    <message>
        <source>Another chat begins the same way.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>另一个对话的开头与之相同。</translation>
    </message>
    <message>
        <source>The state of its shelf was saved.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>其书架的状态已保存。</translation>
    </message>
    <message>
        <source>Nothing of another chat was used.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>没有使用其他对话的内容。</translation>
    </message>
    <message>
        <source>It was broken off before the other {tokens}.</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>在其余 {tokens}之前中断。</translation>
    </message>
    <message>
        <source>not computed</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>未计算</translation>
    </message>
    <message>
        <source>The answer was stopped: the model went on with a call that fails.</source>
        <extracomment>app/bridge/tool_rounds.py</extracomment>
        <translation>回答已停止：模型反复进行失败的调用。</translation>
    </message>
    <message>
        <source>The heads of the model have been switched off. {reason}</source>
        <extracomment>app/engine/batching/draft_model.py</extracomment>
        <translation>模型自带的预测头不再推测。{reason}</translation>
    </message>
    <message>
        <source>Its answers are too short to be measured.</source>
        <extracomment>app/engine/children/draft_trial_child.py</extracomment>
        <translation>它的回答太短，无法测量。</translation>
    </message>
    <message>
        <source>Explain in the guide</source>
        <extracomment>app/inspector/dock_panel.py</extracomment>
        <translation>在指南中说明</translation>
    </message>
    <message>
        <source>&amp;Explain in the guide</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>在指南中说明(&amp;E)</translation>
    </message>
    <message>
        <source>{right} of the last {drafted} draft tokens were right.</source>
        <extracomment>app/inspector/draft_steps.py</extracomment>
        <translation>最近 {drafted} 个推测词元中有 {right} 个正确。</translation>
    </message>
    <message>
        <source>{right} of the last {drafted} draft tokens were right; answers came {factor} times as fast.</source>
        <extracomment>app/inspector/draft_steps.py</extracomment>
        <translation>最近 {drafted} 个推测词元中有 {right} 个正确；回答速度是原来的 {factor} 倍。</translation>
    </message>
    <message>
        <source>{place}: {right} of {checked}</source>
        <extracomment>app/inspector/draft_steps.py</extracomment>
        <translation>{place}：{checked} 中 {right}</translation>
    </message>
    <message>
        <source>By position {places}.</source>
        <extracomment>app/inspector/draft_steps.py</extracomment>
        <translation>按位置 {places}。</translation>
    </message>
    <message>
        <source>began in sequence {seq_id}: {num_there} tokens cached, {num_missing} to compute</source>
        <extracomment>app/inspector/event_words.py</extracomment>
        <translation>在序列 {seq_id} 中开始：已有 {num_there} 个词元，需计算 {num_missing} 个</translation>
    </message>
    <message>
        <source>slot taken</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>占用槽位</translation>
    </message>
    <message>
        <source>slot released</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>释放槽位</translation>
    </message>
    <message>
        <source>A chat&apos;s place in the shared context (llama.cpp&apos;s seq_id)</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>对话在共享上下文中的位置（llama.cpp 的 seq_id）</translation>
    </message>
    <message>
        <source>Colour the answer</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>为回答着色</translation>
    </message>
    <message>
        <source>Colour each token of the answer by its probability before the samplers</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation>按采样器处理前的概率为回答的每个词元着色</translation>
    </message>
    <message>
        <source>reading ahead</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>预读中</translation>
    </message>
    <message>
        <source>Free slot: the next chat that has none gets it</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>空闲槽位：下一个没有槽位的对话会得到它</translation>
    </message>
    <message>
        <source>In use: computing the prompt (prefill)</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>使用中：正在计算提示词（预填充）</translation>
    </message>
    <message>
        <source>In use: generating the answer (decode)</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>使用中：正在生成回答（解码）</translation>
    </message>
    <message>
        <source>Computing what the next message begins with, before it is sent</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>在发送之前计算下一条消息的开头</translation>
    </message>
    <message>
        <source>KV cells held by this sequence only; what was read ahead counts, too</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation>仅由此序列持有的 KV 单元，包括预读的内容</translation>
    </message>
    <message>
        <source>Skein keeps its own record of which cell holds which token. This compares it with llama.cpp&apos;s record.</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>Skein 自己记录每个单元保存哪个词元。这里把它与 llama.cpp 的记录相比较。</translation>
    </message>
    <message>
        <source>Prefill, decode, a draft token (accepted or not), or read ahead: not sent yet</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation>预填充、解码、草稿词元（接受与否），或预读：尚未发送</translation>
    </message>
    <message>
        <source>What a question added to the prompt, the template&apos;s marks included; what an answer generated</source>
        <extracomment>app/inspector/tree_table.py</extracomment>
        <translation>问题给提示词增加的词元，含模板的标记；回答生成的词元</translation>
    </message>
    <message>
        <source>Has no effect: this model has no sliding window.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>这个模型没有滑动窗口，因此不起作用。</translation>
    </message>
    <message>
        <source>With so many chats at once, rejecting draft tokens would take too much memory.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>同时进行的对话这么多，撤回推测会占用过多内存。</translation>
    </message>
    <message>
        <source>Draft tokens are off, so it is not loaded.</source>
        <extracomment>app/models/load_limits.py</extracomment>
        <translation>推测词元已关闭，因此不会加载它。</translation>
    </message>
    <message>
        <source>{url} does not have the model {name} any more.</source>
        <extracomment>app/remote/introduction.py</extracomment>
        <translation>{url} 上已没有模型 {name}。</translation>
    </message>
    <message>
        <source>{host} lists no models at /v1/models.</source>
        <extracomment>app/remote/introduction.py</extracomment>
        <translation>{host} 在 /v1/models 上没有列出任何模型。</translation>
    </message>
    <message>
        <source>Only a model that Skein runs goes on from tokens. Ask for the answer again.</source>
        <extracomment>app/remote/openai_body.py</extracomment>
        <translation>只有由 Skein 运行的模型才能从词元继续。请重新请求回答。</translation>
    </message>
    <message>
        <source>not told by this server</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>此服务器未告知</translation>
    </message>
    <message>
        <source>Not told by this server. What it tells is in the panel Server.</source>
        <extracomment>app/inspector/dock_panel.py</extracomment>
        <translation>此服务器未告知。它告知的内容在“服务器”面板中。</translation>
    </message>
    <message>
        <source>For models that a server runs. This one runs in Skein: see the other panels.</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>用于由服务器运行的模型。当前模型在 Skein 中运行：请看其他面板。</translation>
    </message>
    <message>
        <source>No model is loaded. Add a server under Model → Add an engine….</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>未加载模型。请在“模型 → 添加引擎…”中添加服务器。</translation>
    </message>
    <message>
        <source>{host} is asked once a second while this panel is open or an answer is written.</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>当此面板打开或正在生成回答时，每秒询问一次 {host}。</translation>
    </message>
    <message>
        <source>Requests running</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>运行中的请求</translation>
    </message>
    <message>
        <source>Requests waiting</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>等待中的请求</translation>
    </message>
    <message>
        <source>KV cache used</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>KV 缓存已用</translation>
    </message>
    <message>
        <source>Prefix cache hits</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>前缀缓存命中</translation>
    </message>
    <message>
        <source>Batch size</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>批次大小</translation>
    </message>
    <message>
        <source>Draft tokens accepted</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>已接受的草稿词元</translation>
    </message>
    <message>
        <source>Prompts</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Answers</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>回答</translation>
    </message>
    <message>
        <source>First token</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>首个词元</translation>
    </message>
    <message>
        <source>A server with OpenAI&apos;s API</source>
        <extracomment>app/inspector/server_panel.py</extracomment>
        <translation>带有 OpenAI API 的服务器</translation>
    </message>
    <message>
        <source>The answer ended because of an error in Skein itself.</source>
        <extracomment>app/remote/openai_engine.py</extracomment>
        <translation type="vanished">由于 Skein 自身的错误，回答已结束。</translation>
    </message>
    <message>
        <source>{host} sent something that is not an answer.</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation>{host} 发来的内容不是回答。</translation>
    </message>
    <message>
        <source>{host} broke the answer off.</source>
        <extracomment>app/remote/openai_engine.py</extracomment>
        <translation>{host} 中断了回答。</translation>
    </message>
    <message>
        <source>Not known to this server: {names}.</source>
        <extracomment>app/remote/openai_engine.py</extracomment>
        <translation>此服务器不认识：{names}。</translation>
    </message>
    <message>
        <source>The certificate of {host} is not trusted: nothing was sent.</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation>{host} 的证书不受信任：没有发送任何内容。</translation>
    </message>
    <message>
        <source>{host} cannot be reached: {reason}.</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation>无法连接 {host}：{reason}。</translation>
    </message>
    <message>
        <source>The connection to {host} broke off. Try again.</source>
        <extracomment>app/remote/skein_engine.py</extracomment>
        <translation>与 {host} 的连接已中断。请重试。</translation>
    </message>
    <message>
        <source>This engine is lent without control: it cannot be paused from here (--engine-control).</source>
        <extracomment>app/api/lending.py</extracomment>
        <translation>借出的引擎未授予控制权：无法从这里暂停它（--engine-control）。</translation>
    </message>
    <message>
        <source>The engine there speaks version {ours}, and this window version {theirs}. Update the older Skein of the two.</source>
        <extracomment>app/api/lending.py</extracomment>
        <translation>对方引擎使用协议版本 {ours}，此窗口使用版本 {theirs}。请更新两者中较旧的 Skein。</translation>
    </message>
    <message>
        <source>The engine there has {name} now. Choose it in the list of models.</source>
        <extracomment>app/api/lending.py</extracomment>
        <translation>对方引擎现在加载的是 {name}。请在模型列表中选择它。</translation>
    </message>
    <message>
        <source>Too many windows use the engine there. Try again later.</source>
        <extracomment>app/api/lending.py</extracomment>
        <translation>使用该引擎的窗口过多。请稍后再试。</translation>
    </message>
    <message>
        <source>Too many answers are open. Wait for some of them.</source>
        <extracomment>app/api/lending.py</extracomment>
        <translation>未完成的回答过多。请等待其中一些完成。</translation>
    </message>
    <message>
        <source>another caller’s</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>其他调用方的</translation>
    </message>
    <message>
        <source>connection</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation>连接</translation>
    </message>
    <message>
        <source>The engine stopped because of an error in Skein itself.</source>
        <extracomment>app/protocol/wire.py</extracomment>
        <translation>引擎因 Skein 自身的错误而停止。</translation>
    </message>
    <message>
        <source>{host} does not lend its engine (skein serve --engine).</source>
        <extracomment>app/remote/skein_engine.py</extracomment>
        <translation>{host} 没有借出它的引擎（skein serve --engine）。</translation>
    </message>
    <message>
        <source>The engine at {host} was started again, or did not wait longer.</source>
        <extracomment>app/remote/skein_engine.py</extracomment>
        <translation>{host} 上的引擎已重新启动，或不再等待。</translation>
    </message>
    <message>
        <source>The connection to {host} is broken. Answers go on there, and Skein connects again.</source>
        <extracomment>app/remote/skein_engine.py</extracomment>
        <translation>与 {host} 的连接已断开。回答在对方继续生成，Skein 正在重新连接。</translation>
    </message>
    <message>
        <source>The chat is too long to be sent to {host}.</source>
        <extracomment>app/remote/skein_engine.py</extracomment>
        <translation>对话太长，无法发送到 {host}。</translation>
    </message>
    <message>
        <source>The connection to {host} is there again.</source>
        <extracomment>app/remote/skein_engine.py</extracomment>
        <translation>与 {host} 的连接已恢复。</translation>
    </message>
    <message>
        <source>{host} refuses the key. Change it under Model → Add an engine….</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation>{host} 拒绝了密钥。请在“模型 → 添加引擎…”中更改。</translation>
    </message>
    <message>
        <source>{host} does not know this: {reason}</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation type="vanished">{host} 不认识：{reason}</translation>
    </message>
    <message>
        <source>{host} is busy: {reason} Try again later.</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation>{host} 正忙：{reason} 请稍后再试。</translation>
    </message>
    <message>
        <source>{host} failed: {reason}</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation type="vanished">{host} 出错：{reason}</translation>
    </message>
    <message>
        <source>{host} refused: {reason}</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation>{host} 拒绝了请求：{reason}</translation>
    </message>
    <message>
        <source>There must be 2 to {limit:,} choices, each with a name.</source>
        <extracomment>app/rows/answer_form.py</extracomment>
        <translation>必须有 2 到 {limit:,} 个选项，且每个都有名称。</translation>
    </message>
    <message>
        <source>There is no JSON schema.</source>
        <extracomment>app/rows/answer_form.py</extracomment>
        <translation>没有 JSON Schema。</translation>
    </message>
    <message>
        <source>The answer is none of the choices.</source>
        <extracomment>app/rows/answer_form.py</extracomment>
        <translation>回答不是任何一个选项。</translation>
    </message>
    <message>
        <source>The answer is no whole JSON.</source>
        <extracomment>app/rows/answer_form.py</extracomment>
        <translation>回答不是完整的 JSON。</translation>
    </message>
    <message>
        <source>The answer is no JSON object.</source>
        <extracomment>app/rows/answer_form.py</extracomment>
        <translation>回答不是 JSON 对象。</translation>
    </message>
    <message>
        <source>The answer is no number.</source>
        <extracomment>app/rows/answer_form.py</extracomment>
        <translation>回答不是数字。</translation>
    </message>
    <message>
        <source>“{name}” must end in {suffixes}.</source>
        <extracomment>app/rows/export.py</extracomment>
        <translation>“{name}”必须以 {suffixes} 结尾。</translation>
    </message>
    <message>
        <source>There is no folder “{name}” to write to.</source>
        <extracomment>app/rows/export.py</extracomment>
        <translation>没有可写入的文件夹“{name}”。</translation>
    </message>
    <message>
        <source>XLSX needs the extra “gui”. Choose .csv instead.</source>
        <extracomment>app/rows/export.py</extracomment>
        <translation>XLSX 需要附加组件“gui”。请改用 .csv。</translation>
    </message>
    <message>
        <source>A sheet holds {limit:,} rows. Choose a name that ends in .csv.</source>
        <extracomment>app/rows/export.py</extracomment>
        <translation>一张工作表最多容纳 {limit:,} 行。请选择以 .csv 结尾的名称。</translation>
    </message>
    <message>
        <source>At temperature 0 all answers of a row are the same. Raise it, or ask for one answer.</source>
        <extracomment>app/rows/job.py</extracomment>
        <translation>温度为 0 时，一行的所有回答都相同。请提高温度，或只要求一个回答。</translation>
    </message>
    <message>
        <source>The answer was cut off at its limit of tokens.</source>
        <extracomment>app/rows/runner.py</extracomment>
        <translation>回答达到词元上限而被截断。</translation>
    </message>
    <message>
        <source>“{name}” cannot be read: {reason}.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>无法读取“{name}”：{reason}。</translation>
    </message>
    <message>
        <source>The first row of “{name}” is too long.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>“{name}”的第一行太长。</translation>
    </message>
    <message>
        <source>“{name}” has no columns. A table&apos;s first row names them.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>“{name}”没有列。表格的第一行应给出列名。</translation>
    </message>
    <message>
        <source>“{name}” has {number:,} columns, and {limit:,} are the most. Leave some out.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>“{name}”有 {number:,} 列，最多允许 {limit:,} 列。请去掉一些。</translation>
    </message>
    <message>
        <source>This row cannot be read: {reason}.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>无法读取此行：{reason}。</translation>
    </message>
    <message>
        <source>This row has {number:,} cells, and the table {limit:,} columns.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>此行有 {number:,} 个单元格，而表格有 {limit:,} 列。</translation>
    </message>
    <message>
        <source>This line is no JSON.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>此行不是 JSON。</translation>
    </message>
    <message>
        <source>This line is no JSON object.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>此行不是 JSON 对象。</translation>
    </message>
    <message>
        <source>“{name}” is no table. Choose CSV, TSV, XLSX, JSONL, or a folder.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>“{name}”不是表格。请选择 CSV、TSV、XLSX、JSONL 或文件夹。</translation>
    </message>
    <message>
        <source>“{name}” cannot be read ({reason}).</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>无法读取“{name}”（{reason}）。</translation>
    </message>
    <message>
        <source>This row is longer than {limit:,} characters, or a quote in it has no end.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>此行超过 {limit:,} 个字符，或其中的引号没有结束。</translation>
    </message>
    <message>
        <source>The prompt names no column, so each row would be asked the same. Write {example} where its value belongs.</source>
        <extracomment>app/rows/template.py</extracomment>
        <translation type="vanished">提示词没有提到任何列，因此每一行的提问都会相同。请在值应出现的位置写上 {example}。</translation>
    </message>
    <message>
        <source>a chat can have only {limit:,} tokens, too few for this check</source>
        <extracomment>app/selftest/bench.py</extracomment>
        <translation>一个对话只能有 {limit:,} 个词元，不足以进行这项检测</translation>
    </message>
    <message>
        <source>{open} of {number} answers never finished</source>
        <extracomment>app/selftest/bench.py</extracomment>
        <translation>{number} 个回答中有 {open} 个始终没有完成</translation>
    </message>
    <message>
        <source>sequence {seq_id} still holds cells up to position {position}, though no chat is open</source>
        <extracomment>app/selftest/bench.py</extracomment>
        <translation>没有打开的对话，序列 {seq_id} 却仍持有直到位置 {position} 的单元</translation>
    </message>
    <message>
        <source>llama.cpp counts {used} used cells and Skein {booked}, though no chat is open</source>
        <extracomment>app/selftest/bench.py</extracomment>
        <translation>没有打开的对话，llama.cpp 中却有 {used} 个单元被占用，我们的记录中有 {booked} 个</translation>
    </message>
    <message>
        <source>{what}: token {number} of the answer is {found}, but {wanted} when run alone</source>
        <extracomment>app/selftest/bench.py</extracomment>
        <translation>{what}：回答的第 {number} 个词元是 {found}，而单独生成时是 {wanted}</translation>
    </message>
    <message>
        <source>{what}: the answer has {found} tokens, but {wanted} when run alone</source>
        <extracomment>app/selftest/bench.py</extracomment>
        <translation>{what}：回答有 {found} 个词元，而单独生成时有 {wanted} 个</translation>
    </message>
    <message>
        <source>the later ones took longer</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>后面的用时更长</translation>
    </message>
    <message>
        <source>each computed {tokens} tokens in {steps} steps, used {cells} cells and left none; the first five took {earlier} each, the others {later}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>每次都以 {steps} 步计算 {tokens} 个词元，使用 {cells} 个单元并全部释放；前五次各用 {earlier}，其余各用 {later}</translation>
    </message>
    <message>
        <source>the costs in (tokens computed, steps, cells) differ: {costs}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>开销（计算的词元、步数、单元）各不相同：{costs}</translation>
    </message>
    <message>
        <source>{number} at once</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{number} 个同时</translation>
    </message>
    <message>
        <source>{alike}; up to {most} answers shared one batch, and each left it when done</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{alike}；一个批次中最多有 {most} 个回答，各自完成后即离开</translation>
    </message>
    <message>
        <source>an answer of {wanted} tokens ended after {tokens} ({reason})</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{wanted} 个词元的回答在 {tokens} 个之后结束（{reason}）</translation>
    </message>
    <message>
        <source>the model is undecided from the first token on, so there is nothing to compare</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>模型从第一个词元起就难以取舍，因此无法比较</translation>
    </message>
    <message>
        <source>all {tokens} tokens equal those of a run alone</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>全部 {tokens} 个词元都与单独生成的相同</translation>
    </message>
    <message>
        <source>{alike} of {tokens} tokens equal those of a run alone, the rest follow a tie</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{tokens} 个词元中有 {alike} 个与单独生成的相同，其余的在概率相等之处以后</translation>
    </message>
    <message>
        <source>after clearing, no sequence has a position</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>清空之后，没有序列持有位置</translation>
    </message>
    <message>
        <source>a gap: {refusal}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>空缺：{refusal}</translation>
    </message>
    <message>
        <source>llama.cpp accepted a step back to position {position}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>llama.cpp 接受了退回到位置 {position}</translation>
    </message>
    <message>
        <source>a step back: {refusal}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>后退：{refusal}</translation>
    </message>
    <message>
        <source>{cleared}; {gap}; {step_back}; {next_turn}; {ids}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{cleared}；{gap}；{step_back}；{next_turn}；{ids}</translation>
    </message>
    <message>
        <source>a rejected batch has changed llama.cpp&apos;s positions</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>被拒绝的批次改变了 llama.cpp 中的位置</translation>
    </message>
    <message>
        <source>llama.cpp accepted position {position} after {last}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>llama.cpp 在 {last} 之后接受了位置 {position}</translation>
    </message>
    <message>
        <source>llama.cpp accepts one with positions of this kind, so only Skein rejects it</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>使用这类位置的 llama.cpp 会接受，因此只有 Skein 拒绝</translation>
    </message>
    <message>
        <source>a next turn</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>下一轮</translation>
    </message>
    <message>
        <source>the next turn began at {start}, after position {last}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>下一轮从 {start} 开始，而此前到位置 {last}</translation>
    </message>
    <message>
        <source>the first turn ended at {last}, the next began at {start}, and {alike}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>第一轮结束于 {last}，下一轮从 {start} 开始，并且{alike}</translation>
    </message>
    <message>
        <source>there is only one sequence, so no other ids to compare</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>只有一个序列，因此没有其他编号可以比较</translation>
    </message>
    <message>
        <source>a reused id</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>再次使用的编号</translation>
    </message>
    <message>
        <source>a fresh id</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>全新的编号</translation>
    </message>
    <message>
        <source>fresh ids took longer</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>全新的编号用时更长</translation>
    </message>
    <message>
        <source>one reused id took {old}, fresh ones {new}, with the same text on {number} ids</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>再次使用的编号用了 {old}，全新的用了 {new}，在 {number} 个编号上文本相同</translation>
    </message>
    <message>
        <source>there is not enough room for several answers at once</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>没有同时容纳几个回答的空间</translation>
    </message>
    <message>
        <source>the aborted answer was still in {number} more batches</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>中止之后，这个回答还在 {number} 个批次中</translation>
    </message>
    <message>
        <source>the aborted answer ended as {reason}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>被中止的回答以 {reason} 结束</translation>
    </message>
    <message>
        <source>{left} of its {held} cells were still held after the abort</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>中止之后，它的 {held} 个单元中仍有 {left} 个被持有</translation>
    </message>
    <message>
        <source>beside an aborted answer</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>在被中止的回答旁边</translation>
    </message>
    <message>
        <source>it was in no later batch and freed its {held} cells at once</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>它没有出现在之后的批次中，并立即归还了 {held} 个单元</translation>
    </message>
    <message>
        <source>it was in no later batch and freed its {held} cells at once; of the {number} others {alike}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>它没有出现在之后的批次中，并立即归还了 {held} 个单元；其余 {number} 个回答中{alike}</translation>
    </message>
    <message>
        <source>shared, forked or restored</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>共享、分叉或恢复</translation>
    </message>
    <message>
        <source>the fork shares all cells</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>分叉共享所有单元</translation>
    </message>
    <message>
        <source>the fork was computed or copied</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>分叉是计算或复制得到的</translation>
    </message>
    <message>
        <source>only {shared} of the {common} tokens of a common prefix are shared</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>两个对话开头的 {common} 个词元中只共享了 {shared} 个</translation>
    </message>
    <message>
        <source>{shared} of {common} common tokens shared</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{common} 个共同词元中共享了 {shared} 个</translation>
    </message>
    <message>
        <source>{number} cells are still held after the chat was hibernated</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>对话休眠之后仍持有 {number} 个单元</translation>
    </message>
    <message>
        <source>the saved state was too large to keep</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>已保存的状态太大，无法保留</translation>
    </message>
    <message>
        <source>a hibernated chat was recomputed ({reason})</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>已休眠的对话被重新计算（{reason}）</translation>
    </message>
    <message>
        <source>{number} hibernated tokens restored</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>恢复了 {number} 个休眠的词元</translation>
    </message>
    <message>
        <source>one sequence reached only {tokens:,} of {limit:,} tokens</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>一个序列只达到 {tokens:,} 个词元，上限为 {limit:,}</translation>
    </message>
    <message>
        <source>every cell was free; then one sequence took {tokens:,} of {limit:,} tokens in {cells:,} cells, and every cell was free again</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>所有单元都是空闲的；随后一个序列以 {cells:,} 个单元占用了 {limit:,} 个词元中的 {tokens:,} 个，之后所有单元再次空闲</translation>
    </message>
    <message>
        <source>every cell was free; then one sequence took {tokens:,} of {limit:,} tokens in {cells:,} cells, as much as one chat may have of {total:,}, and every cell was free again</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>所有单元都是空闲的；随后一个序列以 {cells:,} 个单元占用了 {limit:,} 个词元中的 {tokens:,} 个，这是一个对话在 {total:,} 个中最多可以有的，之后所有单元再次空闲</translation>
    </message>
    <message>
        <source>native objects were {before}, and are {now} now</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>原生对象原为 {before}，现在为 {now}</translation>
    </message>
    <message>
        <source>memory grew in each of {rounds} rounds, by {growth:,} KiB or more</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>内存在 {rounds} 轮中每轮都增长，至少 {growth:,} KiB</translation>
    </message>
    <message>
        <source>native objects are {objects} as before; memory went from {before:,} to {after:,} MiB in {rounds} rounds</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>原生对象仍为 {objects}；内存在 {rounds} 轮中从 {before:,} 变为 {after:,} MiB</translation>
    </message>
    <message>
        <source>{what}: {former}, then {latter}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{what}：{former}，然后 {latter}</translation>
    </message>
    <message>
        <source>{number:.0f} ms</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{number:.0f} 毫秒</translation>
    </message>
    <message>
        <source>asked the same question {number} times, each in a new chat that was closed afterwards</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>同样的问题问了 {number} 次，每次都在独立的对话中，问完即关闭</translation>
    </message>
    <message>
        <source>asked five questions one at a time, then 1, 2, 3 and 5 at once</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>五个问题各单独问一次，然后 1、2、3 和 5 个同时问</translation>
    </message>
    <message>
        <source>cleared, tried a gap and a step back in positions, asked a next turn, used old and fresh ids</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>清空，给 llama.cpp 一个空缺和一次后退，提出下一轮，使用旧的和新的编号</translation>
    </message>
    <message>
        <source>aborted one of three running answers</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>中止正在生成的三个回答之一</translation>
    </message>
    <message>
        <source>checked every cell, then sent a prompt that fills the context except for a short answer</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>查看每个单元，然后用几乎占满上下文的提示词提问，只留出简短回答的空间</translation>
    </message>
    <message>
        <source>counted both before and after {rounds} rounds of {requests} requests</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>在 {rounds} 轮、每轮 {requests} 个请求前后清点两者</translation>
    </message>
    <message>
        <source>Ten requests in a row cost the same</source>
        <extracomment>app/selftest/report.py</extracomment>
        <translation>连续十个请求的开销相同</translation>
    </message>
    <message>
        <source>Answers computed together equal answers computed alone</source>
        <extracomment>app/selftest/report.py</extracomment>
        <translation>同时生成的回答与单独生成的相同</translation>
    </message>
    <message>
        <source>Positions start, continue and are rejected correctly</source>
        <extracomment>app/selftest/report.py</extracomment>
        <translation>位置的开始、延续和拒绝都如预期</translation>
    </message>
    <message>
        <source>An aborted answer leaves before the next batch</source>
        <extracomment>app/selftest/report.py</extracomment>
        <translation>中止的回答不再出现在下一批次中</translation>
    </message>
    <message>
        <source>Shared, forked, hibernated and restored cells give the same text</source>
        <extracomment>app/selftest/report.py</extracomment>
        <translation>共享、分叉、休眠和恢复的单元给出相同的文本</translation>
    </message>
    <message>
        <source>Afterwards every cell is free, and one chat can use them all</source>
        <extracomment>app/selftest/report.py</extracomment>
        <translation>之后所有单元都空闲，且一个对话可以全部占用</translation>
    </message>
    <message>
        <source>Native objects and memory do not grow</source>
        <extracomment>app/selftest/report.py</extracomment>
        <translation>原生对象和内存与之前相同</translation>
    </message>
    <message>
        <source>Loading the model</source>
        <extracomment>app/selftest/run.py</extracomment>
        <translation>正在加载模型</translation>
    </message>
    <message>
        <source>{url} is not in your list of engines. Add it again under Model.</source>
        <extracomment>app/services/servers.py</extracomment>
        <translation type="vanished">{url} 不在您的引擎列表中。请在“模型”菜单中重新添加。</translation>
    </message>
    <message>
        <source>Enter an address such as https://host:8000.</source>
        <extracomment>app/services/servers.py</extracomment>
        <translation>请输入地址，例如 https://host:8000。</translation>
    </message>
    <message>
        <source>Backup failed: the disk with {folder} is full. Free some space.</source>
        <extracomment>app/storage/backups.py</extracomment>
        <translation>无法备份：{folder} 所在的磁盘已满。请释放一些空间。</translation>
    </message>
    <message>
        <source>Backup to {folder} failed: {reason}. Your chats are unaffected.</source>
        <extracomment>app/storage/backups.py</extracomment>
        <translation>无法在 {folder} 中备份：{reason}。您的对话保持原样。</translation>
    </message>
    <message>
        <source>This message was damaged on disk.</source>
        <extracomment>app/storage/chat_rows.py</extracomment>
        <translation>这条消息的文本在磁盘上已损坏。</translation>
    </message>
    <message>
        <source>What you write now will be lost when Skein quits.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>您现在写的内容会在 Skein 结束时丢失。</translation>
    </message>
    <message>
        <source>Chats are not being saved: the database is damaged. Restart Skein to repair it.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>对话没有保存：数据库已损坏。请重新启动 Skein：届时会修复。</translation>
    </message>
    <message>
        <source>Skein quit while this was being written.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>写到这里时 Skein 结束了。</translation>
    </message>
    <message>
        <source>There is no backup: the chats of this session are not kept on disk.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>没有备份：本次运行的对话没有保存在磁盘上。</translation>
    </message>
    <message>
        <source>The chats could not be read: {reason}. They stay on disk.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>无法读取对话：{reason}。它们仍在磁盘上。</translation>
    </message>
    <message>
        <source>Chats are not being saved: {path} has been replaced by another file. Restart Skein.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>对话没有保存：另一个文件占据了 {path} 的位置。请重新启动 Skein。</translation>
    </message>
    <message>
        <source>Chats are not being saved: the disk with {folder} is full. Free some space.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>对话没有保存：{folder} 所在的磁盘已满。请释放一些空间。</translation>
    </message>
    <message>
        <source>Chats are not being saved: {reason} ({path}). Check that the folder is writable.</source>
        <extracomment>app/storage/chat_store.py</extracomment>
        <translation>对话没有保存：{reason}（{path}）。请检查该文件夹是否可写。</translation>
    </message>
    <message>
        <source>{path} is damaged and could not be moved aside: {reason}.</source>
        <extracomment>app/storage/database.py</extracomment>
        <translation>{path} 已损坏且无法移开：{reason}。</translation>
    </message>
    <message>
        <source>These chats were saved by a newer version of Skein. Update Skein to open them.</source>
        <extracomment>app/storage/database.py</extracomment>
        <translation>这些对话由更新版本的 Skein 保存，这个版本无法打开。请更新 Skein 以查看它们。</translation>
    </message>
    <message>
        <source>Chats cannot be saved: the disk with {folder} is full. Free some space, then restart Skein.</source>
        <extracomment>app/storage/database.py</extracomment>
        <translation>无法保存对话：{folder} 所在的磁盘已满。请释放一些空间，然后重新启动。</translation>
    </message>
    <message>
        <source>Another program is using {path}. Close it, then restart Skein.</source>
        <extracomment>app/storage/database.py</extracomment>
        <translation>另一个程序正在使用 {path}。请结束它，然后重新启动 Skein。</translation>
    </message>
    <message>
        <source>Chats cannot be saved in {path}: {reason}. Check the disk, then restart Skein.</source>
        <extracomment>app/storage/database.py</extracomment>
        <translation>无法在 {path} 中保存对话：{reason}。请检查磁盘，然后重新启动。</translation>
    </message>
    <message>
        <source>Chats cannot be saved in {path}: {reason}. Make the folder writable, then restart Skein.</source>
        <extracomment>app/storage/database.py</extracomment>
        <translation>无法在 {path} 中保存对话：{reason}。请让该文件夹可写，然后重新启动。</translation>
    </message>
    <message>
        <source>The chat database is damaged and could not be repaired: {reason}. It remains at {path}.</source>
        <extracomment>app/storage/repair.py</extracomment>
        <translation>对话数据库已损坏且无法修复：{reason}。它仍保留为 {path}。</translation>
    </message>
    <message>
        <source>The chat database was damaged; it is kept as {path}.</source>
        <extracomment>app/storage/repair.py</extracomment>
        <translation>对话数据库已损坏；它保留为 {path}。</translation>
    </message>
    <message>
        <source>Nothing could be recovered and there is no backup, so a new one was created.</source>
        <extracomment>app/storage/repair.py</extracomment>
        <translation>其中没有可读的内容，也没有备份：已新建一个数据库。</translation>
    </message>
    <message>
        <source>{number} of them are damaged and marked.</source>
        <extracomment>app/storage/repair.py</extracomment>
        <translation>其中 {number} 条已损坏并已标记。</translation>
    </message>
    <message>
        <source>There is no backup; {turns} messages in {chats} chats were recovered.</source>
        <extracomment>app/storage/repair.py</extracomment>
        <translation>没有备份；从中读出了 {chats} 个对话里的 {turns} 条消息。</translation>
    </message>
    <message>
        <source>It was replaced by the backup of {date}. Nothing newer could be recovered.</source>
        <extracomment>app/storage/repair.py</extracomment>
        <translation>已改用 {date} 的备份。没有读出比它更新的内容。</translation>
    </message>
    <message>
        <source>It was replaced by the backup of {date}, plus {turns} recovered messages.</source>
        <extracomment>app/storage/repair.py</extracomment>
        <translation>已改用 {date} 的备份，并补上了还能读出的 {turns} 条消息。</translation>
    </message>
    <message>
        <source>Recovered chat</source>
        <extracomment>app/storage/chat_rows.py</extracomment>
        <translation>恢复的对话</translation>
    </message>
    <message>
        <source>Diagnostics</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>诊断信息</translation>
    </message>
    <message>
        <source>Licences</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>许可</translation>
    </message>
    <message>
        <source>Copy diagnostics</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>复制诊断信息</translation>
    </message>
    <message>
        <source>A server that is already running, here or on the network.</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>已在本机或网络上运行的服务器。</translation>
    </message>
    <message>
        <source>Programs and services that provide tools. Each chat chooses which it uses.</source>
        <extracomment>app/ui/settings/tools_page.py</extracomment>
        <translation>提供工具的程序和服务。每个对话自行选择使用哪些。</translation>
    </message>
    <message>
        <source>It can make changes.</source>
        <extracomment>app/ui/settings/tools_panel.py</extracomment>
        <translation>它可能做出更改。</translation>
    </message>
    <message>
        <source>Nothing of this chat was cached.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">这个对话此前没有任何内容在内存中。</translation>
    </message>
    <message>
        <source>Everything cached was reused; the rest is new.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">内存中的内容全部可用；其余是新的。</translation>
    </message>
    <message>
        <source>An earlier message changed, so everything after it was recomputed.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">较早的消息已改变，因此其后的内容全部重新计算。</translation>
    </message>
    <message>
        <source>The chat template now renders earlier turns differently.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">模型的对话模板现在以不同的方式写出较早的轮次。</translation>
    </message>
    <message>
        <source>Turns were left out to fit the context, so what follows them was recomputed.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">为了放进上下文省略了一些轮次，因此其后的内容重新计算。</translation>
    </message>
    <message>
        <source>This model cannot remove the end of what it has computed.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">这个模型无法撤回已读内容的末尾。</translation>
    </message>
    <message>
        <source>Other chats needed the memory, and its content was not saved.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">内存被其他对话需要，其内容没有保留。</translation>
    </message>
    <message>
        <source>The saved state failed its checks, so it was recomputed.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">已保存的内容没有通过检查，因此重新计算。</translation>
    </message>
    <message>
        <source>It ended with an end-of-generation token or a stop string.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>因结束词元或停止字符串而结束。</translation>
    </message>
    <message>
        <source>It failed.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>回答失败。</translation>
    </message>
    <message>
        <source>reused {share}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>复用 {share}</translation>
    </message>
    <message>
        <source>Prompt</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>提示词</translation>
    </message>
    <message>
        <source>cached by this chat</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>来自这个对话的槽位</translation>
    </message>
    <message>
        <source>with other chats</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>与其他对话共享</translation>
    </message>
    <message>
        <source>from its saved state</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">来自已保存的状态</translation>
    </message>
    <message>
        <source>new</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">新内容</translation>
    </message>
    <message>
        <source>Answer</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>回答</translation>
    </message>
    <message>
        <source>Again</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>再次</translation>
    </message>
    <message>
        <source>recomputed after a pause</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">暂停之后第二次计算</translation>
    </message>
    <message>
        <source>First token after {time}.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>{time}后得到首个词元。</translation>
    </message>
    <message>
        <source>First token after {time}, including {waited} of waiting.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>{time}后得到首个词元，其中等待 {waited}。</translation>
    </message>
    <message>
        <source>Total time {time}.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation type="vanished">总共用了 {time}。</translation>
    </message>
    <message>
        <source>This answer has already finished.</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>回答已完成。</translation>
    </message>
    <message>
        <source>all chats are paused</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>所有对话都已暂停</translation>
    </message>
    <message>
        <source>{state}. {notice}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>{state}。{notice}</translation>
    </message>
    <message>
        <source>{state}: {notice}</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>{state}：{notice}</translation>
    </message>
    <message>
        <source>&amp;Local API</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>本地 API(&amp;L)</translation>
    </message>
    <message>
        <source>Let other programs on this computer use the model</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>让这台电脑上的其他程序使用模型</translation>
    </message>
    <message>
        <source>Copy API &amp;address</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>复制 API 地址(&amp;A)</translation>
    </message>
    <message>
        <source>The base URL for other programs</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>其他程序称之为 base URL</translation>
    </message>
    <message>
        <source>The local API is off.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>本地 API 已关闭。</translation>
    </message>
    <message>
        <source>Copy API &amp;key</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>复制 API 密钥(&amp;K)</translation>
    </message>
    <message>
        <source>The key other programs must send</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>其他程序必须发送的密钥</translation>
    </message>
    <message>
        <source>The key is created when the local API is first turned on.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>密钥在首次开启本地 API 时生成。</translation>
    </message>
    <message>
        <source>API off</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>API 已关闭</translation>
    </message>
    <message>
        <source>API on {address}</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>API 已开启 {address}</translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Only this window uses the model.</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>只有这个窗口使用模型。</translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>开启</translation>
    </message>
    <message>
        <source>Programs on this computer that have the key can use it, too.</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>这台电脑上持有密钥的程序也可以使用。</translation>
    </message>
    <message>
        <source>Created when the API is first turned on</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>首次开启 API 时生成</translation>
    </message>
    <message>
        <source>Local API</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>本地 API</translation>
    </message>
    <message>
        <source>Port</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>端口</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>复制密钥</translation>
    </message>
    <message>
        <source>Copy the command</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>New key</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>新密钥</translation>
    </message>
    <message>
        <source>Programs with the old key lose access</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>持有旧密钥的程序将无法访问</translation>
    </message>
    <message>
        <source>File content</source>
        <extracomment>app/ui/base/attachment_preview.py</extracomment>
        <translation>文件的文本</translation>
    </message>
    <message>
        <source>Created</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>创建时间</translation>
    </message>
    <message>
        <source>Reason</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>原因</translation>
    </message>
    <message>
        <source>Size</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>大小</translation>
    </message>
    <message>
        <source>Automatic</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>自动</translation>
    </message>
    <message>
        <source>Manual</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>手动</translation>
    </message>
    <message>
        <source>Before a database upgrade</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>升级数据库之前</translation>
    </message>
    <message>
        <source>Before an import</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>导入之前</translation>
    </message>
    <message>
        <source>Before a restore</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>恢复备份之前</translation>
    </message>
    <message>
        <source>No backups yet. The first is made once there are chats to back up.</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>还没有备份。一旦有内容可以保存就会生成第一个。</translation>
    </message>
    <message>
        <source>All chats return to this state, and Skein restarts. The current state is backed up first.</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>所有对话都会恢复到当时的样子，Skein 会重新启动。现在的状态会另存为一个备份。</translation>
    </message>
    <message>
        <source>&amp;Back up now</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>立即备份(&amp;B)</translation>
    </message>
    <message>
        <source>Open &amp;folder</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>打开文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Restore…</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>恢复(&amp;R)…</translation>
    </message>
    <message>
        <source>Backups</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>备份</translation>
    </message>
    <message>
        <source>Restoring…</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>正在恢复…</translation>
    </message>
    <message>
        <source>Restore and restart</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>恢复并重新启动</translation>
    </message>
    <message>
        <source>&amp;Backups…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>备份(&amp;B)…</translation>
    </message>
    <message>
        <source>Back up all chats, or restore a backup</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>备份所有对话，或恢复备份</translation>
    </message>
    <message>
        <source>Backup created at {time}.</source>
        <extracomment>app/ui/data/backups.py</extracomment>
        <translation>已于 {time} 生成备份。</translation>
    </message>
    <message>
        <source>Presets (*.json)</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>预设 (*.json)</translation>
    </message>
    <message>
        <source>Deleted the preset “{name}”.</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>已删除预设“{name}”。</translation>
    </message>
    <message>
        <source>Import a preset</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>导入预设</translation>
    </message>
    <message>
        <source>Export a preset</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>导出预设</translation>
    </message>
    <message>
        <source>Instructions for the model, before the first message.</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>给模型的指示，位于第一条消息之前。</translation>
    </message>
    <message>
        <source>Tokens for its messages and the next answer.</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>其中的消息与下一个回答合计的词元数。</translation>
    </message>
    <message>
        <source>System prompt, sampling and context of this chat (Ctrl+Shift+L)</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>这个对话的系统提示词、采样和上下文 (Ctrl+Shift+L)</translation>
    </message>
    <message>
        <source>Chat settings: {label}</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>对话设置：{label}</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>对话设置</translation>
    </message>
    <message>
        <source>When this chat is full</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>这个对话已满时</translation>
    </message>
    <message>
        <source>Context limit of this chat</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>这个对话的最大长度</translation>
    </message>
    <message>
        <source>Now {count} tokens.</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>目前为 {count} 个词元。</translation>
    </message>
    <message>
        <source>Default</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>默认</translation>
    </message>
    <message>
        <source>More</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>更多</translation>
    </message>
    <message>
        <source>Changes apply from the next message on.</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>更改从下一条消息起生效。</translation>
    </message>
    <message>
        <source>Wrap long lines</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>长行换行</translation>
    </message>
    <message>
        <source>Save to a file</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>保存到文件</translation>
    </message>
    <message>
        <source>Copy code</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>复制代码</translation>
    </message>
    <message>
        <source>Copy without them</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>复制时去掉它们</translation>
    </message>
    <message>
        <source>Code, {language}</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>代码，{language}</translation>
    </message>
    <message>
        <source>Save code</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>保存代码</translation>
    </message>
    <message>
        <source>Code</source>
        <extracomment>app/ui/message/code_text.py</extracomment>
        <translation>代码</translation>
    </message>
    <message>
        <source>Open data folder</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>打开数据文件夹</translation>
    </message>
    <message>
        <source>Open log folder</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>打开日志文件夹</translation>
    </message>
    <message numerus="yes">
        <source>{n} of these have a different number of messages here.</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>
            <numerusform>其中 {n} 个对话在这里的消息数不同。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} pictures and other files without text are left out.</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>
            <numerusform>省略 {n} 个图片和其他文件，因为它们不是文本。</numerusform>
        </translation>
    </message>
    <message>
        <source>Lan&amp;guage</source>
        <extracomment>app/ui/settings/appearance.py</extracomment>
        <translation>语言(&amp;G)</translation>
    </message>
    <message>
        <source>The link&apos;s text shows a different address from the one it opens.</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>链接的文字所写的地方与它指向的地方不同。</translation>
    </message>
    <message>
        <source>The address has letters that look like others. In plain ASCII it is:</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>地址中有看起来像其他字母的字母。完整写出为：</translation>
    </message>
    <message>
        <source>What comes before the @ is only a user name: the host comes after it.</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>@ 之前的只是名称：真正的地方从它之后开始。</translation>
    </message>
    <message>
        <source>The link contains hidden characters.</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>链接中有隐藏字符。</translation>
    </message>
    <message>
        <source>Open this link?</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>打开这个链接？</translation>
    </message>
    <message>
        <source>This link may be deceptive</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>这个链接可能与看上去不同</translation>
    </message>
    <message>
        <source>Copy address</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>复制地址</translation>
    </message>
    <message>
        <source>Address: {address}</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>地址：{address}</translation>
    </message>
    <message>
        <source>There is no message before this answer to respond to.</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>这条回答之前没有模型可以回答的内容。</translation>
    </message>
    <message numerus="yes">
        <source>Closed {n} chats.</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>
            <numerusform>已关闭 {n} 个对话。</numerusform>
        </translation>
    </message>
    <message>
        <source>All chats are saved again.</source>
        <extracomment>app/ui/window_presenter.py</extracomment>
        <translation>所有对话又已保存。</translation>
    </message>
    <message>
        <source>&amp;Settings…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>设置(&amp;S)…</translation>
    </message>
    <message>
        <source>Select a sequence in the inspector first.</source>
        <extracomment>app/ui/commands/menus.py</extracomment>
        <translation>请在检查器中选择可以进行此操作的序列。</translation>
    </message>
    <message>
        <source>Selected &amp;sequence</source>
        <extracomment>app/ui/commands/menus.py</extracomment>
        <translation>所选序列(&amp;S)</translation>
    </message>
    <message>
        <source>Text si&amp;ze</source>
        <extracomment>app/ui/commands/menus.py</extracomment>
        <translation>文字大小(&amp;Z)</translation>
    </message>
    <message>
        <source>Re&amp;load model</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>重新加载模型(&amp;L)</translation>
    </message>
    <message>
        <source>Spee&amp;d</source>
        <extracomment>app/ui/commands/menus.py</extracomment>
        <translation>速度(&amp;D)</translation>
    </message>
    <message>
        <source>No model is loaded, or all chats are already paused.</source>
        <extracomment>app/ui/commands/menus.py</extracomment>
        <translation>没有加载模型，或所有对话都已暂停。</translation>
    </message>
    <message>
        <source>Pause all chats first.</source>
        <extracomment>app/ui/commands/menus.py</extracomment>
        <translation>请先暂停所有对话。</translation>
    </message>
    <message>
        <source>Threads and scheduling</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>线程和调度</translation>
    </message>
    <message>
        <source>Conte&amp;xt settings…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>上下文设置(&amp;X)…</translation>
    </message>
    <message>
        <source>Context size, slots, and the limit per chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>上下文大小、槽位和每个对话的上限</translation>
    </message>
    <message>
        <source>Version, diagnostics and licences</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>版本、诊断信息和许可</translation>
    </message>
    <message>
        <source>L&amp;og…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>日志(&amp;O)…</translation>
    </message>
    <message>
        <source>Show what Skein has logged since it started</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示 Skein 启动以来的日志</translation>
    </message>
    <message>
        <source>Answer the last message, if it has no answer</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>为尚无回答的最后一条消息生成回答</translation>
    </message>
    <message>
        <source>Add as mode&amp;l&apos;s answer</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>作为模型的回答添加(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;List of chats</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>对话列表(&amp;L)</translation>
    </message>
    <message>
        <source>Show or hide the list of chats</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示或隐藏对话列表</translation>
    </message>
    <message>
        <source>&amp;Search all chats…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>搜索所有对话(&amp;S)…</translation>
    </message>
    <message>
        <source>Find a chat by its title or any message</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>按标题或消息查找对话</translation>
    </message>
    <message>
        <source>&amp;Filter list of chats</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>筛选对话列表(&amp;F)</translation>
    </message>
    <message>
        <source>Filter the list of chats by title</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>按标题筛选对话列表</translation>
    </message>
    <message>
        <source>New f&amp;older</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>新建文件夹(&amp;O)</translation>
    </message>
    <message>
        <source>Create a folder in the list of chats</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在对话列表中新建文件夹</translation>
    </message>
    <message>
        <source>&amp;Delete chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>删除对话(&amp;D)</translation>
    </message>
    <message>
        <source>Deleted “{title}”.</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>已删除“{title}”。</translation>
    </message>
    <message numerus="yes">
        <source>Deleted {n} chats.</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>
            <numerusform>已删除 {n} 个对话。</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted the folder “{name}”. Its chats are kept.</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>已删除文件夹“{name}”。其中的对话都已保留。</translation>
    </message>
    <message>
        <source>No preset</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>无预设</translation>
    </message>
    <message>
        <source>{preset} (changed)</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>{preset}（已修改）</translation>
    </message>
    <message>
        <source>Preset: {name}</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>预设：{name}</translation>
    </message>
    <message>
        <source>Save as a new preset…</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>另存为新预设…</translation>
    </message>
    <message>
        <source>Import a preset…</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>导入预设…</translation>
    </message>
    <message>
        <source>Update “{preset}”</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>更新“{preset}”</translation>
    </message>
    <message>
        <source>Rename…</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>重命名…</translation>
    </message>
    <message>
        <source>Delete</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>删除</translation>
    </message>
    <message>
        <source>Use for new chats</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>新对话使用它</translation>
    </message>
    <message>
        <source>New preset name</source>
        <extracomment>app/ui/settings/preset_bar.py</extracomment>
        <translation>新预设的名称</translation>
    </message>
    <message>
        <source>Name</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>名称</translation>
    </message>
    <message>
        <source>Save</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>保存</translation>
    </message>
    <message>
        <source>Not used: not a JSON object.</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>未采用：这不是 JSON 对象。</translation>
    </message>
    <message>
        <source>Same as in Settings.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>按照设置。</translation>
    </message>
    <message>
        <source>Recommended for {model}.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>{model} 的推荐值。</translation>
    </message>
    <message>
        <source>llama.cpp&apos;s default.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>llama.cpp 的默认值。</translation>
    </message>
    <message>
        <source>This chat only; {value} in Settings.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>仅在这个对话中；设置中为 {value}。</translation>
    </message>
    <message>
        <source>This chat only; {value} is recommended for {model}.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>仅在这个对话中；{model} 的推荐值为 {value}。</translation>
    </message>
    <message>
        <source>This chat only; llama.cpp&apos;s default is {value}.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>仅在这个对话中；llama.cpp 的默认值为 {value}。</translation>
    </message>
    <message>
        <source>Search chats</source>
        <extracomment>app/ui/chats/search_popup.py</extracomment>
        <translation>搜索对话</translation>
    </message>
    <message>
        <source>Search titles and messages</source>
        <extracomment>app/ui/chats/search_popup.py</extracomment>
        <translation>搜索标题和消息</translation>
    </message>
    <message>
        <source>Found chats</source>
        <extracomment>app/ui/chats/search_popup.py</extracomment>
        <translation>找到的对话</translation>
    </message>
    <message>
        <source>Enter opens, Ctrl+Enter opens in split view, Esc closes.</source>
        <extracomment>app/ui/chats/search_popup.py</extracomment>
        <translation>Enter 打开，Ctrl+Enter 在旁边打开，Esc 关闭。</translation>
    </message>
    <message>
        <source>Searching all messages…</source>
        <extracomment>app/ui/chats/search_popup.py</extracomment>
        <translation>正在搜索所有消息…</translation>
    </message>
    <message>
        <source>No title or message contains these words.</source>
        <extracomment>app/ui/chats/search_popup.py</extracomment>
        <translation>没有标题或消息包含这些词。</translation>
    </message>
    <message>
        <source>Messages</source>
        <extracomment>app/ui/chats/search_rows.py</extracomment>
        <translation>消息</translation>
    </message>
    <message>
        <source>Open chats</source>
        <extracomment>app/ui/chats/search_rows.py</extracomment>
        <translation>打开的对话</translation>
    </message>
    <message>
        <source>Other chats</source>
        <extracomment>app/ui/chats/search_rows.py</extracomment>
        <translation>其他对话</translation>
    </message>
    <message>
        <source>{number} {outcome}</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>{number} 项{outcome}</translation>
    </message>
    <message>
        <source>Fading menus and blinking cursors.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>菜单淡入和光标闪烁。</translation>
    </message>
    <message>
        <source>Let the model name chats</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>由模型命名</translation>
    </message>
    <message>
        <source>After the first answer, when idle, the model gives a new chat its title.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>模型在第一个回答之后、没有其他工作时为新对话命名。</translation>
    </message>
    <message>
        <source>Shift+Enter always inserts a new line. Up in an empty composer edits your last message.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Shift+Enter 总是换行；在空消息中按向上键编辑上一条消息。</translation>
    </message>
    <message>
        <source>MMMM yyyy</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>yyyy年M月</translation>
    </message>
    <message>
        <source>Switch to the other side of the split view, or open one</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>切换到拆分视图的另一侧，或打开拆分视图</translation>
    </message>
    <message>
        <source>Expanded</source>
        <extracomment>app/ui/message/folded_section.py</extracomment>
        <translation>已展开</translation>
    </message>
    <message>
        <source>Collapsed</source>
        <extracomment>app/ui/message/folded_section.py</extracomment>
        <translation>已折叠</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <extracomment>app/ui/message/answer_body.py</extracomment>
        <translation>正在思考…</translation>
    </message>
    <message>
        <source>Thought for {time}</source>
        <extracomment>app/ui/message/answer_body.py</extracomment>
        <translation>思考了 {time}</translation>
    </message>
    <message>
        <source>Thought</source>
        <extracomment>app/ui/message/answer_body.py</extracomment>
        <translation>已思考</translation>
    </message>
    <message>
        <source>&amp;Answer this message</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>回答这条消息(&amp;A)</translation>
    </message>
    <message>
        <source>Some changes could not be saved and will be lost if Skein quits now.</source>
        <extracomment>app/ui/refusal_dialog.py</extracomment>
        <translation>已写的部分内容无法保存，现在结束 Skein 就会丢失。</translation>
    </message>
    <message>
        <source>Quit anyway</source>
        <extracomment>app/ui/refusal_dialog.py</extracomment>
        <translation>仍然结束</translation>
    </message>
    <message>
        <source>Keep open</source>
        <extracomment>app/ui/refusal_dialog.py</extracomment>
        <translation>保持打开</translation>
    </message>
    <message>
        <source>The folder {folder} cannot be used: {reason}.</source>
        <extracomment>app/services/cell_keeping.py</extracomment>
        <translation>无法使用文件夹 {folder}：{reason}。</translation>
    </message>
    <message>
        <source>Skein crashed at its last {number} starts, so it has not opened a model or your tabs. Your chats are safe.</source>
        <extracomment>app/program.py</extracomment>
        <translation>Skein 最近 {number} 次启动都意外结束，因此没有打开模型，也没有打开您的标签页。您的对话是安全的。</translation>
    </message>
    <message>
        <source>Open them now</source>
        <extracomment>app/program.py</extracomment>
        <translation>立即打开</translation>
    </message>
    <message>
        <source>Skein ended unexpectedly last time. A report says what it was doing.</source>
        <extracomment>app/program.py</extracomment>
        <translation>Skein 上次意外结束。当时的情况记录在报告中。</translation>
    </message>
    <message>
        <source>Show report</source>
        <extracomment>app/program.py</extracomment>
        <translation>显示报告</translation>
    </message>
    <message>
        <source>Skein ran into an internal error. Your chats are saved; restarting Skein is recommended.</source>
        <extracomment>app/program.py</extracomment>
        <translation>Skein 自身出了问题。您的对话都已保存；最好重新启动。</translation>
    </message>
    <message>
        <source>See the log in {folder} for details.</source>
        <extracomment>app/program.py</extracomment>
        <translation>{folder} 中的日志有更多信息。</translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Server</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Address</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>地址</translation>
    </message>
    <message>
        <source>Key</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>密钥</translation>
    </message>
    <message>
        <source>A curl command with address and key, to try in a terminal.</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>包含地址和密钥的 curl 命令，可在终端中试用。</translation>
    </message>
    <message>
        <source>Example</source>
        <extracomment>app/ui/engine/api_menu.py</extracomment>
        <translation>示例</translation>
    </message>
    <message>
        <source>Attachments</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>附件</translation>
    </message>
    <message>
        <source>reading…</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Reading {name}</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>正在读取 {name}</translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>移除 {name}</translation>
    </message>
    <message>
        <source>Stop the answer in this tab, or loading a model</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>停止这个标签页中的回答；没有回答时停止加载模型</translation>
    </message>
    <message>
        <source>&amp;Cancel loading</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>取消加载(&amp;C)</translation>
    </message>
    <message>
        <source>Stop loading; the current model stays</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>停止加载模型；正在回答的模型保留</translation>
    </message>
    <message>
        <source>No model is being loaded.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>没有正在加载的模型。</translation>
    </message>
    <message>
        <source>Free the model&apos;s memory; the next message loads it again</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>释放模型占用的内存；下一条消息会重新加载它</translation>
    </message>
    <message>
        <source>No model is loaded, or it is answering.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>没有加载模型，或模型正在回答。</translation>
    </message>
    <message>
        <source>Model load &amp;settings…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>模型加载设置(&amp;H)…</translation>
    </message>
    <message>
        <source>Context, speed and memory of the current model</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>当前模型的上下文、速度和内存</translation>
    </message>
    <message>
        <source>Attachment: {name}</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>附件：{name}</translation>
    </message>
    <message>
        <source>Click to see what the model will read.</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>单击查看模型将读到的内容。</translation>
    </message>
    <message>
        <source>Insert as text</source>
        <extracomment>app/ui/base/attachment_preview.py</extracomment>
        <translation>转为文本</translation>
    </message>
    <message>
        <source>Remove</source>
        <extracomment>app/ui/base/attachment_preview.py</extracomment>
        <translation>移除</translation>
    </message>
    <message>
        <source>Text of {name}</source>
        <extracomment>app/ui/base/attachment_preview.py</extracomment>
        <translation>{name} 的文本</translation>
    </message>
    <message>
        <source>first {number} characters</source>
        <extracomment>app/ui/base/attachment_preview.py</extracomment>
        <translation>显示前 {number} 个字符</translation>
    </message>
    <message>
        <source>Text</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>文本</translation>
    </message>
    <message>
        <source>Table</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>表格</translation>
    </message>
    <message>
        <source>JSON</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation>JSON</translation>
    </message>
    <message>
        <source>Web page</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>网页</translation>
    </message>
    <message>
        <source>Notebook</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>笔记本</translation>
    </message>
    <message>
        <source>PDF</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>PDF</translation>
    </message>
    <message>
        <source>“{name}” no longer exists.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>“{name}”已不存在。</translation>
    </message>
    <message>
        <source>You do not have permission to read “{name}”.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>无法读取“{name}”：您的用户没有权限。</translation>
    </message>
    <message>
        <source>“{name}” is a folder. Attach the files in it instead.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”是文件夹。请改为附加其中的文件。</translation>
    </message>
    <message>
        <source>“{name}” is a pipe or a device, not a file.</source>
        <extracomment>app/rows/source.py</extracomment>
        <translation>“{name}”是管道或设备，不是文件。</translation>
    </message>
    <message>
        <source>“{name}” is empty.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”是空的。</translation>
    </message>
    <message>
        <source>“{name}” is larger than {megabytes} MB. Attach only the part that matters.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”大于 {megabytes} MB。请只附加需要的部分。</translation>
    </message>
    <message>
        <source>“{name}” has over {chars} characters, more than any model can read. Attach a part of it.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”有超过 {chars} 个字符的文本，超出任何模型能读的量。请附加其中一部分。</translation>
    </message>
    <message>
        <source>Skein cannot read text from “{name}”. Attach text, PDF or Office files.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”中没有 Skein 能读取的文本。可以附加文本、PDF 和 Office 文件。</translation>
    </message>
    <message>
        <source>“{name}” contains no text. If it is a scan, its pages are images.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”中没有文本。如果是扫描件，它的页面都是图片。</translation>
    </message>
    <message>
        <source>“{name}” is password-protected. Attach a copy without a password.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”有密码保护。请附加没有密码的副本。</translation>
    </message>
    <message>
        <source>“{name}” is in an old format. Save it as DOCX, XLSX, PPTX or PDF first.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”是旧格式。请另存为 DOCX、XLSX、PPTX 或 PDF 再附加。</translation>
    </message>
    <message>
        <source>“{name}” is damaged, or not the type its name says.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>“{name}”已损坏，或与它自称的格式不符。</translation>
    </message>
    <message>
        <source>Reading “{name}” took too much time or memory, so it was stopped. The file is damaged or malicious.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>读取“{name}”耗费的时间或内存过多，因此已停止。文件已损坏或含有恶意内容。</translation>
    </message>
    <message>
        <source>“{name}” could not be read because of a disk or system error. Try again.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>无法读取“{name}”：磁盘或系统出错。请重试。</translation>
    </message>
    <message>
        <source>{number} files are too many: a message can have {limit}. None was attached.</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>一次 {number} 个文件太多：一条消息最多 {limit} 个。没有附加任何文件。</translation>
    </message>
    <message numerus="yes">
        <source>Pasted text, {n} characters</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>
            <numerusform>粘贴的文本，{n} 个字符</numerusform>
        </translation>
    </message>
    <message>
        <source>about {tokens}</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>约 {tokens}</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>Skein, complete (*.json)</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>Skein，完整 (*.json)</translation>
    </message>
    <message>
        <source>Skein, complete, in one file (*.json)</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>Skein，完整，单个文件 (*.json)</translation>
    </message>
    <message>
        <source>Folder of Markdown files (*)</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>Markdown 文件的文件夹 (*)</translation>
    </message>
    <message>
        <source>Folder of web pages (*)</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>网页的文件夹 (*)</translation>
    </message>
    <message>
        <source>Chats (*.json *.jsonl *.zip)</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>对话 (*.json *.jsonl *.zip)</translation>
    </message>
    <message>
        <source>&amp;Export chat…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>导出对话(&amp;E)…</translation>
    </message>
    <message>
        <source>Save this chat as Markdown, HTML or JSON</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把这个对话保存为 Markdown、HTML 或 JSON</translation>
    </message>
    <message>
        <source>Export &amp;all chats…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>导出所有对话(&amp;A)…</translation>
    </message>
    <message>
        <source>Save all chats in one file, or one file per chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把所有对话保存在一个文件中，或各存一个文件</translation>
    </message>
    <message>
        <source>&amp;Import chats…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>导入对话(&amp;I)…</translation>
    </message>
    <message>
        <source>Import chats from Skein, ChatGPT, Open WebUI, LM Studio, Jan or llama.cpp</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>导入来自 Skein、ChatGPT、Open WebUI、LM Studio、Jan 或 llama.cpp 的对话</translation>
    </message>
    <message>
        <source>Import chats from a &amp;folder…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>从文件夹导入对话(&amp;F)…</translation>
    </message>
    <message>
        <source>Import all chats in a folder, such as LM Studio&apos;s or Jan&apos;s</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>导入一个文件夹中的所有对话，例如 LM Studio 或 Jan 的文件夹</translation>
    </message>
    <message>
        <source>Export chat</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>导出对话</translation>
    </message>
    <message>
        <source>Export all chats</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>导出所有对话</translation>
    </message>
    <message>
        <source>Export chats</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>导出对话</translation>
    </message>
    <message>
        <source>Exported to {name}.</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>已导出到 {name}。</translation>
    </message>
    <message numerus="yes">
        <source>Exported {n} chats to {name}.</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>
            <numerusform>已把 {n} 个对话导出到 {name}。</numerusform>
        </translation>
    </message>
    <message>
        <source>Import chats</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>导入对话</translation>
    </message>
    <message>
        <source>Import chats from a folder</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>从文件夹导入对话</translation>
    </message>
    <message numerus="yes">
        <source>Imported {n} chats.</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>
            <numerusform>已导入 {n} 个对话。</numerusform>
        </translation>
    </message>
    <message>
        <source>Import undone.</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>已撤销导入。</translation>
    </message>
    <message>
        <source>Cancelled. Nothing has changed.</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>已取消。没有任何改变。</translation>
    </message>
    <message>
        <source>Another export or import is running. Try again when it has finished.</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>另一个导出或导入正在进行。请等它完成后再试。</translation>
    </message>
    <message>
        <source>Exporting… {percent}</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>正在导出… {percent}</translation>
    </message>
    <message>
        <source>Assistant</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>助手</translation>
    </message>
    <message>
        <source>System</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>系统</translation>
    </message>
    <message>
        <source>Tool</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>工具</translation>
    </message>
    <message>
        <source>System prompt</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Thinking</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>思考</translation>
    </message>
    <message>
        <source>Attached file</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>附加的文件</translation>
    </message>
    <message>
        <source>Exported from Skein</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>由 Skein 导出</translation>
    </message>
    <message>
        <source>New chat</source>
        <extracomment>app/ui/base/titles.py</extracomment>
        <translation>新对话</translation>
    </message>
    <message>
        <source>Pinned tabs stay open. Unpin this one, or close it from its menu.</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>固定的标签页不会关闭。请取消固定，或从它的菜单中关闭。</translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>深色</translation>
    </message>
    <message>
        <source>Full</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>完整</translation>
    </message>
    <message>
        <source>Reduced</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>减弱</translation>
    </message>
    <message>
        <source>Responsive</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>响应优先</translation>
    </message>
    <message>
        <source>New prompts hardly slow down running answers.</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>新提示词几乎不会拖慢正在生成的回答。</translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Prompts are processed faster, running answers slow down somewhat.</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>提示词读得更快，回答会慢一些。</translation>
    </message>
    <message>
        <source>Throughput</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>吞吐优先</translation>
    </message>
    <message>
        <source>Prompts are processed fastest, running answers wait.</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>提示词读得最快，正在生成的回答需要等待。</translation>
    </message>
    <message>
        <source>The answer stops and says so.</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>回答到此为止并加以说明。</translation>
    </message>
    <message>
        <source>Rolling window</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>滚动窗口</translation>
    </message>
    <message>
        <source>Drops the oldest turns, keeps the system prompt.</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>省略最早的轮次，保留系统提示词。</translation>
    </message>
    <message>
        <source>Truncate the middle</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>截去中间</translation>
    </message>
    <message>
        <source>Keeps the beginning and the end, drops turns in between.</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>保留开头和结尾，省略中间的轮次。</translation>
    </message>
    <message>
        <source>Stop when full</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>满时停止</translation>
    </message>
    <message numerus="yes">
        <source>{n} hidden characters</source>
        <extracomment>app/ui/message/code_block.py</extracomment>
        <translation>
            <numerusform>{n} 个隐藏字符</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Copied with {n} hidden characters</source>
        <extracomment>app/ui/base/copy_button.py</extracomment>
        <translation>
            <numerusform>已复制，含 {n} 个隐藏字符</numerusform>
        </translation>
    </message>
    <message>
        <source>Answers side by side</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>并排的回答</translation>
    </message>
    <message>
        <source>Keep this one</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>保留这个</translation>
    </message>
    <message>
        <source>Copy answer</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>复制回答</translation>
    </message>
    <message>
        <source>Answer {number} of {total}</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>回答 {number}，共 {total} 个</translation>
    </message>
    <message>
        <source>Keep answer {number}</source>
        <extracomment>app/ui/transcript/compare_view.py</extracomment>
        <translation>保留回答 {number}</translation>
    </message>
    <message>
        <source>Attach files</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>附加文件</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>粘贴的文本</translation>
    </message>
    <message>
        <source>Removed “{name}”.</source>
        <extracomment>app/ui/composer/composer.py</extracomment>
        <translation>已移除“{name}”。</translation>
    </message>
    <message>
        <source>Context used</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>已用上下文</translation>
    </message>
    <message>
        <source>The oldest turns will be left out to make room for this message.</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>为了给这条消息腾出空间，将省略最早的轮次。</translation>
    </message>
    <message>
        <source>Turns in the middle will be left out to make room for this message.</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>为了给这条消息腾出空间，将省略中间的轮次。</translation>
    </message>
    <message>
        <source>{used} + {draft} / {limit}</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>{used} + {draft} / {limit}</translation>
    </message>
    <message>
        <source>{used} / {limit}</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>{used} / {limit}</translation>
    </message>
    <message>
        <source>Used</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>已用</translation>
    </message>
    <message>
        <source>tokens in this chat</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation type="vanished">这个对话的词元</translation>
    </message>
    <message>
        <source>of them are cached</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>其中已在内存中，无需重新计算</translation>
    </message>
    <message>
        <source>Draft</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>草稿</translation>
    </message>
    <message>
        <source>tokens this message and its files will add</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>这条消息及其文件将增加的词元</translation>
    </message>
    <message>
        <source>Limit</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>上限</translation>
    </message>
    <message>
        <source>tokens this chat can have</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>这个对话最多可以有的词元</translation>
    </message>
    <message>
        <source>Copied</source>
        <extracomment>app/ui/base/copy_button.py</extracomment>
        <translation>已复制</translation>
    </message>
    <message numerus="yes">
        <source>{n} messages queued.</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>
            <numerusform>{n} 条消息等待发送。</numerusform>
        </translation>
    </message>
    <message>
        <source>Send now</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>立即发送</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>Undo the last change</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>撤销上一次更改</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>Redo the last change</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>重做上一次更改</translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>剪切(&amp;T)</translation>
    </message>
    <message>
        <source>Cut the selected text</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>剪切选中的文本</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>复制(&amp;C)</translation>
    </message>
    <message>
        <source>Copy the selected text</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>复制选中的文本</translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>粘贴(&amp;P)</translation>
    </message>
    <message>
        <source>Paste text</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>粘贴文本</translation>
    </message>
    <message>
        <source>Select &amp;all</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>全选(&amp;A)</translation>
    </message>
    <message>
        <source>Select all</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>全选</translation>
    </message>
    <message>
        <source>Find in this chat</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>在这个对话中查找</translation>
    </message>
    <message>
        <source>Match case</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>区分大小写</translation>
    </message>
    <message>
        <source>Previous match (Shift+F3)</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>上一处匹配 (Shift+F3)</translation>
    </message>
    <message>
        <source>Next match (F3)</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>下一处匹配 (F3)</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>关闭 (Esc)</translation>
    </message>
    <message>
        <source>{total} so far…</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>目前 {total} 处…</translation>
    </message>
    <message>
        <source>{number} of {total}</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>{number} / {total}</translation>
    </message>
    <message>
        <source>No matches</source>
        <extracomment>app/ui/transcript/find_in_chat.py</extracomment>
        <translation>没有匹配</translation>
    </message>
    <message>
        <source>About Skein</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>关于 Skein</translation>
    </message>
    <message>
        <source>Many chats with local language models in one shared llama.cpp context.</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>在一个共享的 llama.cpp 上下文中，与本地语言模型进行多个对话。</translation>
    </message>
    <message>
        <source>Reading…</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Reading progress</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>已读取的比例</translation>
    </message>
    <message>
        <source>Chats</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>对话</translation>
    </message>
    <message>
        <source>Cannot be imported</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>无法导入</translation>
    </message>
    <message>
        <source>Import</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>导入</translation>
    </message>
    <message numerus="yes">
        <source>Import {n} chats that already exist again, as copies</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>
            <numerusform>把已存在的 {n} 个对话再次作为副本导入</numerusform>
        </translation>
    </message>
    <message>
        <source>Importing…</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>正在导入…</translation>
    </message>
    <message numerus="yes">
        <source>Import {n} chats</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>
            <numerusform>导入 {n} 个对话</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>and {n} more</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>
            <numerusform>以及另外 {n} 个</numerusform>
        </translation>
    </message>
    <message>
        <source>There is nothing to import.</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>没有可导入的内容。</translation>
    </message>
    <message>
        <source>All chats in this export ({sources}) already exist.</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>这份导出（{sources}）中的所有对话都已存在。</translation>
    </message>
    <message numerus="yes">
        <source>{n} messages</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>
            <numerusform>{n} 条消息</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} new chats with {messages}, from {sources}.</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>
            <numerusform>{n} 个新对话，{messages}，来自 {sources}。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} already exist.</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>
            <numerusform>{n} 个已存在。</numerusform>
        </translation>
    </message>
    <message>
        <source>{title} · {messages}</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>{title} · {messages}</translation>
    </message>
    <message>
        <source>{file}: {reason}</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>{file}：{reason}</translation>
    </message>
    <message>
        <source>Chat {number}: {reason}</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>对话 {number}：{reason}</translation>
    </message>
    <message>
        <source>Chat {number}, “{title}”: {reason}</source>
        <extracomment>app/ui/data/import_preview.py</extracomment>
        <translation>对话 {number}“{title}”：{reason}</translation>
    </message>
    <message>
        <source>What you send now is answered once a model is loaded.</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>现在发送的消息会在模型加载后得到回答。</translation>
    </message>
    <message>
        <source>sees pictures and hears sound</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>能看图片、听声音</translation>
    </message>
    <message>
        <source>sees pictures; other answers wait while it encodes one</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>能看图片；看图时其他回答会等待</translation>
    </message>
    <message>
        <source>sees pictures</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>能看图片</translation>
    </message>
    <message>
        <source>hears sound</source>
        <extracomment>app/ui/transcript/greeting.py</extracomment>
        <translation>能听声音</translation>
    </message>
    <message numerus="yes">
        <source>{n} new messages</source>
        <extracomment>app/ui/transcript/jump_button.py</extracomment>
        <translation>
            <numerusform>{n} 条新消息</numerusform>
        </translation>
    </message>
    <message>
        <source>Jump to latest</source>
        <extracomment>app/ui/transcript/jump_button.py</extracomment>
        <translation>跳到最新</translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>app/inspector/lens_view.py</extracomment>
        <translation>您</translation>
    </message>
    <message>
        <source>Follow the system&apos;s language</source>
        <extracomment>app/ui/settings/appearance.py</extracomment>
        <translation>使用系统的语言</translation>
    </message>
    <message>
        <source>The language changes to {language} when Skein restarts. All tabs reopen; running answers stop.</source>
        <extracomment>app/ui/settings/appearance.py</extracomment>
        <translation>语言将在下次启动时变为{language}。所有标签页都会恢复；正在生成的回答会结束。</translation>
    </message>
    <message>
        <source>Previous part</source>
        <extracomment>app/ui/base/long_text_box.py</extracomment>
        <translation>上一部分</translation>
    </message>
    <message>
        <source>Next part</source>
        <extracomment>app/ui/base/long_text_box.py</extracomment>
        <translation>下一部分</translation>
    </message>
    <message>
        <source>File: {name}</source>
        <extracomment>app/ui/message/long_text.py</extracomment>
        <translation>文件：{name}</translation>
    </message>
    <message>
        <source>Part {number} of {total}</source>
        <extracomment>app/ui/base/long_text_box.py</extracomment>
        <translation>第 {number} 部分，共 {total} 部分</translation>
    </message>
    <message>
        <source>Reload model</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>重新加载模型</translation>
    </message>
    <message>
        <source>The settings could not be saved: {reason}.</source>
        <extracomment>app/ui/window_presenter.py</extracomment>
        <translation>无法保存设置：{reason}。</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <extracomment>app/ui/frame.py</extracomment>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Reopen closed chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>重新打开已关闭的对话(&amp;R)</translation>
    </message>
    <message>
        <source>Reopen the tab closed last</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>恢复上次关闭的标签页</translation>
    </message>
    <message>
        <source>No chat has been closed.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>没有关闭过对话。</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>Save everything and quit</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>保存一切并退出</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <extracomment>app/ui/frame.py</extracomment>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;New chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>新建对话(&amp;N)</translation>
    </message>
    <message>
        <source>Open a new chat in a new tab</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在新标签页中打开新对话</translation>
    </message>
    <message>
        <source>&amp;Close chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>关闭对话(&amp;C)</translation>
    </message>
    <message>
        <source>Close this tab; it can be reopened</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>关闭这个标签页；可以重新打开</translation>
    </message>
    <message>
        <source>Open the settings</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>打开设置</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <extracomment>app/ui/commands/menus.py</extracomment>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>F&amp;ull screen</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>全屏(&amp;U)</translation>
    </message>
    <message>
        <source>Switch full screen on or off</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>打开或关闭全屏</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <extracomment>app/ui/frame.py</extracomment>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Command palette…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>命令面板(&amp;C)…</translation>
    </message>
    <message>
        <source>Find a command, chat or setting by name</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>按名称查找命令、对话或设置</translation>
    </message>
    <message>
        <source>Next &amp;pane</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>下一窗格(&amp;P)</translation>
    </message>
    <message>
        <source>Move the focus to the next pane</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把焦点移到下一个窗格</translation>
    </message>
    <message>
        <source>Previous p&amp;ane</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>上一窗格(&amp;A)</translation>
    </message>
    <message>
        <source>Move the focus to the previous pane</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把焦点移到上一个窗格</translation>
    </message>
    <message>
        <source>&amp;Larger</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>较大(&amp;L)</translation>
    </message>
    <message>
        <source>Larger text</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>较大的文字</translation>
    </message>
    <message>
        <source>&amp;Smaller</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>较小(&amp;S)</translation>
    </message>
    <message>
        <source>Smaller text</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>较小的文字</translation>
    </message>
    <message>
        <source>&amp;Reset size</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>常规大小(&amp;U)</translation>
    </message>
    <message>
        <source>Reset the text size</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>常规大小的文字</translation>
    </message>
    <message>
        <source>&amp;Stop answer</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>停止回答(&amp;S)</translation>
    </message>
    <message>
        <source>No answer is being written in this tab.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>这个标签页中没有正在生成的回答。</translation>
    </message>
    <message>
        <source>&amp;Chat</source>
        <extracomment>app/ui/frame.py</extracomment>
        <translation>对话(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Copy last answer</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>复制上一个回答(&amp;C)</translation>
    </message>
    <message>
        <source>Copy the last answer as Markdown</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把上一个回答复制为 Markdown</translation>
    </message>
    <message>
        <source>Token &amp;probabilities</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>词元概率(&amp;P)</translation>
    </message>
    <message>
        <source>Show the alternatives at each token of the last answer</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示上一个回答中每个词元的其他候选</translation>
    </message>
    <message>
        <source>&amp;Fork chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>分叉对话(&amp;F)</translation>
    </message>
    <message>
        <source>Continue in a copy of this chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在这个对话的副本中继续</translation>
    </message>
    <message>
        <source>Chat s&amp;ettings…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>对话设置(&amp;E)…</translation>
    </message>
    <message>
        <source>System prompt, sampling and context of this chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>这个对话的系统提示词、采样和上下文</translation>
    </message>
    <message>
        <source>&amp;Tabs</source>
        <extracomment>app/ui/tabs/tabs_menu.py</extracomment>
        <translation>标签页(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Next tab</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>下一标签页(&amp;N)</translation>
    </message>
    <message>
        <source>Show the next tab</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示下一个标签页</translation>
    </message>
    <message>
        <source>&amp;Previous tab</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>上一标签页(&amp;P)</translation>
    </message>
    <message>
        <source>Show the previous tab</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示上一个标签页</translation>
    </message>
    <message>
        <source>Move tab &amp;right</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>右移标签页(&amp;R)</translation>
    </message>
    <message>
        <source>Move this tab one place to the right</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把这个标签页向右移一位</translation>
    </message>
    <message>
        <source>Move tab &amp;left</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>左移标签页(&amp;L)</translation>
    </message>
    <message>
        <source>Move this tab one place to the left</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把这个标签页向左移一位</translation>
    </message>
    <message>
        <source>P&amp;in tab</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>固定标签页(&amp;I)</translation>
    </message>
    <message>
        <source>Keep this tab at the left, or unpin it</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>让这个标签页留在左侧，或不再固定</translation>
    </message>
    <message>
        <source>R&amp;ename chat…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>重命名对话(&amp;E)…</translation>
    </message>
    <message>
        <source>Change this chat&apos;s title</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>给这个对话换一个标题</translation>
    </message>
    <message>
        <source>Close all other tabs</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>关闭除此之外的所有标签页</translation>
    </message>
    <message>
        <source>Close all tabs to the right</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>关闭这个标签页右侧的所有标签页</translation>
    </message>
    <message>
        <source>Split &amp;view</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>拆分视图(&amp;S)</translation>
    </message>
    <message>
        <source>Show two chats side by side, or go back to one</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>并排显示两个对话，或恢复为一个</translation>
    </message>
    <message>
        <source>Ot&amp;her side</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>另一侧(&amp;H)</translation>
    </message>
    <message>
        <source>Embedding &amp;model</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>嵌入模型(&amp;M)</translation>
    </message>
    <message>
        <source>Reran&amp;ker</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>重排模型(&amp;K)</translation>
    </message>
    <message>
        <source>None, words only</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>无，只按词</translation>
    </message>
    <message>
        <source>Also finds passages that say the same in other words</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>也能找到用别的说法表达同样意思的段落</translation>
    </message>
    <message>
        <source>Sorts the passages found by how well they answer the message. Slower</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>按与消息的相关程度给找到的段落排序。较慢</translation>
    </message>
    <message>
        <source>Choose an embedding model</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>选择嵌入模型</translation>
    </message>
    <message>
        <source>Choose a reranker</source>
        <extracomment>app/ui/shelves/shelves_window.py</extracomment>
        <translation>选择重排模型</translation>
    </message>
    <message>
        <source>Searched by words and vectors.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>按词和向量搜索。</translation>
    </message>
    <message>
        <source>Computing vectors in the background: {share}.</source>
        <extracomment>app/ui/shelves/shelf_words.py</extracomment>
        <translation>正在后台计算向量：{share}。</translation>
    </message>
    <message>
        <source>Tab &amp;{number}</source>
        <extracomment>app/ui/tabs/tabs_menu.py</extracomment>
        <translation>标签页 &amp;{number}</translation>
    </message>
    <message>
        <source>Show tab {number}</source>
        <extracomment>app/ui/tabs/tabs_menu.py</extracomment>
        <translation>显示标签页 {number}</translation>
    </message>
    <message>
        <source>Load the same file again, with an empty KV cache</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>重新加载同一文件，内存清空</translation>
    </message>
    <message>
        <source>No model has been opened.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>没有打开过模型。</translation>
    </message>
    <message>
        <source>Stop &amp;all answers</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>停止所有回答(&amp;A)</translation>
    </message>
    <message>
        <source>Stop the answers of all chats</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>停止所有对话的回答</translation>
    </message>
    <message>
        <source>No answer is being written.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>没有正在生成的回答。</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <extracomment>app/ui/frame.py</extracomment>
        <translation>模型(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Open model…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>打开模型(&amp;O)…</translation>
    </message>
    <message>
        <source>Open a model from a GGUF file</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>从 GGUF 文件打开模型</translation>
    </message>
    <message>
        <source>&amp;Engine settings…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>引擎设置(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Tools</source>
        <extracomment>app/ui/frame.py</extracomment>
        <translation>工具(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;About Skein</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>关于 Skein(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <extracomment>app/ui/frame.py</extracomment>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>键盘快捷键(&amp;K)</translation>
    </message>
    <message>
        <source>Show and change all keyboard shortcuts</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示和更改所有键盘快捷键</translation>
    </message>
    <message>
        <source>Open &amp;data folder</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>打开数据文件夹(&amp;D)</translation>
    </message>
    <message>
        <source>Show the folder with the chats in the file browser</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在文件浏览器中显示保存对话的文件夹</translation>
    </message>
    <message>
        <source>Open &amp;log folder</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>打开日志文件夹(&amp;L)</translation>
    </message>
    <message>
        <source>Show the folder with the logs in the file browser</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在文件浏览器中显示日志所在的文件夹</translation>
    </message>
    <message>
        <source>Message…</source>
        <extracomment>app/ui/composer/message_editor.py</extracomment>
        <translation>输入消息…</translation>
    </message>
    <message>
        <source>Message</source>
        <extracomment>app/ui/composer/message_editor.py</extracomment>
        <translation>消息</translation>
    </message>
    <message>
        <source>of {number} draft tokens</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>共推测 {number} 个词元</translation>
    </message>
    <message>
        <source>accepted</source>
        <extracomment>app/ui/transcript/answer_text.py</extracomment>
        <translation>已保留</translation>
    </message>
    <message>
        <source>{speaker}: {words}</source>
        <extracomment>app/ui/transcript/message_picker.py</extracomment>
        <translation>{speaker}：{words}</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <extracomment>app/ui/transcript/message_picker.py</extracomment>
        <translation>复制为 Markdown</translation>
    </message>
    <message>
        <source>Copy as plain text</source>
        <extracomment>app/ui/transcript/message_picker.py</extracomment>
        <translation>复制为纯文本</translation>
    </message>
    <message numerus="yes">
        <source>{n} messages selected</source>
        <extracomment>app/ui/transcript/message_picker.py</extracomment>
        <translation>
            <numerusform>已选择 {n} 条消息</numerusform>
        </translation>
    </message>
    <message>
        <source>Open model</source>
        <extracomment>app/ui/engine/model_loading.py</extracomment>
        <translation>打开模型</translation>
    </message>
    <message>
        <source>GGUF models (*.gguf)</source>
        <extracomment>app/ui/engine/model_loading.py</extracomment>
        <translation>GGUF 模型 (*.gguf)</translation>
    </message>
    <message>
        <source>Error</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>错误</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <extracomment>app/look/strip.py</extracomment>
        <translation>关闭提示</translation>
    </message>
    <message>
        <source>Loading {name}  {percent}</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>正在加载 {name}  {percent}</translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>撤销</translation>
    </message>
    <message>
        <source>{name} could not be opened: {reason}</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>无法打开 {name}：{reason}</translation>
    </message>
    <message>
        <source>{name} stays loaded.</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>模型 {name} 仍然保持加载。</translation>
    </message>
    <message>
        <source>The engine stopped: {reason} Your chats are kept.</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>引擎已停止：{reason} 您的对话都已保留。</translation>
    </message>
    <message>
        <source>Closed “{title}”.</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>已关闭“{title}”。</translation>
    </message>
    <message>
        <source>All chats are paused.</source>
        <extracomment>app/ui/engine/pausing.py</extracomment>
        <translation>所有对话都已暂停。</translation>
    </message>
    <message>
        <source>Run one step, then pause again (F10)</source>
        <extracomment>app/ui/engine/pausing.py</extracomment>
        <translation>运行一步，然后再次暂停 (F10)</translation>
    </message>
    <message>
        <source>Resume computing (F5)</source>
        <extracomment>app/ui/engine/pausing.py</extracomment>
        <translation>继续计算 (F5)</translation>
    </message>
    <message>
        <source>No model is loaded. Choose one above the chat, then test it here.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>没有加载模型。请在对话上方选择一个，然后在这里测试。</translation>
    </message>
    <message>
        <source>Self-test progress</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>自检进度</translation>
    </message>
    <message>
        <source>&amp;Save report…</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>保存报告(&amp;S)…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation>取消</translation>
    </message>
    <message>
        <source>Word</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>Word</translation>
    </message>
    <message>
        <source>Excel</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>Excel</translation>
    </message>
    <message>
        <source>PowerPoint</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>PowerPoint</translation>
    </message>
    <message>
        <source>OpenDocument</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>OpenDocument</translation>
    </message>
    <message>
        <source>&amp;Restart now</source>
        <extracomment>app/ui/engine/build_notice.py</extracomment>
        <translation>立即重新启动(&amp;R)</translation>
    </message>
    <message>
        <source>Log</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>日志</translation>
    </message>
    <message>
        <source>Lowest level shown</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>显示的最低级别</translation>
    </message>
    <message>
        <source>Everything</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>全部</translation>
    </message>
    <message>
        <source>Information</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>信息</translation>
    </message>
    <message>
        <source>Warnings</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>警告</translation>
    </message>
    <message>
        <source>Errors</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>错误</translation>
    </message>
    <message>
        <source>Filter lines…</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>只显示包含…的行</translation>
    </message>
    <message>
        <source>Show only lines with this text</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>只显示包含此文本的行</translation>
    </message>
    <message>
        <source>Copy</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>复制</translation>
    </message>
    <message>
        <source>Open folder</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>This chat is empty.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>这个对话是空的。</translation>
    </message>
    <message>
        <source>&amp;Find in chat…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在对话中查找(&amp;F)…</translation>
    </message>
    <message>
        <source>Find words in this chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>在这个对话中查找文字</translation>
    </message>
    <message>
        <source>Find &amp;next</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>查找下一个(&amp;N)</translation>
    </message>
    <message>
        <source>Next match</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>下一处匹配</translation>
    </message>
    <message>
        <source>Find pre&amp;vious</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>查找上一个(&amp;V)</translation>
    </message>
    <message>
        <source>Previous match</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>上一处匹配</translation>
    </message>
    <message>
        <source>There is no answer yet.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>还没有回答。</translation>
    </message>
    <message>
        <source>&amp;Attach files…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>附加文件(&amp;A)…</translation>
    </message>
    <message>
        <source>Attach files to the next message</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>为下一条消息附加文件</translation>
    </message>
    <message>
        <source>{size} memory</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>{size} 内存</translation>
    </message>
    <message>
        <source>Memory: {expected} expected, {taken} used.</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>预计占用 {expected} 内存，实际占用 {taken}。</translation>
    </message>
    <message>
        <source>Needs about {needed} here ({free} free), {elsewhere}: fits.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>这里约需 {needed}（可用 {free}），{elsewhere}：放得下。</translation>
    </message>
    <message>
        <source>Needs about {needed} here ({free} free), {elsewhere}: tight, other programs may be swapped out.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>这里约需 {needed}（可用 {free}），{elsewhere}：其他程序需要让出空间。</translation>
    </message>
    <message>
        <source>Needs about {needed} here ({free} free), {elsewhere}: does not fit.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>这里约需 {needed}（可用 {free}），{elsewhere}：放不下。</translation>
    </message>
    <message>
        <source>{needed} on {device}</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>{device} 上 {needed}</translation>
    </message>
    <message>
        <source>{needed} on {device} ({free} free)</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>{device} 上 {needed}（可用 {free}）</translation>
    </message>
    <message>
        <source>Loaded: {expected} expected, {taken} used.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>当前已加载：预计 {expected}，实际占用 {taken}。</translation>
    </message>
    <message>
        <source>The most draft tokens checked in one step, from the chat&apos;s text or a draft model.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation type="vanished">一步中最多检验多少个从对话文本或由草稿模型推测的词元。</translation>
    </message>
    <message>
        <source>✓ Valid.</source>
        <extracomment>app/ui/settings/answer_form.py</extracomment>
        <translation>✓ 有效。</translation>
    </message>
    <message>
        <source>It can make changes, and runs in every chat without asking.</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>它可能做出更改，并在所有对话中不经询问就运行。</translation>
    </message>
    <message>
        <source>Confirm its command under Manage tools to start it.</source>
        <extracomment>app/ui/settings/chat_tools.py</extracomment>
        <translation>请在“管理工具”中确认其命令以启动它。</translation>
    </message>
    <message>
        <source>Your answer goes to {server}. Do not enter passwords.</source>
        <extracomment>app/ui/settings/question_dialog.py</extracomment>
        <translation>您的回答会发送给 {server}。请勿输入密码。</translation>
    </message>
    <message>
        <source>The most draft tokens checked in one step, taken from the chat&apos;s own text.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation type="vanished">一步中最多从对话自身的文本推测并检验多少个词元。</translation>
    </message>
    <message>
        <source>Frees the model&apos;s memory after this much idle time. The next message or API request loads it again.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>闲置这么久后释放模型占用的内存。下一条消息或 API 请求会重新加载它。</translation>
    </message>
    <message>
        <source>Never</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>从不</translation>
    </message>
    <message>
        <source>Keep cells between starts</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>为下次启动保留单元</translation>
    </message>
    <message>
        <source>Saves what was computed for open chats when Skein quits, so they are not recomputed after a restart. Encrypted with a key in your keyring, at most 4 GB; removed when the tab is closed or this is turned off.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Skein 退出时保存为打开的对话计算的内容，重启后无需重新计算。用您密钥环中的密钥加密，最多 4 GB；关闭标签页或关闭此项时删除。</translation>
    </message>
    <message>
        <source>Changes take effect when the model is reloaded. Running answers continue afterwards.</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>您的更改在重新加载模型后生效。回答会在之后继续。</translation>
    </message>
    <message>
        <source>{former} has answered so far.</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation type="vanished">此前在这里回答的是 {former}。</translation>
    </message>
    <message>
        <source>Answer with {name}</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation type="vanished">用 {name} 回答</translation>
    </message>
    <message>
        <source>{name} answers in this chat from now on</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation type="vanished">从现在起由 {name} 在这个对话中回答</translation>
    </message>
    <message>
        <source>Switch back to {name}</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation type="vanished">换回 {name}</translation>
    </message>
    <message>
        <source>Reload {name} for all chats</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation type="vanished">为所有对话重新加载 {name}</translation>
    </message>
    <message>
        <source>Skein hung last time it showed this chat, so its answers are shown as plain text.</source>
        <extracomment>app/ui/tabs/plain_chats.py</extracomment>
        <translation>上次显示此对话时 Skein 停止响应，因此其回答暂以纯文本显示。</translation>
    </message>
    <message>
        <source>Show formatted</source>
        <extracomment>app/ui/tabs/plain_chats.py</extracomment>
        <translation>显示格式</translation>
    </message>
    <message>
        <source>Copy this message as Markdown</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>把这条消息复制为 Markdown</translation>
    </message>
    <message>
        <source>Copy this message without Markdown</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>复制这条消息，不含 Markdown 标记</translation>
    </message>
    <message>
        <source>Select several messages to copy</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>选择多条消息以便复制</translation>
    </message>
    <message>
        <source>Rewrite this message; the old version is kept</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>重写这条消息；保留之前的版本</translation>
    </message>
    <message>
        <source>Continue this answer where it ended</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>让模型从这个回答结束的地方继续</translation>
    </message>
    <message>
        <source>Get another answer; this one is kept</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>再要一个回答；保留之前的回答</translation>
    </message>
    <message>
        <source>Compare all versions of the last answer</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>同时查看上一个回答的所有版本</translation>
    </message>
    <message>
        <source>Continue in a copy of the chat up to this message</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>在以这条消息结尾的对话副本中继续</translation>
    </message>
    <message>
        <source>Show the alternatives at each token of this answer</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>显示这个回答中每个词元的其他候选</translation>
    </message>
    <message>
        <source>Show tokens, times and speed of this answer</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>显示这个回答的词元、时间和速度</translation>
    </message>
    <message>
        <source>Delete this message; this can be undone</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>删除这条消息；可以恢复</translation>
    </message>
    <message>
        <source>&amp;Message</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>消息(&amp;M)</translation>
    </message>
    <message>
        <source>Previo&amp;us version</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>上一版本(&amp;U)</translation>
    </message>
    <message>
        <source>Show the previous version</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示上一个版本</translation>
    </message>
    <message>
        <source>Ne&amp;xt version</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>下一版本(&amp;X)</translation>
    </message>
    <message>
        <source>Show the next version</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>显示下一个版本</translation>
    </message>
    <message>
        <source>Add without as&amp;king</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation type="vanished">添加而不提问(&amp;K)</translation>
    </message>
    <message>
        <source>Add the draft as your message without asking for an answer</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把草稿作为您的消息添加，不要求回答</translation>
    </message>
    <message>
        <source>Add the draft as an answer, as if the model had written it</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>把草稿作为回答添加，如同模型所写</translation>
    </message>
    <message>
        <source>There is no message to edit.</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>没有可编辑的消息。</translation>
    </message>
    <message>
        <source>&amp;{number} answers</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>&amp;{number} 个回答</translation>
    </message>
    <message>
        <source>Generate this many answers side by side</source>
        <extracomment>app/ui/tabs/message_menu.py</extracomment>
        <translation>同时生成这么多个回答，并排显示</translation>
    </message>
    <message>
        <source>There is no other version.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>没有其他版本。</translation>
    </message>
    <message>
        <source>Write something first, and wait for the running answer.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>请先写点内容，并等待正在生成的回答。</translation>
    </message>
    <message>
        <source>Note</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>提示</translation>
    </message>
    <message>
        <source>No matches.</source>
        <extracomment>app/ui/commands/palette.py</extracomment>
        <translation>没有匹配项。</translation>
    </message>
    <message>
        <source>Command palette</source>
        <extracomment>app/ui/commands/palette.py</extracomment>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>Command, chat or setting…</source>
        <extracomment>app/ui/commands/palette.py</extracomment>
        <translation>命令、对话或设置…</translation>
    </message>
    <message>
        <source>Command, chat or setting</source>
        <extracomment>app/ui/commands/palette.py</extracomment>
        <translation>命令、对话或设置</translation>
    </message>
    <message>
        <source>Found</source>
        <extracomment>app/ui/commands/palette.py</extracomment>
        <translation>找到的结果</translation>
    </message>
    <message>
        <source>unavailable</source>
        <extracomment>app/ui/commands/palette.py</extracomment>
        <translation>不可用</translation>
    </message>
    <message>
        <source>Open chat</source>
        <extracomment>app/ui/commands/palette_sources.py</extracomment>
        <translation>打开的对话</translation>
    </message>
    <message>
        <source>Saved chat</source>
        <extracomment>app/ui/commands/palette_sources.py</extracomment>
        <translation>已保存的对话</translation>
    </message>
    <message>
        <source>Setting › {page}</source>
        <extracomment>app/ui/commands/palette_sources.py</extracomment>
        <translation>设置 › {page}</translation>
    </message>
    <message>
        <source>Open a GGUF file…</source>
        <extracomment>app/ui/transcript/empty_chat.py</extracomment>
        <translation>打开 GGUF 文件…</translation>
    </message>
    <message numerus="yes">
        <source>Use {n} models from other programs</source>
        <extracomment>app/ui/transcript/empty_chat.py</extracomment>
        <translation>
            <numerusform>使用其他程序已有的 {n} 个模型</numerusform>
        </translation>
    </message>
    <message>
        <source>Queued</source>
        <extracomment>app/ui/transcript/queue_view.py</extracomment>
        <translation>等待发送</translation>
    </message>
    <message>
        <source>queued</source>
        <extracomment>app/ui/transcript/queue_view.py</extracomment>
        <translation>等待发送</translation>
    </message>
    <message>
        <source>Edit this message</source>
        <extracomment>app/ui/transcript/queue_view.py</extracomment>
        <translation>编辑这条消息</translation>
    </message>
    <message>
        <source>Do not send this message</source>
        <extracomment>app/ui/transcript/queue_view.py</extracomment>
        <translation>不发送这条消息</translation>
    </message>
    <message>
        <source>Not used: {reason}</source>
        <extracomment>app/ui/settings/chat_settings.py</extracomment>
        <translation>未采用：{reason}</translation>
    </message>
    <message>
        <source>Not used: not a whole number.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>未采用：这不是整数。</translation>
    </message>
    <message>
        <source>Not used: not a JSON list.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>未采用：这不是 JSON 列表。</translation>
    </message>
    <message>
        <source>Seed</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>Its memory is freed; the next message loads it again.</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>它的内存已释放；下一条消息会重新加载它。</translation>
    </message>
    <message>
        <source>Loading {name} was cancelled, so no model is loaded.</source>
        <extracomment>app/ui/window_presenter.py</extracomment>
        <translation>已取消加载 {name}，因此没有打开模型。</translation>
    </message>
    <message>
        <source>Load it</source>
        <extracomment>app/ui/window_presenter.py</extracomment>
        <translation>加载</translation>
    </message>
    <message>
        <source>Strength</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>强度</translation>
    </message>
    <message>
        <source>1: as trained, 0: no effect, below 0: the opposite.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>1 表示与训练时相同，0 表示不作用，小于 0 表示反向作用。</translation>
    </message>
    <message>
        <source>A small file that adapts the model. Each has a strength; 1 is as trained.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>改变模型所学内容的小文件。每个都有强度；1 表示与训练时相同。</translation>
    </message>
    <message>
        <source>Add adapter…</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>添加适配器…</translation>
    </message>
    <message>
        <source>Strength of {name}</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>{name} 的强度</translation>
    </message>
    <message>
        <source>Add adapter</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>添加适配器</translation>
    </message>
    <message>
        <source>LoRA adapters (*.gguf)</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>LoRA 适配器 (*.gguf)</translation>
    </message>
    <message>
        <source>Waiting</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>正在等待</translation>
    </message>
    <message>
        <source>Verifying</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>正在检查已有内容</translation>
    </message>
    <message>
        <source>Stopped</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Done</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Enter token…</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>输入令牌…</translation>
    </message>
    <message>
        <source>Progress of {name}</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>{name} 的进度</translation>
    </message>
    <message>
        <source>Try again</source>
        <extracomment>app/ui/engine/model_loading.py</extracomment>
        <translation>重试</translation>
    </message>
    <message>
        <source>Remove from the list</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>从列表中移除</translation>
    </message>
    <message>
        <source>Downloads</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>下载</translation>
    </message>
    <message>
        <source>{state}, {size}</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>{state}，{size}</translation>
    </message>
    <message>
        <source>{here} of {whole}</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>{here} / {whole}</translation>
    </message>
    <message>
        <source>{state}  ·  {amount}</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>{state}  ·  {amount}</translation>
    </message>
    <message>
        <source>{size}/s</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>{size}/秒</translation>
    </message>
    <message>
        <source>No data at the moment; retrying automatically.</source>
        <extracomment>app/ui/models/download_rows.py</extracomment>
        <translation>目前没有收到数据；会自动重试。</translation>
    </message>
    <message numerus="yes">
        <source>{n} seconds left</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>
            <numerusform>还剩 {n} 秒</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} minutes left</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>
            <numerusform>还剩 {n} 分钟</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} hours left</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>
            <numerusform>还剩 {n} 小时</numerusform>
        </translation>
    </message>
    <message>
        <source>{name} has been downloaded.</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>{name} 已下载完成。</translation>
    </message>
    <message>
        <source>{name} could not be downloaded.</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>{name} 无法下载。</translation>
    </message>
    <message>
        <source>Whole sliding window</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>完整的滑动窗口</translation>
    </message>
    <message>
        <source>Keeps all cells of sliding-window layers: a chat can be rolled back anywhere, but is slower (--swa-full).</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>保留滑动窗口层的全部单元：对话可以退回到任意位置，但速度较慢（--swa-full）。</translation>
    </message>
    <message>
        <source>Draft model</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>No smaller model with the same vocabulary found.</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>这里没有词表相同的更小模型。</translation>
    </message>
    <message>
        <source>Some models require that you accept their terms. Create a read token on the hub&apos;s web page under Settings, Access Tokens. It is stored in the system&apos;s keyring and sent only to this hub.</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>有些模型只提供给已接受其条款的人。请在网站的网页上，于 Settings 的 Access Tokens 下创建一个具有读取权限的令牌。它保存在这个系统的密钥环中，只发送给这个网站。</translation>
    </message>
    <message>
        <source>For networks that cannot reach Hugging Face. Leave empty to use the hub itself.</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>用于无法访问 Hugging Face 的网络。留空则使用该网站本身。</translation>
    </message>
    <message>
        <source>Access to the hub</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>访问模型网站</translation>
    </message>
    <message>
        <source>&amp;Forget the token</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>删除令牌(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Create a token…</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>创建令牌(&amp;C)…</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>保存(&amp;S)</translation>
    </message>
    <message>
        <source>Token saved</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>已有令牌</translation>
    </message>
    <message>
        <source>&amp;Token</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>令牌(&amp;T)</translation>
    </message>
    <message>
        <source>Mi&amp;rror</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>镜像站(&amp;R)</translation>
    </message>
    <message numerus="yes">
        <source>{n} downloads are not finished.</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>
            <numerusform>有 {n} 个下载尚未完成。</numerusform>
        </translation>
    </message>
    <message>
        <source>Show</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>显示</translation>
    </message>
    <message>
        <source>Quantisation</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>量化</translation>
    </message>
    <message>
        <source>Memory</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>内存</translation>
    </message>
    <message>
        <source>Choose a model to see its files.</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>选择一个模型即可查看它的文件。</translation>
    </message>
    <message>
        <source>Fetching the file list…</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>正在向网站查询文件…</translation>
    </message>
    <message>
        <source>No loadable GGUF with a checksum here.</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>这里没有带校验和、可供下载的 GGUF 文件。</translation>
    </message>
    <message>
        <source>Open its &amp;web page</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>打开它的网页(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Download</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>下载(&amp;D)</translation>
    </message>
    <message>
        <source>C&amp;hange…</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>更改(&amp;H)…</translation>
    </message>
    <message>
        <source>to {folder}</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>保存到 {folder}</translation>
    </message>
    <message>
        <source>&amp;Download {size}</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>下载 {size}(&amp;D)</translation>
    </message>
    <message>
        <source>It cannot be loaded: {reason}.</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>无法加载：{reason}。</translation>
    </message>
    <message>
        <source>Files</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>文件</translation>
    </message>
    <message>
        <source>{number} parameters</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>{number} 参数</translation>
    </message>
    <message>
        <source>context {number}</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>上下文 {number}</translation>
    </message>
    <message>
        <source>licence {name}</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>许可 {name}</translation>
    </message>
    <message>
        <source>Accept its terms on its web page first.</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>必须在它的网页上接受其条款。</translation>
    </message>
    <message>
        <source>incomplete</source>
        <extracomment>app/ui/models/hub_details.py</extracomment>
        <translation>不完整</translation>
    </message>
    <message>
        <source>Recommended models</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>推荐的模型</translation>
    </message>
    <message>
        <source>Searching…</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>No GGUF with that name. Try fewer words.</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>网站上没有这个名称的 GGUF。请用更少的词搜索。</translation>
    </message>
    <message>
        <source>Token and mirror</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>令牌和镜像站</translation>
    </message>
    <message>
        <source>Try &amp;again</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>重试(&amp;A)</translation>
    </message>
    <message>
        <source>Enter &amp;token…</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>输入令牌(&amp;T)…</translation>
    </message>
    <message>
        <source>Open &amp;web page</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>打开网页(&amp;W)</translation>
    </message>
    <message numerus="yes">
        <source>{n} found, most downloaded first</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>
            <numerusform>找到 {n} 个，按下载量排序</numerusform>
        </translation>
    </message>
    <message>
        <source>Folder for downloads</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>下载文件夹</translation>
    </message>
    <message>
        <source>Waiting until you have signed in, in the browser.</source>
        <extracomment>app/tools/mcp_server.py</extracomment>
        <translation>等待你在浏览器中登录。</translation>
    </message>
    <message>
        <source>Fork with the base</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>用基准模型分叉</translation>
    </message>
    <message>
        <source>Fork with the other</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>用另一个模型分叉</translation>
    </message>
    <message>
        <source>{model} goes on from before this token</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>{model} 从此词元之前继续</translation>
    </message>
    <message>
        <source>Both would choose “{token}”.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>两者都会选择“{token}”。</translation>
    </message>
    <message>
        <source>The base would choose “{base}”, the other “{other}”.</source>
        <extracomment>app/inspector/comparison_panel.py</extracomment>
        <translation>基准会选择“{base}”，另一个会选择“{other}”。</translation>
    </message>
    <message>
        <source>The key of {url} could not be stored in the keyring, so it is known only until Skein is closed. After that, add the engine again with its key.</source>
        <extracomment>app/services/servers.py</extracomment>
        <translation>{url} 的密钥无法存入密钥环，因此只在 Skein 关闭前有效。之后请带上密钥重新添加这个引擎。</translation>
    </message>
    <message>
        <source>Locate…</source>
        <extracomment>app/ui/engine/model_loading.py</extracomment>
        <translation>定位…</translation>
    </message>
    <message>
        <source>Use the starter model</source>
        <extracomment>app/ui/engine/model_loading.py</extracomment>
        <translation>使用入门模型</translation>
    </message>
    <message>
        <source>Model: {name}</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>模型：{name}</translation>
    </message>
    <message>
        <source>{name}
Switch, load settings, eject</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>{name}
切换、加载设置、卸载</translation>
    </message>
    <message>
        <source>not loaded</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>未加载</translation>
    </message>
    <message>
        <source>asleep</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>睡眠中</translation>
    </message>
    <message>
        <source>Skein starter</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>Skein 入门模型</translation>
    </message>
    <message>
        <source>Show the inspector</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>显示检查器</translation>
    </message>
    <message>
        <source>answering {number}</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>正在回答 {number} 个</translation>
    </message>
    <message>
        <source>This tool can make changes. If always allowed, it runs in every chat without asking.</source>
        <extracomment>app/ui/message/tool_card.py</extracomment>
        <translation>此工具可能做出更改。若始终允许，它在所有对话中运行时都不再询问。</translation>
    </message>
    <message>
        <source>Search Hugging Face</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>搜索 Hugging Face</translation>
    </message>
    <message>
        <source>Models on the hub</source>
        <extracomment>app/ui/models/hub_page.py</extracomment>
        <translation>网站上的模型</translation>
    </message>
    <message>
        <source>fits</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>放得下</translation>
    </message>
    <message>
        <source>tight</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>勉强放下</translation>
    </message>
    <message>
        <source>too large</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>放不下</translation>
    </message>
    <message>
        <source>terms required</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>需接受条款</translation>
    </message>
    <message>
        <source>about {size}</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>约 {size}</translation>
    </message>
    <message numerus="yes">
        <source>{number} downloads a month</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>
            <numerusform>每月 {number} 次下载</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{number} likes</source>
        <extracomment>app/ui/models/hub_rows.py</extracomment>
        <translation>
            <numerusform>{number} 个赞</numerusform>
        </translation>
    </message>
    <message>
        <source>Sho&amp;w in folder</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>在文件夹中显示(&amp;W)</translation>
    </message>
    <message>
        <source>Move to &amp;trash</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>移到回收站(&amp;T)</translation>
    </message>
    <message>
        <source>In use now.</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>正在使用。</translation>
    </message>
    <message>
        <source>Details of the model</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>模型的详细信息</translation>
    </message>
    <message>
        <source>Kind</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>类型</translation>
    </message>
    <message>
        <source>Family</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>系列</translation>
    </message>
    <message>
        <source>Parameters</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>参数量</translation>
    </message>
    <message numerus="yes">
        <source>{number} tokens</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>
            <numerusform>{number} 个词元</numerusform>
        </translation>
    </message>
    <message>
        <source>Chat template</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>对话模板</translation>
    </message>
    <message>
        <source>In the file</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>在文件中</translation>
    </message>
    <message>
        <source>None: ChatML is used</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>无：使用 ChatML</translation>
    </message>
    <message>
        <source>Licence</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>许可</translation>
    </message>
    <message>
        <source>From</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>来源</translation>
    </message>
    <message>
        <source>File</source>
        <extracomment>app/ui/models/library_details.py</extracomment>
        <translation>文件</translation>
    </message>
    <message>
        <source>Chat models</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>对话模型</translation>
    </message>
    <message>
        <source>Other files</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>其他文件</translation>
    </message>
    <message>
        <source>All files</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>所有文件</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>正在查找模型…</translation>
    </message>
    <message>
        <source>No models yet. Add the folder with your models.</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>这里还没有模型。请添加存放您的模型的文件夹。</translation>
    </message>
    <message>
        <source>No model matches.</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>没有包含这些词的模型。</translation>
    </message>
    <message>
        <source>&amp;Folders</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Add folder…</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>添加文件夹(&amp;A)…</translation>
    </message>
    <message>
        <source>&amp;Clear search</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>清除搜索(&amp;C)</translation>
    </message>
    <message>
        <source>Scanning files: {done} of {number}</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>正在查看文件：{done} / {number}</translation>
    </message>
    <message numerus="yes">
        <source>{n} models, {size}</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>
            <numerusform>{n} 个模型，{size}</numerusform>
        </translation>
    </message>
    <message>
        <source>Moved “{name}” to the trash.</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>已将“{name}”移到回收站。</translation>
    </message>
    <message>
        <source>Show models of &amp;other programs</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>显示其他程序的模型(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Rescan</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>重新查找(&amp;L)</translation>
    </message>
    <message>
        <source>Downloads: {folder}</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>下载：{folder}</translation>
    </message>
    <message>
        <source>Open in the file manager</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>在文件管理器中打开</translation>
    </message>
    <message>
        <source>Choose another folder…</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>选择其他文件夹…</translation>
    </message>
    <message>
        <source>Use the default folder</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>使用默认文件夹</translation>
    </message>
    <message>
        <source>Add a folder with models</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>添加存放模型的文件夹</translation>
    </message>
    <message>
        <source>Search models</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>Files shown</source>
        <extracomment>app/ui/models/library_page.py</extracomment>
        <translation>显示的文件</translation>
    </message>
    <message>
        <source>Models</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>模型</translation>
    </message>
    <message>
        <source>Chat model</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>对话模型</translation>
    </message>
    <message>
        <source>Embedding</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>嵌入模型</translation>
    </message>
    <message>
        <source>Projector</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>投影器</translation>
    </message>
    <message>
        <source>LoRA adapter</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>LoRA 适配器</translation>
    </message>
    <message>
        <source>Other model</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>其他模型</translation>
    </message>
    <message>
        <source>Incomplete</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>不完整</translation>
    </message>
    <message>
        <source>Damaged</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>Your folder</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>您的文件夹</translation>
    </message>
    <message>
        <source>Opened file</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>打开过的文件</translation>
    </message>
    <message>
        <source>Comes with Skein</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>Skein 自带</translation>
    </message>
    <message>
        <source>In use</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>使用中</translation>
    </message>
    <message>
        <source>Needs about {needed}, but only {free} of memory is free.</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>约需 {needed}，但只有 {free} 内存可用。</translation>
    </message>
    <message>
        <source>Needs about {needed} of {free} free memory.</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>约需 {needed}，可用内存 {free}。</translation>
    </message>
    <message>
        <source>It cannot be used: {reason}.</source>
        <extracomment>app/ui/models/library_table.py</extracomment>
        <translation>无法使用：{reason}。</translation>
    </message>
    <message>
        <source>Devices are listed once a model is loaded.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>加载模型后才知道有哪些设备。</translation>
    </message>
    <message>
        <source>Devices that can hold layers:</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>可以承担层的设备：</translation>
    </message>
    <message>
        <source>This build of llama.cpp is CPU-only.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>这个构建的 llama.cpp 只用 CPU 计算。</translation>
    </message>
    <message>
        <source>{name}: {description}</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>{name}：{description}</translation>
    </message>
    <message>
        <source>The rest is shown as plain text: it has too many parts.</source>
        <extracomment>app/ui/message/markdown_column.py</extracomment>
        <translation>结尾按原文显示：其部分过多。</translation>
    </message>
    <message>
        <source>{device}, {free} of {total} free</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>{device}，可用 {free} / {total}</translation>
    </message>
    <message>
        <source>Estimating memory…</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>正在估算内存…</translation>
    </message>
    <message>
        <source>Use {tokens}</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>改用 {tokens}</translation>
    </message>
    <message>
        <source>Needs about {needed}, {free} free: fits.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>约需 {needed}；可用 {free}：放得下。</translation>
    </message>
    <message>
        <source>Needs about {needed}, {free} free: tight, other programs may be swapped out.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>约需 {needed}；可用 {free}：其他程序需要让出空间。</translation>
    </message>
    <message>
        <source>Needs about {needed}, only {free} free: does not fit.</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>约需 {needed}，但只有 {free} 可用：放不下。</translation>
    </message>
    <message>
        <source>Weights {weights}, KV cache {cells}, compute buffers {compute}, outputs {outputs}</source>
        <extracomment>app/ui/models/load_parts.py</extracomment>
        <translation>权重 {weights}，键和值 {cells}，计算 {compute}，输出 {outputs}</translation>
    </message>
    <message>
        <source>As in Settings</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>跟随全局设置</translation>
    </message>
    <message>
        <source>f16: 16 bits, exact</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>f16：16 位，精确</translation>
    </message>
    <message>
        <source>bf16: 16 bits</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>bf16：16 位</translation>
    </message>
    <message>
        <source>q8_0: 8.5 bits, nearly exact</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>q8_0：8.5 位，几乎同样精确</translation>
    </message>
    <message>
        <source>q5_1: 6 bits</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>q5_1：6 位</translation>
    </message>
    <message>
        <source>q5_0: 5.5 bits</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>q5_0：5.5 位</translation>
    </message>
    <message>
        <source>q4_1: 5 bits</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>q4_1：5 位</translation>
    </message>
    <message>
        <source>q4_0: 4.5 bits, smallest</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>q4_0：4.5 位，最小</translation>
    </message>
    <message>
        <source>Speed</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>速度</translation>
    </message>
    <message>
        <source>Batch</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>批次</translation>
    </message>
    <message>
        <source>The most tokens computed in one step, for all chats (n_batch).</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>一步中为所有对话计算的最多词元数（n_batch）。</translation>
    </message>
    <message>
        <source>Micro-batch</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>微批次</translation>
    </message>
    <message>
        <source>Tokens computed at once (n_ubatch). Larger needs more memory.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>一次计算的词元数（n_ubatch）。越大越占内存。</translation>
    </message>
    <message>
        <source>Flash attention</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>Flash Attention</translation>
    </message>
    <message>
        <source>Less memory, and usually faster.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>占用内存更少，通常更快。</translation>
    </message>
    <message>
        <source>Draft tokens</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>推测词元</translation>
    </message>
    <message>
        <source>Key cache type</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>键缓存类型</translation>
    </message>
    <message>
        <source>Fewer bits fit more tokens at slightly lower quality.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>位数越少，能容纳的词元越多，质量略低。</translation>
    </message>
    <message>
        <source>Value cache type</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>值缓存类型</translation>
    </message>
    <message>
        <source>Quantised types need flash attention.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>量化类型需要 Flash Attention。</translation>
    </message>
    <message>
        <source>Memory-map weights (mmap)</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>内存映射权重（mmap）</translation>
    </message>
    <message>
        <source>The system can reclaim this memory and read it again from the file; otherwise weights are copied.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>系统可以收回这部分内存，需要时从文件重新读取；否则权重会被复制。</translation>
    </message>
    <message>
        <source>GPU</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>GPU</translation>
    </message>
    <message>
        <source>GPU layers</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>GPU 上的层数</translation>
    </message>
    <message>
        <source>The CPU computes the rest; 0 disables the GPU.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>其余由 CPU 计算；0 表示不使用 GPU。</translation>
    </message>
    <message>
        <source>As many as fit</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>尽可能多</translation>
    </message>
    <message>
        <source>Long texts (RoPE)</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>长文本（RoPE）</translation>
    </message>
    <message>
        <source>RoPE scaling</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>RoPE 缩放</translation>
    </message>
    <message>
        <source>Extends the context beyond what the model was trained for, at lower quality.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>让上下文超出模型训练时的长度，质量会降低。</translation>
    </message>
    <message>
        <source>As the model says</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>按模型设定</translation>
    </message>
    <message>
        <source>Linear</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>线性</translation>
    </message>
    <message>
        <source>YaRN</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>YaRN</translation>
    </message>
    <message>
        <source>Factor</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>倍数</translation>
    </message>
    <message>
        <source>How many times longer the context may be.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>上下文可以延长到多少倍。</translation>
    </message>
    <message>
        <source>Default: {value}.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>默认：{value}。</translation>
    </message>
    <message>
        <source>Loaded with: {value}.</source>
        <extracomment>app/ui/models/load_rows.py</extracomment>
        <translation>当前加载值：{value}。</translation>
    </message>
    <message>
        <source>Reset all</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Load settings of {name}</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>{name} 的加载设置</translation>
    </message>
    <message>
        <source>Not used.</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>未采用。</translation>
    </message>
    <message>
        <source>&amp;Load again</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>重新加载(&amp;L)</translation>
    </message>
    <message>
        <source>Adapters (LoRA)</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>适配器（LoRA）</translation>
    </message>
    <message>
        <source>Other machines</source>
        <extracomment>app/ui/models/load_settings.py</extracomment>
        <translation>其他机器</translation>
    </message>
    <message>
        <source>&amp;Models…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>模型(&amp;M)…</translation>
    </message>
    <message>
        <source>Models on this machine, and where to get more</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>这台电脑上的模型，以及从哪里获取更多</translation>
    </message>
    <message>
        <source>Get more</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>获取更多</translation>
    </message>
    <message>
        <source>On this machine</source>
        <extracomment>app/ui/models/model_commands.py</extracomment>
        <translation>在这台电脑上</translation>
    </message>
    <message>
        <source>None yet. Run “skein worker --host ADDRESS” on another machine, then add its address.</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>还没有。请在另一台机器上运行“skein worker --host ADDRESS”，然后添加它的地址。</translation>
    </message>
    <message>
        <source>Rescan</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>重新查找</translation>
    </message>
    <message>
        <source>Address and port of a worker</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>另一台机器的地址和端口</translation>
    </message>
    <message>
        <source>At most {number} machines can be used.</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>最多只能使用 {number} 台机器。</translation>
    </message>
    <message>
        <source>Remove {address}</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>移除 {address}</translation>
    </message>
    <message>
        <source>in use now</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>正在使用</translation>
    </message>
    <message>
        <source>connecting…</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>正在查询…</translation>
    </message>
    <message>
        <source>{free} of {total} free</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>可用 {free} / {total}</translation>
    </message>
    <message>
        <source>busy with another program</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>正在为另一个程序服务</translation>
    </message>
    <message>
        <source>different llama.cpp version</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>llama.cpp 的版本不同</translation>
    </message>
    <message>
        <source>not a worker</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>不是工作节点</translation>
    </message>
    <message>
        <source>unreachable</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>无法连接</translation>
    </message>
    <message>
        <source>Stop loading; the current model stays (Esc)</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>停止加载；正在回答的模型保留 (Esc)</translation>
    </message>
    <message>
        <source>Add an e&amp;ngine…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>添加引擎(&amp;N)…</translation>
    </message>
    <message>
        <source>{reason} The model is being reloaded; the answers continue.</source>
        <extracomment>app/ui/base/notices.py</extracomment>
        <translation>{reason} 正在重新加载模型，回答会继续。</translation>
    </message>
    <message>
        <source>Goes to {host}.</source>
        <extracomment>app/ui/composer/message_draft.py</extracomment>
        <translation>将发送到 {host}。</translation>
    </message>
    <message>
        <source>Open without its draft model</source>
        <extracomment>app/ui/engine/model_loading.py</extracomment>
        <translation>不使用草稿模型打开</translation>
    </message>
    <message>
        <source>runs on {host}</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>运行于 {host}</translation>
    </message>
    <message>
        <source>Add an engine</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>添加引擎</translation>
    </message>
    <message>
        <source>Address, or a pasted link</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>地址，或粘贴的链接</translation>
    </message>
    <message>
        <source>if the server wants one</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation type="vanished">如果服务器需要</translation>
    </message>
    <message>
        <source>&amp;Check</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>检查(&amp;C)</translation>
    </message>
    <message>
        <source>Models to list above the chat</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>要在对话上方列出的模型</translation>
    </message>
    <message>
        <source>&amp;Add</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>添加(&amp;A)</translation>
    </message>
    <message>
        <source>Any server with OpenAI&apos;s API: llama-server, vLLM, SGLang, another Skein. Its chats run there. Nothing is sent before you check it or use one of its models; the key is kept in the keyring.</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation type="vanished">任何带有 OpenAI API 的服务器：llama-server、vLLM、SGLang、另一个 Skein。它的对话在那里运行。在您检查它或使用它的模型之前，不会发送任何内容；密钥保存在密钥环中。</translation>
    </message>
    <message>
        <source>Engines</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>引擎</translation>
    </message>
    <message>
        <source>The model at {host} is being loaded. Try again in a moment.</source>
        <extracomment>app/remote/skein_engine.py</extracomment>
        <translation>{host} 上的模型正在加载。请稍后再试。</translation>
    </message>
    <message>
        <source>Earlier messages could not be summed up.</source>
        <extracomment>app/bridge/summary_writer.py</extracomment>
        <translation>无法概括较早的消息。</translation>
    </message>
    <message>
        <source>The model wanted to call a tool instead.</source>
        <extracomment>app/bridge/summary_writer.py</extracomment>
        <translation>模型却想调用工具。</translation>
    </message>
    <message>
        <source>The model wrote nothing.</source>
        <extracomment>app/chats/summary.py</extracomment>
        <translation>模型什么也没有写。</translation>
    </message>
    <message>
        <source>The summary was cut off.</source>
        <extracomment>app/chats/summary.py</extracomment>
        <translation>摘要被截断了。</translation>
    </message>
    <message>
        <source>The summary is longer than a quarter of what it would replace.</source>
        <extracomment>app/chats/summary.py</extracomment>
        <translation>摘要的长度超过了它所代替内容的四分之一。</translation>
    </message>
    <message>
        <source>project</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>项目</translation>
    </message>
    <message>
        <source>facts of {chat}</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>“{chat}”的事实</translation>
    </message>
    <message>
        <source>summary of {chat}</source>
        <extracomment>app/inspector/chat_names.py</extracomment>
        <translation>{chat} 的摘要</translation>
    </message>
    <message>
        <source>Not loaded</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>未加载</translation>
    </message>
    <message>
        <source>Other engines…</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation>其他引擎…</translation>
    </message>
    <message>
        <source>Earlier messages were summed up, or their summary was removed</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation>较早的消息被概括，或其摘要被移除</translation>
    </message>
    <message>
        <source>{host} has an error: {reason}</source>
        <extracomment>app/remote/web.py</extracomment>
        <translation>{host} 出错：{reason}</translation>
    </message>
    <message>
        <source>The project has {number:,} facts and takes no more. Delete some of them first.</source>
        <extracomment>app/services/projects.py</extracomment>
        <translation>此项目已有 {number:,} 条事实，不能再添加。请先删除一些。</translation>
    </message>
    <message>
        <source>There are no facts in {file}: lines that begin with “- ”.</source>
        <extracomment>app/services/projects.py</extracomment>
        <translation type="vanished">{file} 中没有事实，即以“- ”开头的行。</translation>
    </message>
    <message>
        <source>{file} cannot be used: {reason}. Choose another one.</source>
        <extracomment>app/services/projects.py</extracomment>
        <translation>{file} 无法使用：{reason}。请选择其他文件。</translation>
    </message>
    <message>
        <source>Another model is being loaded, so the rows wait. Go on once their model is back.</source>
        <extracomment>app/services/rows.py</extracomment>
        <translation>正在加载另一个模型，因此这些行暂停。等它们的模型重新就绪后再继续。</translation>
    </message>
    <message>
        <source>Another process works on these rows already. Wait for it, or stop it.</source>
        <extracomment>app/rows/job.py</extracomment>
        <translation>另一个进程已在处理这些行。请等待它完成，或将其停止。</translation>
    </message>
    <message>
        <source>The rows cannot be kept or read: {reason}.</source>
        <extracomment>app/services/rows.py</extracomment>
        <translation>无法保存或读取这些行：{reason}。</translation>
    </message>
    <message>
        <source>From earlier in this chat</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>来自此对话的前文</translation>
    </message>
    <message>
        <source>Message {number}</source>
        <extracomment>app/ui/base/attachment_words.py</extracomment>
        <translation>消息 {number}</translation>
    </message>
    <message>
        <source>Sum up earlier messa&amp;ges</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>概括较早的消息(&amp;G)</translation>
    </message>
    <message>
        <source>A summary takes the place of what was said so far, for the model; the messages stay</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>对模型而言，由摘要代替此前的内容；消息保留</translation>
    </message>
    <message>
        <source>There must be an answer that is not summed up, and a loaded model with a chat template.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>需要有尚未概括的回答，以及一个已加载且带对话模板的模型。</translation>
    </message>
    <message>
        <source>Split into &amp;parallel tasks…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation type="vanished">拆分为并行任务(&amp;P)…</translation>
    </message>
    <message>
        <source>Have several tasks worked on at once, each in a fork of this chat</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>同时处理多个任务，每个任务在此对话的一个分支中进行</translation>
    </message>
    <message>
        <source>Load a model first, and wait for the running answer.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>请先加载模型，并等待正在进行的回答结束。</translation>
    </message>
    <message>
        <source>&amp;What this chat was told…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>此对话被告知的内容(&amp;W)…</translation>
    </message>
    <message>
        <source>The text that stands before its messages: instructions, documents, facts</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>位于其消息之前的文本：说明、文档、事实</translation>
    </message>
    <message>
        <source>Mo&amp;ve to its own window</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>移到单独的窗口(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Use in all open chats</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>用于所有打开的聊天(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Rows…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>表格行(&amp;R)…</translation>
    </message>
    <message>
        <source>Ask one prompt about each row of a table</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>对表格的每一行提出同一个问题</translation>
    </message>
    <message>
        <source>Sum up</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>概括</translation>
    </message>
    <message>
        <source>A summary takes the place of earlier messages, which stay in the chat.</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>由摘要代替较早的消息，消息仍留在对话中。</translation>
    </message>
    <message>
        <source>Sum up when full</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>写满时概括</translation>
    </message>
    <message>
        <source>Sum up at (%)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>概括阈值（%）</translation>
    </message>
    <message>
        <source>A chat that fills this share of its context is summed up, if that is its way.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>若对话选择了概括，当它占满上下文的这一比例时就会被概括。</translation>
    </message>
    <message>
        <source>Levels of tasks</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>任务层级</translation>
    </message>
    <message>
        <source>2: a task that works side by side with others may hand out tasks of its own.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>2：并行处理的任务也可以再分派自己的任务。</translation>
    </message>
    <message>
        <source>&amp;Project…</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>项目(&amp;P)…</translation>
    </message>
    <message>
        <source>Make it a &amp;project…</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>设为项目(&amp;P)…</translation>
    </message>
    <message>
        <source>&amp;New chat in this folder</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>在此文件夹中新建对话(&amp;N)</translation>
    </message>
    <message>
        <source>Project {name}, {chats}</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>项目 {name}，{chats}</translation>
    </message>
    <message>
        <source>Earlier messages will be summed up to make room for this message.</source>
        <extracomment>app/ui/composer/context_meter.py</extracomment>
        <translation>将概括较早的消息，为这条消息腾出空间。</translation>
    </message>
    <message>
        <source>Summary of the messages above</source>
        <extracomment>app/ui/data/chat_files.py</extracomment>
        <translation>以上消息的摘要</translation>
    </message>
    <message>
        <source>{name} has answered so far. Its file is gone.</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation>到目前为止由 {name} 回答。它的文件已不存在。</translation>
    </message>
    <message>
        <source>{name} has answered so far. Its server is not in your list of engines any more.</source>
        <extracomment>app/ui/engine/chat_models.py</extracomment>
        <translation>到目前为止由 {name} 回答。它的服务器已不在你的引擎列表中。</translation>
    </message>
    <message>
        <source>loaded</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>已加载</translation>
    </message>
    <message>
        <source>Runs on {host}: what is asked is sent there.</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>在 {host} 上运行：提问会发送到那里。</translation>
    </message>
    <message>
        <source>connecting again</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>正在重新连接</translation>
    </message>
    <message>
        <source>Any server with OpenAI&apos;s API: llama-server, vLLM, SGLang, another Skein. Its chats run there. Nothing is sent before you check it or use one of its models.</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>任何带有 OpenAI API 的服务器：llama-server、vLLM、SGLang、另一个 Skein。它的对话在那里运行。在您检查它或使用它的模型之前，不会发送任何内容。</translation>
    </message>
    <message>
        <source>If the server wants one. It is kept in the keyring.</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>如果服务器需要。它保存在密钥环中。</translation>
    </message>
    <message>
        <source>Asking {url}…</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>正在询问 {url}…</translation>
    </message>
    <message>
        <source>Nobody known vouches for the certificate of {url}. Trust it if the server shows the same fingerprint (SHA-256): {fingerprint}</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>{url} 的证书没有已知机构担保。如果服务器显示相同的指纹 (SHA-256)，请信任它：{fingerprint}</translation>
    </message>
    <message>
        <source>Trust it</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>信任</translation>
    </message>
    <message numerus="yes">
        <source>{program}, {n} models</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>
            <numerusform>{program}，{n} 个模型</numerusform>
        </translation>
    </message>
    <message>
        <source>{url} is added. Choose its models above the chat.</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>已添加 {url}。请在对话上方选择它的模型。</translation>
    </message>
    <message numerus="yes">
        <source>{n} models</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>
            <numerusform>{n} 个模型</numerusform>
        </translation>
    </message>
    <message>
        <source>{url} is removed.</source>
        <extracomment>app/ui/models/engines_dialog.py</extracomment>
        <translation>已移除 {url}。</translation>
    </message>
    <message numerus="yes">
        <source>{n} facts proposed</source>
        <extracomment>app/ui/projects/chat_projects.py</extracomment>
        <translation>
            <numerusform>建议了 {n} 条事实</numerusform>
        </translation>
    </message>
    <message>
        <source>“{name}” is a plain folder now. Its chats are kept.</source>
        <extracomment>app/ui/projects/chat_projects.py</extracomment>
        <translation>“{name}”现在是普通文件夹。其中的对话已保留。</translation>
    </message>
    <message>
        <source>This chat is told nothing before its messages.</source>
        <extracomment>app/ui/projects/chat_projects.py</extracomment>
        <translation>此对话在其消息之前没有被告知任何内容。</translation>
    </message>
    <message>
        <source>What this chat was told</source>
        <extracomment>app/ui/projects/chat_projects.py</extracomment>
        <translation>此对话被告知的内容</translation>
    </message>
    <message>
        <source>The next message begins with this text.</source>
        <extracomment>app/ui/projects/chat_projects.py</extracomment>
        <translation>下一条消息之前将是这段文本。</translation>
    </message>
    <message>
        <source>What “{title}” was told</source>
        <extracomment>app/ui/projects/chat_projects.py</extracomment>
        <translation>“{title}”被告知的内容</translation>
    </message>
    <message>
        <source>From a deleted chat</source>
        <extracomment>app/ui/projects/fact_list.py</extracomment>
        <translation>来自已删除的对话</translation>
    </message>
    <message>
        <source>From “{title}”</source>
        <extracomment>app/ui/projects/fact_list.py</extracomment>
        <translation>来自“{title}”</translation>
    </message>
    <message>
        <source>Fact</source>
        <extracomment>app/ui/projects/fact_list.py</extracomment>
        <translation>事实</translation>
    </message>
    <message>
        <source>Instructions</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>说明</translation>
    </message>
    <message>
        <source>What every chat here begins with</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>这里每个对话的开头</translation>
    </message>
    <message>
        <source>Documents</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>文档</translation>
    </message>
    <message>
        <source>Model</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>模型</translation>
    </message>
    <message>
        <source>Let the model propose facts</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>让模型建议事实</translation>
    </message>
    <message>
        <source>None yet. Write one below, or accept what the model proposes.</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>还没有。请在下方写一条，或采纳模型的建议。</translation>
    </message>
    <message numerus="yes">
        <source>The model is told {n} facts.</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>
            <numerusform>模型会得知 {n} 条事实。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} older facts do not fit.</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>
            <numerusform>有 {n} 条较早的事实放不下。</numerusform>
        </translation>
    </message>
    <message>
        <source>Proposed facts</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>建议的事实</translation>
    </message>
    <message>
        <source>Facts</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>事实</translation>
    </message>
    <message>
        <source>As in other chats</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>与其他对话相同</translation>
    </message>
    <message>
        <source>Manage shelves…</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>管理书架…</translation>
    </message>
    <message>
        <source>Dropped a proposed fact.</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>已舍弃一条建议的事实。</translation>
    </message>
    <message>
        <source>Deleted a fact.</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>已删除一条事实。</translation>
    </message>
    <message>
        <source>Import facts</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>导入事实</translation>
    </message>
    <message numerus="yes">
        <source>Imported {n} facts.</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>
            <numerusform>已导入 {n} 条事实。</numerusform>
        </translation>
    </message>
    <message>
        <source>Export facts</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>导出事实</translation>
    </message>
    <message>
        <source>Another fact</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>再添一条事实</translation>
    </message>
    <message>
        <source>&amp;Accept</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>采纳(&amp;A)</translation>
    </message>
    <message>
        <source>Edi&amp;t</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>编辑(&amp;T)</translation>
    </message>
    <message>
        <source>D&amp;rop</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>舍弃(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Show message</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>显示消息(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>导入(&amp;I)…</translation>
    </message>
    <message>
        <source>E&amp;xport…</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>导出(&amp;X)…</translation>
    </message>
    <message>
        <source>Turn into a plain &amp;folder</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>变为普通文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>No chat is told them before you accept them.</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>在你采纳之前，任何对话都不会得知它们。</translation>
    </message>
    <message>
        <source>New chats</source>
        <extracomment>app/ui/projects/project_window.py</extracomment>
        <translation>新对话</translation>
    </message>
    <message>
        <source>answered</source>
        <extracomment>app/ui/rows/rows_table.py</extracomment>
        <translation>已回答</translation>
    </message>
    <message>
        <source>Rows</source>
        <extracomment>app/ui/rows/rows_table.py</extracomment>
        <translation>表格行</translation>
    </message>
    <message>
        <source>What to ask about each row, its values at the end</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>对每一行要问什么，把它的值放在末尾</translation>
    </message>
    <message>
        <source>A JSON schema. Each property becomes a column</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>JSON Schema。每个属性成为一列</translation>
    </message>
    <message>
        <source>One of some words</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>若干词之一</translation>
    </message>
    <message>
        <source>Number</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>数字</translation>
    </message>
    <message>
        <source>JSON by a schema</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>符合 JSON Schema</translation>
    </message>
    <message>
        <source>Ask one prompt about each row of a table: CSV, TSV, XLSX, JSONL, or a folder of files. What all prompts begin with is computed once.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>对表格的每一行提出同一个问题：CSV、TSV、XLSX、JSONL，或一个文件夹中的文件。所有提示词共同的开头只计算一次。</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.xlsx *.xlsm *.jsonl *.ndjson *.json *.txt)</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>表格 (*.csv *.tsv *.xlsx *.xlsm *.jsonl *.ndjson *.json *.txt)</translation>
    </message>
    <message>
        <source>Reading the table: {rows}</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>正在读取表格：{rows}</translation>
    </message>
    <message>
        <source>The first rows of the table</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>表格的前几行</translation>
    </message>
    <message>
        <source>{done} of {rows} answered</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>已回答 {done} / {rows}</translation>
    </message>
    <message>
        <source>{number} failed</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>{number} 行失败</translation>
    </message>
    <message>
        <source>{number} rows a minute</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>每分钟 {number} 行</translation>
    </message>
    <message>
        <source>{share} of the first prompt is shared by all rows.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>第一条提示词的 {share} 由所有行共享。</translation>
    </message>
    <message>
        <source>With its values at the end it would be {share}.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>如果把值放在末尾，则为 {share}。</translation>
    </message>
    <message>
        <source>Choose a &amp;table</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>选择表格(&amp;T)</translation>
    </message>
    <message>
        <source>Ear&amp;lier</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>以前的(&amp;L)</translation>
    </message>
    <message>
        <source>Votes</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>投票数</translation>
    </message>
    <message>
        <source>Pre&amp;view</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>预览(&amp;V)</translation>
    </message>
    <message>
        <source>As&amp;k again</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>重新提问(&amp;K)</translation>
    </message>
    <message>
        <source>Use that or&amp;der</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>采用此顺序(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>暂停(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Go on</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>继续(&amp;G)</translation>
    </message>
    <message>
        <source>The answers below are to an earlier prompt, or by another model. They are kept.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>下面的回答针对的是以前的提示词，或来自另一个模型。它们会保留。</translation>
    </message>
    <message>
        <source>Insert {column}</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>插入 {column}</translation>
    </message>
    <message>
        <source>Replaced the prompt.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>已替换提示词。</translation>
    </message>
    <message>
        <source>Moved the values to the end.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>已将值移到末尾。</translation>
    </message>
    <message>
        <source>&amp;Delete the answers below</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>删除下面的回答(&amp;D)</translation>
    </message>
    <message>
        <source>Deleted the answers.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>已删除回答。</translation>
    </message>
    <message>
        <source>Export rows</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>导出表格行</translation>
    </message>
    <message>
        <source>{name} answered</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>{name} 已回答</translation>
    </message>
    <message>
        <source>Saved as {path}.</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>已保存为 {path}。</translation>
    </message>
    <message>
        <source>Read {name}</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>读取 {name}</translation>
    </message>
    <message>
        <source>A table</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>一个表格</translation>
    </message>
    <message>
        <source>A folder, each file of which is a row</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>一个文件夹，其中每个文件为一行</translation>
    </message>
    <message>
        <source>A &amp;file…</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>文件(&amp;F)…</translation>
    </message>
    <message>
        <source>A f&amp;older of files…</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>文件夹(&amp;O)…</translation>
    </message>
    <message>
        <source>positive, negative, neutral</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>正面, 负面, 中性</translation>
    </message>
    <message>
        <source>The words, with commas between them</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>各个词，用逗号分隔</translation>
    </message>
    <message>
        <source>Ask so many times and take what most answers say, with their share</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>提问这么多次，采用多数回答的内容，并附上其比例</translation>
    </message>
    <message>
        <source>Answer the first {number} rows</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>回答前 {number} 行</translation>
    </message>
    <message>
        <source>Ask again about the rows that failed</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>对失败的行重新提问</translation>
    </message>
    <message>
        <source>Choose a ta&amp;ble…</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>选择表格(&amp;B)…</translation>
    </message>
    <message>
        <source>Ans&amp;wer</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>回答(&amp;W)</translation>
    </message>
    <message>
        <source>V&amp;otes</source>
        <extracomment>app/ui/rows/rows_window.py</extracomment>
        <translation>投票数(&amp;O)</translation>
    </message>
    <message>
        <source>Random</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>随机</translation>
    </message>
    <message>
        <source>Truncation</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>截断</translation>
    </message>
    <message>
        <source>Typical-p</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Typical-p</translation>
    </message>
    <message>
        <source>Locally typical sampling: keeps tokens whose information content is close to expected; 1 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>局部典型采样：保留信息量接近期望值的词元；1 表示关闭。</translation>
    </message>
    <message>
        <source>Top-nσ</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Top-nσ</translation>
    </message>
    <message>
        <source>Keeps tokens within this many standard deviations of the top logit; 0 or less is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>只考虑距最可能词元这么多个标准差以内的词元；0 或更小表示关闭。</translation>
    </message>
    <message>
        <source>XTC probability</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>XTC 概率</translation>
    </message>
    <message>
        <source>How often the most likely tokens are removed in favour of others; 0 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>以多大概率移除最可能的词元，让位给其他词元；0 表示关闭。</translation>
    </message>
    <message>
        <source>XTC threshold</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>XTC 阈值</translation>
    </message>
    <message>
        <source>Probability from which XTC may remove a token; above 0.5 it is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>概率达到此值的词元可能被 XTC 移除；超过 0.5 则关闭。</translation>
    </message>
    <message>
        <source>Min keep</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>最少保留</translation>
    </message>
    <message>
        <source>At least this many tokens stay, whatever the samplers above remove.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>无论上面的设置省略什么，都保留这么多词元。</translation>
    </message>
    <message>
        <source>Dynamic temperature range</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>动态温度范围</translation>
    </message>
    <message>
        <source>How far the temperature varies with the entropy of the distribution; 0 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>温度随分布的熵变动的幅度；0 表示关闭。</translation>
    </message>
    <message>
        <source>Dynamic exponent</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>动态指数</translation>
    </message>
    <message>
        <source>How temperature follows entropy; 1 is linear.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>温度如何跟随熵；1 表示线性。</translation>
    </message>
    <message>
        <source>Repetition</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>重复</translation>
    </message>
    <message>
        <source>Penalty window</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>惩罚窗口</translation>
    </message>
    <message>
        <source>How many recent tokens the penalties consider; 0 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>惩罚查看最近多少个词元；0 表示关闭。</translation>
    </message>
    <message>
        <source>Frequency penalty</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>频率惩罚</translation>
    </message>
    <message>
        <source>Lowers a token&apos;s logit for each occurrence; 0 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>词元每出现一次，其 logit 就降低此值；0 表示关闭。</translation>
    </message>
    <message>
        <source>Presence penalty</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>存在惩罚</translation>
    </message>
    <message>
        <source>Lowers a token&apos;s logit if it occurred at all; 0 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>词元只要出现过，其 logit 就降低此值；0 表示关闭。</translation>
    </message>
    <message>
        <source>DRY multiplier</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>DRY 强度</translation>
    </message>
    <message>
        <source>Penalises repeated sequences; 0 is off, 0.8 is common.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>抑制整段序列的重复；0 表示关闭，通常为 0.8。</translation>
    </message>
    <message>
        <source>DRY base</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>DRY 底数</translation>
    </message>
    <message>
        <source>How fast the penalty grows with the length of the repetition.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>抑制随重复长度增长的速度。</translation>
    </message>
    <message>
        <source>DRY allowed length</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>DRY 允许长度</translation>
    </message>
    <message>
        <source>Sequences up to this many tokens may repeat.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>不超过这么多词元的序列可以重复。</translation>
    </message>
    <message>
        <source>DRY window</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>DRY 范围</translation>
    </message>
    <message>
        <source>How many recent tokens DRY considers; 0 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>查看最近多少个词元；0 表示关闭。</translation>
    </message>
    <message>
        <source>DRY breakers</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>DRY 分隔符</translation>
    </message>
    <message>
        <source>Strings that end a sequence, as a JSON list.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>序列在这些文本处结束，写成 JSON 列表。</translation>
    </message>
    <message>
        <source>Mirostat</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Mirostat</translation>
    </message>
    <message>
        <source>1 or 2 holds perplexity steady, replacing top-k, top-p and the like; 0 is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>1 或 2 使困惑度保持平稳，代替 top-k、top-p 等；0 表示关闭。</translation>
    </message>
    <message>
        <source>Mirostat target (tau)</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Mirostat 目标（tau）</translation>
    </message>
    <message>
        <source>Target surprise in bits per token.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>目标意外度，以每词元的比特数计。</translation>
    </message>
    <message>
        <source>Mirostat rate (eta)</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Mirostat 速率（eta）</translation>
    </message>
    <message>
        <source>How fast it returns to the target.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>多快回到目标。</translation>
    </message>
    <message>
        <source>Constraints</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>约束</translation>
    </message>
    <message>
        <source>JSON schema</source>
        <extracomment>app/engine/prompts/answer_grammars.py</extracomment>
        <translation>JSON Schema</translation>
    </message>
    <message>
        <source>Ignore end of text</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>忽略结束词元</translation>
    </message>
    <message>
        <source>Generates until the length limit (ignore_eos).</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>一直生成到长度上限（ignore_eos）。</translation>
    </message>
    <message>
        <source>Logit bias</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Logit 偏置</translation>
    </message>
    <message>
        <source>Token ids and biases as JSON, such as [[15043, -2], [5, false]]; false bans a token.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>词元编号和偏置的 JSON 对，例如 [[15043, -2], [5, false]]；false 表示从不。</translation>
    </message>
    <message>
        <source>Has no effect while Mirostat is on.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Mirostat 开启时不起作用。</translation>
    </message>
    <message>
        <source>Has no effect at temperature 0.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>温度为 0 时不起作用。</translation>
    </message>
    <message>
        <source>Has no effect while XTC probability is 0.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>XTC 概率为 0 时不起作用。</translation>
    </message>
    <message>
        <source>Has no effect while the DRY multiplier is 0.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>DRY 强度为 0 时不起作用。</translation>
    </message>
    <message>
        <source>Has no effect while Mirostat is off.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>Mirostat 关闭时不起作用。</translation>
    </message>
    <message>
        <source>Has no effect while the dynamic temperature range is 0.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>动态温度为 0 时不起作用。</translation>
    </message>
    <message>
        <source>Not used: must not be below the dynamic temperature range, {value}.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>未采用：不能低于动态温度 {value}。</translation>
    </message>
    <message>
        <source>Not used: must not exceed the temperature, {value}.</source>
        <extracomment>app/ui/settings/sampling_words.py</extracomment>
        <translation>未采用：不能大于温度 {value}。</translation>
    </message>
    <message>
        <source>Start</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>开始</translation>
    </message>
    <message>
        <source>Self-test</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>自检</translation>
    </message>
    <message>
        <source>Chats are being answered, so the test may take longer.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>正在回答对话，因此检测可能需要更长时间。</translation>
    </message>
    <message>
        <source>Starting</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>正在启动</translation>
    </message>
    <message>
        <source>Start again</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>重新开始</translation>
    </message>
    <message>
        <source>Cancelling</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>正在取消</translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>已复制。</translation>
    </message>
    <message>
        <source>Checks</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>检测项目</translation>
    </message>
    <message>
        <source>Loads {name} again in its own process, with {slots} and {cells}, and asks it test questions. Shows whether chats that share a context affect or slow each other on this computer.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>在独立的进程中再次加载 {name}，使用 {slots}和 {cells}，并让它回答测试问题。结果显示在这台电脑上，共享上下文的对话是否互相影响或拖慢。</translation>
    </message>
    <message numerus="yes">
        <source>{n} slots</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>
            <numerusform>{n} 个槽位</numerusform>
        </translation>
    </message>
    <message>
        <source>{number} cells</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>{number} 个单元</translation>
    </message>
    <message>
        <source>{number} cells, isolated</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>{number} 个单元（隔离）</translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>已取消。</translation>
    </message>
    <message>
        <source>{counts} in {time}.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>{counts}，用时 {time}。</translation>
    </message>
    <message>
        <source>Needs up to {needed} of memory while it runs; {free} free. Your chats continue.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>运行时最多需要 {needed} 内存；可用 {free}。您的对话会继续。</translation>
    </message>
    <message>
        <source>Needs up to {needed} of memory while it runs, but only {free} free. Close other programs first: the test may fail, and this computer may become slow.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>运行时最多需要 {needed} 内存，但只有 {free} 可用。请先关闭其他程序：检测可能失败，这台电脑也可能变慢。</translation>
    </message>
    <message>
        <source>{number} GiB</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation>{number} GiB</translation>
    </message>
    <message>
        <source>Report as JSON (*.json)</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>JSON 报告 (*.json)</translation>
    </message>
    <message>
        <source>Report as text (*.txt)</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>文本报告 (*.txt)</translation>
    </message>
    <message>
        <source>&amp;Self-test…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>自检(&amp;S)…</translation>
    </message>
    <message>
        <source>Check that chats do not affect each other&apos;s answers, with this model on this computer</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>检查用这个模型在这台电脑上，对话之间互不影响</translation>
    </message>
    <message>
        <source>Self-test: {result}</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>自检：{result}</translation>
    </message>
    <message>
        <source>Saved in {name}.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>已保存到 {name}。</translation>
    </message>
    <message>
        <source>Save report</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>passed</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>通过</translation>
    </message>
    <message>
        <source>skipped</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>跳过</translation>
    </message>
    <message>
        <source>running</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>正在运行</translation>
    </message>
    <message>
        <source>Done: {what}.</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>做法：{what}。</translation>
    </message>
    <message>
        <source>{outcome}, {time}</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>{outcome}，{time}</translation>
    </message>
    <message>
        <source>Seen: {what}</source>
        <extracomment>app/ui/engine/self_test.py</extracomment>
        <translation>结果：{what}</translation>
    </message>
    <message>
        <source>Stop this answer (Esc)</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>停止这个回答 (Esc)</translation>
    </message>
    <message>
        <source>Queue</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>排队</translation>
    </message>
    <message>
        <source>Send</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>发送</translation>
    </message>
    <message>
        <source>Enter</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>Enter</translation>
    </message>
    <message>
        <source>Queue: send when this answer is done ({key})</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>排队：这个回答完成后发送 ({key})</translation>
    </message>
    <message>
        <source>Send ({key})</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>发送 ({key})</translation>
    </message>
    <message>
        <source>More ways to send</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>更多发送方式</translation>
    </message>
    <message>
        <source>&amp;Send</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>发送(&amp;S)</translation>
    </message>
    <message>
        <source>Add &amp;without asking</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation type="vanished">添加而不提问(&amp;W)</translation>
    </message>
    <message>
        <source>As your message, without an answer for now</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation type="vanished">作为您的一条尚未回答的消息</translation>
    </message>
    <message>
        <source>Add as &amp;answer</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation type="vanished">作为回答添加(&amp;A)</translation>
    </message>
    <message>
        <source>As if the model had written it</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>如同模型所写</translation>
    </message>
    <message>
        <source>&amp;Queue</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>排队(&amp;Q)</translation>
    </message>
    <message>
        <source>Recommended</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>按推荐</translation>
    </message>
    <message>
        <source>{points} pt</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>{points} 磅</translation>
    </message>
    <message>
        <source>Automatic: {tokens} tokens.</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>“自动”在这里是 {tokens} 个词元。</translation>
    </message>
    <message>
        <source>{part} tokens per slot ({pool} / {slots}).</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>即每个槽位 {part} 个词元（{pool} / {slots}）。</translation>
    </message>
    <message numerus="yes">
        <source>This computer has {n} physical cores.</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>
            <numerusform>这台电脑有 {n} 个物理核心。</numerusform>
        </translation>
    </message>
    <message>
        <source>Recommended for {model}: {value}.</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>{model} 的推荐值：{value}。</translation>
    </message>
    <message>
        <source>General</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>常规</translation>
    </message>
    <message>
        <source>Language</source>
        <extracomment>app/look/fonts.py</extracomment>
        <translation>语言</translation>
    </message>
    <message>
        <source>llama_decode returned {code}: aborted, as the answers were stopped.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation>llama_decode 返回 {code}：已中止，因为回答被停止。</translation>
    </message>
    <message>
        <source>its names are too long</source>
        <extracomment>app/models/gguf_header.py</extracomment>
        <translation>其中的名称过长</translation>
    </message>
    <message>
        <source>its parts claim more tensors than any model has</source>
        <extracomment>app/models/model_file.py</extracomment>
        <translation>其各部分声称的权重比任何模型都多</translation>
    </message>
    <message>
        <source>{shared}; {forked}; {restored}; {cut_back}; {alike}</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>{shared}；{forked}；{restored}；{cut_back}；{alike}</translation>
    </message>
    <message>
        <source>after an edit only {kept} of the {common} tokens before it were kept</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>编辑之后，此前的 {common} 个词元中只保留了 {kept} 个</translation>
    </message>
    <message>
        <source>a checkpoint kept {number} tokens of an edited chat</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>检查点保留了被编辑对话的 {number} 个词元</translation>
    </message>
    <message>
        <source>{number} tokens of an edited chat were kept</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>被编辑对话的 {number} 个词元得以保留</translation>
    </message>
    <message>
        <source>started two chats with the same {number} tokens; forked, hibernated, restored and edited one</source>
        <extracomment>app/selftest/checks.py</extracomment>
        <translation>让两个对话以相同的 {number} 个词元开始，为其中一个建立分支，休眠、恢复并编辑了它</translation>
    </message>
    <message>
        <source>New notebook</source>
        <extracomment>app/ui/base/titles.py</extracomment>
        <translation>新笔记本</translation>
    </message>
    <message>
        <source>Normal</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>标准</translation>
    </message>
    <message>
        <source>Wide</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>较宽</translation>
    </message>
    <message>
        <source>Full width</source>
        <extracomment>app/ui/base/setting.py</extracomment>
        <translation>全宽</translation>
    </message>
    <message>
        <source>New note&amp;book</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>新建笔记本(&amp;B)</translation>
    </message>
    <message>
        <source>Open a page of plain text that the model continues</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>打开一页由模型续写的纯文本</translation>
    </message>
    <message>
        <source>S&amp;witch model…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>切换模型(&amp;W)…</translation>
    </message>
    <message>
        <source>Choose the model that answers</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>选择用来回答的模型</translation>
    </message>
    <message>
        <source>&amp;Get more models…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>获取更多模型(&amp;G)…</translation>
    </message>
    <message>
        <source>Models to download that fit this machine</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>适合这台电脑的可下载模型</translation>
    </message>
    <message>
        <source>E&amp;ject</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>卸载(&amp;J)</translation>
    </message>
    <message>
        <source>&amp;Guide</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>指南(&amp;G)</translation>
    </message>
    <message>
        <source>How Skein works, page by page</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>逐页说明 Skein 的工作方式</translation>
    </message>
    <message>
        <source>Open {name}</source>
        <extracomment>app/ui/base/dropped.py</extracomment>
        <translation>打开 {name}</translation>
    </message>
    <message numerus="yes">
        <source>Attach {n} files</source>
        <extracomment>app/ui/base/dropped.py</extracomment>
        <translation>
            <numerusform>附加 {n} 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>Attach {name}</source>
        <extracomment>app/ui/base/dropped.py</extracomment>
        <translation>附加 {name}</translation>
    </message>
    <message>
        <source>Guide</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>指南</translation>
    </message>
    <message>
        <source>{model} needs none: it can be rolled back anywhere.</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>{model} 不需要检查点：它可以回到任意位置。</translation>
    </message>
    <message>
        <source>Automatic: {size}.</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>在这里，自动为 {size}。</translation>
    </message>
    <message>
        <source>Takes effect when Skein restarts.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>重新启动 Skein 后生效。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>外观</translation>
    </message>
    <message>
        <source>Theme</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>主题</translation>
    </message>
    <message>
        <source>Text size</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>文字大小</translation>
    </message>
    <message>
        <source>Width of messages</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>消息宽度</translation>
    </message>
    <message>
        <source>How much of a wide window the text fills.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>文字在宽窗口中占多宽。</translation>
    </message>
    <message>
        <source>Interface font</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>界面字体</translation>
    </message>
    <message>
        <source>Message font</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>消息字体</translation>
    </message>
    <message>
        <source>Code font</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>代码字体</translation>
    </message>
    <message>
        <source>Motion</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>动画</translation>
    </message>
    <message>
        <source>Enter sends the message</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Enter 发送消息</translation>
    </message>
    <message>
        <source>&amp;Add an engine…</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation type="vanished">添加引擎(&amp;A)…</translation>
    </message>
    <message>
        <source>Models that a server runs, on this machine or another</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>由服务器运行的模型，在本机或其他机器上</translation>
    </message>
    <message>
        <source>Use in &amp;all open chats</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation type="vanished">用于所有打开的聊天(&amp;A)</translation>
    </message>
    <message>
        <source>All open chats are answered by the model of this one</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>所有打开的聊天都由此聊天的模型回答</translation>
    </message>
    <message>
        <source>All open chats have this model.</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>所有打开的聊天都已使用此模型。</translation>
    </message>
    <message>
        <source>&amp;Keep loaded</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>保持加载(&amp;K)</translation>
    </message>
    <message>
        <source>The model stays in memory, also when another one needs room or it is idle</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>模型保留在内存中，即使其他模型需要空间或它处于空闲状态</translation>
    </message>
    <message>
        <source>Shift+Enter inserts a new line. If off, Enter does, and Ctrl+Enter sends.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Shift+Enter 换行。否则 Enter 换行，Ctrl+Enter 发送。</translation>
    </message>
    <message>
        <source>Name chats automatically</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>自动标题</translation>
    </message>
    <message>
        <source>A new chat takes its title from its first message until you rename it.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>新对话以第一条消息命名，直到您另起名称。</translation>
    </message>
    <message>
        <source>Read ahead while typing</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>输入时预先读取</translation>
    </message>
    <message>
        <source>Computes your message while you type, when the engine is idle. Not on battery.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>您输入的内容在发送前、没有其他计算时就先行计算。使用电池时不会这样做。</translation>
    </message>
    <message>
        <source>Instructions for the model in every new chat.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>每个新对话中给模型的指示。</translation>
    </message>
    <message>
        <source>None</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>无</translation>
    </message>
    <message>
        <source>When a chat is full</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>对话已满时</translation>
    </message>
    <message>
        <source>What to do when a chat fills its context; each chat can choose its own way.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>对话占满上下文时如何处理；每个对话可以自行选择。</translation>
    </message>
    <message>
        <source>Sampling</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>采样</translation>
    </message>
    <message>
        <source>For every chat without its own sampling settings.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>用于没有单独设置采样的所有对话。</translation>
    </message>
    <message>
        <source>Temperature</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>温度</translation>
    </message>
    <message>
        <source>0 always picks the most likely token; higher values are more varied.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>0 总是选择最可能的词元；值越高越多样。</translation>
    </message>
    <message>
        <source>Top-k</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Sample from the k most likely tokens; 0 is off.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>从最可能的 k 个词元中采样；0 表示关闭。</translation>
    </message>
    <message>
        <source>Top-p</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Sample from the most likely tokens that together reach this probability; 1 is off.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>从概率之和达到此值的最可能词元中采样；1 表示关闭。</translation>
    </message>
    <message>
        <source>Min-p</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Removes tokens less likely than this fraction of the most likely one; 0 is off.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>移除概率低于最可能词元这一比例的词元；0 表示关闭。</translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Makes recent tokens less likely; 1 is off.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>降低近期词元的概率；1 表示关闭。</translation>
    </message>
    <message>
        <source>Maximum answer length</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>最长回答</translation>
    </message>
    <message>
        <source>The most tokens an answer may have.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>一个回答最多可以有多少词元。</translation>
    </message>
    <message>
        <source>The most rounds of tool calls in one answer.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>一个回答最多可以有多少轮工具调用。</translation>
    </message>
    <message>
        <source>Engine</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Scheduling</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>调度</translation>
    </message>
    <message>
        <source>How each step is shared between running answers and new prompts.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>每一步如何在正在生成的回答和新提示词之间分配。</translation>
    </message>
    <message>
        <source>Threads</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>线程</translation>
    </message>
    <message>
        <source>CPU threads that llama.cpp computes with.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>用多少个 CPU 线程计算。</translation>
    </message>
    <message>
        <source>Proposes tokens from the chat&apos;s own text, by the model&apos;s heads or by a draft model, and checks several in one step, if faster.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>从对话自身的文本、由模型的预测头或草稿模型推测词元，一步检验多个；仅在更快时进行。</translation>
    </message>
    <message>
        <source>Verify every step</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>检查每一步</translation>
    </message>
    <message>
        <source>Compares Skein&apos;s records with llama.cpp&apos;s after every step, not only when idle. Slower.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>每一步之后都把 Skein 的记录与 llama.cpp 的比较，而不只在空闲时；会变慢。</translation>
    </message>
    <message>
        <source>Context</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Context pool (all chats)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>上下文池（所有对话）</translation>
    </message>
    <message>
        <source>Tokens for all chats together.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>所有对话共用的词元数。</translation>
    </message>
    <message>
        <source>Parallel chats (slots)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>并行对话（槽位）</translation>
    </message>
    <message>
        <source>Answers computed at the same time.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>同时计算多少个回答。</translation>
    </message>
    <message>
        <source>Isolated memory</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>隔离内存</translation>
    </message>
    <message>
        <source>Each slot gets its own part of the pool. If off, shared prefixes are stored once.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>每个槽位独自拥有池的一部分；否则相同的开头只保存一次。</translation>
    </message>
    <message>
        <source>Memory for checkpoints (MiB)</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>检查点内存 (MiB)</translation>
    </message>
    <message>
        <source>For models that cannot remove an arbitrary tail: saved positions in a chat to roll back to.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>用于不能任意删去末尾的模型：保存对话中可以退回的位置。</translation>
    </message>
    <message>
        <source>Limit per chat</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>每个对话的上限</translation>
    </message>
    <message>
        <source>The most tokens a chat may have; each chat can set its own limit.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>一个对话最多可以有的词元数；每个对话可以设置自己的上限。</translation>
    </message>
    <message>
        <source>Whole context</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>整个上下文</translation>
    </message>
    <message>
        <source>Programs on this computer that have the key can use the model, too.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>这台电脑上持有密钥的程序也可以使用模型。</translation>
    </message>
    <message>
        <source>A port that no other program uses.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>没有其他程序使用的端口。</translation>
    </message>
    <message>
        <source>Shortcuts</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Privacy &amp; data</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>隐私与数据</translation>
    </message>
    <message>
        <source>Models run on this computer; nothing you write leaves it.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>模型在这台电脑上运行，您写的内容不会离开它。</translation>
    </message>
    <message>
        <source>Only your account can read the files with chats, settings and logs.</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>只有您的账户能读取保存对话、设置和日志的文件。</translation>
    </message>
    <message>
        <source>Back to the default: {setting}</source>
        <extracomment>app/ui/base/option_row.py</extracomment>
        <translation>恢复默认值：{setting}</translation>
    </message>
    <message>
        <source>Open</source>
        <extracomment>app/ui/message/link_doubts.py</extracomment>
        <translation>打开</translation>
    </message>
    <message>
        <source>on</source>
        <extracomment>app/ui/projects/fact_list.py</extracomment>
        <translation>开</translation>
    </message>
    <message>
        <source>off</source>
        <extracomment>app/ui/projects/fact_list.py</extracomment>
        <translation>关</translation>
    </message>
    <message>
        <source>System font</source>
        <extracomment>app/ui/base/setting_notes.py</extracomment>
        <translation>系统字体</translation>
    </message>
    <message>
        <source>No limit</source>
        <extracomment>app/ui/base/setting_list.py</extracomment>
        <translation>无限制</translation>
    </message>
    <message>
        <source>Settings</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>设置</translation>
    </message>
    <message>
        <source>No setting matches.</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>没有匹配的设置。</translation>
    </message>
    <message>
        <source>Search settings</source>
        <extracomment>app/ui/settings/settings_window.py</extracomment>
        <translation>搜索设置</translation>
    </message>
    <message>
        <source>Pages</source>
        <extracomment>app/ui/base/help_commands.py</extracomment>
        <translation>页面</translation>
    </message>
    <message>
        <source>Command</source>
        <extracomment>app/ui/settings/server_dialog.py</extracomment>
        <translation>命令</translation>
    </message>
    <message>
        <source>Shortcut</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>New shortcut</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>新快捷键</translation>
    </message>
    <message>
        <source>Set</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>设定</translation>
    </message>
    <message>
        <source>Make it the only shortcut of this command</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>设为这个命令唯一的快捷键</translation>
    </message>
    <message>
        <source>Add</source>
        <extracomment>app/ui/models/workers_section.py</extracomment>
        <translation>添加</translation>
    </message>
    <message>
        <source>Add another shortcut to this command</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>为这个命令再添加一个快捷键</translation>
    </message>
    <message>
        <source>Remove this command&apos;s shortcuts</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>移除这个命令的快捷键</translation>
    </message>
    <message>
        <source>Restore this command&apos;s default shortcuts</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>恢复这个命令的默认快捷键</translation>
    </message>
    <message>
        <source>Restore all defaults</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>全部恢复默认</translation>
    </message>
    <message>
        <source>Restore the default shortcuts of all commands</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>恢复所有命令的默认快捷键</translation>
    </message>
    <message>
        <source>Reassign</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>重新分配</translation>
    </message>
    <message>
        <source>Commands and their shortcuts</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>命令及其快捷键</translation>
    </message>
    <message>
        <source>{key} is used by “{command}”, which would lose it.</source>
        <extracomment>app/ui/settings/shortcut_table.py</extracomment>
        <translation>{key} 已用于“{command}”，重新分配后该命令将失去它。</translation>
    </message>
    <message>
        <source>{key} is needed for typing. Combine it with Ctrl or Alt.</source>
        <extracomment>app/ui/settings/shortcuts.py</extracomment>
        <translation>{key} 用于输入文字。请与 Ctrl 或 Alt 一起使用。</translation>
    </message>
    <message>
        <source>{key} is needed for typing.</source>
        <extracomment>app/ui/settings/shortcuts.py</extracomment>
        <translation>{key} 用于输入文字。</translation>
    </message>
    <message>
        <source>All chats</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>所有对话</translation>
    </message>
    <message>
        <source>Filter chats</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>筛选对话</translation>
    </message>
    <message>
        <source>Filter chats by title</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>按标题筛选对话</translation>
    </message>
    <message>
        <source>Search all messages (Ctrl+K)</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>搜索所有消息 (Ctrl+K)</translation>
    </message>
    <message>
        <source>New folder</source>
        <extracomment>app/ui/chats/navigation.py</extracomment>
        <translation>新建文件夹</translation>
    </message>
    <message>
        <source>No title matches.</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>没有标题包含此内容的对话。</translation>
    </message>
    <message>
        <source>No chats yet.</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>还没有对话。</translation>
    </message>
    <message>
        <source>&amp;Rename folder</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>重命名文件夹(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Delete folder, keep its chats</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>删除文件夹，保留其中的对话(&amp;D)</translation>
    </message>
    <message>
        <source>New &amp;folder</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>新建文件夹(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <extracomment>app/ui/base/attachment_chips.py</extracomment>
        <translation>打开(&amp;O)</translation>
    </message>
    <message>
        <source>Open in split &amp;view</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>在拆分视图中打开(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Rename</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>重命名(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Fork</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>分叉(&amp;F)</translation>
    </message>
    <message>
        <source>Un&amp;pin</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>取消固定(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Pin</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>固定(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>导出(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Move to folder</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>移动到文件夹(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;No folder</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>不放入文件夹(&amp;N)</translation>
    </message>
    <message>
        <source>New &amp;folder…</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>新建文件夹(&amp;F)…</translation>
    </message>
    <message numerus="yes">
        <source>{n} chats</source>
        <extracomment>app/inspector/tree_panel.py</extracomment>
        <translation>
            <numerusform>{n} 个对话</numerusform>
        </translation>
    </message>
    <message>
        <source>Folder {name}, {chats}</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>文件夹 {name}，{chats}</translation>
    </message>
    <message>
        <source>open</source>
        <extracomment>app/ui/chats/search_popup.py</extracomment>
        <translation>已打开</translation>
    </message>
    <message>
        <source>Pinned</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>已固定</translation>
    </message>
    <message>
        <source>Folders</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Today</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>今天</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>昨天</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>过去 7 天</translation>
    </message>
    <message>
        <source>Stop all {number}</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>全部停止 {number}</translation>
    </message>
    <message>
        <source>Stop the answers of all chats (Shift+Esc)</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>停止所有对话的回答 (Shift+Esc)</translation>
    </message>
    <message>
        <source>No model</source>
        <extracomment>app/ui/engine/model_picker.py</extracomment>
        <translation>无模型</translation>
    </message>
    <message>
        <source>{used} / {total} cells, {shared} shared, {free} free</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>单元 {used} / {total}，共享 {shared}，空闲 {free}</translation>
    </message>
    <message>
        <source>{paused} paused, {waiting} waiting</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>暂停 {paused}，等待 {waiting}</translation>
    </message>
    <message>
        <source>{running} running, {waiting} waiting</source>
        <extracomment>app/ui/engine/status_bar.py</extracomment>
        <translation>运行 {running}，等待 {waiting}</translation>
    </message>
    <message>
        <source>&amp;Rename…</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>重命名(&amp;R)…</translation>
    </message>
    <message>
        <source>Un&amp;pin tab</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>取消固定标签页(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Pin tab</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>固定标签页(&amp;P)</translation>
    </message>
    <message>
        <source>Show in split &amp;view</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>在拆分视图中显示(&amp;V)</translation>
    </message>
    <message>
        <source>Chat &amp;settings…</source>
        <extracomment>app/ui/tabs/tab_commands.py</extracomment>
        <translation>对话设置(&amp;S)…</translation>
    </message>
    <message>
        <source>Close &amp;others</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>关闭其他(&amp;O)</translation>
    </message>
    <message>
        <source>Close to the ri&amp;ght</source>
        <extracomment>app/ui/base/command_list.py</extracomment>
        <translation>关闭右侧(&amp;G)</translation>
    </message>
    <message>
        <source>New chat (Ctrl+T)</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>新建对话 (Ctrl+T)</translation>
    </message>
    <message>
        <source>All open chats</source>
        <extracomment>app/ui/tabs/tab_bar.py</extracomment>
        <translation>所有打开的对话</translation>
    </message>
    <message>
        <source>sequence {number}</source>
        <extracomment>app/ui/tabs/tab_bar.py</extracomment>
        <translation type="vanished">序列 {number}</translation>
    </message>
    <message>
        <source>pinned</source>
        <extracomment>app/ui/chats/sidebar_model.py</extracomment>
        <translation>已固定</translation>
    </message>
    <message>
        <source>Title</source>
        <extracomment>app/ui/base/titles.py</extracomment>
        <translation>标题</translation>
    </message>
    <message>
        <source>Once all of them have ended</source>
        <extracomment>app/ui/transcript/task_columns.py</extracomment>
        <translation>等全部结束之后</translation>
    </message>
    <message>
        <source>Go on from this answer</source>
        <extracomment>app/ui/transcript/task_columns.py</extracomment>
        <translation>从这个回答继续</translation>
    </message>
    <message>
        <source>Deleted a message.</source>
        <extracomment>app/ui/transcript/transcript_actions.py</extracomment>
        <translation>已删除一条消息。</translation>
    </message>
    <message>
        <source>Deleted an answer.</source>
        <extracomment>app/ui/transcript/transcript_actions.py</extracomment>
        <translation>已删除一个回答。</translation>
    </message>
    <message>
        <source>Copy as &amp;plain text</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>复制为纯文本(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Edit…</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>编辑(&amp;E)…</translation>
    </message>
    <message>
        <source>&amp;Regenerate</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>重新生成(&amp;R)</translation>
    </message>
    <message>
        <source>Show &amp;versions side by side</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>并排显示各版本(&amp;V)</translation>
    </message>
    <message>
        <source>Co&amp;ntinue</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>继续(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Fork the chat here</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>在此分叉对话(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Token probabilities</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>词元概率(&amp;T)</translation>
    </message>
    <message>
        <source>Statistics &amp;of this answer</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>这个回答的开销(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Select messages</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>选择消息(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <extracomment>app/ui/chats/sidebar.py</extracomment>
        <translation>删除(&amp;D)</translation>
    </message>
    <message numerus="yes">
        <source>{n} answers</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>
            <numerusform>{n} 个回答</numerusform>
        </translation>
    </message>
    <message>
        <source>More actions</source>
        <extracomment>app/ui/settings/server_row.py</extracomment>
        <translation>更多操作</translation>
    </message>
    <message>
        <source>Previous version</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>上一版本</translation>
    </message>
    <message>
        <source>Next version</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>下一版本</translation>
    </message>
    <message>
        <source>Version {number} of {total}</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>版本 {number}，共 {total} 个</translation>
    </message>
    <message>
        <source>Edited message</source>
        <extracomment>app/ui/transcript/turn_editor.py</extracomment>
        <translation>编辑后的消息</translation>
    </message>
    <message>
        <source>Ctrl+Enter</source>
        <extracomment>app/ui/composer/buttons.py</extracomment>
        <translation>Ctrl+Enter</translation>
    </message>
    <message>
        <source>Esc</source>
        <extracomment>app/ui/transcript/message_picker.py</extracomment>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Several ans&amp;wers</source>
        <extracomment>app/ui/transcript/turn_actions.py</extracomment>
        <translation>以多种方式回答(&amp;W)</translation>
    </message>
    <message>
        <source>Save &amp; send</source>
        <extracomment>app/ui/transcript/user_view.py</extracomment>
        <translation>保存并发送</translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>app/ui/tabs/notebook_page.py</extracomment>
        <translation>继续</translation>
    </message>
    <message>
        <source>Continue where it stopped</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>让模型从停下的地方继续</translation>
    </message>
    <message>
        <source>Continue with a rolling window</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>用滚动窗口继续</translation>
    </message>
    <message>
        <source>From now on the oldest turns are left out; the system prompt stays</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>从现在起省略最早的轮次；保留系统提示词</translation>
    </message>
    <message>
        <source>Answer by {model}</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>{model} 的回答</translation>
    </message>
    <message>
        <source>Save as a new version</source>
        <extracomment>app/ui/transcript/answer_view.py</extracomment>
        <translation>另存为新版本</translation>
    </message>
</context>
</TS>
