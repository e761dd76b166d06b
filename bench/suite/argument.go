package suite

import (
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

// argument is what a launch hands to a kernel.
type argument interface {
	// value is what our generated launcher takes.
	value() reflect.Value
	// put adds the argument to a twin's plan.
	put(p *driver.Plan)
	// param is the argument's place in a parameter block, but for the offset, and its alignment.
	param() (p driver.Param, align int)
}

// array is data on the device and its image on the host. It is an argument.
type array[T any] struct {
	host []T
	dev  *device.Buffer[T]
}

func (a *array[T]) value() reflect.Value { return reflect.ValueOf(a.dev.All()) }

func (a *array[T]) put(p *driver.Plan) { a.dev.All().Pass(p) }

func (a *array[T]) param() (driver.Param, int) {
	elem := int(reflect.TypeFor[T]().Size())
	return driver.Param{Size: 24, Elem: elem}, 8
}

// scalarArgument is a number or a struct that is passed by value.
type scalarArgument[T any] struct{ v T }

func byValue[T any](v T) argument { return scalarArgument[T]{v} }

func (a scalarArgument[T]) value() reflect.Value { return reflect.ValueOf(a.v) }

func (a scalarArgument[T]) put(p *driver.Plan) { driver.Pass(p, a.v) }

func (a scalarArgument[T]) param() (driver.Param, int) {
	t := reflect.TypeFor[T]()
	return driver.Param{Size: int(t.Size())}, t.Align()
}

// layout returns the parameter block of a kernel that takes args: the Go struct that has
// them as fields, and behind it the hidden parameters.
func layout(args []argument) (params []driver.Param, bytes int) {
	for _, a := range args {
		p, align := a.param()
		bytes = (bytes + align - 1) / align * align
		p.Offset = bytes
		bytes += p.Size
		params = append(params, p)
	}
	return params, (bytes+7)/8*8 + driver.HiddenBytes
}

// call launches one of our kernels by its generated launcher.
func (l launch) call(s *device.Stream) error {
	f := reflect.ValueOf(l.kernel)
	in := []reflect.Value{reflect.ValueOf(s), reflect.ValueOf(l.grid)}
	if f.Type().In(1) == reflect.TypeFor[device.Blocks]() {
		in[1] = reflect.ValueOf(l.grid.Blocks)
	}
	for _, a := range l.args {
		in = append(in, a.value())
	}
	err, _ := f.Call(in)[0].Interface().(error)
	return err
}

// viewed is an array that a kernel takes as a slice of other elements, arrays of T.
type viewed[U, T any] struct{ *array[T] }

func (v viewed[U, T]) value() reflect.Value { return reflect.ValueOf(device.View[U](v.dev.All())) }

// as returns the array with its elements taken together as U.
func as[U, T any](a *array[T]) argument { return viewed[U, T]{a} }
