package check

import (
	"fmt"
	"math"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Launcher launches a kernel that stores in each element of out a function of the same element of in.
type Launcher[In, Out any] func(s *device.Stream, g device.Grid, in device.Slice[In], out device.Slice[Out]) error

// Fields is a case whose kernel stores f(in[i]) in out[i]; what f returns is a struct, and each
// of its fields is a behaviour.
func Fields[In, Out any](name string, launch Launcher[In, Out], f func(In) Out, in ...In) Case {
	return Struct[Out](name, func(r *Run) {
		out := Make[Out](r, len(in))
		r.Launch(launch(r.Stream, device.Cover(len(in), 32), Upload(r, in...), out))
		for i, got := range Get(r, out) {
			if want := f(in[i]); !same(got, want) {
				Compare(r, fmt.Sprintf("%+v", in[i]), got, want)
			}
		}
	})
}

// fields compares two structs. Where the case went wrong as a whole, each field did.
func (r *Run) fields(of string, got, want reflect.Value) {
	for i := range want.NumField() {
		if g, w := got.Field(i), want.Field(i); !equal(g, w) {
			r.fail(r.name+"/"+want.Type().Field(i).Name, fmt.Errorf("of %s is %v, want %v", of, g, w))
		}
	}
}

// Map is a case whose kernel stores f(in[i]) in out[i], one behaviour in all.
func Map[In, Out any](name string, launch Launcher[In, Out], f func(In) Out, in ...In) Case {
	return Case{Name: name, Run: func(r *Run) {
		out, want := Make[Out](r, len(in)), make([]Out, len(in))
		for i, x := range in {
			want[i] = f(x)
		}
		r.Launch(launch(r.Stream, device.Cover(len(in), 32), Upload(r, in...), out))
		Want(r, out, want...)
	}}
}

// Near is Fields for floats that differ in their last bits from machine to machine.
func Near[In, Out any](name string, launch Launcher[In, Out], f func(In) Out, in ...In) Case {
	return Within(Loose{name, 1e-13}, launch, f, in...)
}

// Loose is the name of a case, and how far a value may be from what it should be: relative where it is above 1.
type Loose struct {
	Name      string
	Tolerance float64
}

// Within is Near with a tolerance.
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
					r.fail(l.Name+"/"+want.Type().Field(j).Name, fmt.Errorf("of %v is %v, want %v", in[i], x, y))
				}
			}
		}
	}
	return c
}

// Stored is a case that runs kernels and returns what they stored; each field of it is a behaviour.
func Stored[Out any](name string, run func(*Run) Out, want Out) Case {
	return Struct[Out](name, func(r *Run) { Compare(r, "the case", run(r), want) })
}

// Struct is a case that compares structs by Compare; each field of Out is a behaviour.
func Struct[Out any](name string, run func(*Run)) Case {
	c := Case{Name: name, Run: run}
	for field := range reflect.TypeFor[Out]().Fields() {
		c.Fields = append(c.Fields, field.Name)
	}
	return c
}

// Compare compares what a kernel stored for something, each field on its own.
func Compare[Out any](r *Run, of string, got, want Out) {
	r.fields(of, reflect.ValueOf(got), reflect.ValueOf(want))
}
