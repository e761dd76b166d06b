package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// Options are the options of Read.
type Options struct {
	Tokenizer *tokenizer.Tokenizer
	// Template renders messages. It may be nil if no line has messages.
	Template *chat.Template
	// End, unless it is nil, is the token that is added after completions and texts.
	End *int32
	// Length is the largest number of tokens of a text, of both texts of a preference together, and of a Pack.
	Length int
	// Preferences means that all lines are preferences. Without it, a preference is an error.
	Preferences bool
	// Truncate removes tokens at the end of texts with more than Length tokens. Without it, such a text is an error. Read drops a text if
	// nothing to learn remains.
	Truncate bool
}

// span is a range of bytes.
type span struct{ from, to int }

// An Example is the tokens of a text. For a preference, the text is the prompt with the chosen answer.
type Example struct {
	Tokens   []int32
	Learned  []bool   // for each token, whether the model learns to predict it; the first element has no effect
	Rejected *Example // for a preference: the prompt with the rejected answer; otherwise nil
}

// size returns the number of all tokens.
func (e Example) size() int {
	if e.Rejected != nil {
		return len(e.Tokens) + len(e.Rejected.Tokens)
	}
	return len(e.Tokens)
}

// Encode returns the tokens of a record. The errors match ErrLine, ErrLong, ErrOptions, and those of the template.
func (o Options) Encode(r Record) (e Example, err error) {
	switch {
	case o.Preferences != (r.Chosen != nil):
		return e, fmt.Errorf("%w: want preferences, with chosen and rejected, in all lines or in none", ErrLine)
	case o.Preferences:
		e, err = o.preference(r)
	default:
		e, err = o.text(r)
	}
	if err != nil || e.size() <= o.Length {
		return e, err
	}
	if !o.Truncate {
		return Example{}, fmt.Errorf("%w: %d tokens, more than %d", ErrLong, e.size(), o.Length)
	}
	if e.Rejected == nil {
		e.cut(o.Length)
		return e, nil
	}
	e.cut(o.Length / 2)
	e.Rejected.cut(o.Length / 2)
	return e, nil
}

// cut removes the tokens after the first n.
func (e *Example) cut(n int) {
	n = min(n, len(e.Tokens))
	e.Tokens, e.Learned = e.Tokens[:n], e.Learned[:n]
}

// text returns the tokens of a record that is no preference.
func (o Options) text(r Record) (Example, error) {
	switch {
	case r.Messages != nil:
		return o.messages(r.Messages, 0)
	case r.Text != nil:
		return o.ended(o.tokens(*r.Text, []span{{0, len(*r.Text)}}, tokenizer.Options{PlainText: true})), nil
	}
	return o.completion(r.Prompt.Text, *r.Completion), nil
}

// completion returns the tokens of a prompt and the answer to learn.
func (o Options) completion(prompt, answer string) Example {
	text := prompt + answer
	return o.ended(o.tokens(text, []span{{len(prompt), len(text)}}, tokenizer.Options{PlainText: true}))
}

// messages returns the tokens of a conversation, of which the messages of the assistant from number first on are learned.
func (o Options) messages(list []Message, first int) (Example, error) {
	text, learned, err := o.render(list, first)
	if err != nil {
		return Example{}, err
	}
	return o.tokens(text, learned, tokenizer.Options{OmitSpecial: true}), nil
}

// preference returns the tokens of a preference.
func (o Options) preference(r Record) (e Example, err error) {
	var rejected Example
	if r.Chosen.Messages == nil {
		e, rejected = o.completion(r.Prompt.Text, r.Chosen.Text), o.completion(r.Prompt.Text, r.Rejected.Text)
		e.Rejected = &rejected
		return e, nil
	}
	var before []Message // a text, which some files have beside conversations, repeats what they contain
	if r.Prompt != nil {
		before = r.Prompt.Messages
	}
	first := len(before) + r.shared()
	if e, err = o.messages(slices.Concat(before, r.Chosen.Messages), first); err != nil {
		return e, err
	}
	rejected, err = o.messages(slices.Concat(before, r.Rejected.Messages), first)
	e.Rejected = &rejected
	return e, err
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
	x := o.encode(text, learned, with)
	e := Example{Tokens: x.IDs, Learned: make([]bool, len(x.IDs))}
	for i, at := range x.Offsets {
		for len(learned) > 0 && at.End > learned[0].to {
			learned = learned[1:]
		}
		e.Learned[i] = len(learned) > 0 && at.End > at.Start && at.End > learned[0].from
	}
	return e
}

// encode encodes a text such that what precedes a learned part has the tokens that it has alone, as when a model is asked to continue it. If the tokens
// of the whole text begin with those, it keeps them. Otherwise, as for "XIV = " with "14" if " 14" is one token, it encodes the two parts apart.
func (o Options) encode(text string, learned []span, with tokenizer.Options) tokenizer.Encoding {
	with.Offsets = true
	all, from := tokenizer.Encoding{}, 0
	rest := o.Tokenizer.EncodeWith(text, with)
	for _, at := range learned {
		if at.from == from {
			continue
		}
		before := o.Tokenizer.EncodeWith(text[from:at.from], with)
		if n := len(before.IDs); n <= len(rest.IDs) && slices.Equal(before.IDs, rest.IDs[:n]) {
			continue
		}
		all = joined(all, before, from)
		from, with.OmitSpecial, with.Continues = at.from, true, true
		rest = o.Tokenizer.EncodeWith(text[from:], with)
	}
	return joined(all, rest, from)
}

// joined appends the encoding of a text that begins at an offset.
func joined(to, x tokenizer.Encoding, offset int) tokenizer.Encoding {
	to.IDs = append(to.IDs, x.IDs...)
	for _, at := range x.Offsets {
		to.Offsets = append(to.Offsets, tokenizer.Offset{Start: offset + at.Start, End: offset + at.End})
	}
	return to
}

// render returns the text of messages and the parts of it that are learned: what follows the text with which the template asks for an
// answer, or begins a conversation, without the space at its end. Messages before number first are not learned.
func (o Options) render(list []Message, first int) (text string, learned []span, err error) {
	if o.Template == nil {
		return "", nil, fmt.Errorf("%w: messages, but the model has no template for conversations", ErrOptions)
	}
	all := conversation(list)
	if text, err = o.Template.Render(all, chat.Options{}); err != nil {
		return "", nil, err
	}
	for i, m := range list {
		if m.Role != assistant || i < first {
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
