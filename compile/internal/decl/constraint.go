package decl

import (
	"go/ast"
	"go/build/constraint"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// constrained is a place in a file that generated files refer to.
type constrained struct {
	pos        token.Pos
	what       string // "kernel add"
	constraint string // of the file; "" without one
}

// needs notes that generated files refer to what f declares at pos.
func (s *scanner) needs(f *ast.File, pos token.Pos, what string) {
	name := filepath.Base(s.fset.Position(f.Package).Filename)
	if !strings.HasSuffix(name, "_test.go") {
		s.constrained = append(s.constrained, constrained{pos, what, constraintOf(name, f)})
	}
}

// constrain finds the constraint that all files with kernels have, which the generated files then have too. A build without one of them
// would not have what a generated file refers to, so it reports files with different ones.
func (s *scanner) constrain() {
	for i, c := range s.constrained {
		if i == 0 {
			s.Constraint = c.constraint
			continue
		}
		if c.constraint == s.Constraint {
			continue
		}
		s.report(c.pos, diag.KernelConstraint, "%s is in a file %s, but %s is in a file %s",
			c.what, said(c.constraint), s.constrained[0].what, said(s.Constraint)).
			Help = "use the same //go:build line in all files of the package that contain kernels, or move the kernel to a separate package"
	}
}

// said returns a constraint for a sentence.
func said(constraint string) string {
	if constraint == "" {
		return "for all builds"
	}
	return "for builds with " + constraint
}

// constraintOf returns the expression on which it depends whether a build has the file, by its //go:build line and its name.
func constraintOf(base string, f *ast.File) string {
	var x constraint.Expr
	for _, group := range f.Comments {
		if group.Pos() > f.Package {
			break
		}
		for _, c := range group.List {
			if !constraint.IsGoBuild(c.Text) {
				continue
			}
			if line, err := constraint.Parse(c.Text); err == nil {
				x = line
			}
		}
	}
	for _, tag := range tagsOf(base) {
		if t := (&constraint.TagExpr{Tag: tag}); x == nil {
			x = t
		} else {
			x = &constraint.AndExpr{X: x, Y: t}
		}
	}
	if x == nil {
		return ""
	}
	return x.String()
}

// The systems and architectures that the name of a file can end with, see "go help buildconstraint".
var (
	systems = strings.Fields("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris " +
		"wasip1 windows zos")
	architectures = strings.Fields("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 " +
		"mips64p32le ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)

// tagsOf returns the tags that the name of a file implies: linux and amd64 for a_linux_amd64.go.
func tagsOf(base string) []string {
	parts := strings.Split(strings.TrimSuffix(base, ".go"), "_")[1:]
	n := len(parts)
	switch {
	case n >= 2 && slices.Contains(systems, parts[n-2]) && slices.Contains(architectures, parts[n-1]):
		return parts[n-2:]
	case n >= 1 && (slices.Contains(systems, parts[n-1]) || slices.Contains(architectures, parts[n-1])):
		return parts[n-1:]
	}
	return nil
}
