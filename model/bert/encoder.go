package bert

import (
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// An Encoder computes the vectors of texts. On a GPU, it records a graph for each size of batches, if batches are small. An Encoder belongs to one
// goroutine at a time.
type Encoder struct{ runner }

// Pooling defines how a vector is computed from the activations of a text's tokens: see Batch.Pool.
type Pooling struct {
	Method Method
	Unit   bool
}

// NewEncoder returns an Encoder that uses the given stream.
func NewEncoder(s *device.Stream, m *Model, p Pooling) *Encoder {
	return &Encoder{newRunner(s, m, m.Hidden, func(b *Batch) *tensor.Tensor { return b.Pool(m.Forward(b), p.Method, p.Unit) })}
}

// Close frees the memory.
func (e *Encoder) Close() error { return e.close() }

// Vectors returns a vector for each text, given as its tokens. The errors are those of NewBatch and of the device.
func (e *Encoder) Vectors(ctx context.Context, texts ...[]int32) (list [][]float32, err error) {
	return e.run(ctx, alonePairs(texts))
}

// A Classifier computes the scores of pairs of texts with the model's classification head: a score for each label, before softmax or sigmoid.
// It belongs to one goroutine at a time.
type Classifier struct{ runner }

// NewClassifier returns a Classifier that uses the given stream. The error matches ErrConfig if the model has no classification head.
func NewClassifier(s *device.Stream, m *Model) (*Classifier, error) {
	if m.Labels == 0 {
		return nil, fmt.Errorf("%w: the model has no classification head", ErrConfig)
	}
	return &Classifier{newRunner(s, m, m.Labels, m.scores)}, nil
}

// Close frees the memory.
func (c *Classifier) Close() error { return c.close() }

// Scores returns Config.Labels scores for each pair. The errors match ErrLength, ErrToken or ErrType, or are those of the device.
func (c *Classifier) Scores(ctx context.Context, pairs ...Pair) ([][]float32, error) {
	return c.run(ctx, pairs)
}
