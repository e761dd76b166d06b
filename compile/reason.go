package compile

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func baseName(file string) string { return filepath.Base(file) }

// left describes a remaining check, or a fault that failed checks lead to.
func left(v *ir.Value, looped bool, k *Kernel) Left {
	site := v.Aux.(*ir.Site)
	args := v.Args
	if v.Op == ir.OpCheck {
		args = args[1:]
	}
	l := Left{Place: v.Pos.String(), Message: site.Format, Loop: looped, pos: v.Pos}
	if len(args) < len(site.Args) || len(site.Args) == 0 {
		return l
	}
	index, limit := sources(args[0], k), ""
	if len(site.Args) > 1 {
		limit = sources(args[1], k)
	}
	switch {
	case strings.HasPrefix(site.Format, "index out of range") && limit != "" && index != "":
		l.Why = fmt.Sprintf("the index comes from %s and is not known to be within %s", index, limit)
	case strings.HasPrefix(site.Format, "index out of range") && limit != "":
		l.Why = "the index is not known to be within " + limit
	case index != "":
		l.Why = "it depends on " + index
	}
	return l
}

// maxSources is the maximum number of values that sources visits.
const maxSources = 60

// sources describes, in the user's terms, what v is computed from. It returns "" if that is not known.
func sources(v *ir.Value, k *Kernel) string {
	var words []string
	add := func(word string) {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	seen := map[*ir.Value]bool{v: true}
	counted := false // by a loop
	for work := []*ir.Value{v}; len(work) > 0 && len(seen) < maxSources; {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if word := source(x, k); word != "" {
			add(word)
			continue
		}
		counted = counted || x.Op == ir.OpPhi
		for _, a := range x.Args {
			if !seen[a] && a.Type.Kind != ir.KindI1 {
				seen[a] = true
				work = append(work, a)
			}
		}
	}
	if v.Op == ir.OpConst {
		return fmt.Sprint(v.Imm)
	}
	if counted && len(words) == 0 {
		return "a loop counter"
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// source names a value whose operands sources does not visit, or returns "".
func source(v *ir.Value, k *Kernel) string {
	switch v.Op {
	case ir.OpParam:
		return parameter(int(v.Imm), k)
	case ir.OpTid, ir.OpCtaid, ir.OpNTid, ir.OpNCtaid, ir.OpLane:
		return "the thread's position"
	case ir.OpLoad:
		return "memory"
	}
	if !v.Op.Pure() && v.Op != ir.OpPhi {
		return "the result of " + v.Op.String()
	}
	return ""
}

// parameter names the parameter, or its length or capacity, at an offset of the parameter block.
func parameter(offset int, k *Kernel) string {
	for _, p := range k.Params {
		switch {
		case offset < p.Offset || offset >= p.Offset+p.Size:
		case p.Elem > 0 && offset == p.Offset+8:
			return "len(" + p.Name + ")"
		case p.Elem > 0 && offset == p.Offset+16:
			return "cap(" + p.Name + ")"
		default:
			return p.Name
		}
	}
	return "the launch"
}
