// Package toolkit finds and opens NVIDIA's libraries on this machine: through the system's loader, in CUDA
// toolkits, and in the wheels of Python environments.
//
//	lib, err := toolkit.Open(toolkit.Library{
//		Name: "cuBLAS", Unix: []string{"libcublas.so.13", "libcublas.so.12"}, Wheels: []string{"cublas", "cu13"},
//	})
//	if errors.Is(err, toolkit.ErrNotFound) { ... } // the error lists where the package looked
//	address, err := lib.Symbol("cublasCreate_v2")
//
// It contains no library's functions. Package cudasys opens the driver. Below cmd, toolkit is the only package
// that reads the environment variables for the location of a toolkit or a Python environment (CUDA_HOME,
// CUDA_PATH, VIRTUAL_ENV, CONDA_PREFIX, PATH); the loader itself reads LD_LIBRARY_PATH.
package toolkit
