package jinja

import (
	"math"
	"slices"
)

// Value is a value of a template: nil (None), bool, int64, float64, string, *List, *Dict, Undefined, a Func, or a value that only templates
// make, such as a namespace.
type Value = any

// Undefined is the value of a variable or an attribute that does not exist.
type Undefined struct{ Name string }

// List is a list or a tuple.
type List struct {
	items []Value
	tuple bool
}

// NewList returns a list.
func NewList(items ...Value) *List { return &List{items: items} }

// Dict is a dictionary. It keeps the order in which its keys were added.
type Dict struct {
	keys   []Value
	values map[Value]Value
}

// NewDict returns an empty dictionary.
func NewDict() *Dict { return &Dict{values: map[Value]Value{}} }

// Set adds a key, or replaces its value.
func (d *Dict) Set(key string, v Value) { d.put(key, v) }

func (d *Dict) put(key, v Value) {
	k := hashKey(key)
	if _, ok := d.values[k]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[k] = v
}

func (d *Dict) get(key Value) (Value, bool) {
	v, ok := d.values[hashKey(key)]
	return v, ok
}

func (d *Dict) remove(key Value) {
	k := hashKey(key)
	delete(d.values, k)
	d.keys = slices.DeleteFunc(slices.Clone(d.keys), func(key Value) bool { return hashKey(key) == k })
}

// hashKey returns the key of the map for a key: equal numbers are one key.
func hashKey(key Value) Value {
	switch k := key.(type) {
	case bool:
		return toInt(k)
	case float64:
		if k == math.Trunc(k) && math.Abs(k) < 1<<53 {
			return int64(k)
		}
	}
	return key
}

// isKey reports whether a value can be a key.
func isKey(v Value) bool {
	switch v.(type) {
	case nil, bool, int64, float64, string:
		return true
	}
	return false
}

func toInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Func is a function of the program that templates can call.
type Func func(args []Value, named map[string]Value) (Value, error)

// arguments are the arguments of a call, a filter or a test.
type arguments struct {
	list  []Value
	named map[string]Value
}

// get returns the argument with an index and a name, or a default.
func (a arguments) get(i int, name string, otherwise Value) Value {
	if i < len(a.list) {
		return a.list[i]
	}
	if v, ok := a.named[name]; ok {
		return v
	}
	return otherwise
}

// callable is a function that templates can call.
type callable interface {
	call(r *run, a arguments) Value
}

func (f Func) call(r *run, a arguments) Value {
	v, err := f(a.list, a.named)
	if err != nil {
		panic(failure{err})
	}
	return v
}

// builtin is a function or a bound method of this package.
type builtin func(r *run, a arguments) Value

func (f builtin) call(r *run, a arguments) Value { return f(r, a) }

// namespace is an object whose attributes templates can set.
type namespace struct{ *Dict }

// kindOf returns what Python calls the type of a value.
func kindOf(v Value) string {
	switch v := v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case int64:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case *List:
		if v.tuple {
			return "tuple"
		}
		return "list"
	case *Dict:
		return "dict"
	case Undefined:
		return "Undefined"
	case *namespace:
		return "Namespace"
	}
	return "function"
}

// truthy returns what Python's function bool does.
func truthy(v Value) bool {
	switch v := v.(type) {
	case nil, Undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case *List:
		return len(v.items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}
