package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Data has the texts of files.
type Data struct {
	Examples []Example // the texts with tokens to learn, in the order of the files
	// Dropped has an error for each line in which nothing can be learned, for example because Options.Truncate removed everything after
	// the prompt. The errors match ErrEmpty.
	Dropped []*LineError
	length  int
}

// Tokens returns the number of tokens of all texts, and the number of tokens that the model learns to predict.
func (d *Data) Tokens() (total, learned int) {
	for _, e := range d.Examples {
		total += e.size()
		learned += e.learned()
	}
	return total, learned
}

// learned returns the number of tokens to learn. Nothing predicts the first token of a text.
func (e Example) learned() (n int) {
	if e.Rejected != nil {
		n = e.Rejected.learned()
	}
	for i, l := range e.Learned {
		if l && i > 0 {
			n++
		}
	}
	return n
}

// teaches returns an error that matches ErrEmpty if the model can learn nothing from an example, or not from both answers of a preference.
func (o Options) teaches(e Example) error {
	switch r := e.Rejected; {
	case r == nil && e.learned() == 0:
		return fmt.Errorf("%w among its %d tokens%s", ErrEmpty, len(e.Tokens), o.hint())
	case r == nil:
	case e.learned() == r.learned() || r.learned() == 0: // e's number includes that of r
		return fmt.Errorf("%w among the %d tokens of an answer with its prompt%s", ErrEmpty, min(len(e.Tokens), len(r.Tokens)), o.hint())
	case slices.Equal(e.Tokens, r.Tokens):
		return fmt.Errorf("%w: the %d tokens of both answers with their prompt are equal%s", ErrEmpty, len(e.Tokens), o.hint())
	}
	return nil
}

// hint ends a sentence about an example.
func (o Options) hint() string {
	switch {
	case !o.Truncate:
		return ""
	case o.Preferences:
		return fmt.Sprintf("; both are cut after %d", o.Length/2)
	}
	return fmt.Sprintf("; texts are cut after %d", o.Length)
}

// mostErrors is the number of errors of lines that Read returns.
const mostErrors = 10

// Read reads files of JSON lines. Empty lines have no effect. Lines with nothing to learn are in Data.Dropped. The error joins the first ten LineErrors, matches ErrEmpty or ErrOptions, or
// is an error of reading a file.
func Read(files []string, o Options) (*Data, error) {
	if o.Tokenizer == nil || o.Length < 2 {
		return nil, fmt.Errorf("%w: a tokenizer, and a length of 2 or more, are needed; the length is %d", ErrOptions, o.Length)
	}
	d := &Data{length: o.Length}
	for _, name := range files {
		if err := o.read(name, d); err != nil {
			return nil, err
		}
	}
	switch {
	case len(d.Examples) > 0:
	case len(d.Dropped) > 0:
		return nil, fmt.Errorf("%w in %q: all %d texts are dropped, the first one for this reason: %w", ErrEmpty, files, len(d.Dropped), d.Dropped[0])
	default:
		return nil, fmt.Errorf("%w in %q", ErrEmpty, files)
	}
	return d, nil
}

// line is a line of a file.
type line struct {
	number int
	text   []byte
}

// read adds the examples of a file.
func (o Options) read(name string, d *Data) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines, err := linesOf(f)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	list, errs := make([]Example, len(lines)), make([]error, len(lines))
	parallel(len(lines), func(i int) {
		var r Record
		if r, errs[i] = ParseLine(lines[i].text); errs[i] == nil {
			list[i], errs[i] = o.Encode(r)
		}
	})
	var bad []error
	for i, err := range errs {
		switch {
		case err == nil:
			if err := o.teaches(list[i]); err != nil {
				d.Dropped = append(d.Dropped, &LineError{File: name, Line: lines[i].number, Err: err})
				continue
			}
			d.Examples = append(d.Examples, list[i])
		case len(bad) < mostErrors:
			bad = append(bad, &LineError{File: name, Line: lines[i].number, Err: err})
		}
	}
	return errors.Join(bad...)
}

// byteOrderMark is what some programs write at the start of a file.
const byteOrderMark = "\ufeff"

// linesOf returns the lines that are not empty, without a byte order mark.
func linesOf(r io.Reader) (list []line, err error) {
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		if number == 1 {
			text = bytes.TrimPrefix(text, []byte(byteOrderMark))
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			list = append(list, line{number, text})
		}
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
	}
}

// parallel calls f with the numbers below n, on all cores.
func parallel(n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}
