package openai

import (
	"errors"
	"math/rand/v2"

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
	Seed        *int64     `json:"seed"`
	N           *int       `json:"n"`
	Priority    *int       `json:"priority"`   // an extension of vLLM: requests with a smaller number come first
	Salt        string     `json:"cache_salt"` // an extension of vLLM: requests with different salts share no cached tokens
	Stop        gate.Texts `json:"stop"`
	Stream      bool       `json:"stream"`
	Options     struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Frequency *float64       `json:"frequency_penalty"`
	Presence  *float64       `json:"presence_penalty"`
	Bias      map[string]any `json:"logit_bias"`
}

// choices is the largest n of a request.
const choices = 16

// request returns how to generate the first choice.
func (c *common) request() (llm.Request, error) {
	r := llm.Request{Temperature: 1, Stop: c.Stop, Seed: rand.Uint64(), Salt: c.Salt}
	if c.Seed != nil {
		r.Seed = uint64(*c.Seed)
	}
	err := errors.Join(
		gate.Set(&r.Temperature, "temperature", c.Temperature, gate.Between(0.0, 2)),
		gate.Set(&r.TopP, "top_p", c.TopP, gate.Between(0.0, 1)),
		gate.Set(&r.MinP, "min_p", c.MinP, gate.Between(0.0, 1)),
		gate.Set(&r.MaxTokens, "max_tokens", c.MaxTokens, gate.Between(1, 1<<30)),
		gate.Set(&r.Priority, "priority", c.Priority, gate.Between(-1<<31, 1<<31-1)),
		c.check(),
	)
	if c.TopK != nil && *c.TopK != -1 { // as in vLLM, -1 stands for all tokens
		err = errors.Join(err, gate.Set(&r.TopK, "top_k", c.TopK, gate.Between(0, 1<<30)))
	}
	return r, err
}

// check returns the error of fields that are out of range or not supported.
func (c *common) check() error {
	if len(c.Stop) > 16 {
		return gate.Invalid("stop", "%d texts, at most 16 are allowed", len(c.Stop))
	}
	for param, p := range map[string]*float64{"frequency_penalty": c.Frequency, "presence_penalty": c.Presence} {
		if p != nil && *p != 0 {
			return gate.Unsupported(param)
		}
	}
	if len(c.Bias) > 0 {
		return gate.Unsupported("logit_bias")
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
