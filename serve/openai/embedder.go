package openai

import (
	"context"

	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// embedder is an Embedder with its queue.
type embedder struct {
	*worker[Embedder, []int32, []float32]
}

// newEmbedder returns an embedder of a model.
func newEmbedder(name string, m *repository.Model[Embedder], o EmbedOptions) embedder {
	return embedder{newWorker(name, m, o, work[Embedder, []int32, []float32]{
		operation: "embeddings", field: "input", does: "embed",
		compute: func(ctx context.Context, m Embedder, texts [][]int32) ([][]float32, error) {
			return m.EmbedTokens(ctx, texts...)
		},
		tokens: func(text []int32) int { return len(text) },
		most:   Embedder.BatchTokens,
		probe: func(m Embedder) []int32 {
			tokens, _ := m.Encode("a")
			return tokens
		},
	})}
}

// vectors returns the vectors of a request and the number of tokens, and counts the request.
func (e embedder) vectors(ctx context.Context, body *embedRequest) (list [][]float32, tokens int, err error) {
	return e.answer(ctx, func(m Embedder) ([][]int32, error) {
		if err := body.check(m); err != nil {
			return nil, err
		}
		return body.Input.encode(m)
	})
}

// Queued is an embedding model of a Handler, for use by other protocols. Texts of all protocols wait in the same queue,
// and count in the same metrics.
type Queued struct{ of embedder }

// Queued returns the embedding model with the given name.
func (h *Handler) Queued(name string) Queued { return Queued{h.embedders[name]} }

// Embed returns the vectors of texts. The error may be a gate.Failure.
func (q Queued) Embed(ctx context.Context, texts ...string) ([][]float32, error) {
	var body embedRequest
	for _, text := range texts {
		body.Input = append(body.Input, embedInput{text: text})
	}
	list, _, err := q.of.vectors(ctx, &body)
	return list, err
}

// Width returns the number of elements of a vector. It loads the model if it is not loaded.
func (q Queued) Width(ctx context.Context) (int, error) {
	m, release, err := q.of.model.Use(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	return m.Width(), nil
}

// Health returns nil if the model can compute vectors or is not loaded, and otherwise the error.
func (q Queued) Health(ctx context.Context) error { return q.of.health(ctx) }
