package gguf

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Metadata keys of a part of a split model, as llama.cpp's gguf-split writes them.
const (
	splitNumberKey  = "split.no"
	splitCountKey   = "split.count"
	splitTensorsKey = "split.tensors.count"
)

// part is a file's place in a split model.
type part struct {
	number  int // from 0
	count   int // 0 or 1 for a file that is not split
	tensors int // of all parts, or -1 if unknown
}

func (p part) errorf(format string, args ...any) error {
	return fmt.Errorf("%w: part %d of a model of %d files %s", weights.ErrFormat, p.number+1, p.count, fmt.Sprintf(format, args...))
}

// partOf reads the place of a file from its metadata.
func partOf(m weights.Metadata) (part, error) {
	p := part{tensors: -1}
	for key, field := range map[string]*int{splitNumberKey: &p.number, splitCountKey: &p.count, splitTensorsKey: &p.tensors} {
		n, err := m.Int(key)
		switch {
		case errors.Is(err, weights.ErrNotFound):
		case err != nil || n < 0:
			return part{}, fmt.Errorf("%w: metadata key %q is not a number of files or tensors", weights.ErrFormat, key)
		default:
			*field = n
		}
	}
	if p.count > 1 && p.number >= p.count {
		return part{}, p.errorf("cannot exist")
	}
	return p, nil
}

// partName matches the name of a part: prefix, number from 1, and count.
var partName = regexp.MustCompile(`^(.*)-(\d{5})-of-(\d{5})\.gguf$`)

// siblings returns the names of all parts of the model that the part of that name belongs to.
func (p part) siblings(name string) ([]string, error) {
	folder, base := filepath.Split(name)
	m := partName.FindStringSubmatch(base)
	if m == nil || m[2] != fmt.Sprintf("%05d", p.number+1) || m[3] != fmt.Sprintf("%05d", p.count) {
		return nil, p.errorf("should be named like model-%05d-of-%05d.gguf, not %s", p.number+1, p.count, base)
	}
	names := make([]string, p.count)
	for i := range names {
		names[i] = filepath.Join(folder, fmt.Sprintf("%s-%05d-of-%s.gguf", m[1], i+1, m[3]))
	}
	return names, nil
}

// openSplit returns the whole model of which f, the file of that name, is a part, or f if it is not split. If it fails, it closes f.
func openSplit(f *weights.File, name string) (*weights.File, error) {
	p, err := partOf(f.Metadata)
	if err == nil && p.count <= 1 {
		return f, nil
	}
	var names []string
	if err == nil {
		names, err = p.siblings(name)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return openParts(names)
}

// openParts opens the parts of a model.
func openParts(names []string) (*weights.File, error) {
	var whole weights.Contents
	want := -1 // tensors of all parts
	for i, name := range names {
		f, p, err := openPart(name, part{number: i, count: len(names)})
		if err != nil {
			return nil, errors.Join(err, (&weights.File{Contents: whole}).Close())
		}
		if i == 0 { // which has the metadata of the model
			whole.Format, whole.Metadata, want = f.Format, withoutSplit(f.Metadata), p.tensors
		}
		whole.Tensors = append(whole.Tensors, f.Tensors...)
		whole.Sources = append(whole.Sources, f.Sources...)
	}
	if want >= 0 && want != len(whole.Tensors) {
		err := fmt.Errorf("%w: %s and its other parts have %d tensors, not %d", weights.ErrFormat, names[0], len(whole.Tensors), want)
		return nil, errors.Join(err, (&weights.File{Contents: whole}).Close())
	}
	f, err := weights.New(whole)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", names[0], err), (&weights.File{Contents: whole}).Close())
	}
	return f, nil
}

// withoutSplit returns the entries that are true of the whole model.
func withoutSplit(m weights.Metadata) weights.Metadata {
	return slices.DeleteFunc(slices.Clone(m), func(e weights.Entry) bool {
		return e.Key == splitNumberKey || e.Key == splitCountKey || e.Key == splitTensorsKey
	})
}

// openPart opens a file and checks its place in the model.
func openPart(name string, want part) (*weights.File, part, error) {
	s, err := weights.OpenSource(name)
	if err != nil {
		return nil, part{}, err
	}
	f, err := parse(s)
	if err != nil {
		return nil, part{}, errors.Join(err, s.Close())
	}
	got, err := partOf(f.Metadata)
	if err == nil && (got.number != want.number || got.count != want.count) {
		err = got.errorf("has the name of part %d of %d", want.number+1, want.count)
	}
	if err != nil {
		return nil, part{}, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return f, got, nil
}
