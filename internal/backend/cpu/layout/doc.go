// Package layout decides how a kernel becomes code for a CPU, for the scalar Go and the vector code of package cpu: it gives
// the control flow a fixed shape, divides it at barriers into regions, and decides for each value how often it is computed
// and where it is kept.
//
//	layout.Prepare(f)
//	regions, err := layout.Divide(f)
//	p := layout.NewPlacement(regions, f)
//	if p.Level[v.ID] < layout.PerThread { ... } // v is computed once for a block or a row of threads
//
// It writes no code.
package layout
