package openai

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// describer describes the probabilities of tokens, whose texts are those of a tokenizer.
type describer struct{ tokenizer *tokenizer.Tokenizer }

// field is the value of a field, which may be nil, and its name.
type field[T any] struct {
	name  string
	value *T
}

// newDescriber asks for the probabilities of tokens, and of as many alternatives as a field says. The error is a Failure.
func newDescriber(r *llm.Request, m Model, top field[int]) (*describer, error) {
	t, err := gate.TokenizedOf(m)
	if err != nil {
		return nil, err
	}
	r.Logprobs = true
	return &describer{t.Tokenizer()}, gate.Set(&r.TopLogprobs, top.name, top.value, gate.Between(0, llm.MostLogprobs))
}

// text returns the text of a token, in which the replacement character stands for parts of characters.
func (d *describer) text(id int32) string {
	return strings.ToValidUTF8(d.tokenizer.TokenText(id), string(utf8.RuneError))
}

// alternative is a token and its probability.
type alternative struct {
	Token   string  `json:"token"`
	Logprob float64 `json:"logprob"`
	Bytes   []int   `json:"bytes"`
}

// tokenLog is a token of an answer and its alternatives.
type tokenLog struct {
	alternative
	Top []alternative `json:"top_logprobs"`
}

// chatLogs are the probabilities of an answer in chats.
type chatLogs struct {
	Content []tokenLog `json:"content"`
	Refusal *struct{}  `json:"refusal"`
}

// textLogs are those of a continuation. Each list has an element for each token.
type textLogs struct {
	Tokens  []string             `json:"tokens"`
	Logs    []float64            `json:"token_logprobs"`
	Top     []map[string]float64 `json:"top_logprobs"` // of the most probable tokens, and of the token itself
	Offsets []int                `json:"text_offset"`  // in characters; that of a part of a character is the offset of the character
}

// alternative describes a token.
func (d *describer) alternative(id int32, logprob float64) alternative {
	a := alternative{Token: d.text(id), Logprob: max(logprob, leastLogprob), Bytes: []int{}}
	for _, b := range []byte(d.tokenizer.TokenText(id)) {
		a.Bytes = append(a.Bytes, int(b))
	}
	return a
}

// leastLogprob stands for the logarithm of 0, as in OpenAI's API: JSON has no infinity.
const leastLogprob = -9999

// chat describes tokens of an answer.
func (d *describer) chat(tokens []llm.Token) *chatLogs {
	l := &chatLogs{Content: []tokenLog{}}
	for _, t := range tokens {
		one := tokenLog{d.alternative(t.ID, t.Logprobs.Chosen), []alternative{}}
		for _, x := range t.Logprobs.Top {
			one.Top = append(one.Top, d.alternative(x.ID, x.Logprob))
		}
		l.Content = append(l.Content, one)
	}
	return l
}

// name returns the text of a token in the form of OpenAI's API for continuations: a token that is a part of a character is bytes.
func (d *describer) name(id int32) string {
	text := d.tokenizer.TokenText(id)
	if utf8.ValidString(text) {
		return text
	}
	name := []byte("bytes:")
	for _, b := range []byte(text) {
		switch {
		case b == '\\':
			name = append(name, `\\`...)
		case b < ' ' || b > '~':
			name = fmt.Appendf(name, `\x%02x`, b)
		default:
			name = append(name, b)
		}
	}
	return string(name)
}

// position is a place in a continuation, to which a decoder adds the text of each token.
type position struct {
	decoder *tokenizer.Decoder
	offset  int // in characters; a character that is not complete does not count
}

// completion describes tokens of a continuation, of which the first begins at a position, and moves the position.
func (d *describer) completion(tokens []llm.Token, at *position) *textLogs {
	if at.decoder == nil {
		at.decoder = d.tokenizer.NewDecoder(tokenizer.DecodeOptions{SkipSpecial: true})
	}
	l := &textLogs{Tokens: []string{}, Logs: []float64{}, Top: []map[string]float64{}, Offsets: []int{}}
	for _, t := range tokens {
		top := map[string]float64{d.name(t.ID): max(t.Logprobs.Chosen, leastLogprob)}
		for _, x := range t.Logprobs.Top {
			name := d.name(x.ID)
			if _, has := top[name]; !has { // of several with the same text, the most probable one
				top[name] = max(x.Logprob, leastLogprob)
			}
		}
		l.Tokens, l.Logs = append(l.Tokens, d.name(t.ID)), append(l.Logs, max(t.Logprobs.Chosen, leastLogprob))
		l.Top, l.Offsets = append(l.Top, top), append(l.Offsets, at.offset)
		at.offset += utf8.RuneCountInString(at.decoder.Write(t.ID))
	}
	return l
}

// logs returns the probabilities of the tokens of a text that have not been written, or nil if nobody asks for them.
func (a *answer) logs(t *text) any {
	if a.logprobs == nil {
		return nil
	}
	list := t.tokens
	t.tokens = nil
	if a.chat {
		return a.logprobs.chat(list)
	}
	return a.logprobs.completion(list, &t.at)
}
