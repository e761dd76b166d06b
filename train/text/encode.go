package text

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// Options are how texts become tokens.
type Options struct {
	Tokenizer *tokenizer.Tokenizer
	// Template renders messages. It may be nil if no line has any.
	Template *chat.Template
	// End, unless it is nil, is the token that ends completions and texts.
	End *int32
	// Length is the largest number of tokens of a text, and of a Pack.
	Length int
	// Truncate cuts texts that are longer, at their end. They are an error otherwise.
	Truncate bool
}

// span is a range of bytes.
type span struct{ from, to int }

// Example is the tokens of a text.
type Example struct {
	Tokens  []int32
	Learned []bool // for each token whether the model learns it
}

// Encode returns the tokens of a record. The errors match ErrLine, ErrLong, ErrOptions, and those of the template.
func (o Options) Encode(r Record) (Example, error) {
	var e Example
	switch {
	case r.Messages != nil:
		text, learned, err := o.render(r.Messages)
		if err != nil {
			return e, err
		}
		e = o.tokens(text, learned, tokenizer.Options{OmitSpecial: true})
	case r.Text != nil:
		e = o.ended(o.tokens(*r.Text, []span{{0, len(*r.Text)}}, tokenizer.Options{PlainText: true}))
	default:
		text := *r.Prompt + *r.Completion
		e = o.ended(o.tokens(text, []span{{len(*r.Prompt), len(text)}}, tokenizer.Options{PlainText: true}))
	}
	if len(e.Tokens) > o.Length {
		if !o.Truncate {
			return Example{}, fmt.Errorf("%w: %d tokens, %d", ErrLong, len(e.Tokens), o.Length)
		}
		e.Tokens, e.Learned = e.Tokens[:o.Length], e.Learned[:o.Length]
	}
	return e, nil
}

// ended appends the token that ends texts.
func (o Options) ended(e Example) Example {
	if o.End != nil {
		e.Tokens, e.Learned = append(e.Tokens, *o.End), append(e.Learned, true)
	}
	return e
}

// tokens encodes a text. A token is learned if its last byte is.
func (o Options) tokens(text string, learned []span, with tokenizer.Options) Example {
	with.Offsets = true
	x := o.Tokenizer.EncodeWith(text, with)
	e := Example{Tokens: x.IDs, Learned: make([]bool, len(x.IDs))}
	for i, at := range x.Offsets {
		for len(learned) > 0 && at.End > learned[0].to {
			learned = learned[1:]
		}
		e.Learned[i] = len(learned) > 0 && at.End > at.Start && at.End > learned[0].from
	}
	return e
}

// render returns the text of messages and the parts of it that are learned: what follows the text with which the template asks for an
// answer, or begins a conversation, without the space at its end.
func (o Options) render(list []Message) (text string, learned []span, err error) {
	if o.Template == nil {
		return "", nil, fmt.Errorf("%w: messages, but the model has no template for conversations", ErrOptions)
	}
	all := conversation(list)
	if text, err = o.Template.Render(all, chat.Options{}); err != nil {
		return "", nil, err
	}
	for i, m := range list {
		if m.Role != assistant {
			continue
		}
		before := "" // templates refuse a conversation without messages
		if i > 0 {
			if before, err = o.Template.Render(all[:i], chat.Options{Generate: true}); err != nil {
				return "", nil, err
			}
		}
		after, err := o.Template.Render(all[:i+1], chat.Options{})
		if err != nil {
			return "", nil, err
		}
		if !strings.HasPrefix(after, before) || !strings.HasPrefix(text, after) {
			return "", nil, fmt.Errorf("%w: the template renders message %d differently when others follow", ErrOptions, i+1)
		}
		learned = append(learned, span{len(before), len(strings.TrimRightFunc(after, unicode.IsSpace))})
	}
	return text, learned, nil
}
