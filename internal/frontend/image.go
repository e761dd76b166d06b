package frontend

import (
	"encoding/binary"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// region is a variable of a package's init function or a package-level variable, as
// initialisation leaves it.
type region struct {
	typ   *ir.Type
	bytes []byte
	// unknown is set where the contents are not constants, or where the address goes somewhere.
	unknown bool
	backing *region          // of a slice: the whole array that it is made from
	texts   map[int64]string // the strings in the variable, by offset
	pending []pendingStore
	why     *misfit // why a pending store is unknown
}

// initialiser follows a package's init function as far as it handles constants: stores
// of constants into variables, and copies of one variable to another.
type initialiser struct {
	regions   map[ssa.Value]*region // by the Global or the Alloc
	addresses map[ssa.Value]address
	loaded    map[ssa.Value][]byte
	texts     map[ssa.Value]map[int64]string // the strings in what was loaded, by offset
	slices    map[ssa.Value]*region          // slices of a whole array
	always    bool                           // the current block is executed whatever happens
	constant  func(*ssa.Global) bool         // nothing but init writes the variable
}

type address struct {
	region *region
	offset int64
}

// initialise returns what init leaves in the package-level variables that it names.
func (b *builder) initialise(init *ssa.Function) map[ssa.Value]*region {
	m := initialiser{
		regions: map[ssa.Value]*region{}, addresses: map[ssa.Value]address{},
		loaded: map[ssa.Value][]byte{}, texts: map[ssa.Value]map[int64]string{}, slices: map[ssa.Value]*region{},
		constant: func(g *ssa.Global) bool { return b.writer(g, init) == nil },
	}
	end := lastOf(init)
	for _, block := range init.Blocks {
		m.always = end != nil && block.Dominates(end)
		for _, in := range block.Instrs {
			m.step(in)
		}
	}
	return m.regions
}

// lastOf returns the block of init that ends the initialisation: besides the entry, which
// tests whether there is one to do, the only one before the return.
func lastOf(init *ssa.Function) *ssa.BasicBlock {
	for _, b := range init.Blocks {
		if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && len(b.Preds) == 2 {
			return b.Preds[1]
		}
	}
	return nil
}

func (m *initialiser) step(in ssa.Instruction) {
	switch in := in.(type) {
	case *ssa.Alloc, *ssa.DebugRef:
	case *ssa.Store:
		m.store(in)
	case *ssa.IndexAddr:
		m.indexAddr(in)
	case *ssa.FieldAddr:
		if a, t := m.address(in.X), typeOrNil(in.X); a.region != nil && t != nil {
			m.addresses[in] = address{a.region, a.offset + t.PartOffset(in.Field)}
		}
	case *ssa.UnOp:
		m.load(in)
	case *ssa.Slice:
		a := m.address(in.X)
		if _, whole := in.X.(*ssa.Alloc); whole && a.region != nil && in.Low == nil && in.High == nil && in.Max == nil {
			m.slices[in] = a.region
		} else {
			m.leaks(in)
		}
	default:
		m.leaks(in)
	}
}

// typeOrNil returns the type in IR of what v points to, or nil.
func typeOrNil(v ssa.Value) *ir.Type {
	t, lack := irType(pointee(v.Type()))
	if lack != nil {
		return nil
	}
	return t
}

// leaks gives up the variables whose addresses in uses in an unknown way.
func (m *initialiser) leaks(in ssa.Instruction) {
	for _, op := range in.Operands(nil) {
		if *op == nil {
			continue
		}
		if a := m.address(*op); a.region != nil {
			a.region.unknown = true
		}
		if r := m.slices[*op]; r != nil {
			r.unknown = true
		}
	}
}

// address returns the place that v points to, where it lies in a known variable.
func (m *initialiser) address(v ssa.Value) address {
	if a, ok := m.addresses[v]; ok {
		return a
	}
	switch v.(type) {
	case *ssa.Alloc, *ssa.Global:
	default:
		return address{}
	}
	r := &region{typ: typeOrNil(v)}
	if r.typ == nil || r.typ.Size() > maxTable {
		r.unknown = true
	} else {
		r.bytes = make([]byte, r.typ.Size())
	}
	m.regions[v], m.addresses[v] = r, address{region: r}
	return m.addresses[v]
}

func (m *initialiser) indexAddr(in *ssa.IndexAddr) {
	a, elem := m.address(in.X), typeOrNil(in)
	i, known := constInt(in.Index)
	switch {
	case a.region == nil:
		m.leaks(in)
	case !known || elem == nil:
		a.region.unknown = true
	default:
		m.addresses[in] = address{a.region, a.offset + i*elem.Size()}
	}
}

func (m *initialiser) load(in *ssa.UnOp) {
	a := m.address(in.X)
	t, lack := irType(in.Type())
	g, global := root(in.X).(*ssa.Global)
	switch {
	case global && !m.constant(g): // perhaps by a call that an initialiser before this one made
	case a.region == nil || a.region.unknown || a.region.pending != nil || lack != nil || !m.always:
	case isSlice(in.Type()):
		a.region.unknown = true // two slices of one array
	default:
		m.loaded[in] = append([]byte(nil), a.region.bytes[a.offset:a.offset+t.Size()]...)
		m.texts[in] = map[int64]string{}
		for at, s := range a.region.texts {
			if at >= a.offset && at < a.offset+t.Size() {
				m.texts[in][at-a.offset] = s
			}
		}
	}
}

func (m *initialiser) store(in *ssa.Store) {
	if m.address(in.Val).region != nil {
		m.leaks(in)
		return
	}
	a := m.address(in.Addr)
	if a.region == nil {
		m.leaks(in)
		return
	}
	if r := m.slices[in.Val]; r != nil {
		_, whole := in.Addr.(*ssa.Global)
		r.unknown = r.unknown || !whole || a.region.backing != nil || len(*in.Val.Referrers()) != 1
		a.region.backing = r
		return
	}
	bytes := m.contents(in.Val)
	s, isText := constString(in.Val)
	switch {
	case isText && m.always && !a.region.unknown:
		a.region.setText(a.offset, s)
		return
	case !m.always || a.region.unknown || bytes == nil && !isComputed(in.Val):
		a.region.unknown = true
		return
	case bytes == nil:
		a.region.pending = append(a.region.pending, pendingStore{a.offset, in.Val})
		return
	}
	copy(a.region.bytes[a.offset:], bytes)
	for at, s := range m.texts[in.Val] {
		a.region.setText(a.offset+at, s)
	}
}

// contents returns the bytes of v in memory, or nil if they are unknown.
func (m *initialiser) contents(v ssa.Value) []byte {
	c, ok := v.(*ssa.Const)
	if !ok {
		return m.loaded[v]
	}
	if isString(c.Type()) {
		return nil
	}
	t, lack := irType(c.Type())
	if lack != nil || t.Size() > maxTable {
		return nil
	}
	bytes := make([]byte, t.Size(), t.Size()+8)
	if c.Value != nil {
		bits := constBits(t, c.Value)
		if t.Kind == ir.KindI1 {
			bits &= 1
		}
		copy(bytes, binary.LittleEndian.AppendUint64(nil, uint64(bits)))
	}
	return bytes
}
