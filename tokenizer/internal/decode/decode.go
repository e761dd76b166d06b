package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pattern"
)

// Errors that the errors of Parse wrap.
var (
	ErrUnknown = errors.New("unknown decoder")
	ErrFormat  = errors.New("invalid decoder")
)

// Decoder is the immutable description of a decoder.
type Decoder struct{ stages []stage }

// stage makes one step of decoding. It writes to next.
type stage func(next Sink) Sink

// Sink receives tokens.
type Sink interface {
	Write(token string)
	End() // after the last token
}

// Start returns a sink for the tokens of one text, which is written to b.
func (d *Decoder) Start(b *strings.Builder) Sink {
	var s Sink = builder{b}
	for i := len(d.stages) - 1; i >= 0; i-- {
		s = d.stages[i](s)
	}
	return s
}

// builder ends the chain.
type builder struct{ *strings.Builder }

// Write implements Sink.
func (b builder) Write(token string) { b.WriteString(token) }

// End implements Sink.
func (builder) End() {}

// Joined returns the decoder of tokenizers that have none: it puts spaces
// between tokens.
func Joined() *Decoder {
	return &Decoder{[]stage{func(next Sink) Sink {
		return &indexed{next: next, f: func(token string, first bool) string {
			if first {
				return token
			}
			return " " + token
		}}
	}}}
}

// ByteLevel returns the decoder of byte-level tokens.
func ByteLevel() *Decoder { return &Decoder{[]stage{each(byteLevel)}} }

// WordPiece returns the decoder of WordPiece tokens with a prefix, which also
// removes spaces before punctuation.
func WordPiece(prefix string) *Decoder { return &Decoder{[]stage{wordPiece(prefix, true)}} }

// SentencePiece returns the decoder of SentencePiece's BPE, in which the
// character space stands for a space. With prefix, the text begins with a space
// that is removed.
func SentencePiece(space string, prefix bool) *Decoder {
	stages := []stage{
		each(func(token string) string { return strings.ReplaceAll(token, space, " ") }),
		each(byteFallback),
	}
	if prefix {
		stages = append(stages, func(next Sink) Sink { return &stripStream{next: next, content: " ", start: 1} })
	}
	return &Decoder{stages}
}

// object is the union of the fields of all decoders.
type object struct {
	Type     string            `json:"type"`
	Decoders []json.RawMessage `json:"decoders"`

	Prefix  string `json:"prefix"`
	Cleanup bool   `json:"cleanup"`
	Suffix  string `json:"suffix"`

	Replacement    string `json:"replacement"`
	PrependScheme  string `json:"prepend_scheme"`
	AddPrefixSpace *bool  `json:"add_prefix_space"`

	Pattern json.RawMessage `json:"pattern"`
	Content string          `json:"content"`
	Start   int             `json:"start"`
	Stop    int             `json:"stop"`
}

// parser collects the stages of a decoder.
type parser struct {
	stages []stage
	fused  bool // the stages so far make one token of all
}

// Parse returns the decoder of a JSON object.
func Parse(raw json.RawMessage) (*Decoder, error) {
	var p parser
	if err := p.parse(raw); err != nil {
		return nil, err
	}
	return &Decoder{p.stages}, nil
}

func (p *parser) parse(raw json.RawMessage) error {
	o := object{Suffix: "</w>"}
	if err := json.Unmarshal(raw, &o); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	switch o.Type {
	case "Sequence":
		for _, d := range o.Decoders {
			if err := p.parse(d); err != nil {
				return err
			}
		}
		return nil
	case "Fuse":
		p.fused = true
		return nil
	case "Strip":
		return p.parseStrip(o)
	}
	if p.fused {
		return fmt.Errorf("%w: %s after tokens were fused", ErrUnknown, o.Type)
	}
	switch o.Type {
	case "ByteLevel":
		p.fused = true
		p.add(each(byteLevel))
	case "ByteFallback":
		p.add(each(byteFallback))
	case "WordPiece":
		p.add(wordPiece(o.Prefix, o.Cleanup))
	case "BPEDecoder":
		p.add(func(next Sink) Sink { return &suffix{next: next, suffix: o.Suffix} })
	case "Metaspace":
		return p.parseMetaspace(o)
	case "Replace":
		return p.parseReplace(o)
	default:
		return fmt.Errorf("%w %q", ErrUnknown, o.Type)
	}
	return nil
}

func (p *parser) add(s stage) { p.stages = append(p.stages, s) }

func (p *parser) parseStrip(o object) error {
	if utf8.RuneCountInString(o.Content) != 1 || o.Start < 0 || o.Stop < 0 {
		return fmt.Errorf("%w: Strip of %d and %d times %q", ErrFormat, o.Start, o.Stop, o.Content)
	}
	if p.fused {
		p.add(func(next Sink) Sink {
			return &stripStream{next: next, content: o.Content, start: o.Start, stop: o.Stop}
		})
		return nil
	}
	p.add(each(func(token string) string {
		for i := 0; i < o.Start; i++ {
			token = strings.TrimPrefix(token, o.Content)
		}
		for i := 0; i < o.Stop; i++ {
			token = strings.TrimSuffix(token, o.Content)
		}
		return token
	}))
	return nil
}

func (p *parser) parseMetaspace(o object) error {
	if utf8.RuneCountInString(o.Replacement) != 1 {
		return fmt.Errorf("%w: Metaspace with the replacement %q", ErrFormat, o.Replacement)
	}
	never := o.PrependScheme == "never" || o.AddPrefixSpace != nil && !*o.AddPrefixSpace
	p.add(func(next Sink) Sink {
		return &indexed{next: next, f: func(token string, first bool) string {
			to := " "
			if first && !never {
				to = ""
			}
			return strings.ReplaceAll(token, o.Replacement, to)
		}}
	})
	return nil
}

func (p *parser) parseReplace(o object) error {
	pat, err := pattern.Parse(o.Pattern)
	if err != nil {
		return err
	}
	p.add(each(func(token string) string {
		var b strings.Builder
		last := 0
		for m := range pat.Find(token) {
			b.WriteString(token[last:m.Start])
			b.WriteString(o.Content)
			last = m.End
		}
		b.WriteString(token[last:])
		return b.String()
	}))
	return nil
}
