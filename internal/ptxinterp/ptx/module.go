package ptx

import "fmt"

// Module is one PTX text.
type Module struct {
	Version     [2]int   // of the ISA: major, minor
	Target      []string // "sm_70" and what follows it
	AddressSize int      // in bits
	Files       map[int]string
	Vars        []*Var
	Funcs       []*Func
}

// Func returns the function or entry with the given name, or nil.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Var is a variable, a parameter included.
type Var struct {
	Name   string
	Line   int
	Space  Space
	Type   Type
	Vector int // elements of one .v2 or .v4; 1 otherwise
	Count  int // of elements; 0 for an array that is declared without a size
	Align  int // bytes
	Extern bool
	Init   []Init
	Reg    int // the register of a parameter in the register space; -1 otherwise
}

// Size returns the variable's size in bytes.
func (v *Var) Size() int { return v.Type.Size() * v.Vector * v.Count }

// Init is one initialised element: Size bytes at Offset, either Bits or the address of
// Symbol plus Bits.
type Init struct {
	Offset, Size int
	Bits         uint64
	Symbol       string
	Line         int
}

// Func is a function or, if Entry is set, a kernel.
type Func struct {
	Name            string
	Line            int
	Entry           bool
	Declared        bool // without a body
	Returns, Params []*Var
	Regs            []Reg
	Vars            []*Var // that it declares: shared, local, param, global, const
	Code            []Instr
	Tables          []Table
	MaxThreads      [3]int // .maxntid, or zero
	ReqThreads      [3]int // .reqntid, or zero
}

// Reg is a register.
type Reg struct {
	Name string
	Type Type
}

// Table is the list of targets of a brx.idx: indices in Func.Code.
type Table struct {
	Name    string
	Line    int
	Targets []int
}

// Loc is a position in a source file, from a .loc directive. File 0 means that there is none.
type Loc struct{ File, Line, Col int }

// Guard is the predicate that an instruction runs under.
type Guard struct {
	Reg    int // -1 if the instruction always executes
	Negate bool
}

// Instr is one instruction. Op is its name up to the first dot, Mods are the parts after it, between dots.
type Instr struct {
	Name  string
	Line  int
	Loc   Loc
	Guard Guard
	Op    string
	Mods  []string
	Args  []Operand
}

// String returns the instruction's name with its modifiers.
func (in *Instr) String() string { return in.Name }

// OperandKind is the kind of an Operand. It determines which fields of the Operand are valid.
type OperandKind uint8

// The kinds of operand.
const (
	RegOperand     OperandKind = iota // Reg; Negate for !p
	SpecialOperand                    // Name, with the leading %
	IntOperand                        // Bits
	F32Operand                        // Bits of a 0f literal
	F64Operand                        // Bits of a 0d literal or of a decimal one
	VarOperand                        // address of Var, plus Bits
	LabelOperand                      // Target, an index in Func.Code
	TableOperand                      // Target, an index in Func.Tables
	FuncOperand                       // Name
	AddressOperand                    // [Elems[0] + Bits]
	VectorOperand                     // {Elems...}
	PairOperand                       // Elems[0] | Elems[1]
	ListOperand                       // (Elems...)
	SinkOperand                       // _
)

// Operand is an operand of an instruction.
type Operand struct {
	Kind   OperandKind
	Negate bool
	Reg    int
	Target int
	Bits   uint64
	Name   string
	Var    *Var
	Elems  []Operand
}

// Error is an error in a line of PTX text.
type Error struct {
	Line int
	Text string
}

// Error returns "ptx: line 12: ...".
func (e *Error) Error() string { return fmt.Sprintf("ptx: line %d: %s", e.Line, e.Text) }
