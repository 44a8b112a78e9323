<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>skein</name>
    <message>
        <source>{name} is there already. Choose another name.</source>
        <extracomment>app/chats/exports/files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} could not be written: {reason}. Choose another folder, or free some space.</source>
        <extracomment>app/chats/exports/files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It ends in the middle. Download or export it again.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is nested more than {depth} deep, as no chat is.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is not valid JSON: {reason}.</source>
        <extracomment>app/chats/imports/entries.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its “{name}” is none that Skein can use.</source>
        <extracomment>app/chats/imports/problems.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There are no chats in it that Skein can read. Choose an export of Skein, ChatGPT, Open WebUI, LM Studio, Jan or llama.cpp.</source>
        <extracomment>app/chats/imports/problems.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It has no messages.</source>
        <extracomment>app/chats/imports/problems.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is larger than {size} MB. Export fewer chats at a time.</source>
        <extracomment>app/chats/imports/problems.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It cannot be read: {reason}. Check that you may open it.</source>
        <extracomment>app/chats/imports/problems.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It holds more than {count} files.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The archive is damaged: {reason}. Download it again.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The archive is locked with a password. Unpack it, then import the files.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is empty. Export it again.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It holds more than {count} chats. Import it in parts.</source>
        <extracomment>app/chats/imports/read.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was written by a newer Skein. Update Skein to import it.</source>
        <extracomment>app/chats/imports/skein.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It has more than {count} messages.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Two of its messages have the id “{id}”.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its message “{id}” follows itself in a circle.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message is by “{role}”: neither user, assistant, system nor tool.</source>
        <extracomment>app/chats/imports/tree.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine does not hold the tokens of this answer any more. It can be computed again from its text, which may be cut into other tokens than were sampled.</source>
        <extracomment>app/inspector/answer_reader.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine holds the very tokens of a chat&apos;s newest answer only. It can be computed again from its text, which may be cut into other tokens than were sampled.</source>
        <extracomment>app/inspector/answer_reader.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine does not hold the tokens of this answer any more, and no tab has its text.</source>
        <extracomment>app/inspector/answer_reader.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the engine for the tokens of this answer…</source>
        <extracomment>app/inspector/answer_reader.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Computing the answer again…</source>
        <extracomment>app/inspector/answer_reader.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was stopped.</source>
        <extracomment>app/inspector/answer_reader.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank {rank} was chosen: {before} before and ruled out by the samplers.</source>
        <extracomment>app/inspector/answer_tokens.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank {rank} was chosen: {before} before and {after} after the samplers.</source>
        <extracomment>app/inspector/answer_tokens.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The token that was chosen is not among the {number} likeliest.</source>
        <extracomment>app/inspector/answer_tokens.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>To find out: {computed} computed, {shared} shared.</source>
        <extracomment>app/inspector/answer_tokens.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seq</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tab</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>phase</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rows</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>positions</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>logits</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>answer</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sequence id, seq_id</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Part of a prompt, or the next token of an answer</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows of the batch</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The positions that are computed</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether a token is sampled from its last row</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of the answer so far, and how many were asked for</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>decode</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>last row</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>9,999 of 9,999</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prefill</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{part} of {whole}</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sequences in the batch</source>
        <extracomment>app/inspector/batch_shares.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded. Open a GGUF file with Ctrl+O to see its steps here.</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No step yet. Send a message, and every step of the batcher becomes a column here.</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Batches</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sequence {seq_id}</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>llama_decode returned {code}</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long each decode took, as height of the columns</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many rows it had, as height of the columns</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show more steps (−, or the wheel)</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show fewer steps (+, or the wheel)</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sequence</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fade all other sequences</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Follow</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the newest step in view (End)</source>
        <extracomment>app/inspector/batch_timeline.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rank</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>id</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>before</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>after</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its place among all tokens of the model, by probability</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the token is written: ␣ is a space, ⏎ a line end, \x a byte of a character</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token id</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How likely it is before the samplers: the softmax of the model&apos;s raw logits</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How likely it is after the samplers: penalties, temperature, and all that rules tokens out</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ruled out</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Log-probability to the model: {number}</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{token}, chosen</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Candidates</source>
        <extracomment>app/inspector/candidate_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>closed chat</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{n} cells used</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{free} free of {total}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} shared ({share}% of used)</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fragmentation {share}% ({gaps})</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{n} gaps</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>high water {number}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cell {number} · free</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token {id}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token {id} “{text}”</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cell {number} · position {position} · {token} · {owners}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seq {seq_id} {title}</source>
        <extracomment>app/inspector/cell_figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cells</source>
        <extracomment>app/inspector/cell_grid.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>free</source>
        <extracomment>app/inspector/cell_legend.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shared</source>
        <extracomment>app/inspector/cell_legend.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Legend</source>
        <extracomment>app/inspector/cell_legend.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step {step}, {number} cells compared: {difference}</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Disagreed with the library at step {step}</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not yet compared with the library</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Positions agree with the library, step {step}; this model&apos;s cells cannot be listed</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Agrees with the library: {n} cells, step {step}</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Copy evidence</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy what differs</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Check now</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare every cell with the library&apos;s own books now</source>
        <extracomment>app/inspector/check_badge.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name}: {value}</source>
        <extracomment>app/inspector/choice_button.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Reset layout</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put all panels where they were at first</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tear off panel</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make the panel with the focus a window of its own, or put it back</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>I&amp;nspector</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Put back</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tear off</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Close panel</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Inspector</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide all panels of the inspector</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Panels</source>
        <extracomment>app/inspector/docks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>step</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>time</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>kind</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>what happened</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>lease</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>release</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>share</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>fork</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hibernate</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>restore</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evict</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>clear</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shift</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pin</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pause</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>resume</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>abort</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>overflow</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>verify</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>native log</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} s</source>
        <extracomment>app/inspector/event_list.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text (*.txt)</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>JSON lines (*.jsonl)</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Events</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search events</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear search</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kinds</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which kinds of events are shown</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only events of the chosen sequence</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep the newest event in view</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save what is shown as text or as JSON lines</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kinds {shown}/{total}</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export events</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The events could not be saved in {path}: {reason}.</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All kinds</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No kinds</source>
        <extracomment>app/inspector/events.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded. Open a GGUF file with Ctrl+O to see its cells here.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A recorded file has no map of the cells. Go back to the running engine to see one.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Point at a cell, or press the arrow keys, to read what it holds. A click shows its sequence everywhere.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where llama.cpp keeps this model&apos;s cells is not known: they are in the order of our books.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fragmentation: how many of the cells up to the highest used one are free. llama.cpp looks at them with every token, too, so they cost time.
High water: cells used at most since the model was loaded.</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV map</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Figures</source>
        <extracomment>app/inspector/kv_map.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the panel “{title}”</source>
        <extracomment>app/inspector/panel_dock.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tear off</source>
        <extracomment>app/inspector/panel_dock.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close panel</source>
        <extracomment>app/inspector/panel_dock.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Put back</source>
        <extracomment>app/inspector/panel_dock.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prompt</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>had</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>computed</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>why</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No request has been answered yet. Send a message, and this tells what of it was computed and why.</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Why did it recompute?</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Requests</source>
        <extracomment>app/inspector/prefix_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A new chat</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only new text</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An earlier message was edited</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat template rewrote the history</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Turns were left out</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model cannot go back</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its cells were given away</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The saved state was in doubt</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>new chat</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>new text</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>edited message</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>template changed the history</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>turns left out</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>model cannot remove a tail</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>evicted</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>saved state in doubt</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing of this chat was computed before, but another chat begins the same way.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing of this chat was computed before, and no other chat begins the same way.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All that was held is part of the prompt; only what is new behind it was computed.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The prompt differs from what was held after {tokens}, so everything behind that point was computed again.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The messages are the same, but the chat template writes them differently than before: the two part after {tokens}.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat no longer fits its context, so turns were left out behind the first {tokens}.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The first {tokens} are the same, but {memory} cannot be cut back to them.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its cells were needed by other chats, and its state was not kept.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A saved state was there, but it did not pass its checks, so it was not used.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fork the chat before you edit it, and both versions keep their cells.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is wrong with the chat; a template that keeps its history as it was avoids it.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A larger context (Engine settings, --ctx) or a higher cap for this chat puts that off.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on at the end of such a chat: editing, forking and branching cost the whole prompt.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin the chat, or choose a larger context (Engine settings, --ctx).</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing: the answer is right, it only took longer.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing needs to be done.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{computed} prompt tokens computed.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{computed} prompt tokens computed in {time}.</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the memory of a model with a sliding window</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the running state of a recurrent model</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>this model&apos;s memory</source>
        <extracomment>app/inspector/prefix_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>held</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>wanted</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reused</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>restored</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the prompt&apos;s tokens came from</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where the prompt parts from what was held</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing more</source>
        <extracomment>app/inspector/prefix_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a sequence, or “Token probabilities” under an answer, to see what else it could have said.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded. Open a GGUF file with Ctrl+O to look into its answers.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a recording: only a running engine can tell what else could have been said.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All chats are paused, so this waits. Resume, and it is computed.</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Computing…</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token probabilities</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute it again</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on in a new tab, from this token (Enter)</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>answer of {n} tokens, prompt of {prompt}</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Fork here with “{token}”</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fork here</source>
        <extracomment>app/inspector/probabilities.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to live</source>
        <extracomment>app/inspector/recording_banner.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recording {name}</source>
        <extracomment>app/inspector/recording_banner.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recording, JSON lines (*.jsonl)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trace for Perfetto and chrome://tracing (*.trace.json)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open recording…</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look at recorded steps, also without a model</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Export recording…</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the last {steps} steps, with the texts of their answers, as JSON lines or as a trace</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} could not be written: {reason}.</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the disk refused it</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose another folder, or make room on this disk.</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Saved {n} steps in {name}.</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Open recording</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export recording</source>
        <extracomment>app/inspector/recording_files.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no tab</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>empty</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>warm</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>awaits prefix</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paused</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>shortening</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waits for a slot or for free cells</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waits for a running prompt to compute the beginning both have in common</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its cells were needed; the answer goes on when there is room</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its context is full; a shorter prompt is being made</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hibernated, disk</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hibernated, RAM</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>9,999 s</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The slot and its sequence id, seq_id</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat it belongs to</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>state</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What it is doing</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pos
min</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The lowest position in memory, as the library says</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pos
max</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The highest position in memory, as the library says</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cells
own</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cells that no other sequence holds</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>cells
shared</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cells it holds together with other sequences</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>speed
tok/s</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens generated per second</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens
reused</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt tokens of the last answer whose cells the chat itself still had</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens
shared</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt tokens of the last answer whose cells another chat had</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens
restored</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt tokens of the last answer whose cells were saved and read back</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens
computed</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens computed for the last answer, its own among them</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>context
cap</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many tokens the chat may have</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first
token</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From sending to the first token of the last answer, waiting included</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>queue
wait</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long the request waited for a slot</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV
MiB</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory of its keys and values, shared cells among them; hibernated: of what was saved</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens} saved on disk, {size}</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens} saved in RAM, {size}</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pinned: neither hibernated nor evicted while that can be avoided</source>
        <extracomment>app/inspector/sequence_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sequences</source>
        <extracomment>app/inspector/sequence_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Columns</source>
        <extracomment>app/inspector/sequence_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source> </source>
        <extracomment>app/inspector/sequence_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded. Open a GGUF file with Ctrl+O to see its sequences here.</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine has stopped. This is what was last seen of it.</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Neither hibernate nor evict these cells while that can be avoided</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>End this answer, with what it has so far</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hibernate</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the cells of this idle chat and free them</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restore</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bring the saved cells back into a slot, before the chat asks for anything</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Clear</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Free the cells without saving them: the chat&apos;s next turn computes everything</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fork</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on in a copy of this chat that holds the same cells</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy JSON</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy this row as JSON, as llama-server&apos;s /slots has it</source>
        <extracomment>app/inspector/sequences.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>waiting for a shared prefix</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>making a shorter prompt</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>llama_decode returned {code}: it found no room for the batch among the KV cells.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>llama_decode returned {code}: it was interrupted.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>llama_decode returned {code}: it refused the batch as invalid.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>llama_decode returned {code}: it met an error it cannot go on from.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: the batcher was paused.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: the batcher was paused by somebody.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: no chat had work for it.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step: {reason}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing ran for {time} before this step, although there was work; no report tells why.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no event tells why</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Scheduling took {time}: {reason}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The decode took {time} instead of about {usual}, with no prompt in it: the machine was slow.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seq {seq_id} ({rows})</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>The prompts of {sequences} took the step: {time} instead of about {usual}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source> and </source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{sequences} got no row: the prompt of {others} took the step.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{sequences} got no row: others went first.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing could be computed; what there is to do is held back: {reasons}.</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>seq {seq_id}</source>
        <extracomment>app/inspector/stalls.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Pause all chats</source>
        <extracomment>app/inspector/step_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute nothing more; the chats wait</source>
        <extracomment>app/inspector/step_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Resume all chats</source>
        <extracomment>app/inspector/step_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on computing</source>
        <extracomment>app/inspector/step_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run one s&amp;tep</source>
        <extracomment>app/inspector/step_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compute the batch that is planned, then pause again</source>
        <extracomment>app/inspector/step_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Steps</source>
        <extracomment>app/inspector/step_chart.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed</source>
        <extracomment>app/inspector/step_legend.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>held up</source>
        <extracomment>app/inspector/step_legend.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>no work</source>
        <extracomment>app/inspector/step_legend.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Full colour: a prompt. Lighter: an answer. Marks: a cross for failed, a triangle for held up, two bars for paused, a dot for no work.</source>
        <extracomment>app/inspector/step_legend.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} ms decode</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} ms beside decode</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} rows</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} ms in all</source>
        <extracomment>app/inspector/step_picture.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>row</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>text</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pos</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its place in the batch</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its position in the sequence</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The sequence whose cell it is, seq_id</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Part of a prompt, or of an answer</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether the logits behind it were wanted, to sample from</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rows of the step</source>
        <extracomment>app/inspector/step_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>schedule</source>
        <extracomment>app/inspector/step_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sample</source>
        <extracomment>app/inspector/step_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>deliver</source>
        <extracomment>app/inspector/step_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step {number}</source>
        <extracomment>app/inspector/step_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} ms</source>
        <extracomment>app/inspector/step_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause to see each batch here before it is computed. The chats wait meanwhile; Stop still works.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded. Open a GGUF file with Ctrl+O to step through what it computes.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is a recording: what it shows is over. Only a running engine can be paused.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is planned. Send a message in any tab, and its first batch is shown here.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Running until {condition}</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Running</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused.</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rows} of {sequences}; {sampled}</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{n} sequences</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens are sampled</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Step through</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next batch</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Resume</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Step</source>
        <extracomment>app/inspector/stepper_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a sequence holds a position</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a token is made</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an answer ends</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a decode fails</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>any chat</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Type how the token is written, with its spaces.</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>The model writes this with {n} tokens; choose which one to wait for.</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Run until</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>sequence {seq_id} holds position {position}</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token {id} is made</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token {id} is made in {chat}</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>an answer ends in {chat}</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Position</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of the token</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on, and pause after the step in which this comes true</source>
        <extracomment>app/inspector/stop_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How likely it was after the samplers, where that was looked up</source>
        <extracomment>app/inspector/token_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(next)</source>
        <extracomment>app/inspector/token_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens of the answer</source>
        <extracomment>app/inspector/token_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} tok/s</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} MiB</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number}%</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>prefill {percent}</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{n} tokens</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{n} rows</source>
        <extracomment>app/look/figures.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>computing</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>unread</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>idle</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>hibernated</source>
        <extracomment>app/look/marks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{sentence} {next}</source>
        <extracomment>app/look/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing of this chat was in memory before.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All that was in memory could be used; the rest is new.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An earlier message is another one now, so all after it was computed again.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s chat template writes earlier turns differently now.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Turns were left out to fit the context, so what follows them was computed again.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model cannot take back the end of what it has read.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The memory was needed for other chats and its content not kept.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What had been saved did not pass a check, so it was computed again.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It ended by itself.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It failed.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>first token {time}</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reused {share}</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from this chat&apos;s slot</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>with other chats</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>from its saved state</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Again</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>computed a second time, after a pause</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First token after {time}.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First token after {time}, {waited} of it waiting.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All of it took {time}.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It ended because the chat is full.</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>paused, as all chats are</source>
        <extracomment>app/ui/answer_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Local API</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let other programs on this computer ask the model</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy API &amp;address</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What other programs call the base URL</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy API &amp;key</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What other programs must send</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Local API &amp;settings…</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Port, address and key</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>API off</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>API on {address}</source>
        <extracomment>app/ui/api_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only this window uses the model.</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Programs on this computer with the key, too.</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Made when the API is first switched on</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Local API</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Port</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the address</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the key</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the command</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New key</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Programs that have the old key are shut out</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Server</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Address</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Key</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A curl command with address and key, to try it in a terminal.</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Example</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{n} requests</source>
        <extracomment>app/ui/api_panel.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>System</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the system&apos;s colours</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the light colours</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the dark colours</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Responsive</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Running answers hardly slow down for a new prompt.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompts are read faster, answers slow down somewhat.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Throughput</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompts are read fastest, running answers wait.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The answer ends there and says so.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rolling window</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The oldest turns are left out, the system prompt stays.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Truncate the middle</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Beginning and end stay, turns between are left out.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{part} tokens ({pool} / {slots}) for each slot, nothing shared.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An equal part for each slot, nothing shared.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shared</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One pool for all, and equal beginnings are kept once.</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Isolated</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop when full</source>
        <extracomment>app/ui/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied</source>
        <extracomment>app/ui/copy_button.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Take back the last change to the message</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Make it again</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cu&amp;t</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cut the selected text</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the selected text</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Paste</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paste text</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select &amp;all</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Select all of this text</source>
        <extracomment>app/ui/edit_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is 34 + 21?</source>
        <extracomment>app/ui/empty_chat.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is a KV cache?</source>
        <extracomment>app/ui/empty_chat.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Count from 7 to 30</source>
        <extracomment>app/ui/empty_chat.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write a message below, or try one of these.</source>
        <extracomment>app/ui/empty_chat.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About Skein</source>
        <extracomment>app/ui/help_commands.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Many chats with a local language model through one shared context.</source>
        <extracomment>app/ui/help_commands.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Uses llama.cpp (MIT), Qt and PySide6 (LGPLv3), and Lucide icons (ISC).</source>
        <extracomment>app/ui/help_commands.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{n} new messages</source>
        <extracomment>app/ui/jump_button.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Jump to latest</source>
        <extracomment>app/ui/jump_button.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>app/ui/long_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous part</source>
        <extracomment>app/ui/long_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next part</source>
        <extracomment>app/ui/long_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>File: {name}</source>
        <extracomment>app/ui/long_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Part {number} of {total}</source>
        <extracomment>app/ui/long_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reload model</source>
        <extracomment>app/ui/main_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings could not be saved: {reason}.</source>
        <extracomment>app/ui/main_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Reopen closed chat</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bring back the tab closed last</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No chat was closed.</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save everything and quit</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;File</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;New chat</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a new chat in a new tab</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Close chat</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this tab; it can be reopened</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Se&amp;ttings…</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everything that can be chosen, with a search</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>F&amp;ull screen</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use the whole screen, or go back</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;View</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Command palette…</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find a command, a chat or a setting by its name</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next &amp;pane</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the focus to the next pane</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous p&amp;ane</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move the focus to the pane before</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text &amp;size</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Larger</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Larger text</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Smaller</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smaller text</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Usual size</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text at its usual size</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Stop answer</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the answer in this tab</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer is being written in this tab.</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Chat</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy last answer</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the last answer as Markdown</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token &amp;probabilities</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show what else the last answer could have said</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Fork chat</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on in a copy of this chat</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat s&amp;ettings…</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How long this chat may get, and what becomes of it then</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tabs</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Next tab</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the next tab</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Previous tab</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the previous tab</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tab &amp;{number}</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show tab {number}</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Reload model</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load the same file again, with empty memory</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model was opened.</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop &amp;all answers</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the answers of all chats</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No answer is being written.</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>S&amp;peed</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open model…</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open a model from a GGUF file</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Engine settings…</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context, chats, threads and speed</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Tools</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;About Skein</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version and licences</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All keys on one page</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open &amp;data folder</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the folder with the chats in the file browser</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open &amp;log folder</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the folder with the logs in the file browser</source>
        <extracomment>app/ui/menus.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open model</source>
        <extracomment>app/ui/model_loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GGUF models (*.gguf)</source>
        <extracomment>app/ui/model_loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Error</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dismiss</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading a model</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading {name}  {percent}</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} could not be opened: {reason}</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model {name} stays loaded.</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine stopped: {reason} Your chats are kept.</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Closed “{title}”.</source>
        <extracomment>app/ui/notices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All chats are paused: they wait.</source>
        <extracomment>app/ui/pause_strip.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Run one step, then pause again (F10)</source>
        <extracomment>app/ui/pause_strip.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on computing (F5)</source>
        <extracomment>app/ui/pause_strip.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is open. Open one with Ctrl+O, then test it here.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Progress of the self-test</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save report…</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Self-test</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats are being answered, so the test may take longer.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Start again</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelling</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loads {name} a second time, in a process of its own with {slots} and {cells}, and lets it answer questions that nobody sees. What comes of it shows whether chats that share a context disturb or slow each other here.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{n} slots</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{number} cells</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} cells, isolated</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancelled.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{counts} in {time}.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Needs up to {needed} of memory while it runs; {free} are free. Your chats go on.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Needs up to {needed} of memory while it runs, but only {free} are free. Close other programs first: the test may fail, and this computer may become slow.</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} GiB</source>
        <extracomment>app/ui/self_test.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Report as JSON (*.json)</source>
        <extracomment>app/ui/self_test_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Report as text (*.txt)</source>
        <extracomment>app/ui/self_test_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Self-test…</source>
        <extracomment>app/ui/self_test_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prove on this model and this computer that chats do not disturb each other</source>
        <extracomment>app/ui/self_test_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Self-test: {result}</source>
        <extracomment>app/ui/self_test_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved in {name}.</source>
        <extracomment>app/ui/self_test_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save report</source>
        <extracomment>app/ui/self_test_menu.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>passed</source>
        <extracomment>app/ui/self_test_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>skipped</source>
        <extracomment>app/ui/self_test_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>running</source>
        <extracomment>app/ui/self_test_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Done: {what}.</source>
        <extracomment>app/ui/self_test_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{outcome}, {time}</source>
        <extracomment>app/ui/self_test_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seen: {what}</source>
        <extracomment>app/ui/self_test_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine settings</source>
        <extracomment>app/ui/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the KV map</source>
        <extracomment>app/ui/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the sequences</source>
        <extracomment>app/ui/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show the batch timeline</source>
        <extracomment>app/ui/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop all {number}</source>
        <extracomment>app/ui/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the answers of all chats (Shift+Esc)</source>
        <extracomment>app/ui/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model</source>
        <extracomment>app/ui/status_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{used} / {total} cells, {shared} shared, {free} free</source>
        <extracomment>app/ui/status_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{paused} paused, {waiting} waiting</source>
        <extracomment>app/ui/status_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{running} running, {waiting} waiting</source>
        <extracomment>app/ui/status_text.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as &amp;plain text</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Edit…</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Regenerate</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer in several &amp;ways…</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show &amp;versions side by side</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Co&amp;ntinue</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Fork the chat here</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Token probabilities</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What this answer c&amp;ost</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Select messages</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More actions</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Previous version</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Next version</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version {number} of {total}</source>
        <extracomment>app/ui/turn_actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edited message</source>
        <extracomment>app/ui/turn_editor.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+Enter</source>
        <extracomment>app/ui/turn_editor.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Esc</source>
        <extracomment>app/ui/turn_editor.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save &amp; send</source>
        <extracomment>app/ui/turn_views.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>app/ui/turn_views.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Let the model go on where it stopped</source>
        <extracomment>app/ui/turn_views.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep going with a rolling window</source>
        <extracomment>app/ui/turn_views.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From now on the oldest turns are left out; the system prompt stays</source>
        <extracomment>app/ui/turn_views.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Answer by {model}</source>
        <extracomment>app/ui/turn_views.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save as a new version</source>
        <extracomment>app/ui/turn_views.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
