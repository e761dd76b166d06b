package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// Generic addresses of shared and of local memory have these upper bits, which no address of a buffer has.
const (
	sharedTag = 0x7f << 56
	localTag  = 0x7e << 56
)

// place is the memory that an instruction accesses.
type place struct {
	space   ptx.Space
	address spirv.ID // u64, or u32 in shared and local memory
}

// place returns what operand i addresses.
func (t *translator) place(i int) place { return t.placeIn(i, t.space()) }

// placeIn returns what operand i addresses in a space.
func (t *translator) placeIn(i int, space ptx.Space) place {
	p := place{space: space}
	o := t.in.Args[i]
	if o.Kind != ptx.AddressOperand {
		t.fail("%s has no address", t.in)
		return p
	}
	base := o.Elems[0]
	if base.Kind == ptx.VarOperand && p.space == ptx.Generic {
		p.space = base.Var.Space
	}
	typ := ptx.U64
	if p.space == ptx.Shared || p.space == ptx.Local {
		typ = ptx.U32
	}
	switch {
	case base.Kind == ptx.VarOperand && base.Var.Space == ptx.Param:
		p.space = ptx.Global
		p.address = t.parameterAddress()
	default:
		p.address = t.bits(base, typ)
	}
	if o.Bits != 0 {
		p.address = t.op(spirv.OpIAdd, typ, p.address, t.number(typ.Size(), o.Bits))
	}
	if p.space == ptx.Generic && !t.generic || p.space == ptx.Const || p.space == ptx.Param {
		p.space = ptx.Global
	}
	return p
}

// space returns the instruction's state space.
func (t *translator) space() ptx.Space {
	for _, s := range t.mods {
		if space, ok := ptx.ParseSpace(s); ok {
			return space
		}
	}
	return ptx.Generic
}

// access emits f for the memory that an address refers to. For generic addresses, it emits f for each space that there is; f returns a value
// of type u32 or u64, or 0.
func (t *translator) access(p place, typ ptx.Type, f func(place) spirv.ID) spirv.ID {
	if p.space != ptx.Generic {
		return f(p)
	}
	value := t.Local(t.pointer(spirv.StorageFunction, t.unsigned(held(typ))))
	keep := func(space ptx.Space) func() bool {
		return func() bool {
			q := place{space, p.address}
			if space != ptx.Global {
				q.address = t.op(spirv.OpUConvert, ptx.U32, p.address)
			}
			if v := f(q); v != 0 {
				t.Emit(spirv.OpStore, value, v)
			}
			return true
		}
	}
	tag := t.op(spirv.OpBitwiseAnd, ptx.U64, p.address, t.wide(0xff<<56))
	global := keep(ptx.Global)
	if t.localBytes > 0 {
		outer := global
		global = func() bool {
			return t.when(t.test(spirv.OpIEqual, tag, t.wide(localTag)), keep(ptx.Local), outer)
		}
	}
	if t.sharedBytes > 0 {
		t.when(t.test(spirv.OpIEqual, tag, t.wide(sharedTag)), keep(ptx.Shared), global)
	} else {
		global()
	}
	return t.Value(spirv.OpLoad, t.unsigned(held(typ)), value)
}

// global returns a pointer to memory of a type.
func (t *translator) global(address, typ spirv.ID) spirv.ID {
	return t.Value(spirv.OpConvertUToPtr, t.pointer(spirv.StoragePhysicalStorageBuffer, typ), address)
}

// narrow declares that the kernel accesses elements of 1 or 2 bytes.
func (t *translator) narrow(size int) {
	switch size {
	case 1:
		t.use(spirv.CapabilityStorageBuffer8BitAccess)
		t.Extension("SPV_KHR_8bit_storage")
	case 2:
		t.use(spirv.CapabilityStorageBuffer16BitAccess)
	}
}

// entry returns a pointer to the word with a byte of shared or local memory.
func (t *translator) entry(p place) spirv.ID {
	if p.space != ptx.Local && t.options.Views.Any {
		return t.viewed(p, view{4, 1})
	}
	i := t.op(spirv.OpShiftRightLogical, ptx.U32, p.address, t.word(2))
	if p.space == ptx.Local {
		return t.wordIn(spirv.StorageFunction, t.local, i)
	}
	return t.wordIn(spirv.StorageWorkgroup, t.shared, i)
}

// beyond returns the place n bytes on.
func (t *translator) beyond(p place, n int) place {
	if n == 0 {
		return p
	}
	typ := ptx.U64
	if p.space != ptx.Global && p.space != ptx.Generic {
		typ = ptx.U32
	}
	return place{p.space, t.op(spirv.OpIAdd, typ, p.address, t.number(typ.Size(), uint64(n)))}
}

// bitOf returns the number of the first bit of a byte in its word.
func (t *translator) bitOf(p place) spirv.ID {
	return t.op(spirv.OpShiftLeftLogical, ptx.U32, t.op(spirv.OpBitwiseAnd, ptx.U32, p.address, t.word(3)), t.word(3))
}

// wordIn returns a pointer to a word of a variable that words has returned.
func (t *translator) wordIn(storage uint32, variable, i spirv.ID) spirv.ID {
	if storage == spirv.StorageWorkgroup && t.options.Views.Any {
		return t.Value(spirv.OpAccessChain, t.pointer(storage, t.u32()), variable, t.word(0), i)
	}
	return t.Value(spirv.OpAccessChain, t.pointer(storage, t.u32()), variable, i)
}

// read returns an element of shared or local memory.
func (t *translator) read(p place, size int) spirv.ID {
	if size == 8 {
		return t.join(t.read(p, 4), t.read(t.beyond(p, 4), 4))
	}
	v := t.Value(spirv.OpLoad, t.u32(), t.entry(p))
	if size < 4 {
		v = t.op(spirv.OpShiftRightLogical, ptx.U32, v, t.bitOf(p))
	}
	return v
}

// write stores an element in shared or local memory. Other threads may store other bytes of the same word.
func (t *translator) write(p place, size int, v spirv.ID) {
	if size == 8 {
		low, high := t.halves(v)
		t.write(p, 4, low)
		t.write(t.beyond(p, 4), 4, high)
		return
	}
	e := t.entry(p)
	if size == 4 {
		t.Emit(spirv.OpStore, e, v)
		return
	}
	bit := t.bitOf(p)
	ones := t.word(1<<(8*size) - 1)
	mask := t.op(spirv.OpNot, ptx.U32, t.op(spirv.OpShiftLeftLogical, ptx.U32, ones, bit))
	v = t.op(spirv.OpShiftLeftLogical, ptx.U32, t.op(spirv.OpBitwiseAnd, ptx.U32, v, ones), bit)
	if p.space == ptx.Local {
		old := t.op(spirv.OpBitwiseAnd, ptx.U32, t.Value(spirv.OpLoad, t.u32(), e), mask)
		t.Emit(spirv.OpStore, e, t.op(spirv.OpBitwiseOr, ptx.U32, old, v))
		return
	}
	t.op(spirv.OpAtomicAnd, ptx.U32, e, t.word(spirv.ScopeWorkgroup), t.word(0), mask)
	t.op(spirv.OpAtomicOr, ptx.U32, e, t.word(spirv.ScopeWorkgroup), t.word(0), v)
}

// elements returns the operands of an access: one, or those of a vector.
func elements(o ptx.Operand) []ptx.Operand {
	if o.Kind == ptx.VectorOperand {
		return o.Elems
	}
	return []ptx.Operand{o}
}

// vector returns the type of n elements of a size.
func (t *translator) vector(size, n int) spirv.ID {
	if n == 1 {
		return t.unsigned(size)
	}
	return t.Type(spirv.OpTypeVector, t.unsigned(size), uint32(n))
}

func (t *translator) load() {
	typ, list := t.typ(0), elements(t.in.Args[0])
	if at, ok := t.pushedAt(t.in.Args[1]); ok {
		for i, o := range list {
			t.assign(o, plain(typ), t.parameter(at+i*typ.Size(), typ))
		}
		return
	}
	p := t.place(1)
	if t.ordered() {
		v := t.access(p, typ, func(p place) spirv.ID { return t.loadOrdered(p, typ) })
		t.assign(list[0], plain(typ), t.intoRegister(list[0], v))
		return
	}
	for i, v := range t.loadVector(p, typ, len(list)) {
		t.assign(list[i], plain(typ), t.intoRegister(list[i], v))
	}
}

// loadVector is loadAll for an address that may be generic: the space of each element is tested then.
func (t *translator) loadVector(p place, typ ptx.Type, n int) []spirv.ID {
	if p.space != ptx.Generic {
		return t.loadAll(p, typ, n)
	}
	list := make([]spirv.ID, n)
	for i := range list {
		list[i] = t.access(t.beyond(p, i*typ.Size()), typ, func(p place) spirv.ID { return t.loadAll(p, typ, 1)[0] })
	}
	return list
}

// loadAll returns n elements from a place.
func (t *translator) loadAll(p place, typ ptx.Type, n int) []spirv.ID {
	size := typ.Size()
	list := make([]spirv.ID, n)
	from, operands, ok := t.elementsAt(p, size, n)
	if !ok {
		for i := range list {
			list[i] = t.trim(plain(typ), t.read(t.beyond(p, i*size), size))
		}
		return list
	}
	v := t.Value(spirv.OpLoad, t.vector(size, n), append([]spirv.ID{from}, operands...)...)
	for i := range list {
		list[i] = v
		if n > 1 {
			list[i] = t.Value(spirv.OpCompositeExtract, t.unsigned(size), v, uint32(i))
		}
		if size < 4 {
			extend := spirv.OpUConvert
			if typ.Class() == ptx.Signed {
				extend = spirv.OpSConvert
			}
			list[i] = t.Value(extend, t.u32(), list[i])
		}
	}
	return list
}

func (t *translator) store() {
	typ, list, p := t.typ(0), elements(t.in.Args[1]), t.place(0)
	values := make([]spirv.ID, len(list))
	for i, o := range list {
		values[i] = t.bits(o, typ)
	}
	if len(list) > 1 && p.space == ptx.Generic {
		for i, v := range values {
			t.access(t.beyond(p, i*typ.Size()), typ, func(p place) spirv.ID {
				t.storeAll(p, typ.Size(), []spirv.ID{v})
				return 0
			})
		}
		return
	}
	t.access(p, typ, func(p place) spirv.ID {
		switch {
		case t.ordered():
			t.storeOrdered(p, typ, values[0])
		default:
			t.storeAll(p, typ.Size(), values)
		}
		return 0
	})
}

// elementsAt returns a pointer to n elements of a size, with the memory operands of their accesses. It returns false if they must be accessed as words.
func (t *translator) elementsAt(p place, size, n int) (at spirv.ID, operands []uint32, ok bool) {
	v := view{size, n}
	switch {
	case p.space == ptx.Global:
		t.narrow(size)
		return t.global(p.address, t.vector(size, n)), []uint32{spirv.MemoryAligned, uint32(n * size)}, true
	case p.space == ptx.Shared && t.options.can(v):
		return t.viewed(p, v), nil, true
	}
	return 0, nil, false
}

// storeAll stores elements of a size.
func (t *translator) storeAll(p place, size int, values []spirv.ID) {
	at, operands, ok := t.elementsAt(p, size, len(values))
	if !ok {
		for i, v := range values {
			t.write(t.beyond(p, i*size), size, v)
		}
		return
	}
	to, v := t.vector(size, len(values)), values[0]
	if size < 4 {
		for i := range values {
			values[i] = t.Value(spirv.OpUConvert, t.unsigned(size), values[i])
		}
		v = values[0]
	}
	if len(values) > 1 {
		v = t.Value(spirv.OpCompositeConstruct, to, values...)
	}
	t.Emit(spirv.OpStore, append([]uint32{at, v}, operands...)...)
}

// convertAddress translates cvta: an address of one space to a generic one.
func (t *translator) convertAddress() {
	v := t.arg(1, ptx.U64)
	switch tag := uint64(0); {
	case t.has("to"):
		t.fail("%s", t.in)
	case t.has("shared"), t.has("local"):
		tag = sharedTag
		if t.has("local") {
			tag = localTag
		}
		t.result(ptx.U64, t.op(spirv.OpBitwiseOr, ptx.U64, v, t.wide(tag)))
	default:
		if o := t.in.Args[1]; o.Kind == ptx.VarOperand && o.Var.Space == ptx.Param {
			v = t.op(spirv.OpIAdd, ptx.U64, t.parameterAddress(), t.wide(o.Bits))
		}
		t.result(ptx.U64, v)
	}
}
