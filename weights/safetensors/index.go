package safetensors

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
)

// weightMap returns the file of each tensor, as an index lists them.
func weightMap(name string) (map[string]string, error) {
	s, err := weights.OpenSource(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }() // it was only read
	if s.Size() > maxHeader {
		return nil, fmt.Errorf("%w: it has %d bytes", weights.ErrFormat, s.Size())
	}
	text := make([]byte, s.Size())
	if _, err := s.ReadAt(text, 0); err != nil {
		return nil, err
	}
	return parseIndex(text)
}

// parseIndex reads the object weight_map of an index. It skips the rest, which is metadata.
func parseIndex(text []byte) (map[string]string, error) {
	sc := newScanner("the index", text)
	var files map[string]string
	sc.object("the index", func(key string) {
		if key != "weight_map" {
			sc.skip()
			return
		}
		files = map[string]string{}
		sc.object(key, func(tensor string) { files[tensor] = sc.file() })
	})
	sc.end()
	if files == nil {
		sc.fail("it has no weight_map")
	}
	return files, sc.err
}

// file reads the name of a file in the folder of the index.
func (s *scanner) file() string {
	name := s.string()
	if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) || name == "." {
		s.fail("%q is not the name of a file beside the index", name)
	}
	return name
}

// openIndex opens all files of an index.
func openIndex(name string) (*weights.File, error) {
	files, err := weightMap(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c := weights.Contents{Format: format}
	var known keys // of c.Metadata
	for _, file := range slices.Sorted(maps.Keys(shards(files))) {
		f, err := openFile(filepath.Join(filepath.Dir(name), file))
		if err == nil {
			c.Sources = append(c.Sources, f.Sources...)
			c.Tensors = append(c.Tensors, f.Tensors...)
			c.Metadata = merge(c.Metadata, f.Metadata, &known)
			err = checkShard(f, file, files)
		}
		if err != nil {
			return nil, errors.Join(err, (&weights.File{Contents: c}).Close())
		}
	}
	f, err := complete(c, files)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), (&weights.File{Contents: c}).Close())
	}
	return f, nil
}

// shards returns the set of files.
func shards(files map[string]string) map[string]bool {
	set := map[string]bool{}
	for _, file := range files {
		set[file] = true
	}
	return set
}

// checkShard reports a tensor of a file that the index has elsewhere or not at all.
func checkShard(f *weights.File, file string, files map[string]string) error {
	for _, t := range f.Tensors {
		if files[t.Name()] != file {
			return fmt.Errorf("%w: %s has tensor %q, and the index has it in %q", weights.ErrFormat, file, t.Name(), files[t.Name()])
		}
	}
	return nil
}

// complete returns the File and reports a tensor of the index that no file has.
func complete(c weights.Contents, files map[string]string) (*weights.File, error) {
	f, err := weights.New(c)
	if err != nil {
		return nil, err
	}
	for tensor, file := range files {
		if _, err := f.Tensor(tensor); err != nil {
			return nil, fmt.Errorf("%w: %s lacks tensor %q of the index", weights.ErrFormat, file, tensor)
		}
	}
	return f, nil
}

// merge appends the entries of more whose keys are new, and adds those to known: the files of a model repeat their metadata.
func merge(m, more weights.Metadata, known *keys) weights.Metadata {
	for _, e := range more {
		if known.add(e.Key) {
			m = append(m, e)
		}
	}
	return m
}
