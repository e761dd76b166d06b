"""Runs the Python package tokenizers on the texts that a test wrote.

judge.py train FOLDER: trains small tokenizers on FOLDER/train.json, a list of
strings, and writes each as FOLDER/NAME/tokenizer.json.

judge.py small FOLDER: trains the tokenizers whose vectors are committed, with
vocabularies of a few hundred tokens.

judge.py encode FOLDER...: encodes FOLDER/../texts.json with FOLDER/tokenizer.json
and writes FOLDER/encoded.jsonl, one object a text.
"""

import json
import os
import struct
import sys
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, processors, trainers)

GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*"
        r"|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
ALPHABET = pre_tokenizers.ByteLevel.alphabet()
SPECIAL = ["<unk>", "<s>", "</s>", "[MASK]", "<|end|>"]


def bpe(name, **kw):
    """Returns a byte-level BPE tokenizer and its trainer."""
    t = Tokenizer(models.BPE(**kw))
    t.decoder = decoders.ByteLevel()
    return t, trainers.BpeTrainer(vocab_size=1500, initial_alphabet=ALPHABET, special_tokens=SPECIAL, show_progress=False)


def byte_level(lines):
    """Yields byte-level BPE tokenizers with all kinds of pre-tokenizers."""
    split = lambda p: pre_tokenizers.Split(Regex(p), "isolated")
    level = lambda regex=False, prefix=False: pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex)
    seq = pre_tokenizers.Sequence
    for name, pre in {
        "gpt2": level(True),
        "roberta": level(True, True),
        "llama3": seq([split(GPT4 % "{1,3}"), level()]),
        "qwen2": seq([split(GPT4 % ""), level()]),
        "smollm": seq([pre_tokenizers.Digits(individual_digits=True), level(True)]),
        "gpt4o": seq([split(GPT4O), level()]),
        "deepseek": seq([split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(r"[一-龥ࠀ-一가-퟿]+"),
                         pre_tokenizers.Digits(individual_digits=True), level()]),
        "falcon": seq([pre_tokenizers.Punctuation("contiguous"), level(True), pre_tokenizers.Digits(individual_digits=False),
                       split(r"[0-9][0-9][0-9]")]),
        "lookahead": seq([split(r"(?=[A-Z])"), level()]),
    }.items():
        t, trainer = bpe(name)
        t.pre_tokenizer = pre
        yield name, t, trainer
    t, trainer = bpe("roberta-post")
    t.pre_tokenizer = level(True, True)
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 1))
    yield "roberta-post", t, trainer
    t, trainer = bpe("llama3-post", ignore_merges=True)
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = seq([split(GPT4 % "{1,3}"), level()])
    t.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True, add_prefix_space=False), processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])])
    yield "llama3-post", t, trainer


def charsmap(rules):
    """Returns a compiled table of replacements, as SentencePiece's: a double-array
    trie of the keys, and the values. No two nodes have the same base."""
    pool, units, taken, bases = b"", [0] * 256, {0}, set()

    def place(at, entries, depth):
        labels = sorted({0 if len(k) == depth else k[depth] for k, _ in entries})
        base = 1
        while base in bases or any(base ^ label in taken for label in labels):
            base += 1
        bases.add(base)
        taken.update(base ^ label for label in labels)
        while len(units) <= base | 255:
            units.extend([0] * 256)
        units[at] |= (at ^ base) << 10
        for label in labels:
            if label == 0:
                units[at] |= 1 << 8
                units[base] = 1 << 31 | next(v for k, v in entries if len(k) == depth)
            else:
                units[base ^ label] = label
                place(base ^ label, [e for e in entries if len(e[0]) > depth and e[0][depth] == label], depth + 1)

    entries = []
    for key in sorted(rules):
        entries.append((key.encode(), len(pool)))
        pool += rules[key].encode() + b"\0"
    place(0, entries, 0)
    return struct.pack("<I%dI" % len(units), 4 * len(units), *units) + pool


def nmt_nfkc(lines):
    """Returns rules like those of SentencePiece's nmt_nfkc for the characters in
    lines, and for these with a combining mark."""
    rules = {"\u0344": "\u0308\u0301"}
    for line in lines:
        for part in list(line) + [line[i:i + 2] for i in range(len(line) - 1) if unicodedata.combining(line[i + 1])]:
            to = unicodedata.normalize("NFKC", part)
            if part in "\t\n\r\u200b\u2028\ufeff\ufffd":
                to = " "
            elif unicodedata.category(part[0]) == "Cc" and part != "\0":
                to = ""
            if to != part and "\0" not in part:
                rules[part] = to
    return rules


def others(lines):
    """Yields WordPiece, Unigram, WordLevel and character BPE tokenizers."""
    seq, n = normalizers.Sequence, normalizers
    for name, norm, pre in [
        ("bert", n.BertNormalizer(), pre_tokenizers.BertPreTokenizer()),
        ("bert-cased", n.BertNormalizer(lowercase=False), pre_tokenizers.BertPreTokenizer()),
        ("wordpiece-whitespace", seq([n.NFD(), n.StripAccents(), n.Lowercase(), n.Strip()]), pre_tokenizers.Whitespace()),
        ("wordpiece-split", n.NFKC(), pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])),
        ("wordpiece-merged", n.NFKD(), pre_tokenizers.Sequence([pre_tokenizers.Split(" ", "merged_with_next"),
                                                               pre_tokenizers.Split(Regex(r"[a-z]"), "merged_with_previous", invert=True)])),
        ("wordpiece-fixed", n.Nmt(), pre_tokenizers.Sequence([pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.FixedLength(3)])),
    ]:
        t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        t.normalizer, t.pre_tokenizer = norm, pre
        t.decoder = decoders.WordPiece(cleanup=name != "bert-cased")
        t.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
        yield name, t, trainers.WordPieceTrainer(vocab_size=900, limit_alphabet=300, show_progress=False,
                                                 special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]", "<|end|>"])
    t = Tokenizer(models.Unigram())
    t.normalizer = seq([n.NFKC(), n.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B:1 </s>:1", special_tokens=[("</s>", 2)])
    unigram = trainers.UnigramTrainer(vocab_size=900, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    yield "unigram", t, unigram
    t = Tokenizer(models.Unigram())
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    yield "unigram-first", t, unigram
    t = Tokenizer(models.Unigram())
    t.normalizer = n.Precompiled(charsmap({"e": "xyz"}))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    t.decoder = decoders.Metaspace(prepend_scheme="never")
    yield "unigram-charsmap", t, unigram
    t = Tokenizer(models.Unigram())
    t.normalizer = n.Precompiled(charsmap(nmt_nfkc(lines)))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t.decoder = decoders.Metaspace()
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    yield "xlm-roberta", t, unigram
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = seq([n.Prepend("▁"), n.Replace(" ", "▁")])
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    yield "llama2", t, trainers.BpeTrainer(vocab_size=1400, limit_alphabet=300, show_progress=False,
                                           special_tokens=SPECIAL[:3] + ["<0x%02X>" % b for b in range(256)])
    t = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.normalizer = n.Lowercase()
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.decoder = decoders.BPEDecoder()
    yield "clip", t, trainers.BpeTrainer(vocab_size=900, end_of_word_suffix="</w>", special_tokens=SPECIAL, show_progress=False, limit_alphabet=200)
    t = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True))
    t.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    yield "bpe-prefix", t, trainers.BpeTrainer(vocab_size=900, continuing_subword_prefix="##", special_tokens=SPECIAL, show_progress=False, limit_alphabet=200)
    t = Tokenizer(models.WordLevel(unk_token="<unk>"))
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    yield "wordlevel", t, trainers.WordLevelTrainer(vocab_size=400, special_tokens=SPECIAL, show_progress=False)


def add_tokens(name, t):
    """Adds tokens of all kinds to some tokenizers."""
    if name in ("gpt2", "bert", "unigram", "llama2", "wordpiece-whitespace"):
        t.add_tokens([AddedToken("camelCase", normalized=False), AddedToken("Tokenizer", single_word=True, normalized=True),
                      AddedToken("NETWORK", lstrip=True, normalized=True), AddedToken("!!", rstrip=True, normalized=False),
                      AddedToken("  ", normalized=False), AddedToken("世界", normalized=True), AddedToken("Noël", normalized=True)])
        t.add_special_tokens([AddedToken("[MASK]", lstrip=True, special=True), AddedToken("<|pad|>", special=True)])


def train(folder):
    with open(os.path.join(folder, "train.json")) as f:
        lines = json.load(f)
    for make in (byte_level, others):
        for name, t, trainer in make(lines):
            t.train_from_iterator(lines, trainer)
            add_tokens(name, t)
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            path = os.path.join(folder, name, "tokenizer.json")
            t.save(path)
            if name.startswith(("unigram", "xlm")):
                round_scores(path)


def small(folder):
    with open(os.path.join(folder, "train.json")) as f:
        lines = json.load(f)
    chosen = {"smollm": 500, "bert": 400, "unigram": 600, "llama2": 600, "xlm-roberta": 600}
    for make in (byte_level, others):
        for name, t, trainer in make(lines):
            if name not in chosen:
                continue
            trainer.vocab_size = chosen[name]
            if name in ("bert", "llama2"):
                trainer.limit_alphabet = 120
            t.train_from_iterator(lines, trainer)
            if name == "unigram":
                add_tokens(name, t)
            os.makedirs(os.path.join(folder, name), exist_ok=True)
            path = os.path.join(folder, name, "tokenizer.json")
            t.save(path)
            round_scores(path)


def round_scores(path):
    """Leaves few digits of the scores. The tokenizers package reads long numbers
    with an error in the last bit, which decides between paths of equal scores."""
    with open(path) as f:
        t = json.load(f)
    if t["model"]["type"] == "Unigram":
        for entry in t["model"]["vocab"]:
            entry[1] = round(entry[1], 3)
    with open(path, "w") as f:
        json.dump(t, f, ensure_ascii=False, separators=(",", ":"))


def to_bytes(text, offsets):
    """Converts offsets in characters to offsets in bytes of UTF-8."""
    at = [0]
    for c in text:
        at.append(at[-1] + len(c.encode()))
    return [[at[a], at[b]] for a, b in offsets]


def encode(folder):
    t = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
    t.no_truncation()
    t.no_padding()
    with open(os.path.join(os.path.dirname(folder), "texts.json")) as f:
        texts = json.load(f)
    with open(os.path.join(folder, "encoded.jsonl"), "w") as out:
        for i, text in enumerate(texts):
            e = t.encode(text)
            o = {"ids": e.ids, "offsets": to_bytes(text, e.offsets), "decoded": t.decode(e.ids, skip_special_tokens=False),
                 "skipped": t.decode(e.ids)}
            if i % 10 == 0:
                p = t.encode(text, texts[i - 1])
                o["pair"], o["types"] = p.ids, p.type_ids
                t.encode_special_tokens = True
                o["plain"] = t.encode(text, add_special_tokens=False).ids
                t.encode_special_tokens = False
                for direction in ("right", "left"):
                    t.enable_truncation(9, direction=direction)
                    o[direction] = t.encode(text).ids
                    o[direction + "pair"] = t.encode(text, texts[i - 1]).ids
                t.no_truncation()
            out.write(json.dumps(o) + "\n")


if __name__ == "__main__":
    for arg in sys.argv[2:]:
        {"train": train, "small": small, "encode": encode}[sys.argv[1]](arg)
