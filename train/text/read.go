package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// Data has the texts of files.
type Data struct {
	Examples []Example // in the order of the files
	length   int
}

// Tokens returns the number of tokens of all texts, and the number of learned tokens.
func (d *Data) Tokens() (total, learned int) {
	for _, e := range d.Examples {
		total += e.size()
		learned += e.learned()
	}
	return total, learned
}

// learned returns the number of tokens to learn.
func (e Example) learned() (n int) {
	if e.Rejected != nil {
		n = e.Rejected.learned()
	}
	for _, l := range e.Learned {
		if l {
			n++
		}
	}
	return n
}

// mostErrors is the number of errors of lines that Read returns.
const mostErrors = 10

// Read reads files of JSON lines. Empty lines have no effect. The error joins the first ten LineErrors, matches ErrEmpty or ErrOptions, or
// is an error of reading a file.
func Read(files []string, o Options) (*Data, error) {
	if o.Tokenizer == nil || o.Length < 2 {
		return nil, fmt.Errorf("%w: a tokenizer, and a length of 2 or more, are needed; the length is %d", ErrOptions, o.Length)
	}
	d := &Data{length: o.Length}
	for _, name := range files {
		list, err := o.read(name)
		if err != nil {
			return nil, err
		}
		d.Examples = append(d.Examples, list...)
	}
	if _, learned := d.Tokens(); learned == 0 {
		return nil, fmt.Errorf("%w in %q", ErrEmpty, files)
	}
	return d, nil
}

// line is a line of a file.
type line struct {
	number int
	text   []byte
}

// read reads a file.
func (o Options) read(name string) ([]Example, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := linesOf(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
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
		if err != nil && len(bad) < mostErrors {
			bad = append(bad, &LineError{File: name, Line: lines[i].number, Err: err})
		}
	}
	return list, errors.Join(bad...)
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
