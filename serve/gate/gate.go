package gate

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gopherwarp/gopherwarp/chat"
	"github.com/gopherwarp/gopherwarp/grammar"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/serve/repository"
	"github.com/gopherwarp/gopherwarp/serve/spans"
)

// A Model generates text. It may be used by several goroutines. *llm.Model is one.
type Model interface {
	Chat(ctx context.Context, messages []chat.Message, r llm.Request) iter.Seq2[llm.Token, error]
	Generate(ctx context.Context, prompt string, r llm.Request) iter.Seq2[llm.Token, error]
}

// ErrOptions is the error of New for invalid Options.
var ErrOptions = errors.New("serve: invalid options")

// Options are the models and limits of a server.
type Options struct {
	// Models are the models, by their names in requests. A request without a name gets the only model.
	Models map[string]Model
	// OnDemand are further models, by their names in requests. Find loads them when a request needs them.
	OnDemand map[string]*repository.Model[Model]
	// Repository contains the models of the server that can be loaded and unloaded. It may be nil. Models that are not in the Repository are always
	// ready.
	Repository *repository.Repository
	// Adapters maps the name of an adapter to the name of its model, which must implement Tokenized. A request that names an adapter gets this model,
	// with llm.Request.Adapter set to the adapter's name.
	Adapters map[string]string
	// Others are the names of models that do not generate texts, but answer other requests, for example with package serve/pictures.
	Others []string
	// With AnyName, a request with an unknown name gets the only model. If there are several models, AnyName has no effect.
	AnyName bool
	// Keys are the API keys that clients may use. If there are none, all requests are allowed.
	Keys []string
	// Requests limits the requests that run or wait; further requests are refused with status 429. 0 means 64.
	Requests int
	// Body limits the bytes of a request. 0 means 8 MiB.
	Body int64
	// Time limits the time of a request, including its wait. 0 means no limit.
	Time time.Duration
	// ClientTimeout limits the time that a client may take to send a request, and to receive each part of an answer. 0 means 30 seconds.
	ClientTimeout time.Duration
}

// A Gate checks requests, and finds the models for them. It is safe for concurrent use.
type Gate struct {
	Options
	names    []string
	only     string // the only model, or "" if there are several
	keys     [][sha256.Size]byte
	running  chan struct{} // has an element for each request that runs or waits
	brief    chan struct{} // the same for requests that no model computes
	large    chan struct{} // has an element for each turn of a request with a large body
	grammars grammar.Cache // of calls
}

// New returns a Gate. The error wraps ErrOptions.
func New(o Options) (*Gate, error) {
	models := slices.Concat(slices.Collect(maps.Keys(o.Models)), slices.Collect(maps.Keys(o.OnDemand)), o.Others)
	if len(models) == 0 {
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
	g := &Gate{Options: o, running: make(chan struct{}, o.Requests), brief: make(chan struct{}, o.Requests), large: make(chan struct{}, largeTurns)}
	g.names = slices.Concat(models, slices.Collect(maps.Keys(o.Adapters)))
	slices.Sort(g.names)
	for i, name := range g.names[1:] {
		if name == g.names[i] {
			return nil, fmt.Errorf("%w: two models with the name %q", ErrOptions, name)
		}
	}
	for name, of := range o.Adapters {
		if _, ok := o.Models[of].(Tokenized); !ok && o.OnDemand[of] == nil {
			return nil, fmt.Errorf("%w: the adapter %q of the model %q, which is not there or has no tokenizer", ErrOptions, name, of)
		}
	}
	if len(models) == 1 {
		g.only = models[0]
	}
	for _, key := range o.Keys {
		if key == "" {
			return nil, fmt.Errorf("%w: an empty key", ErrOptions)
		}
		g.keys = append(g.keys, sha256.Sum256([]byte(key)))
	}
	return g, nil
}

// Names returns the sorted names of the models and adapters. The caller must not change the slice.
func (g *Gate) Names() []string { return g.names }

// AdaptersOf returns the sorted names of a model's adapters.
func (g *Gate) AdaptersOf(model string) (list []string) {
	for _, name := range g.names {
		if of, ok := g.Adapters[name]; ok && of == model {
			list = append(list, name)
		}
	}
	return list
}

// WrongKind returns the Failure for a request that the model with this name cannot answer, such as a request for text to an embedding
// model.
func WrongKind(name string) Failure {
	return Failure{Status: http.StatusBadRequest, Param: "model", Message: fmt.Sprintf("the model %q is not for requests of this kind", name)}
}

// Resolve returns the name of the model or adapter that a request's name means. An empty name means the only model. With Options.AnyName, an unknown
// name also means the only model. The error is a Failure.
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

// A Handler answers a request, or returns an error.
type Handler func(w http.ResponseWriter, r *http.Request) error

// visit is what a context has of a request.
type visit struct {
	user string // the API key of the client
	held holder
}

// visiting is the key of a context's value: a *visit.
type visiting struct{}

// UserOf returns the API key of the client, or "" if the client sent none. ctx is the context that Guard has passed to a Handler.
func UserOf(ctx context.Context) string {
	if v, ok := ctx.Value(visiting{}).(*visit); ok {
		return v.user
	}
	return ""
}

// failing is the key of a context's value: the function that writes the Failure of a request.
type failing struct{}

// WithFailures returns a context for a request that one protocol passes on to another protocol's handler. If the request fails, this handler calls
// fail instead of writing the Failure itself.
func WithFailures(ctx context.Context, fail func(http.ResponseWriter, Failure)) context.Context {
	return context.WithValue(ctx, failing{}, fail)
}

// Guard returns a handler that calls next for requests of clients with a valid API key. If the key is invalid or next returns an error, the handler
// calls fail or, for a context of WithFailures, the function of that context. If the client has left, the handler calls the function of WithLeft. If
// the answer has not begun, it then also calls fail, because a client that has closed only its sending side can still read the failure. Answers with
// status 429, and answers about a model that is not ready, have the header Retry-After.
func (g *Gate) Guard(next Handler, fail func(http.ResponseWriter, Failure)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		span := spans.Of(r.Context())
		nameSpan(span, r)
		err := error(Failure{
			Status: http.StatusUnauthorized, Code: "invalid_api_key",
			Message: "the request needs an API key: Authorization: Bearer KEY, or X-Api-Key: KEY",
		})
		if key := keyOf(r.Header); g.admits(key) {
			v := &visit{user: key}
			defer v.held.release()
			ctx, end := g.WithTurn(context.WithValue(r.Context(), visiting{}, v))
			defer end()
			err = leftOr(r.Context(), next(w, r.WithContext(ctx)))
		}
		endSpan(span, r, err)
		if err == nil || errors.Is(err, ErrLeft) && leaves(w, r) {
			return
		}
		f := FailureOf(err)
		if f.Status == http.StatusTooManyRequests {
			f.Retry = max(f.Retry, time.Second)
		}
		if f.Retry > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(f.Retry.Seconds()))))
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

// LimitBrief is like Limit, for requests that need no computation of a model, such as requests for the tokens of a text. They do not count towards
// the limit of Limit, but have a limit of the same size.
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
