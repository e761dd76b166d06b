package decl

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// prefix begins every directive; Go wants no space after the slashes.
const prefix = "//gpu:"

// maxThreads is the most threads that a block has on any NVIDIA GPU (CUDA programming guide,
// technical specifications per compute capability).
const maxThreads = 1024

// maxZ is the largest block along z on any NVIDIA GPU.
const maxZ = 64

// directive is a comment that begins with prefix.
type directive struct {
	comment   *ast.Comment
	pos       token.Pos
	name, arg string
}

// known lists the directives, for the help of an unknown one.
const known = "the directives are kernel, block X[,Y[,Z]], cluster X[,Y[,Z]], resident N, assume narrow|aligned|nothing, contract on|off, target sm_NN, twin off, unroll N, variant KERNEL, instance KERNEL[TYPES] and, for packages, ondemand, each with the prefix //gpu:"

// spacedPrefix begins a comment that is not a directive, because it has a space.
const spacedPrefix = "// gpu:"

// spacedDirective matches comments that would be directives without their space. Sentences about directives have more words.
var spacedDirective = regexp.MustCompile(`^// gpu:(kernel|ondemand|(block|cluster|resident|assume|contract|target|twin|unroll|variant|instance) \S+)(\s*//.*)?$`)

// spaced reports comments that would be directives without their space.
func (s *scanner) spaced(group *ast.CommentGroup) {
	for _, c := range group.List {
		if m := spacedDirective.FindStringSubmatch(strings.TrimSpace(c.Text)); m != nil {
			s.report(c.Slash, diag.DirectiveUnknown, "%q is not a directive, because it has a space after the slashes", spacedPrefix+m[1]).
				Help = "write " + prefix + m[1]
		}
	}
}

// directives returns those of a comment group.
func (s *scanner) directives(group *ast.CommentGroup) []directive {
	var found []directive
	for _, c := range group.List {
		text, ok := strings.CutPrefix(c.Text, prefix)
		if !ok {
			continue
		}
		text, _, _ = strings.Cut(text, "//")
		name, arg, _ := strings.Cut(strings.TrimSpace(text), " ")
		found = append(found, directive{c, c.Slash, name, strings.TrimSpace(arg)})
	}
	return found
}

const twiceHelp = "remove one of the two"

// apply sets in k what the directives ask for.
func (s *scanner) apply(k *Kernel, directives []directive) {
	seen := map[string]bool{}
	for _, d := range directives {
		if seen[d.name] {
			s.report(d.pos, diag.DirectiveTwice, "kernel %s has %s%s twice", k.Name, prefix, d.name).Help = twiceHelp
			continue
		}
		seen[d.name] = true
		switch d.name {
		case "kernel":
			if d.arg != "" {
				s.report(d.pos, diag.DirectiveArgument, "//gpu:kernel takes no argument, but has %q", d.arg).
					Help = "write //gpu:kernel alone, and other directives on lines of their own"
			}
		case "block":
			k.Block = s.block(d)
		case "cluster":
			k.Cluster = s.cluster(d)
		case "resident":
			k.Resident = s.resident(d)
		case "assume":
			k.Assume = s.assume(d)
		case "contract":
			k.Contract = s.contract(d)
		case "twin":
			k.Native = s.twin(d)
		case "target":
			k.Target = s.target(d)
		case "unroll":
			s.stray(d)
		case "variant":
			s.report(d.pos, diag.KernelVariant, "kernel %s cannot be a variant of another", k.Name).
				Help = "remove //gpu:kernel; the launcher of the other kernel chooses between the two functions"
		default:
			s.unknown(d)
		}
	}
}

// assume reads the properties of //gpu:assume.
func (s *scanner) assume(d directive) Assume {
	a := Assume{Given: true}
	for word := range strings.SplitSeq(d.arg, ",") {
		switch strings.TrimSpace(word) {
		case "narrow":
			a.Narrow = true
		case "aligned":
			a.Aligned = true
		case "nothing":
			if d.arg == "nothing" {
				return a
			}
			fallthrough
		default:
			s.report(d.pos, diag.DirectiveArgument, "the argument of //gpu:assume must be narrow, aligned, both or nothing, not %q", d.arg).
				Help = "write //gpu:assume narrow,aligned if all launches of the kernel are narrow and aligned; the compiler then emits code for no others"
			return Assume{}
		}
	}
	return a
}

func (s *scanner) contract(d directive) string {
	if d.arg != "on" && d.arg != "off" {
		s.report(d.pos, diag.DirectiveArgument, "the argument of //gpu:contract must be on or off, not %q", d.arg).
			Help = "with off, a product and a sum are rounded separately, as by Go on amd64"
	}
	return d.arg
}

// twin reports whether //gpu:twin omits the twin.
func (s *scanner) twin(d directive) bool {
	if d.arg != "off" {
		s.report(d.pos, diag.DirectiveArgument, "the argument of //gpu:twin must be off, not %q", d.arg).
			Help = "without the directive, the compiler decides whether generated code runs the kernel faster on a CPU than its Go function"
	}
	return d.arg == "off"
}

// architecture matches the names of targets as PTX and nvcc have them.
var architecture = regexp.MustCompile(`^sm_([0-9]+)([0-9])(a?)$`)

func (s *scanner) target(d directive) Target {
	m := architecture.FindStringSubmatch(d.arg)
	if m == nil {
		s.report(d.pos, diag.DirectiveArgument, "the argument of //gpu:target must be an architecture, not %q", d.arg).
			Help = "write //gpu:target sm_80, for GPUs of compute capability 8.0 and later, or sm_90a, for 9.0 only"
		return Target{}
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return Target{driver.Capability{Major: major, Minor: minor}, m[3] != "", s.fset.Position(d.pos)}
}

// maxUnroll is the largest number of iterations that a loop may become one of.
const maxUnroll = 128

// unroll checks the number of //gpu:unroll, which the frontend reads.
func (s *scanner) unroll(d directive) {
	if n, err := strconv.Atoi(d.arg); err != nil || n < 1 || n > maxUnroll {
		s.report(d.pos, diag.DirectiveArgument, "//gpu:unroll takes a number of iterations from 1 to %d, not %q", maxUnroll, d.arg).
			Help = "write //gpu:unroll 4 to let four iterations follow each other, or //gpu:unroll 1 to forbid that"
	}
}

// loopLines returns the lines at which for statements of a file begin.
func (s *scanner) loopLines(f *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ForStmt, *ast.RangeStmt:
			lines[s.fset.Position(n.Pos()).Line] = true
		}
		return true
	})
	return lines
}

func (s *scanner) unknown(d directive) {
	s.report(d.pos, diag.DirectiveUnknown, "unknown directive %s%s", prefix, d.name).Help = known
}

// stray reports a directive that belongs to no kernel.
func (s *scanner) stray(d directive) {
	switch d.name {
	case "kernel":
		s.report(d.pos, diag.DirectiveStray, "//gpu:kernel is not in the doc comment of a function").
			Help = "put it in the comment directly above the function"
	case "unroll":
		s.report(d.pos, diag.DirectiveStray, "//gpu:unroll is not on the line before a for statement").
			Help = "put it on a line of its own directly above the loop that it is for"
	case "ondemand":
		s.report(d.pos, diag.DirectiveStray, "//gpu:ondemand is not in the doc comment of a package").
			Help = "put it in the comment directly above a package clause"
	case "block", "assume", "cluster", "resident", "contract", "target", "twin", "variant":
		s.report(d.pos, diag.DirectiveStray, "%s%s without //gpu:kernel", prefix, d.name).
			Help = "put it in the doc comment of a kernel"
	default:
		s.unknown(d)
	}
}

// block reads the sizes of //gpu:block.
func (s *scanner) block(d directive) driver.Dim {
	sizes, ok := d.sizes(maxThreads)
	switch {
	case !ok:
		s.report(d.pos, diag.DirectiveBlock, "//gpu:block takes one to three sizes from 1 to %d, not %q", maxThreads, d.arg).
			Help = "write //gpu:block 256 or //gpu:block 16,16"
		return driver.Dim{}
	case sizes[0]*sizes[1]*sizes[2] > maxThreads:
		s.report(d.pos, diag.DirectiveBlock, "//gpu:block %s makes %d threads; a block has at most %d", d.arg, sizes[0]*sizes[1]*sizes[2], maxThreads).
			Help = "reduce a size, such as //gpu:block 32,8, and launch more blocks"
	case sizes[2] > maxZ:
		s.report(d.pos, diag.DirectiveBlock, "//gpu:block %s has %d threads along z; a block has at most %d", d.arg, sizes[2], maxZ).
			Help = "make the block larger along x or y instead"
	}
	return driver.Dim{X: sizes[0], Y: sizes[1], Z: sizes[2]}
}

// sizes reads one to three sizes from 1 to most.
func (d directive) sizes(most int) (sizes [3]int, ok bool) {
	sizes = [3]int{1, 1, 1}
	words := strings.Split(d.arg, ",")
	ok = d.arg != "" && len(words) <= len(sizes)
	for i := 0; ok && i < len(words); i++ {
		n, err := strconv.Atoi(strings.TrimSpace(words[i]))
		ok = err == nil && n > 0 && n <= most
		sizes[i] = n
	}
	return sizes, ok
}

// maxResident is the most blocks that a multiprocessor of any NVIDIA GPU runs at a time.
const maxResident = 32

// resident reads the number of //gpu:resident.
func (s *scanner) resident(d directive) int {
	n, err := strconv.Atoi(d.arg)
	if err != nil || n < 1 || n > maxResident {
		s.report(d.pos, diag.DirectiveBlock, "//gpu:resident takes a number from 1 to %d, not %q", maxResident, d.arg).
			Help = "write, for example, //gpu:resident 2 to fit two blocks on a multiprocessor"
		return 0
	}
	return n
}

// maxCluster is the most blocks in a cluster on any NVIDIA GPU.
const maxCluster = 16

// cluster reads the sizes of //gpu:cluster.
func (s *scanner) cluster(d directive) driver.Dim {
	sizes, ok := d.sizes(maxCluster)
	if !ok || sizes[0]*sizes[1]*sizes[2] > maxCluster {
		s.report(d.pos, diag.DirectiveBlock, "//gpu:cluster takes one to three sizes with a product of at most %d, not %q", maxCluster, d.arg).
			Help = "write //gpu:cluster 2 or //gpu:cluster 2,2; every GPU with clusters supports up to 8 blocks"
		return driver.Dim{}
	}
	return driver.Dim{X: sizes[0], Y: sizes[1], Z: sizes[2]}
}
