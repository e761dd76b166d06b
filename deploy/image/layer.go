package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// file is a file of a layer, or a symbolic link, or a folder. All belong to root.
type file struct {
	name   string // without / at the beginning
	mode   int64
	body   []byte
	link   string // "" for a file
	folder bool
}

// layer is a compressed tar file.
type layer struct {
	data []byte
	diff string // digest of the tar file
}

// newLayer returns the layer that contains files and the folders of the files. It does not depend on the order of the files.
func newLayer(files []file) (layer, error) {
	var data bytes.Buffer
	z, err := gzip.NewWriterLevel(&data, gzip.BestCompression)
	if err != nil {
		return layer{}, err
	}
	var plain bytes.Buffer
	t := tar.NewWriter(&plain)
	for _, f := range withFolders(files) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		switch {
		case f.folder:
			h.Typeflag, h.Name = tar.TypeDir, f.name+"/"
		case f.link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		}
		if err := t.WriteHeader(h); err != nil {
			return layer{}, err
		}
		if _, err := t.Write(f.body); err != nil {
			return layer{}, err
		}
	}
	if err := t.Close(); err != nil {
		return layer{}, err
	}
	if _, err := z.Write(plain.Bytes()); err != nil {
		return layer{}, err
	}
	if err := z.Close(); err != nil {
		return layer{}, err
	}
	return layer{data.Bytes(), digestOf(plain.Bytes())}, nil
}

// withFolders returns files and their folders, sorted by name, so that folders come before their files.
func withFolders(files []file) []file {
	list, known := slices.Clone(files), map[string]bool{}
	for _, f := range files {
		known[f.name] = true
	}
	for _, f := range files {
		for folder := path.Dir(f.name); folder != "." && !known[folder]; folder = path.Dir(folder) {
			known[folder] = true
			list = append(list, file{name: folder, mode: 0o755, folder: true})
		}
	}
	slices.SortFunc(list, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return list
}

// digestOf returns the digest of data.
func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

// blobName returns the name in an archive of the blob with a digest.
func blobName(digest string) string { return "blobs/" + strings.Replace(digest, ":", "/", 1) }
