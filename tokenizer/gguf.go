package tokenizer

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/decode"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/model"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/normalize"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pattern"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pretokenize"
)

// Metadata is the metadata of a GGUF file. Values have the Go types of the
// file's types: integers of any size, bool, string, float32, and slices of
// these.
type Metadata interface {
	// Value returns the value of a key and reports whether there is one.
	Value(key string) (any, bool)
}

// FromGGUF returns the tokenizer that the metadata of a GGUF file describes: byte-level BPE (gpt2),
// SentencePiece's BPE (llama) or WordPiece (bert). The error wraps ErrFormat, or ErrUnsupported if,
// for example, the package does not know the pre-tokenizer (tokenizer.ggml.pre).
func FromGGUF(m Metadata) (*Tokenizer, error) {
	g, err := readGGUF(m)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{special: specialIDs{g.bos, g.eos}}
	switch g.model {
	case "gpt2":
		err = t.gpt2(g)
	case "llama":
		err = t.llama(g)
	case "bert":
		err = t.bert(g)
	default:
		err = fmt.Errorf("%w: tokenizer.ggml.model is %q", ErrUnsupported, g.model)
	}
	if err != nil {
		return nil, err
	}
	t.vocab = t.model.Vocab()
	t.track = pretokenize.NeedsStart(t.pre)
	if err := t.setAdded(g.addedTokens()); err != nil {
		return nil, err
	}
	return t, nil
}

// family is how a GGUF file's byte-level tokenizers cut text: at the matches of
// expressions, one after the other.
type family struct {
	splits       []string
	digits       bool // in place of splits, numbers are cut out, and then text is cut as for GPT-2
	nfc          bool // text is brought to the form NFC first
	ignoreMerges bool // a piece that is a token is not split
	bos          bool // a text begins with the BOS token unless the file says otherwise
}

// The expressions of tokenizers that have no state machine.
const (
	gpt4o = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	tekken = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` +
		`|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	qwen35 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*` +
		`|\s*[\r\n]+|\s+(?!\S)|\s+`
	deepseek = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+" + `|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+` +
		`| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// familyOf returns the family with a name in tokenizer.ggml.pre.
func familyOf(pre string) (family, bool) {
	switch pre {
	case "gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "mpt", "olmo", "exaone4":
		return family{splits: []string{pattern.GPT2}}, true
	case "smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b":
		return family{digits: true}, true
	case "llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "lfm2":
		return family{splits: []string{pattern.Llama3}, ignoreMerges: true, bos: true}, true
	case "dbrx", "smaug-bpe", "glm4", "chatglm-bpe":
		return family{splits: []string{pattern.Llama3}}, true
	case "qwen2":
		return family{splits: []string{pattern.Qwen2}, nfc: true}, true
	case "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "grok-2":
		return family{splits: []string{pattern.Qwen2}}, true
	case "qwen35":
		return family{splits: []string{qwen35}, nfc: true}, true
	case "gpt-4o", "llama4":
		return family{splits: []string{gpt4o}}, true
	case "tekken":
		return family{splits: []string{tekken}, ignoreMerges: true, bos: true}, true
	case "deepseek-coder":
		return family{splits: []string{`[\r\n]`, `\s?\p{L}+`, `\s?\p{P}+`, `[一-龥ࠀ-一가-퟿]+`, pattern.Number}}, true
	case "deepseek-v3":
		return family{splits: []string{`\p{N}{1,3}`, `[一-龥぀-ゟ゠-ヿ]+`, deepseek}}, true
	case "default":
		return family{splits: []string{`[\p{P}\$\+<=>\^~\|]+`, pattern.GPT2, `\p{N}+`, `[0-9][0-9][0-9]`}}, true
	}
	return family{}, false
}

// gpt2 sets up byte-level BPE.
func (t *Tokenizer) gpt2(g *fields) error {
	f, ok := familyOf(g.pre)
	if !ok {
		return fmt.Errorf("%w: tokenizer.ggml.pre is %q", ErrUnsupported, g.pre)
	}
	var steps pretokenize.Sequence
	if f.digits {
		steps = append(steps, pretokenize.Split{Pattern: pattern.SmolLM(), Behavior: pretokenize.Isolated})
	}
	for _, expr := range f.splits {
		p, err := pattern.Regex(expr)
		if err != nil {
			return classify(err)
		}
		steps = append(steps, pretokenize.Split{Pattern: p, Behavior: pretokenize.Isolated})
	}
	t.pre = steps
	if f.nfc {
		t.normalizer = normalize.NFC()
	}
	merges, err := model.SplitMerges(g.merges)
	if err != nil {
		return classify(err)
	}
	t.model, err = model.NewBPE(model.NewVocab(g.tokens), merges, model.BPEOptions{Bytes: true, IgnoreMerges: f.ignoreMerges})
	if err != nil {
		return classify(err)
	}
	t.decoder = decode.ByteLevel()
	return t.surround(g, f.bos, false)
}

// llama sets up SentencePiece's BPE. Spaces are the character U+2581, which
// also begins each text unless the file says otherwise.
func (t *Tokenizer) llama(g *fields) error {
	const space = "▁"
	var err error
	if t.model, err = model.NewScored(model.NewVocab(g.tokens), g.scores, max(g.unk, 0)); err != nil {
		return classify(err)
	}
	replace := normalize.Replace{Pattern: pattern.Literal(" "), Content: space}
	prefix := g.addSpacePrefix == nil || *g.addSpacePrefix
	if prefix {
		t.normalizer = normalize.Sequence{normalize.Prepend(space), replace}
	} else {
		t.normalizer = replace
	}
	t.decoder = decode.SentencePiece(space, prefix)
	return t.surround(g, true, false)
}

// bert sets up WordPiece. GGUF files store the tokens that start a word with
// the prefix U+2581, and those that continue one without ##.
func (t *Tokenizer) bert(g *fields) error {
	tokens := make([]string, len(g.tokens))
	for i, tok := range g.tokens {
		switch rest, starts := strings.CutPrefix(tok, "▁"); {
		case g.typeOf(i) == typeControl || g.typeOf(i) == typeUnknown:
			tokens[i] = tok
		case starts:
			tokens[i] = rest
		default:
			tokens[i] = "##" + tok
		}
	}
	g.tokens = tokens
	if g.unk < 0 || int(g.unk) >= len(tokens) {
		return fmt.Errorf("%w: tokenizer.ggml.unknown_token_id is %d", ErrFormat, g.unk)
	}
	var err error
	t.model, err = model.NewWordPiece(model.NewVocab(tokens), model.WordPieceOptions{Unk: tokens[g.unk], Prefix: "##", MaxChars: 100})
	if err != nil {
		return classify(err)
	}
	t.normalizer = normalize.Bert{Clean: true, Chinese: true, StripAccents: true, Lower: true}
	t.pre = pretokenize.Bert{}
	t.decoder = decode.WordPiece("##")
	if g.cls >= 0 {
		g.bos = g.cls
	}
	g.eos = g.sep
	return t.surround(g, true, true)
}

// surround adds the BOS and EOS tokens to texts, unless the file decides
// otherwise.
func (t *Tokenizer) surround(g *fields, bos, eos bool) error {
	t.post = plainPost()
	if g.addBOS != nil {
		bos = *g.addBOS
	}
	if g.addEOS != nil {
		eos = *g.addEOS
	}
	if bos && g.bos < 0 || eos && g.eos < 0 {
		return fmt.Errorf("%w: texts begin or end with a token, but tokenizer.ggml.bos_token_id is %d and the one for the end %d", ErrFormat, g.bos, g.eos)
	}
	begin, end := part{text: -1, ids: []int32{g.bos}}, part{text: -1, ids: []int32{g.eos}}
	first, second := []part{{text: 0}}, []part{{text: 1, typeID: 1}}
	if bos {
		first = append([]part{begin}, first...)
	}
	if eos {
		first = append(first, end)
		end.typeID = 1
		second = append(second, end)
	}
	t.post.single = first
	t.post.pair = append(first[:len(first):len(first)], second...)
	return nil
}
