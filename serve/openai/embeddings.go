package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// An Embedder computes vectors of texts. It may be used by several goroutines. *embeddings.Model is one.
type Embedder interface {
	// Encode returns the tokens of a text, at most MaxTokens. The result all is false if the text has more than MaxTokens tokens.
	Encode(text string) (tokens []int32, all bool)
	// Check returns the error that EmbedTokens would return for the tokens of a text, or nil.
	Check(tokens []int32) error
	// EmbedTokens returns a vector of Width elements for the tokens of each text.
	EmbedTokens(ctx context.Context, texts ...[]int32) ([][]float32, error)
	Width() int
	MaxTokens() int   // the largest number of tokens of a text
	BatchTokens() int // the number of tokens that are computed at once
}

// EmbedOptions are the models that compute vectors, and their limits.
type EmbedOptions struct {
	// Models are the models, by their names in requests. The gate's Options.Others must contain the same names.
	Models map[string]Embedder
	// Texts limits the texts that wait for a model; a request beyond this limit is refused with status 429. 0 means
	// 4096.
	Texts int
	// Delay is the longest time that a text waits for other texts of its batch while the model is idle.
	Delay time.Duration
	// Observe is called, unless it is nil, after each batch of a model.
	Observe func(model string, r batch.Report)
	// Metrics are additional metrics for /metrics.
	Metrics []prometheus.Collector
}

// HandleEmbedders is like Handle, and also serves embedding models. Close ends the queues of these models. The error
// wraps ErrOptions.
func HandleEmbedders(g *gate.Gate, o EmbedOptions) (*Handler, error) {
	h := newHandler(g)
	for name, m := range o.Models {
		err := error(nil)
		if !slices.Contains(g.Others, name) {
			err = errors.New("the gate does not know it")
		} else {
			h.embedders[name], err = newEmbedder(name, m, o)
		}
		if err != nil {
			delete(h.embedders, name)
			h.Close()
			return nil, fmt.Errorf("%w: the model %q: %w", ErrOptions, name, err)
		}
	}
	h.others = o.Metrics
	h.route()
	return h, nil
}

// Close refuses further requests for vectors, and waits until all accepted requests are computed.
func (h *Handler) Close() {
	for _, e := range h.embedders {
		e.queue.Close()
	}
}

// embedder is an Embedder with its queue.
type embedder struct {
	Embedder
	queue   *batch.Queue[[]int32, []float32]
	metrics *embedMetrics
	broken  atomic.Pointer[error] // that of the last batch, or nil
	also    func(batch.Report)    // is called after each batch
}

// newEmbedder returns an Embedder with a queue.
func newEmbedder(name string, m Embedder, o EmbedOptions) (*embedder, error) {
	e := &embedder{Embedder: m, metrics: newEmbedMetrics(name), also: func(batch.Report) {}}
	if o.Observe != nil {
		e.also = func(r batch.Report) { o.Observe(name, r) }
	}
	var err error
	e.queue, err = batch.New(batch.Options[[]int32, []float32]{
		Run:  func(ctx context.Context, texts [][]int32) ([][]float32, error) { return m.EmbedTokens(ctx, texts...) },
		Size: func(tokens []int32) int { return len(tokens) },
		Most: max(m.BatchTokens(), 1), Queue: cmp.Or(o.Texts, 4096), Delay: o.Delay, Observe: e.observe,
	})
	return e, err
}

// observe is called after each batch.
func (e *embedder) observe(r batch.Report) {
	e.metrics.observe(r)
	e.also(r)
	if e.broken.Store(nil); r.Err != nil && !errors.Is(r.Err, context.Canceled) {
		e.broken.Store(&r.Err)
	}
}

// Queued is an embedding model of a Handler, for use by other protocols. Texts of all protocols wait in the same queue,
// and count in the same metrics.
type Queued struct{ of *embedder }

// Queued returns the embedding model with the given name.
func (h *Handler) Queued(name string) Queued { return Queued{h.embedders[name]} }

// Embed returns the vectors of texts. The error may be a gate.Failure.
func (q Queued) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	var body embedRequest
	for _, text := range texts {
		body.Input = append(body.Input, embedInput{text: text})
	}
	list, _, err := q.of.answer(ctx, &body)
	return list, err
}

// Width returns the number of elements of a vector.
func (q Queued) Width() int { return q.of.Width() }

// Health returns nil if the model can compute vectors, and otherwise the error.
func (q Queued) Health(ctx context.Context) error { return q.of.health(ctx) }

// health returns why no vectors can be computed, or nil. After a batch that failed, it computes the vector of a text of its own, because a
// server that is not healthy may get no requests that would show that it works again.
func (e *embedder) health(ctx context.Context) error {
	last := e.broken.Load()
	if last == nil {
		return nil
	}
	tokens, _ := e.Encode("a")
	_, err := e.queue.Do(ctx, tokens)
	if errors.Is(err, batch.ErrFull) || ctx.Err() != nil {
		return *last
	}
	return err
}

// embedRequest is the body of a request for vectors.
type embedRequest struct {
	Model      string `json:"model"`
	Input      inputs `json:"input"`
	Format     string `json:"encoding_format"`
	Dimensions *int   `json:"dimensions"`
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
	var one embedInput
	if one.UnmarshalJSON(data) == nil {
		*i = inputs{one}
		return nil
	}
	var list []embedInput
	if json.Unmarshal(data, &list) != nil {
		return gate.Invalid("input", "neither a text, nor tokens, nor a list of texts or of tokens")
	}
	*i = list
	return nil
}

// errInput is the error of something else than a text or tokens.
var errInput = errors.New("neither a text nor tokens")

// UnmarshalJSON implements json.Unmarshaler. A text may be in an object, as in llama-server.
func (i *embedInput) UnmarshalJSON(data []byte) error {
	var object struct {
		Prompt  *string         `json:"prompt_string"`
		Content json.RawMessage `json:"content"` // a list of parts
	}
	switch *i = (embedInput{}); {
	case string(data) == "null" || bytes.Contains(data, []byte("null")) && json.Unmarshal(data, &i.tokens) == nil: // null is not the token 0
		return errInput
	case json.Unmarshal(data, &i.text) == nil:
	case json.Unmarshal(data, &i.tokens) == nil && len(i.tokens) > 0:
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
func (i inputs) encode(m *embedder) ([][]int32, error) {
	if n := len(i); n == 0 || n > maxInputs {
		return nil, gate.Invalid("input", "%d texts, from 1 to %d are allowed", n, maxInputs)
	}
	list := make([][]int32, len(i))
	for at, x := range i {
		if list[at] = x.tokens; x.tokens == nil {
			tokens, all := m.Encode(x.text)
			if !all {
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
func (b *embedRequest) check(m *embedder) error {
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
	m := h.embedders[name]
	if m == nil {
		return gate.WrongKind(name)
	}
	list, n, err := m.answer(r.Context(), &body)
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]any{
		"object": "list", "model": name, "data": dataOf(list, body.Format), "usage": map[string]int{"prompt_tokens": n, "total_tokens": n},
	})
}

// answer returns the vectors of a request and the number of tokens, and counts the request.
func (m *embedder) answer(ctx context.Context, body *embedRequest) (list [][]float32, tokens int, err error) {
	m.metrics.requests.Inc()
	began := time.Now()
	list, tokens, err = m.vectors(ctx, body)
	m.metrics.end(began, err)
	return list, tokens, err
}

// vectors returns the vectors of a request and the number of tokens.
func (m *embedder) vectors(ctx context.Context, body *embedRequest) (list [][]float32, tokens int, err error) {
	if err := body.check(m); err != nil {
		return nil, 0, err
	}
	began := time.Now()
	texts, err := body.Input.encode(m)
	if err != nil {
		return nil, 0, err
	}
	gate.EndTurn(ctx)
	m.metrics.tokenization.Observe(time.Since(began).Seconds())
	m.metrics.texts.Add(float64(len(texts)))
	for _, text := range texts {
		tokens += len(text)
	}
	list, err = m.queue.Do(ctx, texts...)
	if errors.Is(err, batch.ErrTooMany) {
		err = gate.Invalid("input", "%d texts, which are more than the server's queue holds", len(texts))
	}
	return list, tokens, err
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
