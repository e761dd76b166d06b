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
	{DirectiveBlock, "//gpu:block takes one to three positive sizes, at most 1024 threads in all"},
	{DirectiveArgument, "a directive has an argument that it does not know"},

	{KernelMethod, "a kernel is a function, not a method"},
	{KernelThread, "a kernel's first parameter is a gpu.Thread"},
	{KernelResults, "a kernel has no results; it writes to slices"},
	{KernelExported, "a kernel's name begins with a lower-case letter: its launcher takes the exported name"},
	{KernelGeneric, "a kernel has no type parameters"},
	{KernelTestFile, "a kernel cannot stand in a test file"},
	{KernelParameter, "a kernel's parameters are numbers, booleans, slices of them, and structs and arrays without pointers"},
	{KernelName, "a kernel's name must have an exported form"},
	{KernelBody, "a kernel has a body"},
	{LauncherTaken, "the name of a kernel's launcher is taken"},
}
