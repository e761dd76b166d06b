package gate

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
)

// A Model generates text. It may be used by several goroutines. *llm.Model is one.
type Model interface {
	Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error]
	Generate(ctx context.Context, prompt string, r llm.Request) iter.Seq2[llm.Token, error]
}

// ErrOptions is the error of Options that New refuses.
var ErrOptions = errors.New("serve: invalid options")

// Options are what a server serves, and its limits.
type Options struct {
	// Models are the models by their names in requests. A request without a name means the only model.
	Models map[string]Model
	// Adapters are names by which requests choose an adapter of a model, which is Tokenized, and the names of these models. Requests with
	// such a name have it as their llm.Request.Adapter.
	Adapters map[string]string
	// Others are the names of models that do not generate texts, for handlers of other requests.
	Others []string
	// AnyName makes requests with an unknown name mean the only model.
	AnyName bool
	// Keys are the API keys that clients may use. Without any, all requests are allowed.
	Keys []string
	// Requests limits the requests that run or wait; others are refused with status 429. 0 means 64.
	Requests int
	// Body limits the bytes of a request. 0 means 8 MiB.
	Body int64
	// Time limits the time of a request, with its wait. 0 means no limit.
	Time time.Duration
	// ClientTimeout limits the time that a client may take to send a request, and to receive each part of an answer. 0 means 30 seconds.
	ClientTimeout time.Duration
}

// A Gate admits requests to models. It is safe for concurrent use.
type Gate struct {
	Options
	names    []string
	only     string // the only model, or "" if there are several
	keys     [][sha256.Size]byte
	running  chan struct{} // has an element for each request that runs or waits
	brief    chan struct{} // the same for requests that no model computes
	grammars grammar.Cache // of calls
}

// New returns a Gate. The error wraps ErrOptions.
func New(o Options) (*Gate, error) {
	if len(o.Models)+len(o.Others) == 0 {
		return nil, fmt.Errorf("%w: no models", ErrOptions)
	}
	if o.Requests < 0 || o.Body < 0 || o.Time < 0 || o.ClientTimeout < 0 {
		return nil, fmt.Errorf("%w: negative limits", ErrOptions)
	}
	if o.Requests == 0 {
		o.Requests = 64
	}
	if o.Body == 0 {
		o.Body = 8 << 20
	}
	if o.ClientTimeout == 0 {
		o.ClientTimeout = 30 * time.Second
	}
	g := &Gate{Options: o, running: make(chan struct{}, o.Requests), brief: make(chan struct{}, o.Requests), names: slices.Sorted(maps.Keys(o.Models))}
	for _, name := range slices.Concat(o.Others, slices.Sorted(maps.Keys(o.Adapters))) {
		if slices.Contains(g.names, name) {
			return nil, fmt.Errorf("%w: two models with the name %q", ErrOptions, name)
		}
		g.names = append(g.names, name)
	}
	for name, of := range o.Adapters {
		if _, ok := o.Models[of].(Tokenized); !ok {
			return nil, fmt.Errorf("%w: the adapter %q of the model %q, which is not there or has no tokenizer", ErrOptions, name, of)
		}
	}
	if len(o.Models)+len(o.Others) == 1 {
		g.only = slices.Concat(slices.Collect(maps.Keys(o.Models)), o.Others)[0]
	}
	slices.Sort(g.names)
	for _, key := range o.Keys {
		if key == "" {
			return nil, fmt.Errorf("%w: an empty key", ErrOptions)
		}
		g.keys = append(g.keys, sha256.Sum256([]byte(key)))
	}
	return g, nil
}

// Names returns the names of the models and adapters in order. The caller must not change them.
func (g *Gate) Names() []string { return g.names }

// AdaptersOf returns the names of the adapters of a model in order.
func (g *Gate) AdaptersOf(model string) (list []string) {
	for _, name := range g.names {
		if of, ok := g.Adapters[name]; ok && of == model {
			list = append(list, name)
		}
	}
	return list
}

// Find returns a model that generates texts, with an adapter if the name is that of one, and its name. The error is a Failure.
func (g *Gate) Find(name string) (string, Model, error) {
	name, err := g.Resolve(name)
	if err != nil {
		return "", nil, err
	}
	if m := g.Models[name]; m != nil {
		return name, m, nil
	}
	if of, ok := g.Adapters[name]; ok {
		return name, adapted{g.Models[of].(Tokenized), name}, nil
	}
	return "", nil, WrongKind(name)
}

// WrongKind returns the Failure of a model that does not answer requests of a kind.
func WrongKind(name string) Failure {
	return Failure{Status: http.StatusBadRequest, Param: "model", Message: fmt.Sprintf("the model %q is not for requests of this kind", name)}
}

// Resolve returns the name of a model or an adapter, which for a request without a name is that of the only model, and for one with an unknown name as
// Options.AnyName says. The error is a Failure.
func (g *Gate) Resolve(name string) (string, error) {
	if slices.Contains(g.names, name) {
		return name, nil
	}
	if g.only != "" && (name == "" || g.AnyName) {
		return g.only, nil
	}
	return "", Failure{
		Status: http.StatusNotFound, Param: "model", Code: "model_not_found",
		Message: fmt.Sprintf("there is no model %q; there is %s", name, strings.Join(g.names, ", ")),
	}
}

// A Handler answers a request, or returns why it does not.
type Handler func(w http.ResponseWriter, r *http.Request) error

// user is the key of a context's value: the API key of a client.
type user struct{}

// UserOf returns the API key of the client whose request has a context of Guard, or an empty text.
func UserOf(ctx context.Context) string {
	key, _ := ctx.Value(user{}).(string)
	return key
}

// failing is the key of a context's value: the function that writes the Failure of a request.
type failing struct{}

// WithFailures returns a context for a request that one protocol passes on to a handler of another protocol, which Gate.Guard has made. If
// the request fails, that handler calls fail, which writes the Failure in the form of the first protocol.
func WithFailures(ctx context.Context, fail func(http.ResponseWriter, Failure)) context.Context {
	return context.WithValue(ctx, failing{}, fail)
}

// Guard returns a handler that admits clients with a key. fail, or the function of WithFailures, writes the error of next, unless the
// client has left. The status 429 comes with Retry-After.
func (g *Gate) Guard(next Handler, fail func(http.ResponseWriter, Failure)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		err := error(Failure{
			Status: http.StatusUnauthorized, Code: "invalid_api_key",
			Message: "the request needs an API key: Authorization: Bearer KEY, or X-Api-Key: KEY",
		})
		if key := keyOf(r.Header); g.admits(key) {
			err = next(w, r.WithContext(context.WithValue(r.Context(), user{}, key)))
		}
		if err == nil || errors.Is(err, ErrLeft) {
			return
		}
		f := FailureOf(err)
		if f.Status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		write, ok := r.Context().Value(failing{}).(func(http.ResponseWriter, Failure))
		if !ok {
			write = fail
		}
		write(w, f)
	}
}

// keyOf returns the API key of a header.
func keyOf(h http.Header) string {
	key, bearer := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	if !bearer {
		key = h.Get("X-Api-Key")
	}
	return key
}

// admits reports whether a key is one of those that clients may use.
func (g *Gate) admits(key string) bool {
	sum := sha256.Sum256([]byte(key))
	same := 0
	for _, key := range g.keys { // all of them, so that the time does not depend on which is right
		same |= subtle.ConstantTimeCompare(key[:], sum[:])
	}
	return same == 1 || len(g.keys) == 0
}

// Limit returns a handler that refuses requests beyond Options.Requests with status 429, and that ends requests after
// Options.Time.
func (g *Gate) Limit(next Handler) Handler { return g.limit(g.running, next) }

// LimitBrief is Limit for requests that no model computes, such as those for the tokens of a text. They do not count as the requests of
// Limit.
func (g *Gate) LimitBrief(next Handler) Handler { return g.limit(g.brief, next) }

// limit returns a handler whose requests need places.
func (g *Gate) limit(places chan struct{}, next Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			if g.Time > 0 {
				ctx, cancel := context.WithTimeout(r.Context(), g.Time)
				defer cancel()
				r = r.WithContext(ctx)
			}
			return next(w, r)
		default:
			return Failure{
				Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded",
				Message: fmt.Sprintf("%d requests are running or waiting", cap(places)),
			}
		}
	}
}
