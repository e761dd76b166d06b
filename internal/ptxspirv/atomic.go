package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// ordered reports whether other threads may access the memory at the same time.
func (t *translator) ordered() bool {
	return t.has("relaxed") || t.has("volatile") || t.has("acquire") || t.has("release")
}

// reach returns how far an atomic operation reaches.
func (t *translator) reach(p place) spirv.ID {
	if p.space == ptx.Shared {
		return t.word(spirv.ScopeWorkgroup)
	}
	return t.word(spirv.ScopeDevice)
}

// fence emits a fence of the given semantics.
func (t *translator) fence(semantics uint32) {
	scope := uint32(spirv.ScopeDevice)
	if t.has("cta") {
		scope = spirv.ScopeWorkgroup
	}
	t.Emit(spirv.OpMemoryBarrier, t.word(scope), t.word(semantics|spirv.SemanticsUniformMemory|spirv.SemanticsWorkgroupMemory))
}

// around emits an atomic operation with the fences that its modifiers ask for.
func (t *translator) around(f func() spirv.ID) spirv.ID {
	if t.has("release") || t.has("acq_rel") {
		t.fence(spirv.SemanticsRelease)
	}
	v := f()
	if t.has("acquire") || t.has("acq_rel") {
		t.fence(spirv.SemanticsAcquire)
	}
	return v
}

// atom returns a pointer for atomic operations on a number of 4 or 8 bytes.
func (t *translator) atom(p place, size int) spirv.ID {
	switch {
	case size < 4:
		t.fail("%s of %d bytes", t.in, size)
	case p.space == ptx.Global:
		if size == 8 {
			t.use(spirv.CapabilityInt64Atomics)
		}
		return t.global(p.address, t.unsigned(size))
	case p.space == ptx.Local:
		t.fail("%s of local memory", t.in)
	case size == 8:
		t.Capability(spirv.CapabilityInt64Atomics)
		return t.viewed(p, view{8, 1})
	}
	if t.err != nil {
		return 0
	}
	return t.entry(p)
}

func (t *translator) loadOrdered(p place, typ ptx.Type) spirv.ID {
	switch {
	case p.space == ptx.Local:
		return t.loadAll(p, typ, 1)[0]
	case t.needsLock(p, typ):
		return t.around(func() spirv.ID { return t.locked(func() spirv.ID { return t.loadWords(p) }) })
	case typ.Size() < 4:
		word, bit := t.wordAround(p)
		v := t.loadOrdered(word, ptx.U32)
		return t.trim(plain(typ), t.op(spirv.OpShiftRightLogical, ptx.U32, v, bit))
	}
	return t.around(func() spirv.ID {
		scope := t.reach(p)
		return t.op(spirv.OpAtomicLoad, plain(typ), t.atom(p, typ.Size()), scope, t.word(0))
	})
}

// wordAround returns the place of the word that a number of 1 or 2 bytes is part of, and the number's first bit in it.
func (t *translator) wordAround(p place) (word place, bit spirv.ID) {
	typ := ptx.U64
	if p.space != ptx.Global {
		typ = ptx.U32
	}
	low := p
	if typ == ptx.U64 {
		low.address = t.op(spirv.OpUConvert, ptx.U32, p.address)
	}
	word = place{p.space, t.op(spirv.OpBitwiseAnd, typ, p.address, t.number(typ.Size(), ^uint64(3)))}
	return word, t.bitOf(low)
}

// storePart stores a number of 1 or 2 bytes by a swap of the word that it is part of.
func (t *translator) storePart(p place, size int, v spirv.ID) spirv.ID {
	word, bit := t.wordAround(p)
	at, scope, ones := t.atom(word, 4), t.reach(p), t.word(1<<(8*size)-1)
	mask := t.op(spirv.OpNot, ptx.U32, t.op(spirv.OpShiftLeftLogical, ptx.U32, ones, bit))
	v = t.op(spirv.OpShiftLeftLogical, ptx.U32, t.op(spirv.OpBitwiseAnd, ptx.U32, v, ones), bit)
	seen := t.Local(t.pointer(spirv.StorageFunction, t.u32()))
	t.Emit(spirv.OpStore, seen, t.op(spirv.OpAtomicLoad, ptx.U32, at, scope, t.word(0)))
	t.repeat(variable{seen, ptx.U32}, func() spirv.ID {
		old := t.Value(spirv.OpLoad, t.u32(), seen)
		next := t.op(spirv.OpBitwiseOr, ptx.U32, t.op(spirv.OpBitwiseAnd, ptx.U32, old, mask), v)
		found := t.op(spirv.OpAtomicCompareExchange, ptx.U32, at, scope, t.word(0), t.word(0), next, old)
		t.Emit(spirv.OpStore, seen, found)
		return t.test(spirv.OpINotEqual, found, old)
	})
	return 0
}

func (t *translator) storeOrdered(p place, typ ptx.Type, v spirv.ID) {
	switch {
	case p.space == ptx.Local:
		t.storeAll(p, typ.Size(), []spirv.ID{v})
		return
	case t.needsLock(p, typ):
		t.around(func() spirv.ID {
			return t.locked(func() spirv.ID { t.storeWords(p, v); return v })
		})
		return
	case typ.Size() < 4:
		t.around(func() spirv.ID { return t.storePart(p, typ.Size(), v) })
		return
	}
	t.around(func() spirv.ID {
		scope := t.reach(p)
		t.Emit(spirv.OpAtomicStore, t.atom(p, typ.Size()), scope, t.word(0), v)
		return 0
	})
}

// atomicOf returns the operation of SPIR-V for one of PTX.
func (t *translator) atomicOf(typ ptx.Type) spirv.Op {
	signed := typ.Class() == ptx.Signed
	switch {
	case t.has("add"):
		return spirv.OpAtomicIAdd
	case t.has("min") && signed:
		return spirv.OpAtomicSMin
	case t.has("min"):
		return spirv.OpAtomicUMin
	case t.has("max") && signed:
		return spirv.OpAtomicSMax
	case t.has("max"):
		return spirv.OpAtomicUMax
	case t.has("and"):
		return spirv.OpAtomicAnd
	case t.has("or"):
		return spirv.OpAtomicOr
	case t.has("xor"):
		return spirv.OpAtomicXor
	case t.has("exch"):
		return spirv.OpAtomicExchange
	}
	t.fail("%s", t.in)
	return spirv.OpAtomicIAdd
}

// atomic translates atom and red.
func (t *translator) atomic() {
	first := 1 // operand with the address
	if t.in.Op == "red" {
		first = 0
	}
	typ, p := t.typ(0), t.place(first)
	v := t.access(p, typ, func(p place) spirv.ID {
		return t.around(func() spirv.ID { return t.exchange(p, typ, first) })
	})
	if first == 1 {
		t.result(plain(typ), t.intoRegister(t.in.Args[0], v))
	}
}

// exchange emits an atomic operation and returns the old bits.
func (t *translator) exchange(p place, typ ptx.Type, first int) spirv.ID {
	switch {
	case p.space == ptx.Local && t.space() == ptx.Generic:
		return t.exchangeLocal(p, typ, first)
	case t.needsLock(p, typ):
		return t.exchangeLocked(p, typ, first)
	}
	at := t.atom(p, typ.Size())
	scope := t.reach(p)
	switch {
	case t.err != nil:
		return 0
	case t.has("cas"):
		old, v := t.arg(first+1, typ), t.arg(first+2, typ)
		return t.op(spirv.OpAtomicCompareExchange, typ, at, scope, t.word(0), t.word(0), v, old)
	case isFloat(typ):
		return t.addFloat(at, scope, typ, first)
	}
	return t.op(t.atomicOf(typ), typ, at, scope, t.word(0), t.arg(first+1, typ))
}

// exchangeLocal is exchange for local memory, which no other thread accesses: a pointer may be to a variable of the thread.
func (t *translator) exchangeLocal(p place, typ ptx.Type, first int) spirv.ID {
	old := t.loadAll(p, typ, 1)[0]
	t.storeAll(p, typ.Size(), []spirv.ID{t.changed(old, typ, first)})
	return old
}

// addFloat adds to a float by compare and exchange, and returns the old bits.
func (t *translator) addFloat(at, scope spirv.ID, typ ptx.Type, first int) spirv.ID {
	if !t.has("add") {
		t.fail("%s", t.in)
		return 0
	}
	bits, float := untyped(typ), t.float(typ.Size())
	v := t.arg(first+1, typ)
	seen := t.Local(t.pointer(spirv.StorageFunction, t.unsigned(typ.Size())))
	t.Emit(spirv.OpStore, seen, t.op(spirv.OpAtomicLoad, bits, at, scope, t.word(0)))
	t.repeat(variable{seen, bits}, func() spirv.ID {
		old := t.Value(spirv.OpLoad, t.unsigned(typ.Size()), seen)
		sum := t.op(spirv.OpFAdd, typ, t.Value(spirv.OpBitcast, float, old), v)
		found := t.op(spirv.OpAtomicCompareExchange, bits, at, scope, t.word(0), t.word(0), t.Value(spirv.OpBitcast, t.unsigned(typ.Size()), sum), old)
		t.Emit(spirv.OpStore, seen, found)
		return t.test(spirv.OpINotEqual, found, old)
	})
	return t.Value(spirv.OpLoad, t.unsigned(typ.Size()), seen)
}

// repeat emits a loop that ends when the condition that f returns is false. It stores to a variable that is read after it.
func (t *translator) repeat(result variable, f func() spirv.ID) {
	header, body, again, merge := t.ID(), t.ID(), t.ID(), t.ID()
	t.Emit(spirv.OpBranch, header)
	t.label(header)
	t.Emit(spirv.OpLoopMerge, merge, again, 0)
	t.Emit(spirv.OpBranch, body)
	t.label(body)
	t.keepValues(merge, []variable{result})
	c := f()
	t.Emit(spirv.OpBranchConditional, c, again, merge)
	t.label(again)
	t.Emit(spirv.OpBranch, header)
	t.label(merge)
}
