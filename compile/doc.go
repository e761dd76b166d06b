// Package compile compiles the kernels in Go packages. It returns either diagnostics or the generated files, which
// belong beside the sources.
//
//	result, err := compile.Build(ctx, compile.Options{Patterns: []string{"./..."}})
//	if err != nil {
//		return err // the go command failed, or the compiler has a bug
//	}
//	if err := result.Diagnostics.Err(); err != nil {
//		return err // all errors in the user's code, sorted
//	}
//	for _, f := range result.Stale() {
//		fmt.Println("would write", f.Name)
//	}
//
// A kernel is a function with a //gpu:kernel directive in its doc comment. The directive
// //gpu:instance lists the types that a generic kernel is compiled for. This directive may be in the
// kernel's package or, if the kernel is exported, in any package that imports the kernel's package:
//
//	//gpu:instance add[float32|int32]
//	//gpu:instance AddPoints = lib.Add[Point]
//
// A kernel may have several bodies, for different GPUs. A launch uses the best body that the GPU
// supports:
//
//	//gpu:variant multiply
//	//gpu:target sm_90a
//	func multiplyHopper(t gpu.Thread, a, b, c []float32) {
//
// The package does not run kernels and does not depend on devices. Each Kernel of a Result embeds a
// driver.Kernel, the form of a kernel that devices launch. Build works even if generated files are
// missing or broken.
//
// If the environment variable GOPHERWARP_DUMP names a kernel, Build writes the kernel's IR to standard
// error before the first pass and after each pass. GOPHERWARP_DUMP=kernel=file writes to that file
// instead.
package compile
