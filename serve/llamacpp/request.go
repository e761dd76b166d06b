package llamacpp

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"

	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// request is the body of a request for the continuation of texts.
type request struct {
	Model         string          `json:"model"`
	Prompt        prompts         `json:"prompt"`
	Predict       *int            `json:"n_predict"`
	MaxTokens     *int            `json:"max_tokens"` // another name of it
	Stream        bool            `json:"stream"`
	Stop          gate.Texts      `json:"stop"`
	Probabilities *int            `json:"n_probs"`
	AfterSampling bool            `json:"post_sampling_probs"`
	ReturnTokens  bool            `json:"return_tokens"`
	Fields        []string        `json:"response_fields"`
	Schema        json.RawMessage `json:"json_schema"`
	GBNF          string          `json:"grammar"`
	Bias          json.RawMessage `json:"logit_bias"`
	Salt          string          `json:"cache_salt"`
	Adapters      []gate.Scaled   `json:"lora"`
	choosing
}

// choosing are the fields that say how tokens are chosen.
type choosing struct {
	Seed        *gate.Seed `json:"seed"`
	Temperature *float64   `json:"temperature"`
	TopK        *int       `json:"top_k"`
	TopP        *float64   `json:"top_p"`
	MinP        *float64   `json:"min_p"`
	Repetition  *float64   `json:"repeat_penalty"`
	Frequency   *float64   `json:"frequency_penalty"`
	Presence    *float64   `json:"presence_penalty"`
	IgnoreEnd   bool       `json:"ignore_eos"`
}

// usual is how tokens are chosen unless a request says otherwise, as in llama-server.
var usual = llm.Request{Temperature: 0.8, TopK: 40, TopP: 0.95, MinP: 0.05, RepetitionPenalty: 1}

// apply returns how to choose tokens.
func (c *choosing) apply() (llm.Request, error) {
	r := usual
	r.IgnoreEnd, r.Seed = c.IgnoreEnd, gate.NewSeed()
	if c.Seed != nil && !c.Seed.Negative { // others mean a new seed
		r.Seed = c.Seed.Value
	}
	if c.TopK != nil && *c.TopK < 0 {
		*c.TopK = 0
	}
	return r, errors.Join(
		gate.Set(&r.Temperature, "temperature", c.Temperature, gate.Between(-math.MaxFloat64, 100)), // at most 0 for the most probable token
		gate.Set(&r.TopK, "top_k", c.TopK, gate.Between(0, 1<<30)),
		gate.Set(&r.TopP, "top_p", c.TopP, gate.Between(0.0, 1)),
		gate.Set(&r.MinP, "min_p", c.MinP, gate.Between(0.0, 1)),
		gate.Set(&r.RepetitionPenalty, "repeat_penalty", c.Repetition, gate.Between(0.01, 100)),
		gate.Set(&r.FrequencyPenalty, "frequency_penalty", c.Frequency, gate.Between(-100.0, 100)),
		gate.Set(&r.PresencePenalty, "presence_penalty", c.Presence, gate.Between(-100.0, 100)),
	)
}

// generation returns how to generate the texts. The error is a gate.Failure.
func (b *request) generation(m gate.Tokenized, grammars *grammar.Cache) (llm.Request, error) {
	r, err := b.choosing.apply()
	if b.Predict == nil {
		b.Predict = b.MaxTokens
	}
	if b.Predict != nil && *b.Predict < 0 { // no limit
		b.Predict = nil
	}
	err = errors.Join(err,
		gate.Set(&r.MaxTokens, "n_predict", b.Predict, gate.Between(0, 1<<30)),
		gate.Set(&r.TopLogprobs, "n_probs", b.Probabilities, gate.Between(0, llm.MostLogprobs)),
	)
	if b.evaluates() { // one token, which the answer leaves out
		r.MaxTokens = 1
	}
	r.Stop, r.Salt, r.Logprobs = b.Stop, b.Salt, r.TopLogprobs > 0
	switch {
	case b.GBNF != "":
		err = errors.Join(err, gate.Unsupported("grammar"))
	case b.AfterSampling:
		err = errors.Join(err, gate.Unsupported("post_sampling_probs"))
	case len(b.Schema) > 0 && string(b.Schema) != "null":
		var wrong error
		if r.Grammar, wrong = grammars.Schema(b.Schema); wrong != nil {
			err = errors.Join(err, gate.Invalid("json_schema", "%v", wrong))
		}
	}
	if err == nil {
		r.Bias, err = biases(b.Bias, m)
	}
	return r, err
}

// limit returns the largest number of tokens of a text, or -1.
func (b *request) limit() int {
	if b.Predict == nil {
		return -1
	}
	return *b.Predict
}

// evaluates reports whether a request only computes its prompts, so that later requests find them in the cache.
func (b *request) evaluates() bool { return b.limit() == 0 }

// bias is a value of logit_bias: a number, or false for a token that is excluded.
type bias float64

// UnmarshalJSON implements json.Unmarshaler.
func (b *bias) UnmarshalJSON(data []byte) error {
	if string(data) == "false" {
		*b = bias(math.Inf(-1))
		return nil
	}
	return json.Unmarshal(data, (*float64)(b))
}

// biases returns the biases of tokens: of a list of pairs, or of an object. The keys are tokens, or texts, all of whose tokens get the bias.
func biases(raw json.RawMessage, m gate.Tokenized) (map[int32]float64, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	all := map[int32]float64{}
	add := func(text string, value bias) {
		if id, err := strconv.ParseInt(text, 10, 32); err == nil {
			all[int32(id)] = float64(value)
			return
		}
		for _, id := range m.Tokenizer().EncodeWith(text, tokenizer.Options{PlainText: true, OmitSpecial: true}).IDs {
			all[id] = float64(value)
		}
	}
	var object map[string]bias
	if json.Unmarshal(raw, &object) == nil {
		for text, value := range object {
			add(text, value)
		}
		return all, nil
	}
	var list [][2]json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, gate.Invalid("logit_bias", "neither an object nor a list of pairs")
	}
	for i, pair := range list {
		var text string
		var value bias
		if json.Unmarshal(pair[0], &text) != nil {
			text = string(pair[0])
		}
		if json.Unmarshal(pair[1], &value) != nil {
			return nil, gate.Invalid("logit_bias", "pair %d has no bias", i)
		}
		add(text, value)
	}
	return all, nil
}

// prompts are gate.Prompts, in which an object with prompt_string stands for a text.
type prompts struct {
	gate.Prompts
	many bool // the answer is a list
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *prompts) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		return json.Unmarshal(plain(data), &p.Prompts)
	}
	for i, raw := range list {
		list[i] = plain(raw)
	}
	data, err := json.Marshal(list)
	if err != nil {
		return err
	}
	var one gate.Prompt
	p.many = one.UnmarshalJSON(data) != nil
	return json.Unmarshal(data, &p.Prompts)
}

// plain returns the text of an object with prompt_string and nothing else, and other values as they are.
func plain(raw json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && len(object) == 1 && object["prompt_string"] != nil {
		return object["prompt_string"]
	}
	return raw
}
