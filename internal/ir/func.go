package ir

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Module is a set of functions and variables that are compiled together.
type Module struct {
	Funcs []*Func
	Vars  []*Variable
}

// Func returns the function with the given name, or nil.
func (m *Module) Func(name string) *Func {
	for _, f := range m.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Variable is memory that outlives a thread: shared by a block, or constant for all.
type Variable struct {
	Name  string
	Space Space // Shared or Constant
	Type  *Type
	Align int64  // of a shared variable, where that is more than the type's
	Init  []byte // of a constant, Type.Size() bytes
}

// Site describes the message of a check, a fault or a print: Format takes the value's arguments
// (after the condition, for a check), read as Args.
type Site struct {
	Format string
	Args   []dtype.Type
}

// Func is a function or a kernel. Blocks[0] is the entry and has no predecessors.
type Func struct {
	Name   string
	Kernel bool
	Params []*Value // OpParam values; a kernel's are scalars
	Result *Type    // Void if there is none, a struct if there are several
	Blocks []*Block

	// ParamBytes is the size of a kernel's parameter block, including hidden parameters. Block is
	// the block size that //gpu:block fixes, or zeros.
	ParamBytes int
	Block      [3]int
	// Narrow marks a kernel for launches whose i64 parameters, and numbers of threads in the grid
	// along each axis, are all in the range of an i32.
	Narrow bool
	// Coarse, if it is not 0, is the number of neighbouring elements that each thread of a kernel
	// processes. Each element corresponds to a thread of the original one-dimensional grid. The
	// number of elements, a u64, then follows ParamBytes in the parameter block, and checks and
	// faults have one argument more than their site, the element as an i32.
	Coarse int
	// Aligned marks a kernel for launches whose pointer parameters are all multiples of 16.
	Aligned bool
	Slices  []SliceParam // a kernel's parameters that are slices
	Notes   []Note       // transformations by passes

	nextValue, nextBlock int
	spare                []Value // from which values are taken
}

// SliceParam is a parameter of a kernel: its address, length and capacity are at Offset in the parameter block and the two
// words after it. Elem is the size of an element.
type SliceParam struct{ Offset, Elem int64 }

// Block is a basic block. Phis come first, the terminator last. The arguments of phis are in the
// order of Preds.
type Block struct {
	ID     int
	Func   *Func
	Values []*Value
	Preds  []*Block
	Succs  []*Block
	Cold   bool // expected to run rarely; does not affect semantics
	// Launch means that the block computes a condition, its last value before the jump, from the parameters and the number
	// of blocks. A back end may leave that to the launcher. Other blocks use no other value of the block.
	Launch bool
	// Apart means that the block runs only in launches in which no slice parameter that the kernel writes overlaps another one.
	Apart bool
}

// Value is an operation and its result.
type Value struct {
	ID    int
	Op    Op
	Type  *Type
	Args  []*Value
	Imm   int64
	Aux   any // *Type, *Variable, *Func or *Site: see the table of operations
	Block *Block
	Pos   Pos
}

// Pos is a place in the source. The zero Pos is unknown.
type Pos struct {
	File      string // base name
	Line, Col int
}

// String returns "file:line:col".
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col) }

// Known reports whether p is a place.
func (p Pos) Known() bool { return p.Line > 0 }

// NewFunc returns a function without blocks.
func NewFunc(name string, result *Type) *Func { return &Func{Name: name, Result: result} }

// NewParam adds a parameter. In a kernel, imm is its offset in the parameter block; otherwise imm
// is its index.
func (f *Func) NewParam(t *Type, imm int64) *Value {
	v := &Value{ID: f.newID(), Op: OpParam, Type: t, Imm: imm}
	f.Params = append(f.Params, v)
	return v
}

// NewBlock adds an empty block.
func (f *Func) NewBlock() *Block {
	b := &Block{ID: f.nextBlock, Func: f}
	f.nextBlock++
	f.Blocks = append(f.Blocks, b)
	return b
}

func (f *Func) newID() int { f.nextValue++; return f.nextValue - 1 }

// NumValues returns an upper bound of the values' IDs, for tables indexed by ID.
func (f *Func) NumValues() int { return f.nextValue }

// NumBlocks returns an upper bound of the blocks' IDs.
func (f *Func) NumBlocks() int { return f.nextBlock }

// Make returns a new value of b without adding it to b.Values.
func (b *Block) Make(op Op, t *Type, args ...*Value) *Value {
	f := b.Func
	if len(f.spare) == 0 {
		f.spare = make([]Value, valuesAtOnce)
	}
	v := &f.spare[0]
	f.spare = f.spare[1:]
	*v = Value{ID: f.newID(), Op: op, Type: t, Args: args, Block: b}
	return v
}

// valuesAtOnce is how many values are allocated together: to allocate each is a good part of a compiler's time. So many
// fill 4 KiB, which is one of the sizes that there are.
const valuesAtOnce = 36

// Append appends a new value to b.
func (b *Block) Append(op Op, t *Type, args ...*Value) *Value {
	v := b.Make(op, t, args...)
	b.Values = append(b.Values, v)
	return v
}

// Const appends a constant with the given bits, sign-extended to 64 bits.
func (b *Block) Const(t *Type, bits int64) *Value {
	v := b.Append(OpConst, t)
	v.Imm = bits
	return v
}

// Term returns the block's terminator, or nil if it has none yet.
func (b *Block) Term() *Value {
	if n := len(b.Values); n > 0 && b.Values[n-1].Op.Terminator() {
		return b.Values[n-1]
	}
	return nil
}

// Phis returns the phis of b.
func (b *Block) Phis() []*Value {
	for i, v := range b.Values {
		if v.Op != OpPhi {
			return b.Values[:i]
		}
	}
	return b.Values
}

// AddEdge appends succ to the successors of b. The caller must add an argument for b to the phis of
// succ.
func (b *Block) AddEdge(succ *Block) {
	b.Succs = append(b.Succs, succ)
	succ.Preds = append(succ.Preds, b)
}

// RemoveEdge removes successor i of b and the corresponding phi arguments. It modifies the lists of successors and
// predecessors in place, so a caller that iterates over one must iterate over a copy.
func (b *Block) RemoveEdge(i int) {
	succ := b.Succs[i]
	b.Succs = slices.Delete(b.Succs, i, i+1)
	p := succ.PredIndex(b)
	succ.Preds = slices.Delete(succ.Preds, p, p+1)
	for _, phi := range succ.Phis() {
		phi.Args = slices.Delete(phi.Args, p, p+1)
	}
}

// PredIndex returns the first index of p among the predecessors of b.
func (b *Block) PredIndex(p *Block) int {
	for i, q := range b.Preds {
		if p == q {
			return i
		}
	}
	panic(fmt.Sprintf("BUG: ir: %s: b%d is not a predecessor of b%d", b.Func.Name, p.ID, b.ID))
}
