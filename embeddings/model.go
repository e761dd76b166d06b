package embeddings

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
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
	// BatchTokens is the largest number of tokens of a batch; a single text may have more. 0 means 2,048 on a CPU and 32,768 on a GPU.
	BatchTokens int
	// Map maps the model's files into memory instead of reading them, which saves a copy of the data. It has an effect only on a CPU, and only if the
	// system can map files.
	Map bool
	// Progress, unless it is nil, is called with the number of bytes loaded so far and the total number of bytes.
	Progress func(done, total int64)
}

// A Model computes vectors. Several goroutines may use it; their calls take turns.
type Model struct {
	recipe
	tokenizer *tokenizer.Tokenizer
	model     *bert.Model
	vectors   *bert.Encoder
	batch     int // tokens

	mu     sync.Mutex // of stream, and of closed
	stream *device.Stream
	closed bool
}

// ErrClosed is the error of a Model that has been closed.
var ErrClosed = errors.New("embeddings: the model is closed")

// Open loads the model of a folder onto a device. An error matches ErrModel, or is one of packages weights, tokenizer and model/bert.
func Open(dev *device.Device, folder string, o Options) (*Model, error) {
	r, err := recipeOf(folder)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(r.encoder, "config.json"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrModel, err)
	}
	c, err := bert.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	c.Labels = 0 // vectors need no classification head
	m := &Model{recipe: r, batch: o.BatchTokens}
	if m.tokenizer, err = tokenizer.Open(filepath.Join(r.encoder, "tokenizer.json")); err != nil {
		return nil, err
	}
	if m.length <= 0 || m.length > c.Positions {
		m.length = c.Positions
	}
	if m.batch <= 0 {
		m.batch = 2048
		if dev.Info().Kind != "cpu" {
			m.batch = 1 << 15
		}
	}
	if err := m.load(dev, c, o); err != nil {
		return nil, err
	}
	return m, nil
}

// load loads the weights.
func (m *Model) load(dev *device.Device, c bert.Config, o Options) (err error) {
	if m.stream, err = dev.NewStream(); err != nil {
		return err
	}
	m.model, err = bert.LoadFolder(m.stream, m.encoder, c, bert.LoadOptions{DType: o.DType, Progress: o.Progress, Map: o.Map})
	if errors.Is(err, weights.ErrNotFound) {
		err = fmt.Errorf("%w: %w", ErrModel, err)
	}
	if err != nil {
		return errors.Join(err, m.Close())
	}
	m.vectors = bert.NewEncoder(m.stream, m.model, bert.Pooling{Method: m.method, Unit: m.unit})
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
	if m.vectors != nil {
		err = m.vectors.Close()
	}
	if m.model != nil {
		err = errors.Join(err, m.model.Close())
	}
	return errors.Join(err, m.stream.Close())
}

// Width returns the number of elements of a vector.
func (m *Model) Width() int { return m.model.Hidden }

// DType returns the type of weights and activations.
func (m *Model) DType() dtype.Type { return m.model.DType() }

// MaxTokens returns the largest number of tokens that a text may have.
func (m *Model) MaxTokens() int { return m.length }

// BatchTokens returns Options.BatchTokens or, if it is 0, the default.
func (m *Model) BatchTokens() int { return m.batch }

// Encode returns the tokens of a text, at most MaxTokens; complete reports whether these are all tokens of the text.
func (m *Model) Encode(text string) (tokens []int32, complete bool) {
	if m.lower {
		text = strings.ToLower(text)
	}
	e := m.tokenizer.EncodeWith(text, tokenizer.Options{MaxLength: m.length})
	return e.IDs, !e.Truncated
}

// Embed returns a vector of Width elements for each text. If a text has more than MaxTokens tokens, Embed uses only the first MaxTokens.
func (m *Model) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	tokens := make([][]int32, len(texts))
	for i, text := range texts {
		tokens[i], _ = m.Encode(text)
	}
	return m.EmbedTokens(ctx, tokens...)
}

// Check returns the error that EmbedTokens would return for the tokens of a text, or nil.
func (m *Model) Check(tokens []int32) error { return m.model.Check(tokens) }

// EmbedTokens is like Embed, for texts that are given as tokens. The errors match bert.ErrLength, bert.ErrToken and ErrClosed.
func (m *Model) EmbedTokens(ctx context.Context, texts ...[]int32) ([][]float32, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, ErrClosed
	}
	list := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := m.first(texts)
		part, err := m.compute(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		list, texts = append(list, part...), texts[n:]
	}
	return list, nil
}

// first returns the number of texts that are computed first: as many as fit, but at least one.
func (m *Model) first(texts [][]int32) int {
	tokens := 0
	for i, text := range texts {
		if tokens += len(text); tokens > m.batch && i > 0 {
			return i
		}
	}
	return len(texts)
}

// compute returns the vectors of texts that are computed together.
func (m *Model) compute(ctx context.Context, texts [][]int32) (list [][]float32, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return m.vectors.Vectors(ctx, texts...)
}

// Similarity returns the cosine of the angle between two vectors with the same number of elements, or 0 if one of them is a zero vector.
func Similarity(a, b []float32) float64 {
	var dot, aa, bb float64
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}
