// Package kerneltest runs the tests and benchmarks of packages of kernels on all executions of a machine.
//
//	for name, open := range kerneltest.Executions() {
//		t.Run(name, func(t *testing.T) {
//			s := kerneltest.Stream(t, open)
//			x := kerneltest.Upload(t, s, []float32{1, 2, 3})
//			...
//		})
//	}
package kerneltest
