// Package geometry has declarations that kernels of package values import: types with
// methods, generic functions, constants and tables. It has no kernels.
//
//	d := geometry.Vector{X: 1, Y: 2, Z: 3}.Dot(v)
package geometry
