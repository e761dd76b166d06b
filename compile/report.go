package compile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A Report describes the properties of a compiled kernel that determine the kernel's speed.
type Report struct {
	Package string `json:"package"`
	Kernel  string `json:"kernel"`
	File    string `json:"file"` // base name
	Line    int    `json:"line"`
	// Written is the number of run-time checks in the source of the kernel and of the functions that it calls.
	Written int `json:"checksWritten"`
	// CPU describes how the CPU device runs the kernel's blocks, and why it does not use vector code or a twin.
	CPU string `json:"cpu"`
	// Variants are in the order of the kernel's variants. The variant with the most assumptions comes first.
	Variants []VariantReport `json:"variants"`
}

// VariantReport describes the code of one variant of a kernel. See driver.Variant for narrow, coarse and aligned
// variants.
type VariantReport struct {
	Name         string `json:"name"`             // "sm_70" or "sm_70 narrow coarse", preceded by the body's name unless the body is the kernel's own function
	Instructions int    `json:"instructions"`     // PTX instructions
	Registers    int    `json:"registers"`        // maximum number of live 32-bit registers, an estimate of what ptxas allocates
	Local        int    `json:"localBytes"`       // bytes of local memory per thread, for values that are not in registers
	Shared       int    `json:"sharedBytes"`      // bytes of shared memory per block
	Coarse       int    `json:"coarse"`           // elements per thread, or 0 if the variant is not coarse
	Loads        Access `json:"loads"`            // loads from global memory
	Stores       Access `json:"stores"`           // stores to global memory
	Loops        int    `json:"loops"`            // remaining loops
	Notes        []Note `json:"notes,omitempty"`  // transformed loops and bypassed checks
	Checks       []Left `json:"checks,omitempty"` // remaining checks
}

// Access counts the instructions that access global memory, by width.
type Access struct {
	Wide   int `json:"wide"`   // 16 bytes
	Half   int `json:"half"`   // several numbers, 8 bytes or fewer
	Single int `json:"single"` // one number
}

// A Note describes a transformed loop, or checks that the kernel bypasses if a condition at the kernel's
// start holds.
type Note struct {
	Place  string `json:"place"`            // a position in the loop, or of the first check: "file.go:12"
	What   string `json:"what"`             // "unrolled"; "joined" (unrolled in part); "too large" (not unrolled, although a directive demands that); "versioned" (the loop has a copy without checks); "bounded" (the kernel has a copy with fewer checks)
	Rounds int    `json:"rounds,omitempty"` // for "unrolled", the number of iterations; for "joined" and "too large", the factor by which to unroll; for "bounded", the number of bypassed checks; otherwise 0
}

// Left is a check or a panic that remains in a kernel.
type Left struct {
	Place   string `json:"place"`         // "file.go:12:4"
	Message string `json:"message"`       // the format of the fault's message
	Loop    bool   `json:"loop"`          // whether the check is in a loop
	Why     string `json:"why,omitempty"` // why the check cannot be removed, if known

	pos ir.Pos
}

// Report returns the reports on all kernels, if the build had Options.Report.
func (r *Result) Report() []*Report {
	var all []*Report
	for _, p := range r.Packages {
		for _, k := range p.Kernels {
			if k.Report != nil {
				k.Report.CPU = k.CPU
				all = append(all, k.Report)
			}
		}
	}
	return all
}

// Best returns the report on the variant for launches that meet all assumptions.
func (r *Report) Best() VariantReport { return r.Variants[0] }

// WriteReportsJSON writes the reports to w as a JSON array.
func WriteReportsJSON(w io.Writer, reports []*Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(append([]*Report{}, reports...))
}

// newReport returns the report on a kernel, without its variants.
func newReport(j *job) *Report {
	r := &Report{Package: j.compiled.Package, Kernel: j.compiled.Name, File: baseName(j.compiled.File), Line: j.compiled.Line}
	seen := map[*ir.Func]bool{}
	for _, b := range j.bodies {
		r.Written += written(b.ir, seen)
	}
	return r
}

// written counts the checks in f and in the functions that it calls.
func written(f *ir.Func, seen map[*ir.Func]bool) (n int) {
	if seen[f] {
		return 0
	}
	seen[f] = true
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			switch v.Op {
			case ir.OpCheck:
				n++
			case ir.OpCall:
				n += written(v.Aux.(*ir.Func), seen)
			}
		}
	}
	return n
}

// variantReport describes variant v, whose code is f. It takes the names of parameters from k.
func variantReport(f *ir.Func, v driver.Variant, k *Kernel, shared int) VariantReport {
	dom := ir.Dominators(f)
	loops := analysis.Loops(dom)
	r := VariantReport{
		Name: variantName(v), Instructions: instructions(v.PTX.String()), Registers: analysis.Pressure(dom),
		Shared: shared, Coarse: f.Coarse, Loops: len(loops),
	}
	for _, n := range f.Notes {
		r.Notes = append(r.Notes, Note{Place: fmt.Sprintf("%s:%d", n.Pos.File, n.Pos.Line), What: string(n.Kind), Rounds: n.Count})
	}
	for _, b := range dom.Order() {
		looped := slices.ContainsFunc(loops, func(l *analysis.Loop) bool { return l.Contains(b) })
		for _, v := range b.Values {
			r.add(v, looped, k)
		}
	}
	slices.SortStableFunc(r.Checks, func(a, b Left) int {
		return cmp.Or(cmp.Compare(a.pos.File, b.pos.File), cmp.Compare(a.pos.Line, b.pos.Line), cmp.Compare(a.pos.Col, b.pos.Col))
	})
	r.Checks = slices.CompactFunc(r.Checks, func(a, b Left) bool { return a.Place == b.Place && a.Message == b.Message })
	return r
}

// order sorts the reports on variants into the order of variants.
func (r *Report) order(variants []driver.Variant) {
	place := func(name string) int {
		return slices.IndexFunc(variants, func(v driver.Variant) bool { return variantName(v) == name })
	}
	slices.SortFunc(r.Variants, func(a, b VariantReport) int { return cmp.Compare(place(a.Name), place(b.Name)) })
}

// add counts v.
func (r *VariantReport) add(v *ir.Value, looped bool, k *Kernel) {
	switch v.Op {
	case ir.OpAlloca:
		r.Local += int(v.Aux.(*ir.Type).Size() * max(v.Imm, 1))
	case ir.OpLoad:
		r.Loads.add(v.Args[0].Type.Space, v.Type)
	case ir.OpStore:
		r.Stores.add(v.Args[0].Type.Space, v.Args[1].Type)
	case ir.OpCheck, ir.OpFault:
		r.Checks = append(r.Checks, left(v, looped, k))
	}
}

func (a *Access) add(space ir.Space, t *ir.Type) {
	switch {
	case space != ir.Global && space != ir.Generic:
	case t.IsScalar():
		a.Single++
	case t.Size() == 16:
		a.Wide++
	default:
		a.Half++
	}
}

// instructions counts the instructions in PTX text.
func instructions(text string) (n int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "\t.") {
			n++
		}
	}
	return n
}

// variantName returns a variant's target and assumptions, as in VariantReport.Name.
func variantName(v driver.Variant) string {
	words := []string{architecture(v.Target, v.Exact)}
	if v.Body != "" {
		words = slices.Insert(words, 0, v.Body)
	}
	if v.Narrow {
		words = append(words, "narrow")
	}
	if v.Coarse > 0 {
		words = append(words, "coarse")
	}
	if v.Aligned {
		words = append(words, "aligned")
	}
	return strings.Join(words, " ")
}
