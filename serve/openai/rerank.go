package openai

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/gopherwarp/gopherwarp/rerank"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// A Reranker computes the relevance of documents to a query. It may be used by several goroutines. *rerank.Model is one.
type Reranker interface {
	// Encode returns a Pair of at most MaxTokens tokens for the query and each document.
	Encode(query string, documents ...string) []rerank.Pair
	// Check returns the error that Logits would return for a pair, or nil.
	Check(p rerank.Pair) error
	// Logits returns the output of the model for each pair.
	Logits(ctx context.Context, pairs ...rerank.Pair) ([]float32, error)
	// Relevance converts a result of Logits to a relevance.
	Relevance(logit float32) float32
	MaxTokens() int   // the largest number of tokens of a pair
	BatchTokens() int // the largest number of tokens that are computed at once
}

// reranker is a Reranker with its queue.
type reranker struct {
	*worker[Reranker, rerank.Pair, outcome]
}

// outcome is what a Reranker computes for a pair.
type outcome struct{ logit, relevance float32 }

// newReranker returns a reranker of a model.
func newReranker(name string, m *repository.Model[Reranker], o EmbedOptions) reranker {
	return reranker{newWorker(name, m, o, work[Reranker, rerank.Pair, outcome]{
		operation: "rerank", field: "documents", does: "predict",
		compute: func(ctx context.Context, m Reranker, pairs []rerank.Pair) ([]outcome, error) {
			logits, err := m.Logits(ctx, pairs...)
			list := make([]outcome, len(logits))
			for i, v := range logits {
				list[i] = outcome{v, m.Relevance(v)}
			}
			return list, err
		},
		tokens: func(p rerank.Pair) int { return len(p.Tokens) },
		most:   Reranker.BatchTokens,
		probe:  func(m Reranker) rerank.Pair { return m.Encode("a", "a")[0] },
	})}
}

// rerankRequest is the body of a request for scores, in the form of Jina, Cohere and vLLM, or in that of Text Embeddings Inference.
type rerankRequest struct {
	Model     string     `json:"model"`
	Query     *string    `json:"query"`
	Documents []document `json:"documents"`
	Top       *int       `json:"top_n"`
	Return    *bool      `json:"return_documents"` // true by default, as in Jina's API
	Priority  *int       `json:"priority"`         // an extension of vLLM

	Texts      []document `json:"texts"`    // instead of documents, in a request of Text Embeddings Inference
	Truncate   *bool      `json:"truncate"` // the following fields are only for texts
	Raw        bool       `json:"raw_scores"`
	ReturnText bool       `json:"return_text"`
}

// document is the text of a document, which may be in an object.
type document string

// UnmarshalJSON implements json.Unmarshaler.
func (d *document) UnmarshalJSON(data []byte) error {
	var object struct{ Text *string }
	var text *string
	switch {
	case json.Unmarshal(data, &text) == nil && text != nil:
		*d = document(*text)
	case json.Unmarshal(data, &object) == nil && object.Text != nil:
		*d = document(*object.Text)
	default:
		return errors.New("a document is neither a text nor an object with the field text")
	}
	return nil
}

// list returns the documents of a request and the name of their field.
func (b *rerankRequest) list() (list []document, field string) {
	if b.Texts != nil {
		return b.Texts, "texts"
	}
	return b.Documents, "documents"
}

// encode returns the pairs of a request.
func (b *rerankRequest) encode(m Reranker) ([]rerank.Pair, error) {
	documents, field := b.list()
	if b.Query == nil {
		return nil, gate.Invalid("query", "there is none")
	}
	if n := len(documents); n == 0 || n > maxInputs {
		return nil, gate.Invalid(field, "%d texts, from 1 to %d are allowed", n, maxInputs)
	}
	texts := make([]string, len(documents))
	for i, d := range documents {
		texts[i] = string(d)
	}
	pairs := m.Encode(*b.Query, texts...)
	for i, p := range pairs {
		if p.Truncated && b.Truncate != nil && !*b.Truncate {
			return nil, gate.Failure{
				Status: http.StatusRequestEntityTooLarge, Param: field, Code: "context_length_exceeded",
				Message: fmt.Sprintf("%s: the query and text %d have more than %d tokens together", field, i, m.MaxTokens()),
			}
		}
		if err := m.Check(p); err != nil {
			return nil, gate.Invalid(field, "%v", err)
		}
	}
	return pairs, nil
}

// reranker returns the model of a request. A request without a name means the only one.
func (h *Handler) reranker(name string) (reranker, error) {
	if len(h.rerankers) == 1 && name == "" {
		for _, m := range h.rerankers {
			return m, nil
		}
	}
	name, err := h.Resolve(name)
	if err != nil {
		return reranker{}, err
	}
	m, ok := h.rerankers[name]
	if !ok {
		return m, gate.Failure{Status: http.StatusBadRequest, Param: "model", Message: fmt.Sprintf(
			"the model %q is no cross-encoder, which reranking needs: a model with a classification head and one label, such as bge-reranker-base or ms-marco-MiniLM-L-6-v2", name)}
	}
	return m, nil
}

// rerank answers a request for scores.
func (h *Handler) rerank(w http.ResponseWriter, r *http.Request) error {
	var body rerankRequest
	if err := h.Read(w, r, &body); err != nil {
		return err
	}
	m, err := h.reranker(body.Model)
	if err != nil {
		return err
	}
	ended := m.began()
	list, tokens, err := m.scores(r.Context(), &body)
	if ended(err); err != nil {
		return err
	}
	if body.Texts != nil {
		return gate.WriteJSON(w, body.ranks(list))
	}
	return gate.WriteJSON(w, map[string]any{
		"id": "rerank-" + rand.Text(), "object": "list", "model": m.name, "results": body.results(list), "usage": map[string]int{"prompt_tokens": tokens, "total_tokens": tokens},
	})
}

// scores returns the scores of a request, the largest first, and the number of tokens.
func (m reranker) scores(ctx context.Context, body *rerankRequest) (scores []rerank.Score, tokens int, err error) {
	top := 0
	if err := gate.Set(&top, "top_n", body.Top, gate.Between(0, 1<<31-1)); err != nil {
		return nil, 0, err
	}
	if ctx, err = prioritized(ctx, body.Priority); err != nil {
		return nil, 0, err
	}
	list, tokens, err := m.answer(ctx, body.encode)
	for i, x := range list {
		s := rerank.Score{Index: i, Relevance: x.relevance}
		if body.Texts != nil {
			s.Relevance = body.score(x.logit)
		}
		scores = append(scores, s)
	}
	rerank.Sort(scores)
	if top > 0 {
		scores = scores[:min(top, len(scores))]
	}
	return scores, tokens, err
}

// score returns the score in the form of Text Embeddings Inference.
func (b *rerankRequest) score(logit float32) float32 {
	if b.Raw {
		return logit
	}
	return rerank.Sigmoid(logit)
}

// rankResult is a score in the form of Jina, Cohere and vLLM.
type rankResult struct {
	Index     int               `json:"index"`
	Document  map[string]string `json:"document,omitempty"`
	Relevance float32           `json:"relevance_score"`
}

// results returns scores in the form of Jina, Cohere and vLLM.
func (b *rerankRequest) results(scores []rerank.Score) []rankResult {
	list := make([]rankResult, len(scores))
	for i, s := range scores {
		list[i] = rankResult{Index: s.Index, Relevance: s.Relevance}
		if b.Return == nil || *b.Return {
			list[i].Document = map[string]string{"text": string(b.Documents[s.Index])}
		}
	}
	return list
}

// rank is a score in the form of Text Embeddings Inference.
type rank struct {
	Index int     `json:"index"`
	Text  *string `json:"text,omitempty"`
	Score float32 `json:"score"`
}

// ranks returns scores in the form of Text Embeddings Inference.
func (b *rerankRequest) ranks(scores []rerank.Score) []rank {
	list := make([]rank, len(scores))
	for i, s := range scores {
		list[i] = rank{Index: s.Index, Score: s.Relevance}
		if b.ReturnText {
			text := string(b.Texts[s.Index])
			list[i].Text = &text
		}
	}
	return list
}

// writeRank answers a request with an error in the form of Text Embeddings Inference.
func writeRank(w http.ResponseWriter, f gate.Failure) {
	kind := "Validation"
	switch {
	case f.Status == http.StatusTooManyRequests:
		kind = "Overloaded"
	case f.Status == http.StatusServiceUnavailable:
		kind = "Unhealthy"
	case f.Status >= http.StatusInternalServerError:
		kind = "Backend"
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": f.Message, "error_type": kind})
}
