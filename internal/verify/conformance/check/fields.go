package check

import (
	"math"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Launcher launches a kernel that stores a function of in[i] in out[i] for each i.
type Launcher[In, Out any] func(s *device.Stream, g device.Grid, in device.Slice[In], out device.Slice[Out]) error

// Fields returns a case whose kernel stores f(in[i]) in out[i]. The result of f is a struct, and
// each of its fields is a behaviour.
func Fields[In, Out any](name string, launch Launcher[In, Out], f func(In) Out, in ...In) Case {
	return Struct[Out](name, func(r *Run) {
		out := Make[Out](r, len(in))
		r.Launch(launch(r.Stream, device.Cover(len(in), 32), Upload(r, in...), out))
		for i, got := range Get(r, out) {
			if want := f(in[i]); !same(got, want) {
				r.fields(in[i], reflect.ValueOf(got), reflect.ValueOf(want))
			}
		}
	})
}

// fields compares two structs. Where the case went wrong as a whole, each field did.
func (r *Run) fields(of any, got, want reflect.Value) {
	for i := range want.NumField() {
		if g, w := got.Field(i), want.Field(i); !equal(g, w) {
			r.differs(r.name+"/"+want.Type().Field(i).Name, of, g, w)
		}
	}
}

// Map returns a case whose kernel stores f(in[i]) in out[i] and which is one behaviour.
func Map[In, Out any](name string, launch Launcher[In, Out], f func(In) Out, in ...In) Case {
	return Case{Name: name, Run: func(r *Run) {
		out := Make[Out](r, len(in))
		r.Launch(launch(r.Stream, device.Cover(len(in), 32), Upload(r, in...), out))
		for i, got := range Get(r, out) {
			if want := f(in[i]); !same(got, want) {
				r.differs(name, in[i], reflect.ValueOf(got), reflect.ValueOf(want))
			}
		}
	}}
}

// Near is like Fields, for floats whose last bits depend on the machine.
func Near[In, Out any](name string, launch Launcher[In, Out], f func(In) Out, in ...In) Case {
	return Within(Loose{name, 1e-13}, launch, f, in...)
}

// Loose is the name and the tolerance of a case. The tolerance is relative for values above 1 and absolute for
// others.
type Loose struct {
	Name      string
	Tolerance float64
}

// Within is like Near, with a tolerance.
func Within[In, Out any](l Loose, launch Launcher[In, Out], f func(In) Out, in ...In) Case {
	c := Fields(l.Name, launch, f)
	c.Run = func(r *Run) {
		out := Make[Out](r, len(in))
		r.Launch(launch(r.Stream, device.Cover(len(in), 32), Upload(r, in...), out))
		for i, got := range Get(r, out) {
			g, want := reflect.ValueOf(got), reflect.ValueOf(f(in[i]))
			for j := range want.NumField() {
				x, y := g.Field(j).Float(), want.Field(j).Float()
				if !equal(g.Field(j), want.Field(j)) && !(math.Abs(x-y) <= l.Tolerance*max(1, math.Abs(y))) {
					r.differs(l.Name+"/"+want.Type().Field(j).Name, in[i], g.Field(j), want.Field(j))
				}
			}
		}
	}
	return c
}

// Stored returns a case that runs kernels and compares the struct that they stored; each of its
// fields is a behaviour.
func Stored[Out any](name string, run func(*Run) Out, want Out) Case {
	return Struct[Out](name, func(r *Run) { Compare(r, "the case", run(r), want) })
}

// Struct returns a case that calls Compare for structs; each field of Out is a behaviour.
func Struct[Out any](name string, run func(*Run)) Case {
	c := Case{Name: name, Run: run}
	for field := range reflect.TypeFor[Out]().Fields() {
		c.Fields = append(c.Fields, field.Name)
	}
	return c
}

// Compare compares the fields of a struct that a kernel stored with those of want, each separately.
func Compare[Out any](r *Run, of string, got, want Out) {
	r.fields(of, reflect.ValueOf(got), reflect.ValueOf(want))
}
