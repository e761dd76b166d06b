package vet

import (
	"go/ast"
	"go/types"
	"reflect"
)

// copied returns copies of syntax trees, which other analyzers use at the same time and frontend.Reorder changes, and of what is known about
// their nodes. The objects and types are the same.
func copied(files []*ast.File, info *types.Info) ([]*ast.File, *types.Info) {
	c := copier{}
	list := make([]*ast.File, len(files))
	for i, f := range files {
		list[i] = c.copy(reflect.ValueOf(f)).Interface().(*ast.File)
	}
	to := &types.Info{
		Types: keys(c, info.Types), Instances: keys(c, info.Instances), Defs: keys(c, info.Defs), Uses: keys(c, info.Uses), Implicits: keys(c, info.Implicits),
		Selections: keys(c, info.Selections), Scopes: keys(c, info.Scopes), FileVersions: keys(c, info.FileVersions),
	}
	for _, x := range info.InitOrder {
		to.InitOrder = append(to.InitOrder, &types.Initializer{Lhs: x.Lhs, Rhs: of(c, x.Rhs)})
	}
	return list, to
}

// copier has the copies of nodes.
type copier map[any]reflect.Value

// of returns the copy of a node.
func of[N any](c copier, n N) N {
	if x, ok := c[n]; ok {
		return x.Interface().(N)
	}
	return n
}

// keys returns a map whose keys are copies.
func keys[N comparable, V any](c copier, from map[N]V) map[N]V {
	to := make(map[N]V, len(from))
	for n, v := range from {
		to[of(c, n)] = v
	}
	return to
}

// copy returns a deep copy of a part of a syntax tree.
func (c copier) copy(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		return c.pointer(v)
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return c.copy(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(c.copy(v.Index(i)))
		}
		return list
	case reflect.Struct:
		x := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			x.Field(i).Set(c.copy(v.Field(i)))
		}
		return x
	}
	return v
}

func (c copier) pointer(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	if x, ok := c[v.Interface()]; ok {
		return x
	}
	x := reflect.New(v.Type().Elem())
	c[v.Interface()] = x // before its parts, which may refer back to it
	x.Elem().Set(c.copy(v.Elem()))
	return x
}
