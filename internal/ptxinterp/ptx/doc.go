// Package ptx reads PTX text, as section 4 and 11 of NVIDIA's PTX ISA manual define it, into
// plain values: a Module of variables and functions whose operands are resolved to registers,
// variables and labels.
//
// The package handles syntax, not instructions: the modifiers and operands of an opcode are checked
// by the package that executes the module. Debug sections are skipped; the positions that .loc
// directives give are kept with each instruction.
//
//	m, err := ptx.Parse(text)
//	if err != nil {
//		return err // *ptx.Error: "ptx: line 12: undeclared name %r9"
//	}
//	f := m.Func("scale")
//	for _, in := range f.Code {
//		fmt.Println(in.Line, in.Op, in.Mods)
//	}
package ptx
