package tokenizer

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/bytelevel"
)

// post assembles the tokens of one or two texts and of the special tokens
// around them.
type post struct {
	single, pair []part
	trim         bool // offsets do not include white space at the ends of tokens
	prefixSpace  bool // unless the tokenizer inserted it
}

// part is a text, or special tokens.
type part struct {
	text   int     // 0 or 1, or -1 for special tokens
	ids    []int32 // the special tokens
	typeID int32
}

// plainPost adds no tokens.
func plainPost() post {
	return post{single: []part{{text: 0}}, pair: []part{{text: 0}, {text: 1, typeID: 1}}}
}

// parts returns the template for one text or two.
func (p *post) parts(pair bool) []part {
	if pair {
		return p.pair
	}
	return p.single
}

// assemble returns the encoding of one text or two.
func (p *post) assemble(pair bool, tokens [2][]token, o Options) Encoding {
	n := len(tokens[0]) + len(tokens[1]) + p.count(pair)
	e := Encoding{IDs: make([]int32, 0, n), TypeIDs: make([]int32, 0, n)}
	if o.Offsets {
		e.Offsets = make([]Offset, 0, n)
	}
	add := func(id, typeID int32, span Offset) {
		e.IDs, e.TypeIDs = append(e.IDs, id), append(e.TypeIDs, typeID)
		if o.Offsets {
			e.Offsets = append(e.Offsets, span)
		}
	}
	for _, q := range p.parts(pair) {
		if q.text >= 0 {
			for _, t := range tokens[q.text] {
				add(t.id, q.typeID, t.span)
			}
			continue
		}
		for _, id := range q.ids {
			if !o.OmitSpecial {
				add(id, q.typeID, Offset{})
			}
		}
	}
	return e
}

// count returns the number of special tokens around one text or two.
func (p *post) count(pair bool) int {
	n := 0
	for _, q := range p.parts(pair) {
		n += len(q.ids)
	}
	return n
}

// trimmed returns the span of a token in a text without the white space at its
// ends, if the tokenizer wants that. Like the tokenizers package, it removes as
// many characters as the token's spelling has spaces, also if the tokenizer
// inserted one of them, except at the start of the text.
func (p *post) trimmed(text string, s Offset, spelled string, first bool) Offset {
	if !p.trim {
		return s
	}
	lead := 0
	for _, r := range spelled {
		if !isBlank(r) {
			break
		}
		lead++
	}
	if lead == 1 && p.prefixSpace && (first || s.Start == 0) {
		lead = 0
	}
	for ; lead > 0 && s.Start < s.End; lead-- {
		_, n := utf8.DecodeRuneInString(text[s.Start:s.End])
		s.Start += n
	}
	for spelled != "" && s.Start < s.End {
		r, n := utf8.DecodeLastRuneInString(spelled)
		if !isBlank(r) {
			break
		}
		spelled = spelled[:len(spelled)-n]
		_, n = utf8.DecodeLastRuneInString(text[s.Start:s.End])
		s.End -= n
	}
	return s
}

// isBlank reports whether r is white space, or stands for a space in byte-level
// spelling.
func isBlank(r rune) bool { return r == bytelevel.Rune(' ') || unicode.IsSpace(r) }

// processor is the union of the fields of all post-processors.
type processor struct {
	Type       string            `json:"type"`
	Processors []json.RawMessage `json:"processors"`

	Single, Pair  []templatePiece
	SpecialTokens map[string]struct {
		IDs []int32 `json:"ids"`
	} `json:"special_tokens"`

	Sep, Cls pairToken

	TrimOffsets    *bool `json:"trim_offsets"`
	AddPrefixSpace *bool `json:"add_prefix_space"`
}

// templatePiece is a piece of a template, of which one field is set.
type templatePiece struct {
	Sequence *struct {
		ID     string `json:"id"`
		TypeID int32  `json:"type_id"`
	}
	SpecialToken *struct {
		ID     string `json:"id"`
		TypeID int32  `json:"type_id"`
	}
}

// UnmarshalJSON implements json.Unmarshaler. Besides an object it accepts the
// short form, such as "$A:0" or "[CLS]".
func (p *templatePiece) UnmarshalJSON(raw []byte) error {
	type plain templatePiece
	var short string
	if json.Unmarshal(raw, &short) != nil {
		return json.Unmarshal(raw, (*plain)(p))
	}
	name, typed, ok := strings.Cut(short, ":")
	typeID, err := strconv.ParseInt(typed, 10, 32)
	if ok && err != nil {
		return fmt.Errorf("%w: the template piece %q", ErrFormat, short)
	}
	piece := &struct {
		ID     string `json:"id"`
		TypeID int32  `json:"type_id"`
	}{name, int32(typeID)}
	switch name {
	case "$", "$A", "$a", "$0":
		piece.ID, p.Sequence = "A", piece
	case "$B", "$b":
		piece.ID, p.Sequence = "B", piece
	case "$1":
		piece.ID, piece.TypeID, p.Sequence = "A", 1, piece
	default:
		p.SpecialToken = piece
	}
	return nil
}

// pairToken is a JSON list of a token and its ID.
type pairToken struct{ id int32 }

// UnmarshalJSON implements json.Unmarshaler.
func (t *pairToken) UnmarshalJSON(raw []byte) error {
	var name string
	list := []any{&name, &t.id}
	return json.Unmarshal(raw, &list)
}

// parsePost returns the post-processor of a JSON object.
func parsePost(raw json.RawMessage) (post, error) {
	p := plainPost()
	templates := 0
	err := p.parse(raw, &templates)
	if err == nil && templates > 1 {
		err = fmt.Errorf("%w: a post-processor with %d templates", ErrUnsupported, templates)
	}
	return p, err
}

// parse applies a JSON object to p and counts the templates.
func (p *post) parse(raw json.RawMessage, templates *int) error {
	var o processor
	if err := json.Unmarshal(raw, &o); err != nil {
		return fmt.Errorf("%w: post_processor: %w", ErrFormat, err)
	}
	switch o.Type {
	case "Sequence":
		for _, q := range o.Processors {
			if err := p.parse(q, templates); err != nil {
				return err
			}
		}
	case "ByteLevel":
		p.setTrim(o)
	case "BertProcessing":
		*templates++
		p.surround(o, 1, 1)
	case "RobertaProcessing":
		*templates++
		p.setTrim(o)
		p.surround(o, 2, 0)
	case "TemplateProcessing":
		*templates++
		return p.template(o)
	default:
		return fmt.Errorf("%w: unknown post-processor %q", ErrUnsupported, o.Type)
	}
	return nil
}

func (p *post) setTrim(o processor) {
	p.trim = o.TrimOffsets == nil || *o.TrimOffsets
	p.prefixSpace = o.AddPrefixSpace == nil || *o.AddPrefixSpace
}

// surround sets the templates of BERT and its descendants: the second text
// follows the given number of separators and has the given type.
func (p *post) surround(o processor, separators int, typeID int32) {
	sep := []int32{o.Sep.id}
	p.single = []part{{text: -1, ids: []int32{o.Cls.id}}, {text: 0}, {text: -1, ids: sep}}
	p.pair = append([]part(nil), p.single...)
	for range separators - 1 {
		p.pair = append(p.pair, part{text: -1, ids: sep})
	}
	p.pair = append(p.pair, part{text: 1, typeID: typeID}, part{text: -1, ids: sep, typeID: typeID})
}

// template sets the templates of a TemplateProcessing.
func (p *post) template(o processor) error {
	convert := func(pieces []templatePiece) ([]part, error) {
		var parts []part
		for _, q := range pieces {
			switch {
			case q.Sequence != nil && (q.Sequence.ID == "A" || q.Sequence.ID == "B"):
				parts = append(parts, part{text: int(q.Sequence.ID[0] - 'A'), typeID: q.Sequence.TypeID})
			case q.SpecialToken != nil:
				s, ok := o.SpecialTokens[q.SpecialToken.ID]
				if !ok {
					return nil, fmt.Errorf("%w: the template's special token %q is not defined", ErrFormat, q.SpecialToken.ID)
				}
				parts = append(parts, part{text: -1, ids: s.IDs, typeID: q.SpecialToken.TypeID})
			default:
				return nil, fmt.Errorf("%w: a piece of a template is neither a sequence nor a special token", ErrFormat)
			}
		}
		return parts, nil
	}
	var err error
	if p.single, err = convert(o.Single); err != nil {
		return err
	}
	p.pair, err = convert(o.Pair)
	return err
}
