package spirv

import (
	"encoding/binary"
	"slices"
)

// ID is the number of a result in a module: a type, a constant, a variable, a value or a block.
type ID = uint32

// Builder collects the instructions of a module with one entry point.
type Builder struct {
	last         ID
	capabilities []uint32
	extensions   []uint32
	imports      []uint32
	decorations  []uint32
	globals      []uint32
	variables    []uint32 // of the function
	code         []uint32 // of the function, after its first label
	declared     map[string]ID
	interfaces   []ID // global variables
	glsl         ID
}

// New returns an empty module.
func New() *Builder { return &Builder{declared: map[string]ID{}} }

// ID returns a new number.
func (b *Builder) ID() ID {
	b.last++
	return b.last
}

// Capability declares that the module uses a capability.
func (b *Builder) Capability(c uint32) {
	b.once(&b.capabilities, OpCapability, c)
}

// Extension declares that the module uses an extension.
func (b *Builder) Extension(name string) {
	b.once(&b.extensions, OpExtension, text(name)...)
}

// once adds an instruction without a result to a section unless it is there.
func (b *Builder) once(section *[]uint32, op Op, operands ...uint32) {
	k := key(op, 0, operands)
	if _, ok := b.declared[k]; !ok {
		b.declared[k] = 0
		*section = append(*section, instruction(op, operands...)...)
	}
}

// Type returns a type with the given operands, which is declared once.
func (b *Builder) Type(op Op, operands ...uint32) ID {
	return b.global(op, 0, operands)
}

// Struct returns a type of its own with members at the given offsets.
func (b *Builder) Struct(members, offsets []uint32) ID {
	id := b.ID()
	b.globals = append(b.globals, instruction(OpTypeStruct, append([]uint32{id}, members...)...)...)
	for i, at := range offsets {
		b.decorations = append(b.decorations, instruction(OpMemberDecorate, id, uint32(i), DecorationOffset, at)...)
	}
	b.Decorate(id, DecorationBlock)
	return id
}

// Array returns a type of its own: n elements of a type, of which each begins stride bytes after the one before.
func (b *Builder) Array(element, n ID, stride uint32) ID {
	id := b.ID()
	b.globals = append(b.globals, instruction(OpTypeArray, id, element, n)...)
	b.Decorate(id, DecorationArrayStride, stride)
	return id
}

// Constant returns a constant of type t whose bits are the words, lowest first. It is declared once.
func (b *Builder) Constant(t ID, words ...uint32) ID {
	return b.global(OpConstant, t, words)
}

// Global returns the result of an instruction of the section of types, constants and global variables, of type t unless t is 0.
func (b *Builder) Global(op Op, t ID, operands ...uint32) ID {
	return b.global(op, t, operands)
}

func (b *Builder) global(op Op, t ID, operands []uint32) ID {
	k := key(op, t, operands)
	if id, ok := b.declared[k]; ok {
		return id
	}
	id := b.ID()
	b.declared[k] = id
	b.globals = append(b.globals, result(op, t, id, operands)...)
	return id
}

// Variable returns a new variable of the module in a storage class, to which t points.
func (b *Builder) Variable(t ID, storage uint32) ID {
	id := b.ID()
	b.globals = append(b.globals, instruction(OpVariable, t, id, storage)...)
	b.interfaces = append(b.interfaces, id)
	return id
}

// Decorate adds a decoration to id.
func (b *Builder) Decorate(id ID, decoration ...uint32) {
	b.decorations = append(b.decorations, instruction(OpDecorate, append([]uint32{id}, decoration...)...)...)
}

// Local returns a variable of the function, to which t points.
func (b *Builder) Local(t ID) ID {
	id := b.ID()
	b.variables = append(b.variables, instruction(OpVariable, t, id, StorageFunction)...)
	return id
}

// Value emits an instruction of the function with a result of type t.
func (b *Builder) Value(op Op, t ID, operands ...uint32) ID {
	id := b.ID()
	b.code = append(b.code, result(op, t, id, operands)...)
	return id
}

// Emit emits an instruction of the function without a result.
func (b *Builder) Emit(op Op, operands ...uint32) {
	b.code = append(b.code, instruction(op, operands...)...)
}

// Extended emits an operation of the extended instruction set GLSL.std.450.
func (b *Builder) Extended(op uint32, t ID, operands ...uint32) ID {
	if b.glsl == 0 {
		b.glsl = b.ID()
		b.imports = instruction(OpExtInstImport, append([]uint32{b.glsl}, text("GLSL.std.450")...)...)
	}
	return b.Value(OpExtInst, t, append([]uint32{b.glsl, op}, operands...)...)
}

// Entry describes the entry point of a module.
type Entry struct {
	Name  string
	Modes [][]uint32 // execution modes with their operands, such as {ModeLocalSize, 64, 1, 1}
}

// version is SPIR-V 1.5, that of Vulkan 1.2.
const version = 0x00010500

// Module returns the module's words.
func (b *Builder) Module(e Entry) []uint32 {
	void := b.Type(OpTypeVoid)
	signature := b.Type(OpTypeFunction, void)
	f, first := b.ID(), b.ID()
	entry := slices.Concat([]uint32{ExecutionGLCompute, f}, text(e.Name), b.interfaces)
	var modes []uint32
	for _, m := range e.Modes {
		modes = append(modes, instruction(OpExecutionMode, append([]uint32{f}, m...)...)...)
	}
	return slices.Concat(
		[]uint32{0x07230203, version, 0, b.last + 1, 0},
		b.capabilities, b.extensions, b.imports,
		instruction(OpMemoryModel, AddressingPhysicalStorageBuffer64, MemoryModelGLSL450),
		instruction(OpEntryPoint, entry...), modes, b.decorations, b.globals,
		instruction(OpFunction, void, f, 0, signature), instruction(OpLabel, first), b.variables,
		b.code, instruction(OpFunctionEnd),
	)
}

// result returns an instruction with a result.
func result(op Op, t, id ID, operands []uint32) []uint32 {
	if t == 0 {
		return instruction(op, append([]uint32{id}, operands...)...)
	}
	return instruction(op, append([]uint32{t, id}, operands...)...)
}

// instruction returns an instruction's words.
func instruction(op Op, operands ...uint32) []uint32 {
	return append([]uint32{uint32(len(operands)+1)<<16 | uint32(op)}, operands...)
}

// key returns a text that is equal for equal declarations only.
func key(op Op, t ID, operands []uint32) string {
	all := append([]uint32{uint32(op), t}, operands...)
	var text []byte
	for _, w := range all {
		text = binary.LittleEndian.AppendUint32(text, w)
	}
	return string(text)
}

// text returns a literal string's words: its bytes, a zero, and padding.
func text(s string) []uint32 {
	bytes := append([]byte(s), make([]byte, 4-len(s)%4)...)
	words := make([]uint32, len(bytes)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(bytes[4*i:])
	}
	return words
}
