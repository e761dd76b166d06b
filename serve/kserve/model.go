package kserve

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/serve/batch"
	"github.com/gopherwarp/gopherwarp/serve/gate"
)

// A Model computes a tensor with a row for each element of the input. It may be used by several goroutines.
type Model interface {
	// Input and Output describe the tensors. A dimension of -1 may have any size. Output loads the model if it is not loaded.
	Input() Form
	Output(ctx context.Context) (Form, error)
	// Labels returns the names of the output's columns, or nil.
	Labels() []string
	// Infer computes the output for the elements of the input.
	Infer(ctx context.Context, elements [][]byte) (Tensor, error)
	// Health returns nil if the model can compute or is not loaded, and otherwise the error.
	Health(ctx context.Context) error
}

// Form describes a tensor.
type Form struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

// An Embedder computes vectors of texts. It may be used by several goroutines.
type Embedder interface {
	Embed(ctx context.Context, texts ...string) ([][]float32, error)
	Width(ctx context.Context) (int, error) // loads the model if it is not loaded
	Health(ctx context.Context) error
}

// Vectors returns a Model with the input "text", whose elements are texts, and the output "embedding", with the vectors of the texts.
func Vectors(e Embedder) Model { return vectors{e} }

type vectors struct{ Embedder }

func (vectors) Input() Form      { return Form{"text", Bytes, []int64{-1}} }
func (vectors) Labels() []string { return nil }

func (v vectors) Output(ctx context.Context) (Form, error) {
	n, err := v.Width(ctx)
	return Form{"embedding", Float32, []int64{-1, int64(n)}}, err
}

func (v vectors) Infer(ctx context.Context, elements [][]byte) (Tensor, error) {
	texts := make([]string, len(elements))
	for i, b := range elements {
		if !utf8.Valid(b) {
			return Tensor{}, gate.Invalid("inputs", "text %d is not in UTF-8", i)
		}
		texts[i] = string(b)
	}
	list, err := v.Embed(ctx, texts...)
	if err != nil {
		return Tensor{}, err
	}
	n, err := v.Width(ctx)
	return Tensor{Name: "embedding", Shape: []int64{int64(len(list)), int64(n)}, Floats: slices.Concat(list...)}, err
}

// A Classifier finds the classes of pictures. It may be used by several goroutines.
type Classifier interface {
	// Classify returns all classes of each picture. The arguments are the contents of JPEG or PNG files.
	Classify(ctx context.Context, files ...[]byte) ([][]classify.Class, error)
	Classes(ctx context.Context) (int, error) // loads the model if it is not loaded
	Labels() []string                         // may have fewer elements than Classes
	Health(ctx context.Context) error
}

// Pictures returns a Model with the input "picture", whose elements are JPEG or PNG files, and the output "probabilities", with the
// probabilities of all classes.
func Pictures(c Classifier) Model { return pictures{c} }

type pictures struct{ Classifier }

func (pictures) Input() Form { return Form{"picture", Bytes, []int64{-1}} }
func (p pictures) Output(ctx context.Context) (Form, error) {
	n, err := p.Classes(ctx)
	return Form{"probabilities", Float32, []int64{-1, int64(n)}}, err
}

func (p pictures) Infer(ctx context.Context, elements [][]byte) (Tensor, error) {
	list, err := p.Classify(ctx, elements...)
	if err != nil {
		return Tensor{}, err
	}
	n, err := p.Classes(ctx)
	if err != nil {
		return Tensor{}, err
	}
	t := Tensor{Name: "probabilities", Shape: []int64{int64(len(list)), int64(n)}, Floats: make([]float32, n*len(list))}
	for i, classes := range list {
		for _, c := range classes {
			t.Floats[i*n+c.Index] = float32(c.Probability)
		}
	}
	return t, nil
}

// greatest returns the indices of the n greatest values, the greatest one first.
func greatest(row []float32, n int) []int {
	list := make([]int, len(row))
	for i := range list {
		list[i] = i
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(row[b], row[a]) })
	return list[:n]
}

// Request is a request for the output of a model.
type Request struct {
	Inputs  []Tensor
	Outputs []Wanted // empty for all outputs

	// Priority is the parameter priority of Triton's protocol: requests with a smaller number are computed first. 0 means the default, 2.
	Priority int64
	// Timeout is the parameter timeout: the microseconds after which the request ends with an error. 0 means no limit.
	Timeout int64
}

// usualPriority is the priority of requests without one, and of requests through other protocols, which count from 0 in both directions.
const usualPriority = 2

// longestTimeout is the longest time of a request.
const longestTimeout = 24 * time.Hour

// Wanted is an output that a request asks for.
type Wanted struct {
	Name    string
	Classes int // return this number of most probable classes for each row; 0 means all values
}

// Infer calls read to get a request, and computes the model's answer. Options.Metrics counts the request, even if read fails. Infer is for other
// transports of the protocol, which must limit the number of requests themselves.
func (h *Handler) Infer(ctx context.Context, model, version string, read func() (Request, error)) ([]Tensor, error) {
	m, err := h.Model(model, version)
	if err != nil {
		return nil, err
	}
	end := h.options.Metrics.Begin(model)
	r, err := read()
	var list []Tensor
	if err == nil {
		list, err = scheduled(ctx, m, r)
	}
	end(err)
	return list, err
}

// Ready returns nil if all loaded models are healthy and Options.Health returns nil, and otherwise an error.
func (h *Handler) Ready(ctx context.Context) error {
	for name, m := range h.options.Models {
		if err := m.Health(ctx); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if h.options.Health != nil {
		return h.options.Health(ctx)
	}
	return nil
}

// scheduled is infer with the priority and the time of the request.
func scheduled(ctx context.Context, m Model, r Request) ([]Tensor, error) {
	if r.Priority < 0 || r.Timeout < 0 {
		return nil, gate.Invalid("parameters", "priority %d, timeout %d: a number is negative", r.Priority, r.Timeout)
	}
	if r.Priority > 0 {
		ctx = batch.WithPriority(ctx, int(min(r.Priority, 1<<31))-usualPriority)
	}
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(min(r.Timeout, longestTimeout.Microseconds()))*time.Microsecond)
		defer cancel()
	}
	return infer(ctx, m, r)
}

// infer computes what a request asks for. The error may be a gate.Failure.
func infer(ctx context.Context, m Model, r Request) (list []Tensor, err error) {
	in := m.Input()
	out, err := m.Output(ctx)
	if err != nil {
		return nil, err
	}
	if len(r.Inputs) != 1 || r.Inputs[0].Name != in.Name {
		return nil, gate.Invalid("inputs", "the model has one input, %q", in.Name)
	}
	if len(r.Outputs) == 0 {
		r.Outputs = []Wanted{{Name: out.Name}}
	}
	for _, w := range r.Outputs {
		if w.Name != out.Name {
			return nil, gate.Invalid("outputs", "there is no output %q; the model has %q", w.Name, out.Name)
		}
		if w.Classes < 0 {
			return nil, gate.Invalid("outputs", "%d classes", w.Classes)
		}
	}
	t := r.Inputs[0]
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(t.Bytes) == 0 {
		return nil, gate.Invalid("inputs", "%s: no elements", t.Name)
	}
	result, err := m.Infer(ctx, t.Bytes)
	if err != nil {
		return nil, err
	}
	for _, w := range r.Outputs {
		if w.Classes > 0 {
			list = append(list, result.classes(w.Classes, m.Labels()))
			continue
		}
		list = append(list, result)
	}
	return list, nil
}

// Model returns the model with a name and a version. The version may be empty. The error is a gate.Failure.
func (h *Handler) Model(name, version string) (Model, error) {
	if _, err := h.Resolve(name); err != nil {
		return nil, err
	}
	m := h.options.Models[name]
	if m == nil {
		return nil, gate.WrongKind(name)
	}
	if version != "" && version != Version {
		return nil, gate.Failure{Status: 404, Param: "version", Message: fmt.Sprintf("the model %q has no version %q", name, version)}
	}
	return m, nil
}
