package openai

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// An Embedder computes vectors of texts. It may be used by several goroutines. *embeddings.Model is one.
type Embedder interface {
	// Encode returns the tokens of a text, at most MaxTokens; complete reports whether these are all tokens of the text.
	Encode(text string) (tokens []int32, complete bool)
	// Check returns the error that EmbedTokens would return for the tokens of a text, or nil.
	Check(tokens []int32) error
	// EmbedTokens returns a vector of Width elements for the tokens of each text.
	EmbedTokens(ctx context.Context, texts ...[]int32) ([][]float32, error)
	Width() int
	MaxTokens() int   // the largest number of tokens of a text
	BatchTokens() int // the largest number of tokens that are computed at once
}

// EmbedOptions are the models that compute vectors or scores of texts, and their limits.
type EmbedOptions struct {
	// Models are the embedding models, by their names in requests. The field Others of the gate.Options must contain the same names. Models are loaded
	// when a request needs them.
	Models map[string]*repository.Model[Embedder]
	// Rerankers are the models for /v1/rerank, by their names in requests. Others must contain these names too. Rerankers are loaded when a request
	// needs them.
	Rerankers map[string]*repository.Model[Reranker]
	// Texts limits the texts, or pairs of texts, that wait for a model; a request beyond this limit is refused with status 429. 0 means
	// 4096.
	Texts int
	// Delay is the longest time that a text or pair waits for others of its batch while the model is idle.
	Delay time.Duration
	// Observe is called, unless it is nil, after each batch of a model.
	Observe func(model string, r batch.Report)
	// Began is called, unless it is nil, when a request to /v1/embeddings or /v1/rerank for a model begins. When the request ends, the returned
	// function is called with the request's error, or nil.
	Began func(model string) (ended func(error))
	// Metrics are additional metrics for /metrics.
	Metrics []prometheus.Collector
	// Health reports whether the models of other handlers work: it returns nil, or the error for /health. Health itself may be nil.
	Health func(ctx context.Context) error
}

// HandleEmbedders is like Handle, and also serves embedding models and rerankers. Close ends the queues of these models. The error
// wraps ErrOptions.
func HandleEmbedders(g *gate.Gate, o EmbedOptions) (*Handler, error) {
	h := newHandler(g)
	if o.Texts < 0 || o.Delay < 0 {
		return nil, fmt.Errorf("%w: a queue of %d texts, a delay of %v", ErrOptions, o.Texts, o.Delay)
	}
	for name, m := range o.Models {
		h.embedders[name] = newEmbedder(name, m, o)
		h.workers[name] = h.embedders[name]
	}
	for name, m := range o.Rerankers {
		h.rerankers[name] = newReranker(name, m, o)
		h.workers[name] = h.rerankers[name]
	}
	for name := range h.workers {
		if !slices.Contains(g.Others, name) {
			return nil, fmt.Errorf("%w: the gate does not know the model %q", ErrOptions, name)
		}
	}
	h.others, h.alsoHealth = o.Metrics, o.Health
	h.route()
	return h, nil
}

// Close refuses further requests for vectors and scores, and waits until all accepted requests are computed.
func (h *Handler) Close() {
	for _, e := range h.workers {
		e.close()
	}
}

// embedRequest is the body of a request for vectors.
type embedRequest struct {
	Model      string `json:"model"`
	Input      inputs `json:"input"`
	Format     string `json:"encoding_format"`
	Dimensions *int   `json:"dimensions"`
	Priority   *int   `json:"priority"` // an extension of vLLM: requests with a smaller number come first
}

// inputs are texts, which may be given as a single one.
type inputs []embedInput

// embedInput is a text, or the tokens of a text.
type embedInput struct {
	text   string
	tokens []int32 // nil for a text
}

// UnmarshalJSON implements json.Unmarshaler.
func (i *inputs) UnmarshalJSON(data []byte) error {
	if list := bytes.TrimLeft(data[1:], " \t\r\n"); data[0] == '[' && !startsNumber(list[0]) { // not the tokens of a single text
		if json.Unmarshal(data, (*[]embedInput)(i)) == nil {
			return nil
		}
	} else if one := (embedInput{}); one.UnmarshalJSON(data) == nil {
		*i = inputs{one}
		return nil
	}
	return gate.Invalid("input", "neither a text, nor tokens, nor a list of texts or of tokens")
}

// startsNumber reports whether a JSON value that begins with c is a number.
func startsNumber(c byte) bool { return c == '-' || '0' <= c && c <= '9' }

// errInput is the error of something else than a text or tokens.
var errInput = errors.New("neither a text nor tokens")

// UnmarshalJSON implements json.Unmarshaler. A text may be in an object, as in llama-server. The first byte of the data is not a space.
func (i *embedInput) UnmarshalJSON(data []byte) error {
	switch *i = (embedInput{}); data[0] {
	case '"':
		if text := data[1 : len(data)-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
			i.text = string(text) // several times faster than json.Unmarshal, which checks the syntax again
			return nil
		}
		return json.Unmarshal(data, &i.text)
	case '[': // null is not the token 0
		if bytes.Contains(data, []byte("null")) || json.Unmarshal(data, &i.tokens) != nil || len(i.tokens) == 0 {
			return errInput
		}
		return nil
	case '{':
		return i.object(data)
	}
	return errInput
}

// object decodes an object with a text.
func (i *embedInput) object(data []byte) error {
	var object struct {
		Prompt  *string         `json:"prompt_string"`
		Content json.RawMessage `json:"content"` // a list of parts
	}
	switch {
	case json.Unmarshal(data, &object) != nil:
		return errInput
	case object.Prompt != nil:
		i.text = *object.Prompt
	case len(object.Content) > 0 && object.Content[0] == '[':
		return json.Unmarshal(object.Content, (*content)(&i.text))
	default:
		return errInput
	}
	return nil
}

// maxInputs is the largest number of texts of a request, that of OpenAI's API.
const maxInputs = 2048

// encode returns the tokens of all texts.
func (i inputs) encode(m Embedder) ([][]int32, error) {
	if n := len(i); n == 0 || n > maxInputs {
		return nil, gate.Invalid("input", "%d texts, from 1 to %d are allowed", n, maxInputs)
	}
	list := make([][]int32, len(i))
	for at, x := range i {
		if list[at] = x.tokens; x.tokens == nil {
			tokens, complete := m.Encode(x.text)
			if !complete {
				return nil, gate.Failure{
					Status: http.StatusBadRequest, Param: "input", Code: "context_length_exceeded",
					Message: fmt.Sprintf("input: text %d is too large: it has more than %d tokens", at, m.MaxTokens()),
				}
			}
			list[at] = tokens
		}
		if err := m.Check(list[at]); err != nil {
			return nil, gate.Invalid("input", "%v", err)
		}
	}
	return list, nil
}

// check returns the error of fields that are not supported.
func (b *embedRequest) check(m Embedder) error {
	if b.Format != "" && b.Format != "float" && b.Format != "base64" {
		return gate.Invalid("encoding_format", "%q is neither float nor base64", b.Format)
	}
	if b.Dimensions != nil && *b.Dimensions != m.Width() {
		return gate.Invalid("dimensions", "%d; the model has %d", *b.Dimensions, m.Width())
	}
	return nil
}

// embed answers a request for vectors.
func (h *Handler) embed(w http.ResponseWriter, r *http.Request) error {
	var body embedRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	name, err := h.Resolve(body.Model)
	if err != nil {
		return err
	}
	m, ok := h.embedders[name]
	if _, ranks := h.rerankers[name]; ranks {
		return gate.Failure{Status: http.StatusBadRequest, Param: "model", Message: fmt.Sprintf("the model %q is a cross-encoder, which computes no vectors: it is for /v1/rerank", name)}
	}
	if !ok {
		return gate.WrongKind(name)
	}
	ended := m.began()
	var list [][]float32
	var n int
	ctx, err := prioritized(r.Context(), body.Priority)
	if err == nil {
		list, n, err = m.vectors(ctx, &body)
	}
	if ended(err); err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]any{
		"object": "list", "model": name, "data": dataOf(list, body.Format), "usage": map[string]int{"prompt_tokens": n, "total_tokens": n},
	})
}

// vector is the vector of a text in an answer.
type vector struct {
	Object    string `json:"object"`
	Index     int    `json:"index"`
	Embedding any    `json:"embedding"` // []float32, or bytes in base64
}

// dataOf returns vectors in a format.
func dataOf(list [][]float32, format string) []vector {
	data := make([]vector, len(list))
	for i, v := range list {
		data[i] = vector{"embedding", i, v}
		if format == "base64" {
			data[i].Embedding = inBase64(v)
		}
	}
	return data
}

// inBase64 returns the bytes of a vector, little-endian, in base64.
func inBase64(v []float32) string {
	bytes := make([]byte, 0, 4*len(v))
	for _, x := range v {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(bytes)
}
