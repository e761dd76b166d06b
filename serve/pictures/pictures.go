package pictures

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// A Model finds the classes of pictures. *classify.Model is one.
type Model interface {
	// Classify returns the n most probable classes of each picture. It is not called concurrently.
	Classify(ctx context.Context, n int, pictures ...image.Image) ([][]classify.Class, error)
	Classes() int
}

// Options are a model and its limits.
type Options struct {
	Name   string // the name of the model, which must be in gate.Options.Others
	Model  Model
	Labels []string // the names of the classes, beginning with class 0; may have fewer elements than there are classes
	// Pictures limits the pictures that wait; a request beyond this limit is refused with status 429. 0 means 256.
	Pictures int
	// Batch is the largest number of pictures of a batch. 0 means 32.
	Batch int
	// Delay is the longest time that a picture waits for other pictures of its batch while the model is idle.
	Delay time.Duration
	// Observe is called, unless it is nil, after each batch of the model.
	Observe func(model string, r batch.Report)
	// Metrics are the metrics that /metrics returns.
	Metrics []prometheus.Collector
}

// A Handler is an http.Handler that serves a model. It is safe for concurrent use.
type Handler struct {
	*gate.Gate
	options Options
	mux     http.ServeMux
	queue   *batch.Queue[image.Image, []classify.Class]
	decoded chan struct{}         // has an element for each picture that is being decoded
	broken  atomic.Pointer[error] // that of the last batch, or nil
}

// Handle returns a Handler. The Handler's Close ends its queue. The error wraps gate.ErrOptions.
func Handle(g *gate.Gate, o Options) (*Handler, error) {
	h := &Handler{Gate: g, options: o, decoded: make(chan struct{}, runtime.GOMAXPROCS(0))}
	if _, err := g.Resolve(o.Name); err != nil {
		return nil, fmt.Errorf("%w: %w", gate.ErrOptions, err)
	}
	var err error
	h.queue, err = batch.New(batch.Options[image.Image, []classify.Class]{
		Run: func(ctx context.Context, list []image.Image) ([][]classify.Class, error) {
			return o.Model.Classify(ctx, math.MaxInt, list...)
		},
		Most: cmp.Or(o.Batch, 32), Queue: cmp.Or(o.Pictures, 256), Delay: o.Delay, Observe: h.observe,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", gate.ErrOptions, err)
	}
	h.mux.HandleFunc("POST /classify", h.Guard(h.Limit(h.upload), write))
	h.mux.HandleFunc("GET /health", h.health)
	registry := prometheus.NewRegistry()
	registry.MustRegister(o.Metrics...)
	h.mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	return h, nil
}

// Close refuses further pictures, and waits until all accepted pictures are classified.
func (h *Handler) Close() { h.queue.Close() }

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// observe is called after each batch.
func (h *Handler) observe(r batch.Report) {
	if h.options.Observe != nil {
		h.options.Observe(h.options.Name, r)
	}
	if h.broken.Store(nil); r.Err != nil && !errors.Is(r.Err, context.Canceled) && !errors.Is(r.Err, classify.ErrPicture) {
		h.broken.Store(&r.Err)
	}
}

// Classes returns the number of classes.
func (h *Handler) Classes() int { return h.options.Model.Classes() }

// Labels returns the names of the first classes. It may have fewer elements than there are classes.
func (h *Handler) Labels() []string { return h.options.Labels }

// Health returns nil if pictures can be classified, and otherwise the error. After a failed batch, Health classifies a
// picture of its own: a server that is not healthy may get no requests, so only Health can find out that the device
// works again.
func (h *Handler) Health(ctx context.Context) error {
	last := h.broken.Load()
	if last == nil {
		return nil
	}
	_, err := h.queue.Do(ctx, image.Image(image.NewGray(image.Rect(0, 0, 1, 1))))
	if errors.Is(err, batch.ErrFull) || ctx.Err() != nil {
		return *last
	}
	return err
}

// Classify returns all classes of the pictures in the contents of JPEG or PNG files. The error may be a gate.Failure.
func (h *Handler) Classify(ctx context.Context, files ...[]byte) ([][]classify.Class, error) {
	list := make([]image.Image, len(files))
	for i, data := range files {
		var err error
		if list[i], err = h.decode(ctx, data); err != nil {
			return nil, err
		}
	}
	classes, err := h.queue.Do(ctx, list...)
	switch {
	case errors.Is(err, batch.ErrTooMany):
		err = gate.Failure{Status: http.StatusBadRequest, Message: fmt.Sprintf("%d pictures, which are more than the server's queue holds", len(files))}
	case errors.Is(err, classify.ErrPicture):
		err = gate.Failure{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return classes, err
}

// decode decodes a picture, when few others are decoded: a small file may be a picture of 256 MB.
func (h *Handler) decode(ctx context.Context, data []byte) (image.Image, error) {
	select {
	case h.decoded <- struct{}{}:
		defer func() { <-h.decoded }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	m, err := classify.Decode(data)
	if err != nil {
		return nil, gate.Failure{Status: http.StatusBadRequest, Message: err.Error()}
	}
	return m, nil
}

// maxTop is the largest number of classes of an answer.
const maxTop = 1000

// upload answers a request whose body is a picture.
func (h *Handler) upload(w http.ResponseWriter, r *http.Request) error {
	top := 5
	if text := r.URL.Query().Get("top"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxTop {
			return gate.Invalid("top", "%q is not a number from 1 to %d", text, maxTop)
		}
		top = n
	}
	data, err := h.ReadBytes(w, r)
	if err != nil {
		return err
	}
	list, err := h.Classify(r.Context(), data)
	if err != nil {
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
	return gate.WriteJSON(w, map[string]any{"model": h.options.Name, "classes": classes})
}

// health answers with status 200 if pictures can be classified.
func (h *Handler) health(w http.ResponseWriter, r *http.Request) {
	if err := h.Health(r.Context()); err != nil {
		write(w, gate.Failure{Status: http.StatusServiceUnavailable, Message: err.Error()})
	}
}

// write answers a request with an error. A client that has left learns nothing, so errors of writing are ignored.
func write(w http.ResponseWriter, f gate.Failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": f.Message})
}
