package gate

import (
	"context"
	"sync"

	"github.com/gopherwarp/gopherwarp/llm"
)

// A request of 8 MiB can take a hundred times as much memory and some seconds of a core until its texts are tokens. Requests whose bodies
// have more than largeBody bytes therefore take turns: largeTurns of them at once.
const (
	largeBody  = 64 << 10
	largeTurns = 4
)

// turn is that of a request: from Gate.Decode until its texts are tokens, or until the request ends.
type turn struct {
	places chan struct{}
	mu     sync.Mutex
	taken  bool
}

// take waits for the turn.
func (t *turn) take(ctx context.Context) error {
	select {
	case t.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = true
	return nil
}

// end ends the turn, if it was taken.
func (t *turn) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken {
		t.taken = false
		<-t.places
	}
}

// turning is the key of a context's value: the turn of a request.
type turning struct{}

// WithTurn returns a context for a request that has not passed Guard. With this context, Gate.Decode can give a large request a turn. Call end when
// the request ends.
func (g *Gate) WithTurn(ctx context.Context) (turnCtx context.Context, end func()) {
	t := &turn{places: g.large}
	return context.WithValue(ctx, turning{}, t), t.end
}

// Decode is like the function Decode, but a request with a large body first waits for its turn (see the package documentation).
func (g *Gate) Decode(ctx context.Context, data []byte, v any) error {
	if t, ok := ctx.Value(turning{}).(*turn); ok && len(data) > largeBody {
		if err := t.take(ctx); err != nil {
			return err
		}
	}
	return Decode(data, v)
}

// EndTurn ends the turn of a large request (see the package documentation). Call EndTurn when the texts of the request are tokenized, so that other
// large requests get a turn while the model computes. Question.Answer and Continuer.Continue end the turn themselves.
func EndTurn(ctx context.Context) {
	if t, ok := ctx.Value(turning{}).(*turn); ok {
		t.end()
	}
}

// endsTurn makes n calls of a model with the same request end the turn when all of their prompts are tokens. A request with a large grammar
// keeps its turn until it ends, as it keeps the grammar.
func endsTurn(ctx context.Context, n int, r *llm.Request) {
	t, ok := ctx.Value(turning{}).(*turn)
	if !ok || r.Grammar != nil && r.Grammar.Size() > largeBody {
		return
	}
	t.mu.Lock()
	taken := t.taken
	t.mu.Unlock()
	if !taken {
		return
	}
	var mu sync.Mutex
	r.Queued = func() {
		mu.Lock()
		defer mu.Unlock()
		if n--; n == 0 {
			t.end()
		}
	}
}
