package openai

import (
	"errors"
	"strconv"

	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// common are the fields that requests for chats and for continuations share.
type common struct {
	Model       string     `json:"model"`
	MaxTokens   *int       `json:"max_tokens"`
	Temperature *float64   `json:"temperature"`
	TopP        *float64   `json:"top_p"`
	TopK        *int       `json:"top_k"` // an extension of vLLM and others, as MinP is
	MinP        *float64   `json:"min_p"`
	Seed        *gate.Seed `json:"seed"`
	N           *int       `json:"n"`
	Priority    *int       `json:"priority"`   // an extension of vLLM: requests with a smaller number come first
	Salt        string     `json:"cache_salt"` // an extension of vLLM: requests with different salts share no cached tokens
	Stop        gate.Texts `json:"stop"`
	Stream      bool       `json:"stream"`
	Options     struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	penalties
	IgnoreEnd bool `json:"ignore_eos"` // an extension of vLLM and others

	Timings  bool          `json:"timings_per_token"` // an extension of llama-server, as the following are
	Predict  *int          `json:"n_predict"`         // takes precedence over MaxTokens; negative for no limit
	Adapters []gate.Scaled `json:"lora"`
}

// penalties are the fields that change the scores of tokens.
type penalties struct {
	Frequency  *float64           `json:"frequency_penalty"`
	Presence   *float64           `json:"presence_penalty"`
	Repetition *float64           `json:"repetition_penalty"` // an extension of vLLM
	Bias       map[string]float64 `json:"logit_bias"`
}

// apply sets the penalties of a text.
func (p *penalties) apply(r *llm.Request, m Model) error {
	err := errors.Join(
		gate.Set(&r.FrequencyPenalty, "frequency_penalty", p.Frequency, gate.Between(-2.0, 2)),
		gate.Set(&r.PresencePenalty, "presence_penalty", p.Presence, gate.Between(-2.0, 2)),
		gate.Set(&r.RepetitionPenalty, "repetition_penalty", p.Repetition, gate.Between(0.01, 100)),
	)
	if len(p.Bias) > 0 {
		r.Bias = map[int32]float64{}
	}
	for key, value := range p.Bias {
		id, wrong := strconv.ParseInt(key, 10, 32)
		if wrong != nil || id < 0 {
			return gate.Invalid("logit_bias", "%q is not the number of a token", key)
		}
		if t, ok := m.(gate.Tokenized); ok {
			if _, ok := t.Tokenizer().Token(int32(id)); !ok {
				return gate.Invalid("logit_bias", "%d is not a token of the model", id)
			}
		}
		var bias float64
		if err := gate.Set(&bias, "logit_bias", &value, gate.Between(-100.0, 100)); err != nil {
			return err
		}
		r.Bias[int32(id)] = bias
	}
	return err
}

// choices is the largest n of a request.
const choices = 16

// request returns how a model generates the first choice.
func (c *common) request(m Model) (llm.Request, error) {
	r := llm.Request{Temperature: 1, Stop: c.Stop, Seed: gate.NewSeed(), Salt: c.Salt, IgnoreEnd: c.IgnoreEnd}
	if c.Seed != nil {
		r.Seed = c.Seed.Value
	}
	err := errors.Join(
		gate.Set(&r.Temperature, "temperature", c.Temperature, gate.Between(0.0, 2)),
		gate.Set(&r.TopP, "top_p", c.TopP, gate.Between(0.0, 1)),
		gate.Set(&r.MinP, "min_p", c.MinP, gate.Between(0.0, 1)),
		c.limit(&r),
		gate.Set(&r.Priority, "priority", c.Priority, gate.Between(-1<<31, 1<<31-1)),
		c.penalties.apply(&r, m),
		c.check(),
	)
	if c.TopK != nil && *c.TopK != -1 { // as in vLLM, -1 stands for all tokens
		err = errors.Join(err, gate.Set(&r.TopK, "top_k", c.TopK, gate.Between(0, 1<<30)))
	}
	gate.Narrow(&r, c.TopP)
	return r, err
}

// limit sets the largest number of tokens.
func (c *common) limit(r *llm.Request) error {
	switch {
	case c.Predict == nil:
		return gate.Set(&r.MaxTokens, "max_tokens", c.MaxTokens, gate.Between(1, 1<<30))
	case *c.Predict < 0:
		return nil
	}
	return gate.Set(&r.MaxTokens, "n_predict", c.Predict, gate.Between(1, 1<<30))
}

// check returns the error of fields that are out of range.
func (c *common) check() error {
	if len(c.Stop) > 16 {
		return gate.Invalid("stop", "%d texts, at most 16 are allowed", len(c.Stop))
	}
	n := 1
	return gate.Set(&n, "n", c.N, gate.Between(1, choices))
}

// count returns the number of choices.
func (c *common) count() int {
	if c.N == nil {
		return 1
	}
	return *c.N
}
