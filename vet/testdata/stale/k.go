// Package stale has kernels that changed after zkernels_ptx.go was generated from them.
package stale // want `^before in ../barrier/k.go has changed since` `Sum.of has changed` `removed has changed since code was generated from it: run go generate`

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func fresh(t gpu.Thread, x []float32) { x[t.GlobalX()] = 1 }

//gpu:kernel
func edited(t gpu.Thread, x []float32) { x[t.GlobalX()] = 2 } // want `edited has changed`
