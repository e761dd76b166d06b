package diag

// catalogue has a row for each code, in ascending order. Each has an example that a test
// compiles: testdata/GWnnnn.txtar of package compile.
var catalogue = [...]struct {
	code    Code
	summary string
}{
	{GoError, "the package is no valid Go: it does not parse or its types are wrong"},

	{DirectiveUnknown, "there is no such //gpu: directive"},
	{DirectiveStray, "a directive stands where it means nothing; it belongs into the doc comment of a kernel"},
	{DirectiveTwice, "a kernel has the same directive twice"},
	{DirectiveBlock, "//gpu:block takes one to three positive sizes, at most 1024 threads in all; //gpu:cluster likewise, at most 16 blocks; //gpu:resident takes a number up to 32"},
	{DirectiveArgument, "a directive has an argument that it does not know"},

	{KernelMethod, "a kernel is a function, not a method"},
	{KernelThread, "a kernel's first parameter is a gpu.Thread"},
	{KernelResults, "a kernel has no results; it writes to slices"},
	{KernelExported, "a kernel's name begins with a lower-case letter: its launcher takes the exported name"},
	{KernelGeneric, "a kernel with type parameters has instances: the types to compile it for"},
	{KernelTestFile, "a kernel cannot stand in a test file"},
	{KernelParameter, "a kernel's parameters are numbers, booleans, slices of them, and structs and arrays without pointers"},
	{KernelName, "a kernel's name is in ASCII, has an exported form, and differs from those of others in more than case"},
	{KernelBody, "a kernel has a body"},
	{LauncherTaken, "the name of a kernel's launcher is taken"},
	{KernelSize, "a kernel's parameters are too large"},
	{KernelShared, "a kernel declares too much shared memory"},
	{KernelInstance, "//gpu:instance names a generic kernel and gives it all its type arguments"},
	{KernelCombinations, "the instances behind one launcher are all the combinations of their type arguments"},
	{KernelTarget, "//gpu:target names an architecture that PTX knows, and not less than the code needs"},
	{KernelVariant, "a variant is a function with the parameters of a kernel of its package, for other GPUs"},
	{KernelAccumulator, "an accumulator of gpu.MultiplyAsync is used before gpu.AwaitProducts, or does not stay in registers"},
	{KernelConstraint, "all files of a package that have kernels have the same build constraint"},

	{LangMap, "a kernel has no maps"},
	{LangChan, "a kernel has no channels"},
	{LangGo, "a kernel starts no goroutines"},
	{LangDefer, "a kernel does not defer calls in loops, nor recover from panics"},
	{LangInterface, "a kernel has no interface values, and calls no methods through them"},
	{LangFunc, "a function value in a kernel is known when the kernel is compiled"},
	{LangRecursion, "functions of a kernel do not call themselves, nor each other in a circle"},
	{LangAllocate, "a kernel makes no memory whose size or life is not known when it is compiled"},
	{LangString, "a kernel has no strings but constants and parts of them"},
	{LangComplex, "a kernel has no complex numbers"},
	{LangUnsafe, "a kernel has no unsafe pointers"},
	{LangBuiltin, "a kernel does not know this built-in function"},
	{LangGlobal, "a kernel uses no package-level variables but tables of numbers that nothing writes"},
	{LangNoSource, "a kernel calls only functions that are written in Go"},
	{LangPackage, "a kernel cannot call this function of the standard library"},
	{LangPrint, "the format and the arguments of gpu.Printf do not fit each other"},
	{LangPanic, "a kernel panics with a constant string, a number or a boolean"},
	{LangShared, "gpu.Shared is called once for each variable, outside branches and loops, for a type without pointers"},
	{LangMemory, "an atomic operation or a fence takes at most one order and one scope, as constants, and an order that makes sense for it"},
	{LangCopy, "gpu.CopyAsync copies 4, 8 or 16 bytes, and WaitCopies takes a constant"},
}
