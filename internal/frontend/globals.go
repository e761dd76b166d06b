package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// table is a package-level variable that nothing writes.
type table struct{ v *ir.Variable }

func (l *lowerer) global(g *ssa.Global) *ir.Value {
	l.refuse(diag.LangGlobal, "hand it over as a parameter, or make it a constant", "a kernel cannot use the package-level variable %s", g.Name())
	return nil
}
