package openai

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/llm"
)

// common are the fields that requests for chats and for continuations share.
type common struct {
	Model       string   `json:"model"`
	MaxTokens   *int     `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	TopP        *float64 `json:"top_p"`
	TopK        *int     `json:"top_k"` // an extension of vLLM and others, as MinP is
	MinP        *float64 `json:"min_p"`
	Seed        *int64   `json:"seed"`
	N           *int     `json:"n"`
	Stop        texts    `json:"stop"`
	Stream      bool     `json:"stream"`
	Options     struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Frequency *float64       `json:"frequency_penalty"`
	Presence  *float64       `json:"presence_penalty"`
	Bias      map[string]any `json:"logit_bias"`
}

// choices is the largest n of a request.
const choices = 16

// kinds are the names in JSON of the kinds of fields.
var kinds = map[reflect.Kind]string{
	reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number", reflect.String: "string",
	reflect.Slice: "array", reflect.Map: "object", reflect.Struct: "object",
}

// read reads a request in its time and size. Afterwards there is no deadline, because one that passes while an answer is generated
// would cancel the request.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, to any) error {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Now().Add(h.ClientTimeout)) // not every ResponseWriter has one
	err := decode(http.MaxBytesReader(w, r.Body, h.Body), to)
	_ = c.SetReadDeadline(time.Time{})
	return err
}

// decode reads a JSON object.
func decode(from io.Reader, to any) error {
	d := json.NewDecoder(from)
	err := d.Decode(to)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after the object")
		}
	}
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok || errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
		return invalid(strings.TrimPrefix(wrong.Field, "common."), "a JSON %s, want %s", wrong.Value, kinds[wrong.Type.Kind()])
	}
	if f, ok := errors.AsType[failure](err); ok {
		return f
	}
	return failure{status: http.StatusBadRequest, message: "the body is not a request in JSON: " + err.Error()}
}

// request returns how to generate the first choice.
func (c *common) request() (llm.Request, error) {
	r := llm.Request{Temperature: 1, Stop: c.Stop, Seed: rand.Uint64()}
	if c.Seed != nil {
		r.Seed = uint64(*c.Seed)
	}
	err := errors.Join(
		set(&r.Temperature, "temperature", c.Temperature, span[float64]{0, 2}),
		set(&r.TopP, "top_p", c.TopP, span[float64]{0, 1}),
		set(&r.MinP, "min_p", c.MinP, span[float64]{0, 1}),
		set(&r.MaxTokens, "max_tokens", c.MaxTokens, span[int]{1, 1 << 30}),
		c.check(),
	)
	if c.TopK != nil && *c.TopK != -1 { // as in vLLM, -1 stands for all tokens
		err = errors.Join(err, set(&r.TopK, "top_k", c.TopK, span[int]{0, 1 << 30}))
	}
	return r, err
}

// check returns the error of fields that are out of range or not supported.
func (c *common) check() error {
	if len(c.Stop) > 16 {
		return invalid("stop", "%d texts, at most 16 are allowed", len(c.Stop))
	}
	for param, p := range map[string]*float64{"frequency_penalty": c.Frequency, "presence_penalty": c.Presence} {
		if p != nil && *p != 0 {
			return unsupported(param)
		}
	}
	if len(c.Bias) > 0 {
		return unsupported("logit_bias")
	}
	n := 1
	return set(&n, "n", c.N, span[int]{1, choices})
}

// count returns the number of choices.
func (c *common) count() int {
	if c.N == nil {
		return 1
	}
	return *c.N
}

// span is a range of numbers.
type span[T int | float64] struct{ least, most T }

// set stores a value, if there is one, that must be in a range.
func set[T int | float64](to *T, param string, value *T, in span[T]) error {
	if value == nil {
		return nil
	}
	if !(*value >= in.least && *value <= in.most) {
		return invalid(param, "%v is not from %v to %v", *value, in.least, in.most)
	}
	*to = *value
	return nil
}

// texts is a list of texts that may be given as a single one, or as null.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(data []byte) error {
	var one *string
	if json.Unmarshal(data, &one) == nil {
		if *t = nil; one != nil {
			*t = texts{*one}
		}
		return nil
	}
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return failure{status: http.StatusBadRequest, message: "a text, or a list of texts, is " + string(data[:min(len(data), 40)])}
	}
	*t = list
	return nil
}
