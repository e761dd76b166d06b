package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The media types of the OCI image specification, version 1.1.
const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// platform is what an image runs on.
type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// manifest is an image for one platform.
type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

// index is a list of images.
type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

// imageConfig says how a container runs.
type imageConfig struct {
	platform
	Config  containerConfig `json:"config"`
	RootFS  rootFS          `json:"rootfs"`
	History []history       `json:"history"`
}

type containerConfig struct {
	User         string              `json:"User"`
	ExposedPorts map[string]struct{} `json:"ExposedPorts"`
	Env          []string            `json:"Env"`
	Entrypoint   []string            `json:"Entrypoint"`
	WorkingDir   string              `json:"WorkingDir"`
	Labels       map[string]string   `json:"Labels"`
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

type history struct {
	CreatedBy string `json:"created_by"`
}

// dockerImage is an element of manifest.json, which versions of Docker without containerd's image store read instead of index.json.
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// archive is an OCI image layout, which is written as a tar file.
type archive struct {
	name      string
	blobs     map[string][]byte // by digest
	manifests []descriptor
	docker    []dockerImage // of the first platform: Docker would give all of them the same name
}

func newArchive(name string) *archive { return &archive{name: name, blobs: map[string][]byte{}} }

// put adds a blob.
func (a *archive) put(mediaType string, data []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digestOf(data), Size: len(data)}
	a.blobs[d.Digest] = data
	return d
}

// putJSON adds a document.
func (a *archive) putJSON(mediaType string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	return a.put(mediaType, data), err
}

// add adds the image for a system: a layer with glibc, and a layer with the program.
func (a *archive) add(s system, libc, program []byte) error {
	files, err := s.files(libc)
	if err != nil {
		return err
	}
	c, m := configOf(s, program), manifest{SchemaVersion: 2, MediaType: typeManifest}
	d := dockerImage{RepoTags: []string{a.name}}
	for _, part := range []struct {
		by    string
		files []file
	}{
		{"libc6 " + libcVersion + " of Debian " + release, append(files, systemFiles()...)},
		{"go build ./cmd/gopherwarp", []file{{name: entrypoint[1:], mode: 0o755, body: program}}},
	} {
		l, err := newLayer(part.files)
		if err != nil {
			return err
		}
		at := a.put(typeLayer, l.data)
		m.Layers, d.Layers = append(m.Layers, at), append(d.Layers, blobName(at.Digest))
		c.RootFS.DiffIDs, c.History = append(c.RootFS.DiffIDs, l.diff), append(c.History, history{part.by})
	}
	if m.Config, err = a.putJSON(typeConfig, c); err != nil {
		return err
	}
	at, err := a.putJSON(typeManifest, m)
	if err != nil {
		return err
	}
	at.Platform = &c.platform
	a.manifests = append(a.manifests, at)
	if d.Config = blobName(m.Config.Digest); a.docker == nil {
		a.docker = []dockerImage{d}
	}
	return nil
}

// top returns the descriptor of the whole image: that of its manifest or, for several platforms, that of an index.
func (a *archive) top() (descriptor, error) {
	d := a.manifests[0]
	if len(a.manifests) > 1 {
		var err error
		if d, err = a.putJSON(typeIndex, index{2, typeIndex, a.manifests}); err != nil {
			return d, err
		}
	}
	_, tag, _ := strings.Cut(a.name, ":")
	d.Annotations = map[string]string{"org.opencontainers.image.ref.name": tag, "io.containerd.image.name": "docker.io/library/" + a.name}
	return d, nil
}

// writeFile writes the archive to a file and returns the digest of the image.
func (a *archive) writeFile(name string) (digest string, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".image")
	if err != nil {
		return "", err
	}
	digest, err = a.write(f)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return digest, nil
}

// write writes the archive and returns the digest of the image.
func (a *archive) write(w io.Writer) (digest string, err error) {
	top, err := a.top()
	if err != nil {
		return "", err
	}
	files := map[string][]byte{"oci-layout": []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	for name, v := range map[string]any{"index.json": index{2, typeIndex, []descriptor{top}}, "manifest.json": a.docker} {
		if files[name], err = json.Marshal(v); err != nil {
			return "", err
		}
	}
	for digest, data := range a.blobs {
		files[blobName(digest)] = data
	}
	t := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(files[name])), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		if _, err := t.Write(files[name]); err != nil {
			return "", err
		}
	}
	return top.Digest, t.Close()
}
