package rerank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/tokenizer"
	"github.com/gopherwarp/gopherwarp/weights"
)

// Options are the options of Open.
type Options struct {
	// DType is the type of weights and activations: dtype.Float32, BFloat16 or Float16. The default is Float16 on GPUs of compute capability 8.0 or later, which have tensor cores
	// for it, and Float32 on other devices.
	DType dtype.Type
	// BatchTokens is the largest number of tokens of a batch; a single pair may have more. 0 means 2,048 on a CPU and 32,768 on a GPU.
	BatchTokens int
	// Map maps the model's files into memory instead of reading them, which saves a copy of the data. It has an effect only on a CPU, and only if the
	// system can map files.
	Map bool
	// Progress, unless it is nil, is called with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
}

// A Model computes scores. Several goroutines may use it; their calls take turns.
type Model struct {
	recipe
	tokenizer  *tokenizer.Tokenizer
	model      *bert.Model
	classifier *bert.Classifier
	batch      int // tokens

	mu     sync.Mutex // of stream, and of closed
	stream *device.Stream
	closed bool
}

// Score is the relevance of a document to a query.
type Score struct {
	Index     int     // the position of the document in the arguments of Rank
	Relevance float32 // larger numbers are more relevant: see Model.Relevance
}

// Pair has the tokens of a query and a document and, if the model uses token types, their types.
type Pair struct {
	bert.Pair
	Truncated bool // whether tokens were removed, because there were more than MaxTokens
}

// ErrClosed is the error of a Model that has been closed.
var ErrClosed = errors.New("rerank: the model is closed")

// Open loads the model of a folder onto a device. An error matches ErrModel, or is one of packages weights, tokenizer and model/bert. If
// model/bert does not support the architecture that config.json names, the error matches bert.ErrArchitecture.
func Open(dev *device.Device, folder string, o Options) (*Model, error) {
	r, err := recipeOf(folder)
	if err != nil {
		return nil, err
	}
	m := &Model{recipe: r, batch: o.BatchTokens}
	if m.tokenizer, err = tokenizer.Open(filepath.Join(r.folder, "tokenizer.json")); err != nil {
		return nil, err
	}
	if m.batch <= 0 {
		m.batch = 2048
		if dev.Info().Kind != "cpu" {
			m.batch = 1 << 15
		}
	}
	if err := m.load(dev, o); err != nil {
		return nil, err
	}
	return m, nil
}

// load loads the weights.
func (m *Model) load(dev *device.Device, o Options) (err error) {
	if m.stream, err = dev.NewStream(); err != nil {
		return err
	}
	m.model, err = bert.LoadFolder(m.stream, m.folder, m.config, bert.LoadOptions{DType: o.DType, Progress: o.Progress, Map: o.Map})
	if err == nil {
		m.classifier, err = bert.NewClassifier(m.stream, m.model)
	}
	if errors.Is(err, weights.ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrModel, err)
	}
	if err != nil {
		return errors.Join(err, m.Close())
	}
	return nil
}

// Close waits until running calls have returned, and frees the model's memory.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	var err error
	if m.classifier != nil {
		err = m.classifier.Close()
	}
	if m.model != nil {
		err = errors.Join(err, m.model.Close())
	}
	return errors.Join(err, m.stream.Close())
}

// DType returns the type of weights and activations.
func (m *Model) DType() dtype.Type { return m.model.DType() }

// MaxTokens returns the largest number of tokens that a pair may have.
func (m *Model) MaxTokens() int { return m.length }

// BatchTokens returns Options.BatchTokens or, if it is 0, the default.
func (m *Model) BatchTokens() int { return m.batch }

// Rank returns a score for each document, the most relevant first. If a query and a document together have more than MaxTokens tokens, Rank removes
// tokens at the end of the longer of the two texts, one at a time, until both fit.
func (m *Model) Rank(ctx context.Context, query string, documents ...string) ([]Score, error) {
	list, err := m.Logits(ctx, m.Encode(query, documents...)...)
	if err != nil {
		return nil, err
	}
	return m.Order(list), nil
}

// Order converts the results of Logits to scores, and sorts these, the most relevant first.
func (m *Model) Order(logits []float32) []Score {
	scores := make([]Score, len(logits))
	for i, v := range logits {
		scores[i] = Score{i, m.Relevance(v)}
	}
	Sort(scores)
	return scores
}

// Sort sorts scores: the most relevant document comes first. Documents of the same relevance are sorted by Index.
func Sort(list []Score) {
	slices.SortFunc(list, func(a, b Score) int {
		return cmp.Or(cmp.Compare(b.Relevance, a.Relevance), cmp.Compare(a.Index, b.Index))
	})
}

// Encode returns a Pair of at most MaxTokens tokens for the query and each document.
func (m *Model) Encode(query string, documents ...string) []Pair {
	list := make([]Pair, len(documents))
	for i, e := range m.tokenizer.EncodePairs(query, documents, tokenizer.Options{MaxLength: m.length}) {
		list[i] = Pair{bert.Pair{Tokens: e.IDs}, e.Truncated}
		if m.config.HasTypes() {
			list[i].Types = e.TypeIDs
		}
	}
	return list
}

// Check returns the error that Logits would return for a pair, or nil.
func (m *Model) Check(p Pair) error { return m.model.CheckPair(p.Pair) }

// Logits returns the output of the model for each pair. The errors match bert.ErrLength, bert.ErrToken, bert.ErrType and ErrClosed.
func (m *Model) Logits(ctx context.Context, pairs ...Pair) ([]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	list := make([]float32, 0, len(pairs))
	for len(pairs) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		part := m.first(pairs)
		scores, err := m.classifier.Scores(ctx, part...)
		if err != nil {
			return nil, err
		}
		for _, labels := range scores {
			list = append(list, labels[0])
		}
		pairs = pairs[len(part):]
	}
	return list, nil
}

// first returns the pairs that are computed first: as many as fit, but at least one.
func (m *Model) first(pairs []Pair) (list []bert.Pair) {
	tokens := 0
	for i, p := range pairs {
		if tokens += len(p.Tokens); tokens > m.batch && i > 0 {
			break
		}
		list = append(list, p.Pair)
	}
	return list
}

// Relevance converts a result of Logits to a relevance: the Sigmoid of the logit or, if config.json names the activation Identity, the logit itself.
func (m *Model) Relevance(logit float32) float32 {
	if m.sigmoid {
		return Sigmoid(logit)
	}
	return logit
}

// Sigmoid returns 1 / (1 + e^-x), which is from 0 to 1.
func Sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }
