package corpus

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// kernelsName is the name of the package that kernels are checked in.
const kernelsName = "kernels"

// addShared parses the declarations that all kernels share.
func (l *Library) addShared() (err error) {
	text := progen.Package(kernelsName, nil)["shared.go"]
	l.shared, err = parser.ParseFile(l.fset, "shared.go", text, parser.SkipObjectResolution)
	return err
}

// check type-checks a kernel as package compare and the compiler will see it.
func (l *Library) check(k progen.Kernel) error {
	text := progen.Package(kernelsName, []progen.Kernel{k})[k.Name+".go"]
	f, err := parser.ParseFile(l.fset, k.Name+".go", text, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	_, err = l.config().Check(kernelsName, l.fset, []*ast.File{l.shared, f}, &types.Info{})
	return err
}
