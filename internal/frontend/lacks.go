package frontend

import "github.com/gopherwarp/gopherwarp/internal/diag"

// What kernels cannot have, and what to write instead.
var (
	lackMap       = lack{diag.LangMap, "a map", "use a slice or an array indexed by a number"}
	lackChan      = lack{diag.LangChan, "a channel", "write to a slice; threads of a block synchronize with t.Sync()"}
	lackGo        = lack{diag.LangGo, "a go statement", "launch the kernel with more threads"}
	lackSelect    = lack{diag.LangChan, "a select statement", "write to a slice; threads of a block synchronize with t.Sync()"}
	lackRecover   = lack{diag.LangDefer, "recover", "test the condition that leads to the panic"}
	lackInterface = lack{diag.LangInterface, "an interface value", "use a concrete type, or a type parameter"}
	lackFunc      = lack{diag.LangFunc, "a function value", "call the function by its name, or use a type parameter with a method"}
	lackAppend    = lack{diag.LangAllocate, "append", "make the slice large enough on the host and assign to its elements"}
	lackMake      = lack{diag.LangAllocate, "make with a size that is not constant", "use an array, or a slice parameter that the host allocates"}
	lackString    = lack{diag.LangString, "a string that is not part of a constant", "use numbers; constant strings can be indexed, sliced, ranged over and compared"}
	lackComplex   = lack{diag.LangComplex, "a complex number", "use a struct of two floats"}
	lackUnsafe    = lack{diag.LangUnsafe, "an unsafe pointer", "use typed pointers and slices; math.Float32bits and similar functions convert bits"}
)
