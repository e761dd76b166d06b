package gate

import (
	"context"
	"sync"

	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// holder has the models that a request uses.
type holder struct {
	mu   sync.Mutex
	list []func() // release them
}

// release releases the models.
func (h *holder) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.list {
		f()
	}
	h.list = nil
}

// hold calls release when the request of ctx has ended, or when ctx is done if it is not that of a request.
func hold(ctx context.Context, release func()) {
	v, ok := ctx.Value(visiting{}).(*visit)
	if !ok {
		context.AfterFunc(ctx, release)
		return
	}
	v.held.mu.Lock()
	defer v.held.mu.Unlock()
	v.held.list = append(v.held.list, release)
}

// Hold calls f with a context for one of several requests on a connection. A model that Find returns for this context stays loaded until f returns.
// With the context of the connection, the model would stay loaded until the connection ends.
func Hold(ctx context.Context, f func(ctx context.Context) error) error {
	v := &visit{user: UserOf(ctx)}
	defer v.held.release()
	ctx, span := spans.Start(context.WithValue(ctx, visiting{}, v), "message")
	defer span.End()
	err := f(ctx)
	if fails(err) {
		span.Fail(err.Error())
	}
	return err
}
