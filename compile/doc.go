// Package compile takes Go packages with kernels in them and returns compiled kernels,
// as files that a build puts beside the sources, or diagnostics.
//
//	result, err := compile.Build(ctx, compile.Options{Patterns: []string{"./..."}})
//	if err != nil {
//		return err // the go command failed, or the compiler has a bug
//	}
//	if err := result.Diagnostics.Err(); err != nil {
//		return err // what the user can mend, all of it, sorted
//	}
//	for _, f := range result.Stale() {
//		fmt.Println("would write", f.Name)
//	}
//
// A kernel is a function with a //gpu:kernel directive in its doc comment. A generic one is compiled
// for the types that directives list, in its own package or, where it is exported, in others:
//
//	//gpu:instance add[float32|int32]
//	//gpu:instance AddPoints = lib.Add[Point]
//
// A kernel may have several bodies, for different GPUs. The best that fits is chosen when it is launched:
//
//	//gpu:variant multiply
//	//gpu:target sm_90a
//	func multiplyHopper(t gpu.Thread, a, b, c []float32) {
//
// It runs nothing and knows no device: its results are values of package device/driver. A missing or
// broken generated file does not matter: the launchers are declared from syntax while
// packages are checked.
//
// Where the environment variable GOPHERWARP_DUMP names a kernel, the function is written to
// standard error before the first pass and after each; with kernel=file, to that file.
package compile
