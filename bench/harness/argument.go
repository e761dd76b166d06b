package harness

import (
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Argument is an argument of a kernel and of its twin: an array, a view of one, or a value.
type Argument interface {
	// value returns what the generated launcher takes.
	value() reflect.Value
	// put adds the argument to a plan.
	put(p *driver.Plan)
	// param returns the parameter without its offset, and the parameter's alignment.
	param() (p driver.Param, align int)
}

// Array is an array on the device, and a copy of it on the host. It is an Argument.
type Array[T any] struct {
	Host []T
	dev  *device.Buffer[T]
}

// All returns the array on the device. After an error in the case's preparation it is empty.
func (a *Array[T]) All() device.Slice[T] {
	if a.dev == nil {
		return device.Slice[T]{}
	}
	return a.dev.All()
}

func (a *Array[T]) value() reflect.Value { return reflect.ValueOf(a.All()) }

func (a *Array[T]) put(p *driver.Plan) { a.All().Pass(p) }

func (a *Array[T]) param() (driver.Param, int) {
	return driver.Param{Size: 24, Elem: SizeOf[T]()}, 8
}

// scalarArgument is a number or a struct that is passed by value.
type scalarArgument[T any] struct{ v T }

// ByValue returns the argument that passes a number or a struct by value.
func ByValue[T any](v T) Argument { return scalarArgument[T]{v} }

func (a scalarArgument[T]) value() reflect.Value { return reflect.ValueOf(a.v) }

func (a scalarArgument[T]) put(p *driver.Plan) { driver.Pass(p, a.v) }

func (a scalarArgument[T]) param() (driver.Param, int) {
	t := reflect.TypeFor[T]()
	return driver.Param{Size: int(t.Size())}, t.Align()
}

// viewed is an array that a kernel takes as a slice of other elements, arrays of T.
type viewed[U, T any] struct{ *Array[T] }

func (v viewed[U, T]) value() reflect.Value { return reflect.ValueOf(device.View[U](v.All())) }

// As returns an argument that passes the array with consecutive elements grouped as U.
func As[U, T any](a *Array[T]) Argument { return viewed[U, T]{a} }

// Layout returns the layout of the parameter block of a kernel that takes args. It is the layout of
// a Go struct with a field for each argument, followed by the hidden parameters of package driver.
func Layout(args []Argument) (params []driver.Param, bytes int) {
	for _, a := range args {
		p, align := a.param()
		bytes = (bytes + align - 1) / align * align
		p.Offset = bytes
		bytes += p.Size
		params = append(params, p)
	}
	return params, (bytes+7)/8*8 + driver.HiddenBytes
}
