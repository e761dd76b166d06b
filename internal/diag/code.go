package diag

import "fmt"

// Code identifies a kind of error. The number of a removed code is never reused, so that
// search results stay valid.
type Code uint16

// Errors of Go itself and of directives. Errors of the language that kernels are written
// in begin at 100.
const (
	GoError            Code = 1
	DirectiveUnknown   Code = 10
	DirectiveStray     Code = 11
	DirectiveTwice     Code = 12
	DirectiveBlock     Code = 13
	DirectiveArgument  Code = 14
	KernelMethod       Code = 21
	KernelThread       Code = 22
	KernelResults      Code = 23
	KernelExported     Code = 24
	KernelGeneric      Code = 25
	KernelTestFile     Code = 26
	KernelParameter    Code = 27
	KernelName         Code = 28
	KernelBody         Code = 29
	LauncherTaken      Code = 30
	KernelSize         Code = 31
	KernelShared       Code = 32
	KernelInstance     Code = 33
	KernelCombinations Code = 34
	KernelTarget       Code = 35
	KernelVariant      Code = 36
	KernelAccumulator  Code = 37
	KernelConstraint   Code = 38
)

// Errors of the language that kernels are written in.
const (
	LangMap       Code = 100
	LangChan      Code = 101
	LangGo        Code = 102
	LangDefer     Code = 103
	LangInterface Code = 104
	LangFunc      Code = 105
	LangRecursion Code = 106
	LangAllocate  Code = 107
	LangString    Code = 108
	LangComplex   Code = 109
	LangUnsafe    Code = 110
	LangBuiltin   Code = 112
	LangGlobal    Code = 113
	LangNoSource  Code = 114
	LangPackage   Code = 115
	LangPrint     Code = 116
	LangPanic     Code = 117
	LangShared    Code = 118
	LangMemory    Code = 119
	LangCopy      Code = 120
)

// String returns the code as "GW0021".
func (c Code) String() string { return fmt.Sprintf("GW%04d", uint16(c)) }

// Summary returns a one-line description of the code, or "" if the catalogue does not contain it.
func (c Code) Summary() string {
	for _, r := range catalogue {
		if r.code == c {
			return r.summary
		}
	}
	return ""
}

// All returns the codes of the catalogue in ascending order.
func All() []Code {
	codes := make([]Code, len(catalogue))
	for i, r := range catalogue {
		codes[i] = r.code
	}
	return codes
}
