package compile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// List writes the lines of Go of each kernel of the result. After each line, it writes the IR and
// the PTX that the line is compiled to.
func List(w io.Writer, r *Result) error {
	out := bufio.NewWriter(w)
	for _, p := range r.Packages {
		for _, k := range p.Kernels {
			if err := list(out, p, k); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}

// A sourceLine is a line of a source file.
type sourceLine struct {
	file string // base name
	n    int
}

// String returns "file:line".
func (l sourceLine) String() string {
	if l.file == "" {
		return "without a line"
	}
	return fmt.Sprintf("%s:%d", l.file, l.n)
}

func list(w io.Writer, p *Package, k *Kernel) error {
	fmt.Fprintf(w, "%s.%s (%s:%d), %d bytes of parameters, %d bytes of shared memory, CPU: %s\n",
		p.Path, k.Name, filepath.Base(k.File), k.Line, k.ParamBytes, k.Shared+k.Dynamic, k.CPU)
	made := map[sourceLine][]string{}
	for _, b := range k.IR.Blocks {
		for _, v := range b.Values {
			at := sourceLine{v.Pos.File, v.Pos.Line}
			text, _, _ := strings.Cut(v.LongString(), " !") // the position is the heading
			made[at] = append(made[at], fmt.Sprintf("ir   b%d  %s", b.ID, text))
		}
	}
	for at, text := range ptxLines(k.Variants[0]) { // made of k.IR
		made[at] = append(made[at], text...)
	}
	source := map[string][]string{}
	for _, at := range order(k, made) {
		text, err := goLine(source, p.Dir, at)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "\n%s\t%s\n", at, text)
		for _, m := range made[at] {
			fmt.Fprintf(w, "\t\t%s\n", m)
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// order returns the lines that something was made of, the kernel's own file first.
func order(k *Kernel, made map[sourceLine][]string) []sourceLine {
	own := filepath.Base(k.File)
	return slices.SortedFunc(maps.Keys(made), func(a, b sourceLine) int {
		if (a.file == own) != (b.file == own) {
			return cmp.Compare(strconv.FormatBool(b.file == own), strconv.FormatBool(a.file == own))
		}
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.n, b.n))
	})
}

// goLine returns a line of a file of the package; those of other packages are not shown.
func goLine(source map[string][]string, dir string, at sourceLine) (string, error) {
	lines, ok := source[at.file]
	if !ok && at.file != "" {
		text, err := os.ReadFile(filepath.Join(dir, at.file))
		if err != nil && !os.IsNotExist(err) {
			return "", err
		}
		lines = strings.Split(string(text), "\n")
		source[at.file] = lines
	}
	if at.n < 1 || at.n > len(lines) {
		return "", nil
	}
	return lines[at.n-1], nil
}

// ptxLines returns the instructions of a variant by the line that its .loc directives name.
func ptxLines(v driver.Variant) map[sourceLine][]string {
	files := map[string]string{}
	made := map[sourceLine][]string{}
	var at sourceLine
	for text := range strings.Lines(v.PTX.String()) {
		words := strings.Fields(text)
		switch {
		case len(words) == 3 && words[0] == ".file":
			files[words[1]] = strings.Trim(words[2], `"`)
		case len(words) == 4 && words[0] == ".loc":
			n, _ := strconv.Atoi(words[2])
			at = sourceLine{files[words[1]], n}
		case strings.HasPrefix(text, "$FAULT"):
			at = sourceLine{} // what follows serves every check
		case strings.HasPrefix(text, "\t") && !strings.HasPrefix(text, "\t."):
			made[at] = append(made[at], "ptx  "+strings.TrimSpace(text))
		}
	}
	return made
}
