package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// ErrLeft is the error of a request whose client has closed the connection or has stopped reading.
var ErrLeft = errors.New("serve: the client has left")

// StatusLeft is the status of a request whose client has left before it has the whole answer, as in nginx.
const StatusLeft = 499

// leaving is the key of a context's value: the function to call when the client of a request leaves.
type leaving struct{}

// WithLeft returns a context for a request. If the client leaves before it has the whole answer, Guard calls left.
func WithLeft(ctx context.Context, left func()) context.Context {
	return context.WithValue(ctx, leaving{}, left)
}

// leftOr returns ErrLeft, which wraps err, if err is the end of the context of a request whose client has left, and otherwise err. A server that
// ends requests itself cancels their contexts with another cause, as package serve/listen does.
func leftOr(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), context.Canceled) && !errors.Is(err, ErrLeft) {
		return fmt.Errorf("%w: %w", ErrLeft, err)
	}
	return err
}

// leaves calls the function of WithLeft, and reports whether the answer has begun: all answers have a Content-Type, except those that upgrade the
// connection.
func leaves(w http.ResponseWriter, r *http.Request) (begun bool) {
	if left, ok := r.Context().Value(leaving{}).(func()); ok {
		left()
	}
	return w.Header().Get("Content-Type") != "" || r.Header.Get("Upgrade") != ""
}
