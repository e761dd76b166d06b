package checksum

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Record is the SHA-256 that a file should have.
type Record struct {
	Sum  string // 64 hexadecimal digits
	From string // the file that contains the sum, or whose name is the sum
}

// Known returns the SHA-256 that the named file should have. It looks for
//
//   - the file's name, after following symbolic links, if the file's folder is named blobs: in the caches of Hugging Face and Ollama, the
//     name is the SHA-256;
//   - the metadata in the subfolder .cache/huggingface/download, which Hugging Face's tools write when they download to a folder;
//   - the file SHA256SUMS in the file's folder, and the file whose name is the file's name followed by .sha256. Both have the format of the
//     command sha256sum.
//
// If Known finds no SHA-256, the error matches ErrUnknown.
func Known(name string) (Record, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return Record{}, err
	}
	for _, find := range []func(string) (Record, bool){ofBlob, ofDownload, ofList} {
		if r, ok := find(absolute); ok {
			return r, nil
		}
	}
	return Record{}, fmt.Errorf("%w for %s", ErrUnknown, name)
}

// isSum reports whether text is a SHA-256.
func isSum(text string) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == 32
}

// ofBlob returns the sum that is the name of a file in a folder blobs.
func ofBlob(name string) (Record, bool) {
	file, err := filepath.EvalSymlinks(name)
	if err != nil || filepath.Base(filepath.Dir(file)) != "blobs" {
		return Record{}, false
	}
	sum := strings.ToLower(strings.TrimPrefix(filepath.Base(file), "sha256-"))
	return Record{sum, file}, isSum(sum)
}

// ofDownload returns the sum that a download of Hugging Face has recorded in the folder of the file, or in a folder around it.
func ofDownload(name string) (Record, bool) {
	for folder := filepath.Dir(name); ; folder = filepath.Dir(folder) {
		below, err := filepath.Rel(folder, name)
		if err != nil {
			return Record{}, false
		}
		record := filepath.Join(folder, ".cache", "huggingface", "download", below+".metadata")
		if text, err := os.ReadFile(record); err == nil {
			lines := append(strings.Fields(string(text)), "", "") // the commit, the sum, and the time
			return Record{lines[1], record}, isSum(lines[1])
		}
		if folder == filepath.Dir(folder) {
			return Record{}, false
		}
	}
}

// ofList returns the sum in a file of the command sha256sum, whose lines have a sum, two spaces or " *", and a name. A file for a single file
// may have a sum without a name.
func ofList(name string) (Record, bool) {
	folder, base := filepath.Split(name)
	single := name + ".sha256"
	for _, list := range []string{filepath.Join(folder, "SHA256SUMS"), single} {
		text, err := os.ReadFile(list)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			sum, of, _ := strings.Cut(strings.TrimSpace(line), " ")
			of = strings.TrimPrefix(strings.TrimLeft(of, " *"), "./")
			if sum = strings.ToLower(sum); isSum(sum) && (of == base || list == single) {
				return Record{sum, list}, true
			}
		}
	}
	return Record{}, false
}
