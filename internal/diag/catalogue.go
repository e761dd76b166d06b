package diag

// catalogue has a row for each code, in ascending order. A test compiles an example of each code:
// compile/testdata/diag/GWnnnn.txtar, or internal/frontend/testdata/refuse/GWnnnn.go.
var catalogue = [...]struct {
	code    Code
	summary string
}{
	{GoError, "the package does not parse or does not type-check"},

	{DirectiveUnknown, "the //gpu: directive is unknown, or has a space after the slashes"},
	{DirectiveStray, "a directive is in a place where it has no meaning; directives belong in the doc comment of a kernel, //gpu:unroll on the line before a loop"},
	{DirectiveTwice, "a kernel has the same directive twice"},
	{DirectiveBlock, "//gpu:block takes one to three positive sizes, at most 1024 threads in total; //gpu:cluster takes one to three positive sizes, at most 16 blocks in total; //gpu:resident takes a number up to 32"},
	{DirectiveArgument, "a directive has an invalid argument"},

	{KernelMethod, "a kernel must be a function, not a method"},
	{KernelThread, "the first parameter of a kernel must be a gpu.Thread"},
	{KernelResults, "a kernel cannot have results; it writes to slices"},
	{KernelExported, "the name of a kernel must begin with a lower-case letter; its launcher has the exported name"},
	{KernelGeneric, "a kernel with type parameters needs instances, which name the types to compile it for"},
	{KernelTestFile, "a kernel cannot be in a test file"},
	{KernelParameter, "the parameters of a kernel must be numbers, booleans, slices of them, or structs and arrays without pointers"},
	{KernelName, "the name of a kernel must be in ASCII, have an exported form, and differ from the names of other kernels in more than case"},
	{KernelBody, "a kernel must have a body"},
	{LauncherTaken, "the name of a kernel's launcher is already declared"},
	{KernelSize, "a kernel's parameters are too large"},
	{KernelShared, "a kernel declares too much shared memory"},
	{KernelInstance, "//gpu:instance must name a generic kernel and all of its type arguments"},
	{KernelCombinations, "the instances of a launcher must be all combinations of their type arguments"},
	{KernelTarget, "//gpu:target must name an architecture of PTX that is not lower than the code needs"},
	{KernelVariant, "a variant must be a function with the parameters of a kernel of its package, for other GPUs than the other bodies"},
	{KernelAccumulator, "an accumulator of gpu.MultiplyAsync is used before gpu.AwaitProducts, or does not stay in registers"},
	{KernelConstraint, "all files of a package that contain kernels must have the same build constraint"},

	{LangMap, "a kernel cannot use maps"},
	{LangChan, "a kernel cannot use channels"},
	{LangGo, "a kernel cannot start goroutines"},
	{LangDefer, "a kernel cannot defer calls in loops or recover from panics"},
	{LangInterface, "a kernel cannot use interface values or call methods through them"},
	{LangFunc, "a function value in a kernel must be known at compile time"},
	{LangRecursion, "the functions of a kernel cannot be recursive"},
	{LangAllocate, "a kernel cannot allocate memory whose size or lifetime is not known at compile time"},
	{LangString, "a kernel cannot use strings other than constants and their substrings"},
	{LangComplex, "a kernel cannot use complex numbers"},
	{LangUnsafe, "a kernel cannot use unsafe pointers"},
	{LangBuiltin, "a kernel cannot use this built-in function"},
	{LangGlobal, "a kernel cannot use package-level variables other than tables of constants that are never written"},
	{LangNoSource, "a kernel cannot call a function without Go source"},
	{LangPackage, "a kernel cannot call this function of the standard library"},
	{LangPrint, "the format of gpu.Printf does not match its arguments"},
	{LangPanic, "the argument of panic in a kernel must be a constant string, a number or a boolean"},
	{LangShared, "gpu.Shared and gpu.DynamicShared must be called with a type without pointers"},
	{LangMemory, "an atomic operation or a fence takes at most one order and one scope, which must be constants and valid for the operation; an operation of a warp takes at most one set of lanes"},
	{LangCopy, "gpu.CopyAsync copies 4, 8 or 16 bytes; the argument of WaitCopies must be a constant"},
}
