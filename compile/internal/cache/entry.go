package cache

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// magic begins every entry. A new layout gets a new number.
const magic = "gopherwarp build 2\n"

// head is the number of bytes before an entry's body: magic, key, checksum of all else.
const head = len(magic) + 2*sha256.Size

// errDamaged says that an entry is not one.
var errDamaged = errors.New("compile: damaged cache entry")

// Key is a hash of all inputs of the files.
type Key [sha256.Size]byte

// File is a file. Its name is relative to a directory that the user of the cache chooses.
type File struct {
	Name     string
	Label    string // additional information of the user of the cache
	Contents []byte
}

// Entry holds the files of a key.
type Entry struct {
	files  []description
	packed []byte
}

// description is what an entry says of a file before all contents.
type description struct {
	Name  string
	Label string `json:",omitempty"`
	Size  int
	Sum   [sha256.Size]byte
}

// encode returns the text of an entry.
func encode(k Key, files []File) ([]byte, error) {
	var all []description
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		all = append(all, description{f.Name, f.Label, len(f.Contents), sha256.Sum256(f.Contents)})
		w.Write(f.Contents) // to memory, which takes it
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	body = append(append(body, '\n'), packed.Bytes()...)
	text := append([]byte(magic), k[:]...)
	sum := checksum(k, body)
	return append(append(text, sum[:]...), body...), nil
}

func checksum(k Key, body []byte) [sha256.Size]byte {
	return sha256.Sum256(append(k[:], body...))
}

// decode reads an entry for k. The names are local: they lie below the folder that they
// are relative to.
func decode(k Key, text []byte) (*Entry, error) {
	if len(text) < head || string(text[:len(magic)]) != magic || Key(text[len(magic):]) != k {
		return nil, errDamaged
	}
	body := text[head:]
	if checksum(k, body) != [sha256.Size]byte(text[len(magic)+len(k):]) {
		return nil, errDamaged
	}
	list, packed, _ := bytes.Cut(body, []byte("\n"))
	e := &Entry{packed: packed}
	if err := json.Unmarshal(list, &e.files); err != nil {
		return nil, err
	}
	for _, f := range e.files {
		if !filepath.IsLocal(f.Name) || f.Size < 0 {
			return nil, errDamaged
		}
	}
	return e, nil
}

// Files returns the files. Where current, which may be nil, returns what a name has now and
// it is the same, that is taken, and nothing unpacked.
func (e *Entry) Files(current func(name string) ([]byte, error)) ([]File, error) {
	files := make([]File, len(e.files))
	same := current != nil
	for i, f := range e.files {
		files[i].Name, files[i].Label = f.Name, f.Label
		if !same {
			continue
		}
		text, err := current(f.Name)
		same = err == nil && sha256.Sum256(text) == f.Sum
		files[i].Contents = text
	}
	if same {
		return files, nil
	}
	unpack := flate.NewReader(bytes.NewReader(e.packed))
	for i, f := range e.files {
		text, err := io.ReadAll(io.LimitReader(unpack, int64(f.Size)))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		if sha256.Sum256(text) != f.Sum {
			return nil, errDamaged
		}
		files[i].Contents = text
	}
	return files, nil
}
