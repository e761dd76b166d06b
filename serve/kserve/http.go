package kserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// Version is the version of all models.
const Version = "1"

// Server and ServerVersion describe the server to clients.
const Server, ServerVersion = "gopherwarp", "2"

// Options are the models, metrics and fallback of a Handler.
type Options struct {
	Models  map[string]Model
	Metrics *Metrics
	// Health, unless it is nil, returns an error if a model that another protocol serves is not healthy.
	Health func(ctx context.Context) error
	Next   http.Handler // answers all other requests
}

// A Handler is an http.Handler that serves models. It is safe for concurrent use.
type Handler struct {
	*gate.Gate
	options Options
	mux     http.ServeMux
}

// Handle returns a Handler for o.Models. The gate must have models with the same names, for example in gate.Options.Others.
func Handle(g *gate.Gate, o Options) (*Handler, error) {
	h := &Handler{Gate: g, options: o}
	for name := range o.Models {
		if !slices.Contains(g.Names(), name) {
			return nil, fmt.Errorf("%w: the gate does not know the model %q", gate.ErrOptions, name)
		}
	}
	h.mux.HandleFunc("GET /v2", h.server)
	h.mux.HandleFunc("GET /v2/{$}", h.server)
	h.mux.HandleFunc("GET /v2/health/live", func(http.ResponseWriter, *http.Request) {})
	h.mux.HandleFunc("GET /v2/health/ready", h.ready)
	for _, path := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		h.mux.HandleFunc("GET "+path, h.guard(h.metadata))
		h.mux.HandleFunc("GET "+path+"/ready", h.guard(h.modelReady))
		h.mux.HandleFunc("POST "+path+"/infer", h.guard(h.Limit(h.infer)))
	}
	h.mux.HandleFunc("POST /v2/repository/index", h.guard(h.index))
	h.mux.HandleFunc("POST /v2/repository/models/{model}/load", h.guard(h.Limit(h.load)))
	h.mux.HandleFunc("POST /v2/repository/models/{model}/unload", h.guard(h.Limit(h.unload)))
	h.mux.Handle("/", gate.Otherwise(&h.mux, o.Next, write))
	return h, nil
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.mux.ServeHTTP(w, r) }

// guard admits clients with a key, and writes the error of next.
func (h *Handler) guard(next gate.Handler) http.HandlerFunc { return h.Guard(next, write) }

// write answers a request in the protocol's form of an error. A client that has left learns nothing, so errors of writing are ignored.
func write(w http.ResponseWriter, f gate.Failure) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(f.Status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": f.Message})
}

// server describes the server.
func (h *Handler) server(w http.ResponseWriter, _ *http.Request) {
	_ = gate.WriteJSON(w, map[string]any{"name": Server, "version": ServerVersion, "extensions": h.Extensions()})
}

// ready answers with status 200 if all models work.
func (h *Handler) ready(w http.ResponseWriter, r *http.Request) {
	if err := h.Ready(r.Context()); err != nil {
		write(w, gate.Failure{Status: http.StatusServiceUnavailable, Message: err.Error()})
	}
}

// modelReady answers with status 200 if a model is loaded and computes.
func (h *Handler) modelReady(_ http.ResponseWriter, r *http.Request) error {
	return h.ModelReady(r.Context(), r.PathValue("model"), r.PathValue("version"))
}

// metadata describes a model.
func (h *Handler) metadata(w http.ResponseWriter, r *http.Request) error {
	m, err := h.Model(r.PathValue("model"), r.PathValue("version"))
	if err != nil {
		return err
	}
	out, err := m.Output(r.Context())
	if err != nil {
		return err
	}
	return gate.WriteJSON(w, map[string]any{
		"name": r.PathValue("model"), "versions": []string{Version}, "platform": Server, "inputs": []Form{m.Input()}, "outputs": []Form{out},
	})
}

// infer answers a request for tensors.
func (h *Handler) infer(w http.ResponseWriter, r *http.Request) error {
	var body *inferRequest
	list, err := h.Infer(r.Context(), r.PathValue("model"), r.PathValue("version"), func() (q Request, err error) {
		if body, err = h.read(w, r); err != nil {
			return q, err
		}
		return body.request(), nil
	})
	if err != nil {
		return err
	}
	return body.write(w, r.PathValue("model"), list)
}

// headerLength is the name of the header with the length of the JSON object before binary tensors.
const headerLength = "Inference-Header-Content-Length"

// read reads the body of a request in its time and size.
func (h *Handler) read(w http.ResponseWriter, r *http.Request) (*inferRequest, error) {
	data, err := h.ReadBytes(w, r)
	if err != nil {
		return nil, err
	}
	n := len(data)
	if text := r.Header.Get(headerLength); text != "" {
		if n, err = strconv.Atoi(text); err != nil || n < 0 || n > len(data) {
			return nil, gate.Failure{Status: http.StatusBadRequest, Message: fmt.Sprintf("%s is %q, and the body has %d bytes", headerLength, text, len(data))}
		}
	}
	var body inferRequest
	ctx, end := h.WithTurn(r.Context())
	defer end()
	if err := h.Decode(ctx, data[:n], &body); err != nil {
		return nil, err
	}
	return &body, body.fill(data[n:])
}

// inferRequest is the body of a request for tensors.
type inferRequest struct {
	ID      string      `json:"id"`
	Inputs  []*inTensor `json:"inputs"`
	Outputs []struct {
		Name string  `json:"name"`
		Of   options `json:"parameters"`
	} `json:"outputs"`
	Of options `json:"parameters"`
}

// options are the parameters of a request, an input or an output that have a meaning here.
type options struct {
	Size    *int  `json:"binary_data_size"`   // of an input
	Binary  *bool `json:"binary_data"`        // of an output
	All     bool  `json:"binary_data_output"` // of a request: outputs are binary unless they say otherwise
	Classes int   `json:"classification"`     // of an output

	Priority int64 `json:"priority"` // of a request
	Timeout  int64 `json:"timeout"`  // of a request, in microseconds
}

// inTensor is an input.
type inTensor struct {
	Name     string          `json:"name"`
	Datatype string          `json:"datatype"`
	Shape    []int64         `json:"shape"`
	Data     json.RawMessage `json:"data"`
	Of       options         `json:"parameters"`

	elements [][]byte
}

// fill sets the elements of inputs: those of their data, or the next ones of the binary part.
func (b *inferRequest) fill(binary []byte) error {
	for i, t := range b.Inputs {
		switch {
		case t == nil:
			return gate.Invalid("inputs", "input %d is null", i)
		case t.Datatype != Bytes:
			return gate.Invalid("inputs", "%s: the datatype is %q, want %q", t.Name, t.Datatype, Bytes)
		case t.Of.Size == nil:
			var err error
			if t.elements, err = texts(nil, t.Data, len(t.Shape)+1); err != nil {
				return gate.Invalid("inputs", "%s: the data are not texts", t.Name)
			}
			continue
		case *t.Of.Size < 0 || *t.Of.Size > len(binary):
			return gate.Invalid("inputs", "%s: %d bytes, of which the body has %d", t.Name, *t.Of.Size, len(binary))
		}
		x := Tensor{Name: t.Name}
		if err := x.SetRaw(binary[:*t.Of.Size]); err != nil {
			return err
		}
		t.elements, binary = x.Bytes, binary[*t.Of.Size:]
	}
	if len(binary) > 0 {
		return gate.Invalid("inputs", "%d bytes follow the last input", len(binary))
	}
	return nil
}

// texts appends the texts of a list, which may have at most some levels of lists.
func texts(list [][]byte, data json.RawMessage, levels int) ([][]byte, error) {
	var one *string
	if json.Unmarshal(data, &one) == nil && one != nil {
		return append(list, []byte(*one)), nil
	}
	var inner []json.RawMessage
	if err := json.Unmarshal(data, &inner); err != nil || levels == 0 {
		return nil, errors.Join(err, errLevels)
	}
	if list == nil {
		list = [][]byte{}
	}
	for _, x := range inner {
		var err error
		if list, err = texts(list, x, levels-1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// errLevels is the error of lists in lists that the shape does not have.
var errLevels = errors.New("too many lists in lists")

// request returns what the request asks for.
func (b *inferRequest) request() (r Request) {
	r.Priority, r.Timeout = b.Of.Priority, b.Of.Timeout
	for _, t := range b.Inputs {
		r.Inputs = append(r.Inputs, Tensor{Name: t.Name, Shape: t.Shape, Bytes: t.elements})
	}
	for _, o := range b.Outputs {
		r.Outputs = append(r.Outputs, Wanted{o.Name, o.Of.Classes})
	}
	return r
}

// outTensor is an output.
type outTensor struct {
	Name     string         `json:"name"`
	Datatype string         `json:"datatype"`
	Shape    []int64        `json:"shape"`
	Of       map[string]int `json:"parameters,omitempty"`
	Data     any            `json:"data,omitempty"`
}

// write writes the answer: a JSON object, and the binary tensors after it.
func (b *inferRequest) write(w http.ResponseWriter, model string, list []Tensor) error {
	var binary [][]byte
	outputs := make([]outTensor, len(list))
	for i, t := range list {
		o := outTensor{Name: t.Name, Datatype: t.Datatype(), Shape: t.Shape}
		if b.binary(i) {
			raw := t.Raw()
			o.Of, binary = map[string]int{"binary_data_size": len(raw)}, append(binary, raw)
		} else {
			o.Data = t.values()
		}
		outputs[i] = o
	}
	answer := map[string]any{"model_name": model, "model_version": Version, "outputs": outputs}
	if b.ID != "" {
		answer["id"] = b.ID
	}
	if binary == nil {
		return gate.WriteJSON(w, answer)
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set(headerLength, strconv.Itoa(len(text)))
	return gate.WriteBytes(w, append(text, bytes.Join(binary, nil)...))
}

// binary reports whether an output is binary.
func (b *inferRequest) binary(i int) bool {
	if i < len(b.Outputs) && b.Outputs[i].Of.Binary != nil {
		return *b.Outputs[i].Of.Binary
	}
	return b.Of.All
}

// values returns the elements for JSON.
func (t Tensor) values() any {
	if t.Bytes == nil {
		return t.Floats
	}
	list := make([]string, len(t.Bytes))
	for i, b := range t.Bytes {
		list[i] = string(b)
	}
	return list
}
