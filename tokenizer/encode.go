package tokenizer

import (
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/model"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/normalize"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pretokenize"
)

// Options are the options of EncodeWith, EncodePair and EncodePairs.
type Options struct {
	// OmitSpecial omits the tokens that the tokenizer adds around a text, such as [CLS] or <s>.
	OmitSpecial bool
	// PlainText treats special tokens in the text, such as <|im_end|>, as
	// ordinary text. Set it for text from users.
	PlainText bool
	// MaxLength limits the number of tokens, including the tokens that the tokenizer adds. Only
	// tokens of the texts are cut. If there are two texts, the longer one is cut first. 0 means no
	// limit.
	MaxLength int
	// CutLeft removes tokens at the start of a text that is too long, instead of at its end.
	CutLeft bool
	// Offsets sets Encoding.Offsets.
	Offsets bool
	// Continues means that the text continues another text: the tokenizer inserts no space before
	// it. Set OmitSpecial, too.
	Continues bool
}

// Offset is a range of bytes of a text.
type Offset = aligned.Span

// Encoding is the result of EncodeWith, EncodePair and EncodePairs.
type Encoding struct {
	IDs []int32
	// TypeIDs has an element for each ID. The tokenizer's file determines the elements: usually 0
	// for the first text, and 0 or 1 for the second text.
	TypeIDs []int32
	// Offsets has an element for each ID: the range of the text that the token represents, extended to whole characters. For a token that the
	// tokenizer added, the range is empty. Offsets is nil if Options.Offsets is not set. Offsets of the second text count from its own start.
	Offsets []Offset
	// Truncated reports whether Options.MaxLength removed tokens.
	Truncated bool
}

// Encode returns the IDs of a text, including the tokens that the tokenizer adds.
func (t *Tokenizer) Encode(text string) []int32 {
	return t.EncodeWith(text, Options{}).IDs
}

// EncodeWith encodes a text.
func (t *Tokenizer) EncodeWith(text string, o Options) Encoding {
	mem := t.grab()
	defer t.release(mem)
	return t.assemble(false, [2][]token{t.tokens(mem, text, o)}, o)
}

// EncodePair encodes two texts as one sequence, for models that compare them.
func (t *Tokenizer) EncodePair(a, b string, o Options) Encoding {
	return t.EncodePairs(a, []string{b}, o)[0]
}

// EncodePairs returns the result of EncodePair for the text a and each text of list. It tokenizes the text a only once.
func (t *Tokenizer) EncodePairs(a string, list []string, o Options) []Encoding {
	first, second := t.grab(), t.grab()
	defer t.release(first)
	defer t.release(second)
	tokens, encodings := [2][]token{t.tokens(first, a, o)}, make([]Encoding, len(list))
	for i, b := range list {
		tokens[1] = t.tokens(second, b, o)
		encodings[i] = t.assemble(true, tokens, o)
	}
	return encodings
}

// assemble returns the encoding of the tokens of one text or two.
func (t *Tokenizer) assemble(pair bool, tokens [2][]token, o Options) Encoding {
	short := t.truncate(pair, tokens, o)
	e := t.post.assemble(pair, short, o)
	e.Truncated = len(short[0])+len(short[1]) < len(tokens[0])+len(tokens[1])
	return e
}

// token is a token of a text.
type token struct {
	id   int32
	span Offset // if it is asked for
}

// memory is what encoding one text needs, kept for the next one.
type memory struct {
	text            string
	segments, parts []segment
	found           []model.Token
	tokens          []token
}

func (t *Tokenizer) grab() *memory {
	if m, ok := t.memory.Get().(*memory); ok {
		return m
	}
	return new(memory)
}

// release keeps the memory, without the texts that it refers to.
func (t *Tokenizer) release(m *memory) {
	m.text = ""
	clear(m.segments)
	clear(m.parts)
	t.memory.Put(m)
}

// tokens returns the tokens of a text. They are valid until the memory is
// released.
func (t *Tokenizer) tokens(mem *memory, text string, o Options) []token {
	mem.text, mem.tokens = text, mem.tokens[:0]
	mem.segments = t.added.raw.split(mem.segments[:0], aligned.New(text, o.Offsets || t.track || o.Continues), o.PlainText)
	for i, s := range mem.segments {
		normalizer, pre := t.normalizer, t.pre
		if o.Continues && i == 0 {
			normalizer, pre = normalize.WithoutPrefix(normalizer), pretokenize.WithoutPrefix(pre)
		}
		if s.token != nil {
			t.appendAdded(mem, s, o)
			continue
		}
		mem.parts = t.added.normalized.split(mem.parts[:0], normalized(normalizer, s.Text), o.PlainText)
		for j, p := range mem.parts {
			switch {
			case p.token != nil:
				t.appendAdded(mem, p, o)
			case j == 0:
				t.appendText(mem, pre, p.Text, o)
			default:
				t.appendText(mem, t.pre, p.Text, o)
			}
		}
	}
	return mem.tokens
}

// appendAdded appends an added token.
func (t *Tokenizer) appendAdded(mem *memory, s segment, o Options) {
	tok := token{id: s.token.ID}
	if o.Offsets {
		tok.span = t.post.trimmed(mem.text, s.Span(0, len(s.S)), s.S, len(mem.tokens) == 0)
	}
	mem.tokens = append(mem.tokens, tok)
}

// appendText appends the tokens of normalized text without added tokens.
func (t *Tokenizer) appendText(mem *memory, pre pretokenize.PreTokenizer, text aligned.Text, o Options) {
	if pre == nil {
		t.appendPiece(mem, text, o)
		return
	}
	for piece := range pre.Split(text) {
		if piece.S != "" {
			t.appendPiece(mem, piece, o)
		}
	}
}

// appendPiece appends the tokens of a piece.
func (t *Tokenizer) appendPiece(mem *memory, piece aligned.Text, o Options) {
	mem.found = t.model.Append(mem.found[:0], piece.S)
	for _, f := range mem.found {
		tok := token{id: f.ID}
		if o.Offsets {
			spelled, _ := t.vocab.Token(f.ID)
			tok.span = t.post.trimmed(mem.text, piece.Span(int(f.Start), int(f.End)), spelled, len(mem.tokens) == 0)
		}
		mem.tokens = append(mem.tokens, tok)
	}
}

// truncate cuts tokens to o.MaxLength. Of two texts the longer one is cut until
// both are equally long, and then both.
func (t *Tokenizer) truncate(pair bool, tokens [2][]token, o Options) [2][]token {
	if o.MaxLength <= 0 {
		return tokens
	}
	a, b := len(tokens[0]), len(tokens[1])
	limit := o.MaxLength
	if !o.OmitSpecial {
		limit -= t.post.count(pair)
	}
	limit = max(limit, 0)
	if a+b <= limit {
		return tokens
	}
	short := min(a, b)
	long := max(short, limit-short)
	if short+long > limit {
		short = limit / 2
		long = short + limit%2
	}
	if a > b {
		short, long = long, short
	}
	tokens[0], tokens[1] = cut(tokens[0], short, o.CutLeft), cut(tokens[1], long, o.CutLeft)
	return tokens
}

// cut returns n of the tokens.
func cut(tokens []token, n int, left bool) []token {
	switch {
	case n >= len(tokens):
		return tokens
	case left:
		return tokens[len(tokens)-n:]
	}
	return tokens[:n]
}
