package llamacpp

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// part is a part of a stream.
type part struct {
	Index     int        `json:"index"`
	Content   string     `json:"content"`
	Tokens    []int32    `json:"tokens"`
	Stop      bool       `json:"stop"`
	IDSlot    int        `json:"id_slot"`
	Predicted int        `json:"tokens_predicted"`
	Evaluated int        `json:"tokens_evaluated"`
	Logs      []tokenLog `json:"completion_probabilities,omitempty"`
}

// alternative is a token and the logarithm of its probability.
type alternative struct {
	ID      int32   `json:"id"`
	Token   string  `json:"token"`
	Bytes   []int   `json:"bytes"`
	Logprob float64 `json:"logprob"`
}

// tokenLog is a token of an answer and its alternatives.
type tokenLog struct {
	alternative
	Top []alternative `json:"top_logprobs"`
}

// leastLogprob stands for the logarithm of 0: JSON has no infinity.
const leastLogprob = -9999

// alternative describes a token.
func (a *answer) alternative(id int32, logprob float64) alternative {
	text := a.model.Tokenizer().TokenText(id)
	x := alternative{ID: id, Token: strings.ToValidUTF8(text, string(utf8.RuneError)), Bytes: []int{}, Logprob: max(logprob, leastLogprob)}
	for _, b := range []byte(text) {
		x.Bytes = append(x.Bytes, int(b))
	}
	return x
}

// describe describes a token of the answer.
func (a *answer) describe(t llm.Token) tokenLog {
	l := tokenLog{a.alternative(t.ID, t.Logprobs.Chosen), []alternative{}}
	for _, x := range t.Logprobs.Top {
		l.Top = append(l.Top, a.alternative(x.ID, x.Logprob))
	}
	return l
}

// stops are the names of the reasons of an end.
var stops = map[llm.Finish]string{llm.Ended: "eos", llm.Stopped: "word", llm.Limited: "limit", llm.Full: "limit"}

// whole returns the answer for a prompt. In a stream, it is the last part, which has no text.
func (a *answer) whole(i int) (map[string]any, error) {
	p, x := a.body.Prompt.Prompts[i], a.texts[i]
	prompt, err := p.String(a.model)
	if err != nil {
		return nil, err
	}
	ids, err := p.Tokens(a.model)
	if err != nil {
		return nil, err
	}
	tokens := x.tokens
	if !a.body.ReturnTokens || a.body.Stream {
		tokens = []int32{}
	}
	took := a.each[i]
	if a.body.evaluates() {
		took.Generated = 0
	}
	content := string(x.all)
	if a.body.Stream {
		content = ""
	}
	whole := map[string]any{
		"index": i, "content": content, "tokens": tokens, "id_slot": -1, "stop": true, "model": a.name,
		"tokens_predicted": len(x.tokens), "tokens_evaluated": len(ids), "tokens_cached": len(ids) + len(x.tokens), "prompt": prompt,
		"has_new_line": bytes.Contains(x.all, []byte("\n")), "truncated": false, "stop_type": stops[x.last.Finish], "stopping_word": x.last.Stop,
		"generation_settings": settings(a.request, a.body.limit()), "timings": gate.Timings(took),
	}
	if len(x.logs) > 0 && !a.body.Stream {
		whole["completion_probabilities"] = x.logs
	}
	return whole, nil
}

// settings returns how a text is generated. A limit of -1 means no limit.
func settings(r llm.Request, limit int) map[string]any {
	return map[string]any{
		"n_predict": limit, "seed": r.Seed, "temperature": r.Temperature, "top_k": r.TopK, "top_p": r.TopP, "min_p": r.MinP,
		"repeat_penalty": r.RepetitionPenalty, "presence_penalty": r.PresencePenalty, "frequency_penalty": r.FrequencyPenalty,
		"ignore_eos": r.IgnoreEnd, "n_probs": r.TopLogprobs, "stop": append([]string{}, r.Stop...),
	}
}
