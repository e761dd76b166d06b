package lora

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// Errors of New and Open.
var (
	ErrOptions = errors.New("lora: option out of range")
	ErrModule  = errors.New("lora: the model has no such layer")
	ErrFormat  = errors.New("lora: not an adapter that this package supports")
)

// Linear is a linear layer of a model.
type Linear struct {
	Name    string // such as "model.layers.0.self_attn.q_proj"
	In, Out int
}

// module returns the last part of the layer's name, which names the same module in all blocks of a model.
func (l Linear) module() string { return l.Name[strings.LastIndexByte(l.Name, '.')+1:] }

// Options are the options of New.
type Options struct {
	Rank  int     // the number of rows of A
	Alpha float64 // the scale is Alpha/Rank
	// RankStabilized makes the scale Alpha/sqrt(Rank) (Kalajdzievski, "A Rank Stabilization Scaling Factor for Fine-Tuning with LoRA").
	RankStabilized bool
	// Dropout is the probability with which an element of the input of A is dropped, in training only.
	Dropout float64
	// DoRA also trains the norms of the rows of W + scale B A: see Pair.Add (Liu et al., "DoRA: Weight-Decomposed Low-Rank Adaptation").
	DoRA bool
	// Modules are the last parts of the names of the layers to change, such as "q_proj". If Modules is empty, the adapter changes all
	// layers.
	Modules []string
	// Base is the model's name, which Save writes to adapter_config.json. It has no other effect.
	Base string
	// Seed determines the initial values of A.
	Seed uint64
	// DType is the type of activations: see nn.Options. Save does not write it.
	DType dtype.Type
	// Blank is the option Blank of nn.Options.
	Blank bool
}

// Scale returns the factor of the product B A.
func (o Options) Scale() float64 {
	if o.RankStabilized {
		return o.Alpha / math.Sqrt(float64(o.Rank))
	}
	return o.Alpha / float64(o.Rank)
}

// check returns ErrOptions if a number makes no sense.
func (o Options) check() error {
	if o.Rank < 1 || o.Rank > most {
		return fmt.Errorf("%w: rank %d", ErrOptions, o.Rank)
	}
	if !(o.Alpha > 0) || math.IsInf(o.Alpha, 0) {
		return fmt.Errorf("%w: alpha %g", ErrOptions, o.Alpha)
	}
	if !(o.Dropout >= 0 && o.Dropout < 1) {
		return fmt.Errorf("%w: dropout %g", ErrOptions, o.Dropout)
	}
	return nil
}

// An Adapter has the matrices A and B of the layers that it changes.
type Adapter struct {
	Options
	stream *device.Stream
	params *nn.Params
	list   []*Pair
	byName map[string]*Pair
}

// New returns a new Adapter for layers. As in PEFT, the elements of A are uniformly random between -1/sqrt(In) and 1/sqrt(In), and the
// elements of B are 0, so the Adapter does not change any result yet. The error matches ErrOptions or, for a module that no layer has,
// ErrModule.
func New(s *device.Stream, layers []Linear, o Options) (*Adapter, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	chosen, err := o.choose(layers)
	if err != nil {
		return nil, err
	}
	a := &Adapter{Options: o, stream: s, params: nn.NewParams(s, nn.Options{DType: o.DType, Seed: o.Seed, Blank: o.Blank}), byName: map[string]*Pair{}}
	for _, l := range chosen {
		a.add(l, a.params.Uniform(1/math.Sqrt(float64(l.In)), o.Rank, l.In), a.params.Parameter(make([]float32, l.Out*o.Rank), l.Out, o.Rank))
	}
	return a, nil
}

// choose returns the layers that Modules names.
func (o Options) choose(layers []Linear) (list []Linear, err error) {
	if len(o.Modules) == 0 {
		return layers, nil
	}
	found := map[string]bool{}
	for _, l := range layers {
		if slices.Contains(o.Modules, l.module()) {
			found[l.module()] = true
			list = append(list, l)
		}
	}
	for _, m := range o.Modules {
		if !found[m] {
			err = errors.Join(err, fmt.Errorf("%w: %s", ErrModule, m))
		}
	}
	return list, err
}

// add adds the matrices of a layer.
func (a *Adapter) add(l Linear, down, up *nn.Parameter) {
	p := &Pair{layer: l, a: down, b: up, scale: a.Scale(), dropout: a.Dropout}
	a.list, a.byName[l.Name] = append(a.list, p), p
}

// Params returns the parameters, for an optimizer.
func (a *Adapter) Params() *nn.Params { return a.params }

// Layers returns the layers that the adapter changes. For a nil Adapter, there are none.
func (a *Adapter) Layers() (list []Linear) {
	if a == nil {
		return nil
	}
	for _, p := range a.list {
		list = append(list, p.layer)
	}
	return list
}

// Pair returns the matrices of the layer with the given name, or nil if the adapter does not change the layer.
func (a *Adapter) Pair(name string) *Pair {
	if a == nil {
		return nil
	}
	return a.byName[name]
}

// Close frees the memory.
func (a *Adapter) Close() error {
	err := a.params.Close()
	for _, p := range a.list {
		err = errors.Join(err, p.close())
	}
	return err
}

// A Pair is the matrices A and B of a layer.
type Pair struct {
	layer   Linear
	a, b    *nn.Parameter // [rank, In] and [Out, rank]
	scale   float64
	dropout float64
	decomposition
}

// Add returns the results of an adapted layer for the rows of x: y, the results of the layer without the adapter, plus scale B A x for each row x.
// For a nil Pair, Add returns y.
//
// With DoRA, the results are the products of the rows of x with the matrix W + scale B A, whose rows are scaled to the trained norms.
// In derivatives with respect to A and B, the norms of W + scale B A count as constants, as in PEFT.
func (p *Pair) Add(y, x *tensor.Tensor) *tensor.Tensor {
	s := x.Scope()
	if p == nil || s == nil {
		return y
	}
	in := x.Dropout(p.dropout)
	low, up := in.MatMul(p.a.In(s).T()).Scale(p.scale), p.b.In(s).T()
	if !p.Decomposed() {
		return y.AddMatMul(low, up)
	}
	if in == x && !p.base.Bias {
		return y.AddMatMul(low, up).Mul(p.factor(s)).To(y.DType())
	}
	plain := p.base.Product(in)
	return plain.AddMatMul(low, up).Mul(p.factor(s)).Sub(plain).Add(y).To(y.DType())
}
