package report

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Files names the files that a command reads and writes besides its report. An empty name stands for no file.
type Files struct {
	Compare string   // an earlier report
	Add     []string // reports whose cases are added
	JSON    string   // where the report is written for ReadFile
	HTML    string   // where the page is written
}

// Present gets a report, adds the cases of the reports f.Add, and writes the result to out and to the files f.JSON and f.HTML. It also writes to out
// what has changed since the report f.Compare. If cases of the report failed, the error names them.
func (f Files) Present(out io.Writer, get func() (*Report, error)) error {
	var earlier *Report
	var err error
	if f.Compare != "" {
		if earlier, err = ReadFile(f.Compare); err != nil {
			return err
		}
	}
	r, err := get()
	if err != nil {
		return err
	}
	for _, name := range f.Add {
		more, err := ReadFile(name)
		if err != nil {
			return err
		}
		r.Join(more)
	}
	return f.write(out, r, earlier)
}

// write shows the report, and fails if a case did.
func (f Files) write(out io.Writer, r, earlier *Report) error {
	errs := []error{r.WriteTable(out)}
	if earlier != nil {
		errs = append(errs, r.WriteChanges(out, earlier))
	}
	errs = append(errs, toFile(f.JSON, r.WriteJSON), toFile(f.HTML, r.WritePage))
	if failed := r.Failed(); len(failed) > 0 {
		errs = append(errs, fmt.Errorf("bench: failed: %s", strings.Join(failed, ", ")))
	}
	return errors.Join(errs...)
}

// ReadFile reads the report in the named file.
func ReadFile(name string) (*Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// toFile writes the named file with write, if there is a name.
func toFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
