// Package toolkit finds and opens NVIDIA's libraries on this machine: where the system's loader
// looks, in a CUDA toolkit, in the wheels of a Python environment.
//
//	lib, err := toolkit.Open(toolkit.Library{
//		Name: "cuBLAS", Unix: []string{"libcublas.so.13", "libcublas.so.12"}, Wheels: []string{"cublas", "cu13"},
//	})
//	if errors.Is(err, toolkit.ErrNotFound) { ... } // the error says where it looked
//	address, err := lib.Symbol("cublasCreate_v2")
//
// It knows no library's functions, and it is not for the driver, which is package cudasys's. It is
// the one package below cmd that reads the variables of the environment that say where a
// toolkit or a Python environment is (CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, CONDA_PREFIX, PATH);
// the loader itself reads LD_LIBRARY_PATH.
package toolkit
