package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// A device without atomic operations on 64 bits of shared memory, or without views of it, changes the two words while it holds a lock, which is
// a word of shared memory. All atomic accesses to 64 bits take the lock, also those that only load or store. A thread that takes
// it releases it in the same iteration of the loop, before the other threads of its subgroup try again.

// beginLock declares the lock if the kernel needs one, and clears it.
func (t *translator) beginLock() {
	if t.err != nil || !slices.ContainsFunc(t.f.Code, t.needsLockFor) {
		return
	}
	t.lock = t.words(spirv.StorageWorkgroup, 4)
	t.Emit(spirv.OpAtomicStore, t.lockWord(), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(0))
	t.barrier()
}

// needsLockFor reports whether an instruction may take the lock.
func (t *translator) needsLockFor(in ptx.Instr) bool {
	if t.options.Views.Atomics64 || t.sharedBytes == 0 || !slices.Contains([]string{"atom", "red", "ld", "st"}, in.Op) {
		return false
	}
	t.in, t.mods = &in, in.Mods
	space := t.space()
	if space != ptx.Shared && (space != ptx.Generic || !t.generic) {
		return false
	}
	return t.typ(0).Size() == 8 && (in.Op == "atom" || in.Op == "red" || t.ordered())
}

// lockWord returns a pointer to the lock.
func (t *translator) lockWord() spirv.ID {
	return t.wordIn(spirv.StorageWorkgroup, t.lock, t.word(0))
}

// needsLock reports whether an atomic access takes the lock.
func (t *translator) needsLock(p place, typ ptx.Type) bool {
	return p.space == ptx.Shared && typ.Size() == 8 && !t.options.Views.Atomics64
}

// locked emits what a thread does while it holds the lock. It returns the value of 64 bits that f returns.
func (t *translator) locked(f func() spirv.ID) spirv.ID {
	result := t.Local(t.pointer(spirv.StorageFunction, t.u64()))
	t.repeat(variable{result, ptx.B64}, func() spirv.ID {
		scope, zero := t.word(spirv.ScopeWorkgroup), t.word(0)
		was := t.op(spirv.OpAtomicCompareExchange, ptx.U32, t.lockWord(), scope, zero, zero, t.word(1), zero)
		free := t.test(spirv.OpIEqual, was, zero)
		t.when(free, func() bool {
			t.fenceInWorkgroup(spirv.SemanticsAcquire)
			t.Emit(spirv.OpStore, result, f())
			t.fenceInWorkgroup(spirv.SemanticsRelease)
			t.Emit(spirv.OpAtomicStore, t.lockWord(), scope, zero, zero)
			return true
		}, nil)
		return t.op(spirv.OpLogicalNot, ptx.Pred, free)
	})
	return t.Value(spirv.OpLoad, t.u64(), result)
}

// loadWords returns 64 bits of shared memory, for a thread that holds the lock.
func (t *translator) loadWords(p place) spirv.ID {
	load := func(p place) spirv.ID {
		return t.op(spirv.OpAtomicLoad, ptx.U32, t.entry(p), t.word(spirv.ScopeWorkgroup), t.word(0))
	}
	return t.join(load(p), load(t.beyond(p, 4)))
}

// storeWords stores 64 bits in shared memory, for a thread that holds the lock.
func (t *translator) storeWords(p place, v spirv.ID) {
	low, high := t.halves(v)
	for i, part := range []spirv.ID{low, high} {
		t.Emit(spirv.OpAtomicStore, t.entry(t.beyond(p, 4*i)), t.word(spirv.ScopeWorkgroup), t.word(0), part)
	}
}

// exchangeLocked is exchange for a thread that takes the lock.
func (t *translator) exchangeLocked(p place, typ ptx.Type, first int) spirv.ID {
	return t.locked(func() spirv.ID {
		old := t.loadWords(p)
		t.storeWords(p, t.changed(old, typ, first))
		return old
	})
}

// changed returns what an atomic operation leaves in place of the old bits, for a thread that no other one interrupts.
func (t *translator) changed(old spirv.ID, typ ptx.Type, first int) spirv.ID {
	v, bits := t.arg(first+1, typ), t.unsigned(held(typ))
	u := func(op spirv.Op) spirv.ID { return t.op(op, plain(typ), old, v) }
	signed := typ.Class() == ptx.Signed
	switch {
	case t.has("cas"):
		return t.choose(plain(typ), t.test(spirv.OpIEqual, old, v), t.arg(first+2, typ), old)
	case isFloat(typ) && t.has("add"):
		sum := t.op(spirv.OpFAdd, typ, t.Value(spirv.OpBitcast, t.float(typ.Size()), t.becomesFloat(typ, old)), v)
		return t.Value(spirv.OpBitcast, bits, sum)
	case isFloat(typ):
	case t.has("add"):
		return u(spirv.OpIAdd)
	case t.has("min") && signed:
		return t.Extended(spirv.GLSLSMin, bits, old, v)
	case t.has("min"):
		return t.Extended(spirv.GLSLUMin, bits, old, v)
	case t.has("max") && signed:
		return t.Extended(spirv.GLSLSMax, bits, old, v)
	case t.has("max"):
		return t.Extended(spirv.GLSLUMax, bits, old, v)
	case t.has("and"):
		return u(spirv.OpBitwiseAnd)
	case t.has("or"):
		return u(spirv.OpBitwiseOr)
	case t.has("xor"):
		return u(spirv.OpBitwiseXor)
	case t.has("exch"):
		return v
	}
	t.fail("%s", t.in)
	return old
}
