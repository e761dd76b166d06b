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

// Report says what became of a kernel, as far as it matters to its speed.
type Report struct {
	Package string `json:"package"`
	Kernel  string `json:"kernel"`
	File    string `json:"file"` // base name
	Line    int    `json:"line"`
	// Written is how many checks Go makes where the kernel and what it calls are written.
	Written int `json:"checksWritten"`
	// CPU says how blocks run on the CPU; where that is not a loop, why.
	CPU string `json:"cpu"`
	// Variants are in the order of the kernel's, the most demanding first.
	Variants []VariantReport `json:"variants"`
}

// VariantReport says what is in one of a kernel's PTX files.
type VariantReport struct {
	Name         string `json:"name"`             // "sm_70", "sm_70 narrow coarse", with the function's name in front where it is not the kernel's own
	Instructions int    `json:"instructions"`     // of PTX
	Registers    int    `json:"registers"`        // of 32 bits that values take at once at most: about what ptxas needs
	Local        int    `json:"localBytes"`       // of memory that each thread has for what did not become registers
	Shared       int    `json:"sharedBytes"`      // of a block
	Coarse       int    `json:"coarse"`           // elements that a thread does, where those are several
	Loads        Access `json:"loads"`            // from global memory
	Stores       Access `json:"stores"`           // to it
	Loops        int    `json:"loops"`            // that are left
	Notes        []Note `json:"notes,omitempty"`  // what became of others
	Checks       []Left `json:"checks,omitempty"` // that are left
}

// Access counts instructions that access global memory by the bytes that each takes at once.
type Access struct {
	Wide   int `json:"wide"`   // 16
	Half   int `json:"half"`   // 8, of several numbers
	Single int `json:"single"` // one number
}

// Note says what became of a loop, or of checks.
type Note struct {
	Place  string `json:"place"`            // in the loop, or of the first check: "file.go:12"
	What   string `json:"what"`             // "unrolled", "joined", "versioned": a copy runs without checks; or "bounded": the kernel does
	Rounds int    `json:"rounds,omitempty"` // or checks without which the kernel runs
}

// Left is a check that a kernel still makes, or a panic.
type Left struct {
	Place   string `json:"place"`   // "file.go:12:4"
	Message string `json:"message"` // of the fault
	Loop    bool   `json:"loop"`    // every round of a loop makes it
	Why     string `json:"why,omitempty"`

	pos ir.Pos
}

// Report returns the reports on all kernels of a build with Options.Report.
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

// Best returns the variant that launches take which fit in every way.
func (r *Report) Best() VariantReport { return r.Variants[0] }

// WriteReportsJSON writes reports as an array.
func WriteReportsJSON(w io.Writer, reports []*Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(append([]*Report{}, reports...))
}

// newReport returns the report on a kernel without variants.
func newReport(j *job) *Report {
	r := &Report{Package: j.compiled.Package, Kernel: j.compiled.Name, File: baseName(j.compiled.File), Line: j.compiled.Line}
	seen := map[*ir.Func]bool{}
	for _, b := range j.bodies {
		r.Written += written(b.ir, seen)
	}
	return r
}

// written counts the checks in f and in what it calls.
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

// variantReport describes the code of f, which v holds. The kernel has its parameters' names.
func variantReport(f *ir.Func, v driver.Variant, k *Kernel, shared int) VariantReport {
	dom := ir.Dominators(f)
	loops := analysis.Loops(dom)
	r := VariantReport{
		Name: variantName(v), Instructions: instructions(v.PTX), Registers: analysis.Pressure(dom),
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

// order puts the reports on variants in the order of these.
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

// instructions counts those of PTX text.
func instructions(text string) (n int) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, "\t.") {
			n++
		}
	}
	return n
}

// variantName returns what a variant is for.
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
