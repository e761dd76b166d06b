package chat

import (
	"fmt"

	"github.com/ardanlabs/jinja"
)

// The names under which templates find the functions of work. prepare writes their calls.
const (
	stepped = "count_step"
	entered = "enter_macro"
	left    = "leave_macro"
	limited = "limit_value"
)

// The limits of a template.
const (
	mostSteps    = 1 << 24 // of all loops and macros
	mostBytes    = 1 << 26 // that tags print, those of macros also where their result is printed, and of a variable
	mostElements = 1 << 22 // of a list
	mostDepth    = 1000    // of macros that call macros
)

// work limits what a template may do, because templates come with models from other people. The engine has no limits.
type work struct {
	interrupt             func() error // may be nil
	steps, written, depth int
}

// define adds the functions of work to the variables of a template.
func (w *work) define(vars map[string]jinja.Value) {
	for name, f := range map[string]func([]jinja.Value) (jinja.Value, error){
		stepped: w.step, entered: w.enter, left: w.leave, limited: limit, printed: w.print, "range": w.list,
	} {
		vars[name] = jinja.NewCallable(name, func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) { return f(args) })
	}
}

// spend counts steps.
func (w *work) spend(n int) error {
	const often = 256 // steps from one look at the interrupt to the next
	before := w.steps
	if w.steps += n; w.steps > mostSteps {
		return fmt.Errorf("the template takes more than %d steps", mostSteps)
	}
	if w.interrupt != nil && before/often != w.steps/often {
		return w.interrupt()
	}
	return nil
}

// step begins the body of a loop.
func (w *work) step([]jinja.Value) (jinja.Value, error) { return jinja.NewString(""), w.spend(1) }

// enter begins a macro.
func (w *work) enter([]jinja.Value) (jinja.Value, error) {
	if w.depth++; w.depth > mostDepth {
		return jinja.Undefined(), fmt.Errorf("macros of the template call each other more than %d deep", mostDepth)
	}
	return jinja.NewString(""), w.spend(1)
}

// leave ends a macro.
func (w *work) leave([]jinja.Value) (jinja.Value, error) {
	w.depth--
	return jinja.NewString(""), nil
}

// print returns the text of a value.
func (w *work) print(args []jinja.Value) (jinja.Value, error) {
	v, err := display(args)
	if err == nil && v.IsString() {
		if w.written += len(v.AsString()); w.written > mostBytes {
			err = fmt.Errorf("the template prints more than %d bytes", mostBytes)
		}
	}
	return v, err
}

// limit returns the value of a variable, unless the value is large.
func limit(args []jinja.Value) (jinja.Value, error) {
	v := jinja.NewList(args) // a tuple
	if len(args) == 1 {
		v = args[0]
	}
	if v.IsString() && len(v.AsString()) > mostBytes || v.IsList() && v.AsList().Len() > mostElements {
		return v, fmt.Errorf("a variable of the template has more than %d bytes or %d elements", mostBytes, mostElements)
	}
	return v, nil
}

// list is the function range.
func (w *work) list(args []jinja.Value) (jinja.Value, error) {
	var numbers [3]int64
	for i, v := range args {
		if i == len(numbers) || !v.IsInt() {
			return v, fmt.Errorf("range needs one to three integers")
		}
		numbers[i] = v.AsInt()
	}
	begin, end, by := numbers[0], numbers[1], numbers[2]
	switch len(args) {
	case 0:
		return jinja.Undefined(), fmt.Errorf("range needs one to three integers")
	case 1:
		begin, end, by = 0, begin, 1
	case 2:
		by = 1
	}
	if by == 0 {
		return jinja.Undefined(), fmt.Errorf("the step of range is 0")
	}
	var n uint64 // of unsigned numbers, the differences do not overflow
	switch {
	case by > 0 && begin < end:
		n = (uint64(end)-uint64(begin)-1)/uint64(by) + 1
	case by < 0 && begin > end:
		n = (uint64(begin)-uint64(end)-1)/-uint64(by) + 1
	}
	if n > mostElements {
		return jinja.Undefined(), fmt.Errorf("range has more than %d elements", mostElements)
	}
	if err := w.spend(int(n)); err != nil {
		return jinja.Undefined(), err
	}
	items := make([]jinja.Value, n)
	for i := range items {
		items[i] = jinja.NewInt(begin + int64(i)*by)
	}
	return jinja.NewList(items), nil
}
