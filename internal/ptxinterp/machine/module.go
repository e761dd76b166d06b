package machine

import (
	"encoding/binary"
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// Module is a PTX text that is loaded: its global and constant variables have memory.
type Module struct {
	ptx  *ptx.Module
	mem  *Memory
	vars map[*ptx.Var]*region
}

// Load parses PTX text and places its variables in mem.
func Load(text string, mem *Memory) (*Module, error) {
	parsed, err := ptx.Parse(text)
	if err != nil {
		return nil, err
	}
	m := &Module{ptx: parsed, mem: mem, vars: map[*ptx.Var]*region{}}
	if parsed.AddressSize != 64 {
		return nil, fmt.Errorf("ptx: addresses of %d bits are not supported, only 64", parsed.AddressSize)
	}
	for _, v := range parsed.Vars {
		if err := m.place(v); err != nil {
			return nil, err
		}
	}
	for _, v := range parsed.Vars {
		if err := m.initialise(v); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// place gives a global or constant variable memory: zeros, as the manual has it.
func (m *Module) place(v *ptx.Var) error {
	if v.Space != ptx.Global && v.Space != ptx.Const {
		return nil
	}
	if v.Extern {
		return fmt.Errorf("ptx: line %d: external variable %s is not supported", v.Line, v.Name)
	}
	r := &region{data: make([]byte, v.Size(), align(v.Size(), wordBytes)), name: "variable " + v.Name, readOnly: v.Space == ptx.Const}
	m.vars[v] = m.mem.add(r)
	return nil
}

func (m *Module) initialise(v *ptx.Var) error {
	for _, in := range v.Init {
		bits := in.Bits
		if in.Symbol != "" {
			at, ok := m.symbol(in.Symbol)
			if !ok {
				return fmt.Errorf("ptx: line %d: %s has no address that a variable can hold", in.Line, in.Symbol)
			}
			bits += at
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], bits)
		copy(m.vars[v].data[in.Offset:], b[:min(8, in.Size)])
	}
	return nil
}

func (m *Module) symbol(name string) (uint64, bool) {
	for v, r := range m.vars {
		if v.Name == name {
			return r.base, true
		}
	}
	return 0, false
}

// Address returns the address of a global or constant variable.
func (m *Module) Address(name string) (uint64, bool) { return m.symbol(name) }

// Kernel decodes the entry with the given name and what it calls.
func (m *Module) Kernel(name string) (*Kernel, error) {
	f := m.ptx.Func(name)
	if f == nil || !f.Entry {
		return nil, fmt.Errorf("ptx: no entry %s", name)
	}
	if f.Declared {
		return nil, fmt.Errorf("ptx: entry %s has no body", name)
	}
	d := &decoder{
		mod:      m,
		prog:     &program{name: name, files: m.ptx.Files, preds: 2, reqThreads: f.ReqThreads, maxThreads: f.MaxThreads},
		funcs:    map[*ptx.Func]*function{},
		consts:   map[uint64]int32{},
		parts:    map[int32]part{},
		specials: map[string]int32{},
		addrs:    map[*ptx.Var]uint64{},
	}
	d.row(8) // place 0 is not a register, so that it can mean none
	d.scratch = d.row(8)
	d.program(f)
	if d.err != nil {
		return nil, d.err
	}
	return &Kernel{prog: d.prog, mem: m.mem}, nil
}
