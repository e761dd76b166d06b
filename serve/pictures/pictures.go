package pictures

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
	"github.com/gopherwarp/gopherwarp/serve/repository"
)

// A Model finds the classes of pictures. *classify.Model is one.
type Model interface {
	// Classify returns the n most probable classes of each picture. It is not called concurrently.
	Classify(ctx context.Context, n int, pictures ...image.Image) ([][]classify.Class, error)
	Classes() int
}

// Options are models and their limits.
type Options struct {
	// Models are the models, by their names in requests. The field Others of the gate.Options must contain the same names. Models are loaded when a
	// request needs them.
	Models map[string]*repository.Model[Model]
	// Labels maps the name of a model to the names of its classes, beginning with class 0. A list may have fewer elements than there are
	// classes.
	Labels map[string][]string
	// Pictures limits the pictures that wait for a model; a request beyond this limit is refused with status 429. 0 means 256.
	Pictures int
	// Batch is the largest number of pictures of a batch. 0 means 32.
	Batch int
	// Delay is the longest time that a picture waits for other pictures of its batch while the model is idle.
	Delay time.Duration
	// Observe is called, unless it is nil, after each batch of a model.
	Observe func(model string, r batch.Report)
	// Began is called, unless it is nil, when a request to /classify for a model begins. When the request ends, the returned function is called with
	// the request's error, or nil.
	Began func(model string) (ended func(error))
	// Metrics are further metrics that /metrics returns.
	Metrics []prometheus.Collector
}

// A Handler is an http.Handler that serves models. It is safe for concurrent use.
type Handler struct {
	*gate.Gate
	mux         http.ServeMux
	classifiers map[string]*Classifier
}

// Handle returns a Handler. The Handler's Close ends the queues of the models. The error wraps gate.ErrOptions.
func Handle(g *gate.Gate, o Options) (*Handler, error) {
	h := &Handler{Gate: g, classifiers: map[string]*Classifier{}}
	decoded := make(chan struct{}, runtime.GOMAXPROCS(0))
	for name, m := range o.Models {
		err := error(nil)
		if !slices.Contains(g.Others, name) {
			err = errors.New("the gate does not know it")
		} else {
			h.classifiers[name], err = newClassifier(name, m, o, decoded)
		}
		if err != nil {
			delete(h.classifiers, name)
			h.Close()
			return nil, fmt.Errorf("%w: the model %q: %w", gate.ErrOptions, name, err)
		}
	}
	h.mux.HandleFunc("POST /classify", h.Guard(h.Limit(h.upload), write))
	h.mux.HandleFunc("GET /health", h.health)
	registry := prometheus.NewRegistry()
	registry.MustRegister(o.Metrics...)
	registry.MustRegister(h.Metrics()...)
	h.mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	return h, nil
}

// Close refuses further pictures, and waits until all accepted pictures are classified.
func (h *Handler) Close() {
	for _, c := range h.classifiers {
		c.queue.Close()
	}
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// Classifier returns the model with the given name, or nil.
func (h *Handler) Classifier(name string) *Classifier { return h.classifiers[name] }

// maxTop is the largest number of classes of an answer.
const maxTop = 1000

// upload answers a request whose body is a picture, and whose query may name a model.
func (h *Handler) upload(w http.ResponseWriter, r *http.Request) error {
	name, err := h.Resolve(r.URL.Query().Get("model"))
	if err != nil {
		return err
	}
	c := h.classifiers[name]
	if c == nil {
		return gate.WrongKind(name)
	}
	top := 5
	if text := r.URL.Query().Get("top"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxTop {
			return gate.Invalid("top", "%q is not a number from 1 to %d", text, maxTop)
		}
		top = n
	}
	ctx := r.Context()
	if text := r.URL.Query().Get("priority"); text != "" {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return gate.Invalid("priority", "%q is not an integer of 32 bits", text)
		}
		ctx = batch.WithPriority(ctx, int(n))
	}
	data, err := h.ReadBytes(w, r)
	if err != nil {
		return err
	}
	ended := c.began()
	list, err := c.Classify(ctx, data)
	if ended(err); err != nil {
		return err
	}
	type class struct {
		Class       int     `json:"class"`
		Name        string  `json:"name"`
		Probability float64 `json:"probability"`
	}
	classes := []class{}
	for _, x := range list[0][:min(top, len(list[0]))] {
		classes = append(classes, class{x.Index, x.Name, x.Probability})
	}
	return gate.WriteJSON(w, map[string]any{"model": name, "classes": classes})
}

// health answers with status 200 if Health returns nil.
func (h *Handler) health(w http.ResponseWriter, r *http.Request) {
	if err := h.Health(r.Context()); err != nil {
		write(w, gate.Failure{Status: http.StatusServiceUnavailable, Message: err.Error()})
	}
}

// Health returns nil if all models that are loaded can classify pictures.
func (h *Handler) Health(ctx context.Context) error {
	for name, c := range h.classifiers {
		if err := c.Health(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// write answers a request with an error. A client that has left learns nothing, so errors of writing are ignored.
func write(w http.ResponseWriter, f gate.Failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": f.Message})
}
